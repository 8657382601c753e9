"""The query, the key and the value of a cell, derived from the layer's input."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.arithmetic.cell_position import CellPosition
from attnviz.arithmetic.latex_numbers import VERTICAL_DOTS, chain, shown_entries
from attnviz.arithmetic.line import Derivation, Equation, MatVec, Result, dimension
from attnviz.arrays import Array
from attnviz.engine.external import first_steps
from attnviz.settings.language import Words, translate

HEADS = Words(
    {
        "one": " of head {head}",
        "shared": " of key/value head {head}, which heads {first} to {last} share",
    }
)
"""Whose matrix it is."""


@dataclass(frozen=True)
class Kind:
    """A kind of vector: the step that holds it, its letter, and which head and row of that step."""

    name: str
    step: str
    letter: str
    head: int
    row: int
    width: int


def query(derivation: Derivation, place: CellPosition) -> Array:
    """q_i."""
    return _vector(derivation, place, Kind("query", "queries", "q", place.head, place.query, place.d_k))


def key(derivation: Derivation, place: CellPosition) -> Array:
    """k_j."""
    return _vector(derivation, place, Kind("key", "keys", "k", place.kv_head, place.key, place.d_k))


def value(derivation: Derivation, place: CellPosition) -> Array:
    """v_j."""
    return _vector(derivation, place, Kind("value", "values", "v", place.kv_head, place.key, place.d_v))


def _vector(derivation: Derivation, place: CellPosition, kind: Kind) -> Array:
    """x W + b, and the turn where RoPE is on; or what was given."""
    if kind.step in first_steps(place.steps):
        return _given(derivation, place, kind)
    if f"projected_{kind.step}" not in place.steps:
        return _projected(derivation, place, kind, kind.letter, kind.step)
    y = _projected(derivation, place, kind, rf"\tilde {kind.letter}", f"projected_{kind.step}")
    return _rotated(derivation, place, kind, y)


def _given(derivation: Derivation, place: CellPosition, kind: Kind) -> Array:
    """Return a vector that was brought along."""
    return derivation.add_line(
        kind.name,
        Equation(f"{kind.letter}_{{{kind.row + 1}}}"),
        Result(
            place.steps[kind.step].array[kind.head, kind.row, : kind.width],
            step=kind.step,
            beside=derivation.sizes[kind.step],
        ),
        words=f"given_{kind.name}",
        bars=dimension,
    )


def _projected(derivation: Derivation, place: CellPosition, kind: Kind, symbol: str, step: str) -> Array:
    matrix, bias = f"w_{kind.letter}", f"b_{kind.letter}"
    b = place.steps[bias].array[kind.head, : kind.width] if bias in place.steps else None
    upper, at, number = kind.letter.upper(), kind.row + 1, kind.head + 1
    formula = f"x_{{{at}}} W_{upper}^{{({number})}}" + ("" if b is None else f" + b_{upper}^{{({number})}}")
    return derivation.add_matvec(
        kind.name,
        (f"{symbol}_{{{at}}}", f"{symbol}_{{{at},", formula),
        MatVec(
            (place.read if kind.name == "query" else place.looked_at)[kind.row],
            place.steps[matrix].array[kind.head, :, : kind.width],
            b,
            beside=derivation.sizes[step],
        ),
        recorded=place.steps[step].array[kind.head, kind.row, : kind.width],
        step=step,
        bars=dimension,
        plus="" if b is None else translate(" plus {bias}", bias=f"b_{upper}"),
        owner=_owner(place, kind),
    )


def _owner(place: CellPosition, kind: Kind) -> str:
    size = place.config.group_size
    which = "one" if kind.name == "query" or size == 1 else "shared"
    return HEADS[which].format(head=kind.head + 1, first=kind.head * size + 1, last=(kind.head + 1) * size)


def _rotated(derivation: Derivation, place: CellPosition, kind: Kind, y: Array) -> Array:
    """Return each pair of entries rotated by the position times an angle of its own; an odd last entry stays."""
    n = len(y) // 2 * 2
    angles = kind.row * place.config.rope_base ** (-2 * np.arange(n // 2) / len(y))
    sin, cos = np.sin(angles), np.cos(angles)
    made, y_seen = y.copy(), derivation.seen(y, derivation.sizes[f"projected_{kind.step}"])
    made[0:n:2] = y[0:n:2] * cos - y[1:n:2] * sin
    made[1:n:2] = y[0:n:2] * sin + y[1:n:2] * cos
    above: list[str] = []
    for d in shown_entries(n):
        if d is None:
            above.append(VERTICAL_DOTS)
        else:
            entry = f"{kind.letter}_{{{kind.row + 1},{d + 1}}}"
            rotated = derivation.fmt.number(derivation.seen(made[d], derivation.sizes[kind.step]))
            above += chain(entry, [f"{_entry(derivation, y_seen, angles, d)} = {rotated}"])
    return derivation.add_line(
        f"turned_{kind.name}",
        Equation(
            f"{kind.letter}_{{{kind.row + 1}}}",
            [rf"R_{{{kind.row}}}\, \tilde {kind.letter}_{{{kind.row + 1}}}"],
            above=above,
        ),
        Result(
            made,
            {"x": y, "angles": angles},
            recorded=place.steps[kind.step].array[kind.head, kind.row, : kind.width],
            step=kind.step,
            size=np.abs(y).max(),
            beside=derivation.sizes[kind.step],
        ),
        active=kind.row > 0,
        bars=dimension,
        at=kind.row,
    )


def _entry(derivation: Derivation, y: Array, angles: Array, d: int) -> str:
    """Return an entry of a rotated pair, written out."""
    fmt, angle, first = derivation.fmt, derivation.fmt.number(angles[d // 2]), d // 2 * 2
    left, sign, right = (r"\cos", "-", r"\sin") if d == first else (r"\sin", "+", r"\cos")
    start, end = fmt.number(y[first]), fmt.factor(y[first + 1])
    return rf"{start} \cdot {left}({angle}) {sign} {end} \cdot {right}({angle})"
