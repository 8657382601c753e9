"""How the query, the key and the value of a cell are made from the layer's input."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.core.given import first_steps
from attnviz.core.language import Words, say
from attnviz.views.latex import VERTICAL_DOTS, chain, shown
from attnviz.views.line import Array, Sheet
from attnviz.views.place import Place

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


def query(sheet: Sheet, place: Place) -> Array:
    """q_i."""
    return _vector(sheet, place, Kind("query", "queries", "q", place.head, place.query, place.d_k))


def key(sheet: Sheet, place: Place) -> Array:
    """k_j."""
    return _vector(sheet, place, Kind("key", "keys", "k", place.kv_head, place.key, place.d_k))


def value(sheet: Sheet, place: Place) -> Array:
    """v_j."""
    return _vector(sheet, place, Kind("value", "values", "v", place.kv_head, place.key, place.d_v))


def _vector(sheet: Sheet, place: Place, kind: Kind) -> Array:
    """x W + b, and the turn where RoPE is on; or what was given."""
    if kind.step in first_steps(place.steps):
        return _given(sheet, place, kind)
    if f"projected_{kind.step}" not in place.steps:
        return _projected(sheet, place, kind, kind.letter, kind.step)
    y = _projected(sheet, place, kind, rf"\tilde {kind.letter}", f"projected_{kind.step}")
    return _turned(sheet, place, kind, y)


def _given(sheet: Sheet, place: Place, kind: Kind) -> Array:
    """A vector that was brought along."""
    return sheet.write(
        kind.name,
        f"{kind.letter}_{{{kind.row + 1}}}",
        [],
        place.steps[kind.step].array[kind.head, kind.row, : kind.width],
        operands={},
        step=kind.step,
        words=f"given_{kind.name}",
        bars=lambda d: f"{kind.letter}{d}",
    )


def _projected(sheet: Sheet, place: Place, kind: Kind, symbol: str, step: str) -> Array:
    matrix, bias = f"w_{kind.letter}", f"b_{kind.letter}"
    b = place.steps[bias].array[kind.head, : kind.width] if bias in place.steps else None
    upper, at, number = kind.letter.upper(), kind.row + 1, kind.head + 1
    formula = f"x_{{{at}}} W_{upper}^{{({number})}}" + ("" if b is None else f" + b_{upper}^{{({number})}}")
    return sheet.through(
        kind.name,
        (f"{symbol}_{{{at}}}", f"{symbol}_{{{at},", formula),
        (place.read if kind.name == "query" else place.looked_at)[kind.row],
        place.steps[matrix].array[kind.head, :, : kind.width],
        b,
        recorded=place.steps[step].array[kind.head, kind.row, : kind.width],
        step=step,
        bars=lambda d: f"{kind.letter}{d}",
        plus="" if b is None else say(" plus {bias}", bias=f"b_{upper}"),
        owner=_owner(place, kind),
    )


def _owner(place: Place, kind: Kind) -> str:
    size = place.config.group_size
    which = "one" if kind.name == "query" or size == 1 else "shared"
    return HEADS[which].format(head=kind.head + 1, first=kind.head * size + 1, last=(kind.head + 1) * size)


def _turned(sheet: Sheet, place: Place, kind: Kind, y: Array) -> Array:
    """Each pair of entries turned by the position times an angle of its own; an odd last entry stays."""
    n = len(y) // 2 * 2
    angles = kind.row * place.config.rope_base ** (-2 * np.arange(n // 2) / len(y))
    sin, cos = np.sin(angles), np.cos(angles)
    made = y.copy()
    made[0:n:2] = y[0:n:2] * cos - y[1:n:2] * sin
    made[1:n:2] = y[0:n:2] * sin + y[1:n:2] * cos
    above: list[str] = []
    for d in shown(n):
        if d is None:
            above.append(VERTICAL_DOTS)
        else:
            entry = f"{kind.letter}_{{{kind.row + 1},{d + 1}}}"
            above += chain(entry, [f"{_entry(sheet, y, angles, d)} = {sheet.pen.number(made[d])}"])
    return sheet.write(
        f"turned_{kind.name}",
        f"{kind.letter}_{{{kind.row + 1}}}",
        [rf"R_{{{kind.row}}}\, \tilde {kind.letter}_{{{kind.row + 1}}}"],
        made,
        operands={"x": y, "angles": angles},
        recorded=place.steps[kind.step].array[kind.head, kind.row, : kind.width],
        step=kind.step,
        above=above,
        size=np.abs(y).max(),
        active=kind.row > 0,
        bars=lambda d: f"{kind.letter}{d}",
        at=kind.row,
    )


def _entry(sheet: Sheet, y: Array, angles: Array, d: int) -> str:
    """An entry of a turned pair, written out."""
    pen, angle, first = sheet.pen, sheet.pen.number(angles[d // 2]), d // 2 * 2
    left, sign, right = (r"\cos", "-", r"\sin") if d == first else (r"\sin", "+", r"\cos")
    start, end = pen.number(y[first]), pen.factor(y[first + 1])
    return rf"{start} \cdot {left}({angle}) {sign} {end} \cdot {right}({angle})"
