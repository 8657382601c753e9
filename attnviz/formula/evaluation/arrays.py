"""The arrays that a formula is computed from, each spread over the four axes (heads, i, j, d)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from attnviz.arrays import Array
from attnviz.formula.graph import KEY, QUERY, Formula
from attnviz.formula.names import TOKEN, place_of

_SPREAD = {
    "matrix": (slice(None), None),
    "rows": (slice(None), None),
    "columns": (slice(None), None),
    "vector": (slice(None), None, None),
    "list": (slice(None), None, slice(None), None),
    "number": (slice(None), None, None, None),
}


@dataclass(frozen=True, eq=False)
class Arrays:
    """The arrays for the variables and parameters of a formula, and the lengths of its axes.

    values   by name, (heads or 1, queries or 1, keys or 1, columns or 1); a matrix is (heads, 1, rows, columns)
    widths   the length of each class of width
    allowed  where a normaliser leaves nothing out, (heads, queries, keys, 1); None where it never does
    """

    values: Mapping[str, Array]
    heads: int
    n_query: int
    n_key: int
    widths: Mapping[int, int]
    allowed: Array | None = None


@dataclass(frozen=True)
class Part:
    """The part of a larger whole that the arrays are: the first query and key, how many there are, and which heads."""

    first_query: int = 0
    first_key: int = 0
    n_query: int | None = None
    n_key: int | None = None
    heads: Sequence[int] | None = None
    n_heads: int | None = None


WHOLE = Part()


def of_score(formula: Formula, Q: Array, K: Array, parameters: Mapping[str, Array], part: Part = WHOLE) -> Arrays:
    """Return the arrays of a score: Q (heads, n, d_q), K (heads, m, d_k), each parameter with an axis of heads."""
    heads, n, m = max(len(Q), len(K)), Q.shape[1], K.shape[1]
    values = {"q": Q[:, :, None, :], "k": K[:, None, :, :]}
    sizes = {"d_q": Q.shape[-1], "d_k": K.shape[-1]}
    by_class = {QUERY: Q.shape[-1], KEY: K.shape[-1]}
    for name, parameter in formula.parameters.items():
        array = np.asarray(parameters[name], dtype=float)
        by_class |= _widths_of(array, parameter.role, parameter.rows, parameter.columns)
        array = np.swapaxes(array, -1, -2) if parameter.role == "columns" else array
        array = array[_SPREAD[parameter.role]]
        if parameter.role in ("rows", "columns", "list"):
            array = array[:, :, part.first_key : part.first_key + m]
        values[name] = array
    sizes |= {formula.sizes[each]: length for each, length in by_class.items() if formula.sizes[each]}
    widths = {each: by_class[each] if each in by_class else sizes.get(name, 1) for each, name in formula.sizes.items()}
    constants = {"d_q": Q.shape[-1], "d_k": K.shape[-1]}
    return Arrays(values | _constants(constants) | _positions(heads, n, m, part), heads, n, m, widths)


def _widths_of(array: Array, role: str, rows: int, columns: int) -> dict[int, int]:
    if role == "matrix":
        return {rows: array.shape[-2], columns: array.shape[-1]}
    if role in ("vector", "rows"):
        return {rows: array.shape[-1]}
    return {rows: array.shape[-2]} if role == "columns" else {}


def of_normaliser(X: Array, part: Part = WHOLE, own: Mapping[str, Array] = MappingProxyType({})) -> Arrays:
    """Return the arrays of a normaliser: X (heads, n, m) with -inf where it is forbidden; `own` its learned numbers."""
    heads, n, m = X.shape
    allowed = ~np.isneginf(X)
    values = {name: array[_SPREAD["number"]] for name, array in own.items()}
    values |= {"x": X[..., None]} | _positions(heads, n, m, part)
    return Arrays(values, heads, n, m, {}, None if allowed.all() else allowed[..., None])


def of_table(
    formula: Formula,
    n_query: int,
    n_key: int,
    n_heads: int = 1,
    tokens: tuple[Sequence[str], Sequence[str]] = ((), ()),
    *,
    by_head: bool = True,
) -> Arrays:
    """Return the arrays of a mask or a bias; `tokens` are those of the queries and of the keys, empty if unknown.

    Not by head, there is one for all of them, which still knows how many there are.

    Before the first token and after the last stands the empty word.
    """
    heads = n_heads if by_head else 1
    values = _positions(heads, n_query, n_key, Part(n_heads=n_heads))
    for name in filter(TOKEN.fullmatch, formula.variables()):
        axis, after = place_of(name)
        n, words = (n_query, tokens[0]) if axis == "i" else (n_key, tokens[1])
        words = list(words) or [""] * n
        moved = [words[at] if 0 <= at < n else "" for at in range(after, n + after)]
        values[name] = np.array(moved, dtype=object).reshape((1, n, 1, 1) if axis == "i" else (1, 1, n, 1))
    return Arrays(values, heads, n_query, n_key, {})


def _positions(heads: int, n: int, m: int, part: Part) -> dict[str, Array]:
    i, j = np.arange(n) + float(part.first_query), np.arange(m) + float(part.first_key)
    h = np.arange(1.0, heads + 1) if part.heads is None else np.array(part.heads) + 1.0
    whole_n, whole_m = part.n_query or n, part.n_key or m
    constants = {"n": whole_m, "n_query": whole_n, "n_key": whole_m, "n_heads": part.n_heads or heads}
    counted = {"i": i[None, :, None, None], "j": j[None, None, :, None], "h": h[:, None, None, None]}
    return counted | _constants(constants)


def _constants(numbers: Mapping[str, int]) -> dict[str, Array]:
    return {name: np.full((1, 1, 1, 1), float(number)) for name, number in numbers.items()}
