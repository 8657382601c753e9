"""A formula as the function of a row of a table: of queries and keys, of scores, of positions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from attnviz.arrays import Array, Keys, Queries, Scores, Weights
from attnviz.formula.evaluation import arrays, operation_counts
from attnviz.formula.evaluation.arrays import Part
from attnviz.formula.evaluation.gradient import gradients, row_by_row
from attnviz.formula.evaluation.numbers import scores, weights
from attnviz.formula.faults import fault
from attnviz.formula.graph import Formula

MAX_SCORE = 1e307
"""The bound of a score over a tiny temperature, so that the largest can still be subtracted from it."""

ScoreFunction = Callable[..., Scores]


def score_function(formula: Formula, widths: Sequence[int] = ()) -> ScoreFunction:
    """Return the function (Q, K, **parameters) of a score: (..., heads, n, d), or (n, d) for one head.

    widths  the true width of each head, where heads of different width ride padded with zeros: most formulas, such as
            `mean(q * k)`, would see the padding, so every head is computed at its own width

    >>> from attnviz.formula.reader import parse
    >>> score_function(parse("sum(q * k)"))(np.ones((2, 3)), np.ones((1, 3)))
    array([[3.],
           [3.]])
    """

    def score(Q: Queries, K: Keys, **parameters: Array) -> Scores:
        shape = (*Q.shape[:-1], K.shape[-2])
        if 0 in shape:
            return np.zeros(shape)
        Q = Q.reshape(-1, *Q.shape[-3:]) if Q.ndim > 2 else Q[None, None]
        K = np.broadcast_to(K, (*shape[:-2], *K.shape[-2:])).reshape(-1, Q.shape[1], *K.shape[-2:])
        completed = complete(formula, parameters, Q, K)
        by_head = [_by_width(formula, q, k, completed, widths) for q, k in zip(Q, K)]
        return np.stack(by_head).reshape(shape)

    return score


def _by_width(formula: Formula, Q: Queries, K: Keys, parameters: Mapping[str, Array], widths: Sequence[int]) -> Scores:
    """Return the scores (heads, n, m), heads of one width at a time."""
    if len(set(widths)) < 2:
        return np.array(_scores(formula, Q, K, parameters, arrays.WHOLE))
    result = np.zeros((*Q.shape[:-1], K.shape[-2]))
    for width in set(widths):
        heads = [h for h, each in enumerate(widths) if each == width]
        parts = {name: _cut(array[heads], formula.axes_of(name), width) for name, array in parameters.items()}
        part = Part(heads=heads, n_heads=len(widths))
        result[heads] = _scores(formula, Q[heads][..., :width], K[heads][..., :width], parts, part)
    return result


def score_slopes(formula: Formula, widths: Sequence[int] = ()) -> Callable[..., tuple[Array, Array, dict[str, Array]]]:
    """Return the function (G, S, Q, K, **parameters) that hands dL/dS back to queries, keys and parameters.

    Heads of different width are taken apart as `score_function` takes them.
    """

    def back(G: Scores, S: Scores, Q: Queries, K: Keys, **parameters: Array) -> tuple[Array, Array, dict[str, Array]]:
        completed = complete(formula, parameters, Q[None], K[None])
        by_name: dict[str, Array] = {
            name: np.zeros(array.shape) for name, array in {"q": Q, "k": K, **completed}.items()
        }
        each = widths or (Q.shape[-1],) * len(Q)
        for width in set(each) if S.size else ():
            heads = [h for h, other in enumerate(each) if other == width]
            parts = {name: _cut(array[heads], formula.axes_of(name), width) for name, array in completed.items()}
            part = Part(heads=heads, n_heads=len(each))
            at = arrays.of_score(formula, Q[heads][..., :width], K[heads][..., :width], parts, part)
            slopes = gradients(formula, at, G[heads])
            for name, its in slopes.items():
                gradient = _one_head_each(formula, name, its)
                whole: tuple[Any, ...] = (heads, *map(slice, gradient.shape[1:]))
                by_name[name][whole] = gradient
        return by_name.pop("q"), by_name.pop("k"), by_name

    return back


def _one_head_each(formula: Formula, name: str, gradient: Array) -> Array:
    """Return a gradient with the axes of what it belongs to, from one with the four axes of a formula."""
    if name in ("q", "k"):
        return gradient[:, :, 0] if name == "q" else gradient[:, 0]
    role = formula.parameters[name].role
    if role == "columns":
        return np.swapaxes(gradient[:, 0], -1, -2)
    parts: dict[str, Any] = {"list": np.s_[:, 0, :, 0], "vector": np.s_[:, 0, 0], "number": np.s_[:, 0, 0, 0]}
    return gradient[parts.get(role, np.s_[:, 0])]


def normaliser_slopes(formula: Formula) -> Callable[..., Array]:
    """Return the function (G, X, A, T, **learned) that hands dL/dA back to the masked scores."""
    back = all_slopes(formula)
    return lambda *args, **learned: back(*args, **learned)[0]


def all_slopes(formula: Formula) -> Callable[..., tuple[Scores, dict[str, Array]]]:
    """Return the function (G, X, A, T, **learned) that hands dL/dA back to the scores and to the learned numbers."""
    by_row = row_by_row(formula)

    def back(G: Weights, X: Scores, A: Weights, T: float = 1.0, **learned: Array) -> tuple[Scores, dict[str, Array]]:
        forbidden = np.isneginf(X)
        own = {name: np.zeros(len(X)) for name in formula.parameters}
        if not X.size:
            return np.zeros(X.shape), own
        with np.errstate(over="ignore"):
            Z = np.where(forbidden, X, np.clip(X / T, -MAX_SCORE, MAX_SCORE))
        at = arrays.of_normaliser(Z, own=_completed(formula, learned, len(X)))
        rows = {name: np.repeat(at.values[name], X.shape[1], axis=1) for name in formula.parameters}
        at = replace(at, values={**at.values, **rows})
        slopes = gradients(by_row, at, np.where(forbidden, 0.0, G))
        empty = forbidden.all(axis=-1)  # its weights are 0, whatever the numbers are
        own |= {name: np.where(empty, 0.0, slopes[name][..., 0, 0]).sum(axis=-1) for name in own if name in slopes}
        return np.where(forbidden, 0.0, slopes["x"][..., 0] / T) if "x" in slopes else np.zeros(X.shape), own

    return back


def _completed(formula: Formula, learned: Mapping[str, Array], heads: int) -> dict[str, Array]:
    """Return the learned numbers of a normaliser, one a head; what is not given is 1."""
    return {name: np.broadcast_to(learned.get(name, 1.0), (heads,)) for name in formula.parameters}


def _cut(array: Array, axes: tuple[str, ...], width: int) -> Array:
    return array[(slice(None), *(slice(width) if axis in ("d_q", "d_k") else slice(None) for axis in axes))]


def _scores(formula: Formula, Q: Queries, K: Keys, parameters: Mapping[str, Array], part: Part) -> Scores:
    values = arrays.of_score(formula, Q, K, parameters, part)
    operation_counts.check(formula, values)
    return scores(formula, values)


def complete(formula: Formula, recorded: Mapping[str, Array], Q: Queries, K: Keys) -> dict[str, Array]:
    """Return every parameter of the heads of Q (any, heads, n, d); what is not given is the plainest one."""
    sizes = {"d_q": Q.shape[-1], "d_k": K.shape[-1], "key": K.shape[-2]}
    for name, array in recorded.items():
        axes = formula.axes_of(name)
        sizes |= dict(zip(axes, array.shape[array.ndim - len(axes) :]))
    plainest = max(Q.shape[-1], K.shape[-1])
    parameters = {}
    for name in formula.parameters:
        shape = tuple(sizes.get(axis, plainest) for axis in formula.axes_of(name))
        array = recorded[name] if name in recorded else _plainest(name, shape)
        parameters[name] = np.broadcast_to(array, (Q.shape[1], *shape))
    return parameters


def _plainest(name: str, shape: tuple[int, ...]) -> Array:
    """Return the identity for a matrix, zeros for the bias b, ones for any other vector or number."""
    if len(shape) == 2:
        return np.eye(*shape)
    return np.zeros(shape) if name == "b" else np.ones(shape)


def normaliser_function(formula: Formula) -> Callable[..., Array]:
    """Return the function (X, T, **learned) of a normaliser along the last axis; -inf is forbidden and comes out as 0.

    >>> from attnviz.formula.reader import parse
    >>> normaliser_function(parse("relu(x) / n", "normaliser"))(np.array([[1.0, -1.0, -np.inf]]))
    array([[0.5, 0. , 0. ]])
    """

    def normalise(X: Array, T: float = 1.0, **learned: Array) -> Array:
        if not X.size:
            return np.zeros(X.shape)
        with np.errstate(over="ignore"):
            Z = np.where(np.isfinite(X), np.clip(X / T, -MAX_SCORE, MAX_SCORE), X)
        flat = Z.reshape(-1, *X.shape[-3:]) if X.ndim > 2 else np.atleast_2d(Z)[None, None]
        heads = []
        for each in flat:
            values = arrays.of_normaliser(each, own=_completed(formula, learned, len(each)))
            operation_counts.check(formula, values)
            heads.append(weights(formula, values))
        return np.stack(heads).reshape(X.shape)

    return normalise


def sums_to_one(formula: Formula) -> bool:
    """Return whether every row of weights adds to 1, found by trying rows of any size, some with forbidden keys.

    Learned numbers are tried as any number, so that what holds only at their first value does not count.
    """
    return all(np.allclose(A.sum(axis=-1), 1.0, rtol=0, atol=1e-9) for A in _tried(formula))


@lru_cache(maxsize=64)
def leaves_a_rest(formula: Formula) -> bool:
    """Return whether every row of weights is shares that add to something, but never to 1, found by trying.

    >>> from attnviz.formula.reader import parse
    >>> [leaves_a_rest(parse(text, "normaliser")) for text in ("exp(x) / (1 + sum(exp(x)))", "sigmoid(x)")]
    [True, False]
    """
    tried = _tried(formula, sizes=(1.0, 3.0))
    return all((A >= 0).all() and (A.sum(axis=-1) > 0).all() and (A.sum(axis=-1) < 1 - 1e-9).all() for A in tried)


@lru_cache(maxsize=64)
def slopes_as_softmax(formula: Formula) -> bool:
    """Return whether the slopes are those of a softmax, a_j (G_j - sum_l a_l G_l), found by trying.

    >>> from attnviz.formula.reader import parse
    >>> [slopes_as_softmax(parse(text, "normaliser")) for text in ("exp(x) / (1 + sum(exp(x)))", "sigmoid(x)")]
    [True, False]
    """
    draws = np.random.default_rng(1)
    X, G = draws.normal(size=(2, 1, 4, 6))
    X[:, 1, 3:] = -np.inf
    own = {name: draws.normal(size=1) for name in formula.parameters}
    A = normaliser_function(formula)(X, **own)
    slopes = normaliser_slopes(formula)(G, X, A, **own)
    return np.allclose(slopes, A * (G - (A * G).sum(axis=-1, keepdims=True)), atol=1e-9)


def _tried(formula: Formula, sizes: Sequence[float] = (1.0, 1.0, 30.0, 0.0)) -> Iterator[Array]:
    """Yield the weights of some rows of scores of these sizes, some with forbidden keys."""
    draws = np.random.default_rng(0)
    for n, size in zip((1, 5, 8, 6), sizes):
        X = size * draws.normal(size=(1, 4, n))
        X[:, 1:3, n // 2 + 1 :] = -np.inf
        yield weights(formula, arrays.of_normaliser(X, own={name: draws.normal(size=1) for name in formula.parameters}))


def mask_table(
    formula: Formula, queries: Sequence[str], keys: Sequence[str], shape: tuple[int, int], n_heads: int = 1
) -> Array:
    """Evaluate a mask from the words of both: (queries, keys), or (heads, queries, keys) if it looks at the head."""
    values = arrays.of_table(formula, *shape, n_heads, (queries, keys), by_head=formula.by_head)
    operation_counts.check(formula, values)
    may = np.array(scores(formula, values))
    return may if formula.by_head else may[0]


def bias_table(formula: Formula, n_heads: int, n_query: int, n_key: int) -> Array:
    """Evaluate a bias on the scores, (heads, queries, keys); raises FormulaError where it is no number or inf."""
    values = arrays.of_table(formula, n_query, n_key, n_heads)
    operation_counts.check(formula, values)
    return checked_bias(formula, np.array(scores(formula, values)))


def checked_bias(formula: Formula, B: Array) -> Array:
    """Return a bias (heads, queries, keys); raises FormulaError where it is no number or inf."""
    bad = np.argwhere(np.isnan(B) | np.isposinf(B))
    if len(bad):
        h, i, j = map(int, bad[0])
        facts = {"value": f"{B[h, i, j]:g}", "query": i + 1, "key": j + 1, "n": len(bad), "all": B.size}
        raise fault("bias", formula.root.span, **facts)
    return B
