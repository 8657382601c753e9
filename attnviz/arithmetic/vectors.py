"""The query, the key and the value of a cell, derived from the layer's input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.arithmetic import tensor_slices
from attnviz.arithmetic.cell_position import CellPosition
from attnviz.arithmetic.derivation import Derivation, Display, Equation, MatVec, Result, dimension
from attnviz.arithmetic.latex_numbers import VERTICAL_DOTS, chain, shown_entries
from attnviz.arrays import Array
from attnviz.engine.external.traces import first_steps
from attnviz.engine.pretrained.pretrained_config import facts_of
from attnviz.settings.counting import ordinal
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


def query(derivation: Derivation, position: CellPosition) -> Array:
    """Write the lines of q_i."""
    return _vector(derivation, position, Kind("query", "queries", "q", position.head, position.query, position.d_k))


def key(derivation: Derivation, position: CellPosition) -> Array:
    """Write the lines of k_j."""
    return _vector(derivation, position, Kind("key", "keys", "k", position.kv_head, position.key, position.d_k))


def value(derivation: Derivation, position: CellPosition) -> Array:
    """Write the lines of v_j."""
    return _vector(derivation, position, Kind("value", "values", "v", position.kv_head, position.key, position.d_v))


def _vector(derivation: Derivation, position: CellPosition, kind: Kind) -> Array:
    """Add the lines of x W + b, with RMS normalisation and RoPE where they are on, or of what was given."""
    if kind.step in first_steps(position.steps):
        return _given_vector(derivation, position, kind)
    if f"projected_{kind.step}" not in position.steps:
        return _projected(derivation, position, kind, kind.letter, kind.step)
    before, symbol = f"projected_{kind.step}", rf"\tilde {kind.letter}"
    y = _projected(derivation, position, kind, symbol, before)
    if f"normed_{kind.step}" in position.steps:
        before, symbol = f"normed_{kind.step}", rf"\hat {kind.letter}"
        y = _normed(derivation, position, kind, y)
    return _rotated(derivation, position, kind, y, before, symbol)


def _given_vector(derivation: Derivation, position: CellPosition, kind: Kind) -> Array:
    """Add the line of a vector that was given, and return the vector."""
    return derivation.add_line(
        kind.name,
        Equation(f"{kind.letter}_{{{ordinal(kind.row)}}}"),
        Result(
            position.steps[kind.step].array[kind.head, kind.row, : kind.width],
            step=kind.step,
            beside=derivation.sizes[kind.step],
        ),
        words=f"given_{kind.name}",
        display=Display(bars=dimension),
    )


def _projected(derivation: Derivation, position: CellPosition, kind: Kind, symbol: str, step: str) -> Array:
    matrix, bias = f"w_{kind.letter}", f"b_{kind.letter}"
    b = position.steps[bias].array[kind.head, : kind.width] if bias in position.steps else None
    upper, at, number = kind.letter.upper(), ordinal(kind.row), ordinal(kind.head)
    formula = f"x_{{{at}}} W_{upper}^{{({number})}}" + ("" if b is None else f" + b_{upper}^{{({number})}}")
    return derivation.add_matvec(
        kind.name,
        (f"{symbol}_{{{at}}}", f"{symbol}_{{{at},", formula),
        MatVec(
            (position.read if kind.name == "query" else position.looked_at)[kind.row],
            position.steps[matrix].array[kind.head, :, : kind.width],
            b,
            beside=derivation.sizes[step],
        ),
        recorded=position.steps[step].array[kind.head, kind.row, : kind.width],
        step=step,
        display=Display(
            bars=dimension,
            source=_sources(position, ((matrix, f"W_{upper}", kind.head), (bias, f"b_{upper}", kind.head))),
        ),
        plus="" if b is None else translate(" plus {bias}", bias=f"b_{upper}"),
        owner=_owner(position, kind),
    )


def _owner(position: CellPosition, kind: Kind) -> str:
    size = position.config.group_size
    which = "one" if kind.name == "query" or size == 1 else "shared"
    return HEADS[which].format(head=ordinal(kind.head), first=ordinal(kind.head * size), last=ordinal(kind.head) * size)


def _normed(derivation: Derivation, position: CellPosition, kind: Kind, y: Array) -> Array:
    """Add the line of RMS normalisation with its gain, which a few models apply before RoPE; return the vector."""
    step, letter, known = f"normed_{kind.step}", kind.letter, facts_of(position.config)
    g = position.steps[f"g_{letter}"].array
    rms = np.sqrt((y**2).mean() + known.eps)
    normed, fmt = y / rms * g, derivation.fmt
    mean = rf"\sqrt{{\tfrac{{1}}{{{len(y)}}} \textstyle\sum_d \tilde {letter}_d^2 + \epsilon}}"
    above = chain(r"\rho", [mean, fmt.number(rms)])
    for d in shown_entries(len(y)):
        if d is None:
            above.append(VERTICAL_DOTS)
        else:
            parts = rf"\frac{{{fmt.number(y[d])}}}{{\rho}} \cdot {fmt.factor(g[d])} = {fmt.number(normed[d])}"
            above += chain(rf"\hat {letter}_{{{ordinal(kind.row)},{ordinal(d)}}}", [parts])
    return derivation.add_line(
        f"normed_{kind.name}",
        Equation(
            rf"\hat {letter}_{{{ordinal(kind.row)}}}", [rf"\tfrac{{1}}{{\rho}}\, \tilde {letter} \odot g"], above=above
        ),
        Result(
            normed,
            {"x": y, "g": g},
            recorded=position.steps[step].array[kind.head, kind.row, : kind.width],
            step=step,
            size=np.abs(normed).max(),
            beside=derivation.sizes[step],
        ),
        display=Display(bars=dimension, source=_sources(position, ((f"g_{letter}", "g", 0),))),
    )


def _turn(position: CellPosition, kind: Kind, width: int) -> tuple[Array, Array, Array]:
    """Return the pairs of entries that are rotated together, firsts and seconds, and the angle of each pair.

    The page's own settings pair neighbours; trained models pair an entry with the one half the width further on.
    """
    frequencies = facts_of(position.config).frequencies
    if frequencies is not None:
        first = np.arange(len(frequencies))
        return first, first + len(frequencies), kind.row * frequencies
    first = np.arange(0, width // 2 * 2, 2)
    return first, first + 1, kind.row * position.config.rope_base ** (-first / width)


def _rotated(derivation: Derivation, position: CellPosition, kind: Kind, y: Array, before: str, symbol: str) -> Array:
    """Add the line of RoPE, which rotates each pair of entries by the position times the angle of the pair.

    An entry without a partner stays as it is. Return the vector.
    """
    first, second, angles = _turn(position, kind, len(y))
    sin, cos = np.sin(angles), np.cos(angles)
    rotated_y, y_seen = y.copy(), derivation.as_printed(y, derivation.sizes[before])
    rotated_y[first] = y[first] * cos - y[second] * sin
    rotated_y[second] = y[first] * sin + y[second] * cos
    positions = {int(d): (pair, at) for at, ends in enumerate((first, second)) for pair, d in enumerate(ends)}
    above: list[str] = []
    for d in shown_entries(len(y)):
        if d is None:
            above.append(VERTICAL_DOTS)
        elif d in positions:
            pair, at = positions[d]
            entry = f"{kind.letter}_{{{ordinal(kind.row)},{ordinal(d)}}}"
            rotated = derivation.fmt.number(derivation.as_printed(rotated_y[d], derivation.sizes[kind.step]))
            ends = y_seen[first[pair]], y_seen[second[pair]]
            above += chain(entry, [f"{_entry(derivation, ends, angles[pair], at)} = {rotated}"])
    return derivation.add_line(
        f"turned_{kind.name}",
        Equation(
            f"{kind.letter}_{{{ordinal(kind.row)}}}",
            [rf"R_{{{kind.row}}}\, {symbol}_{{{ordinal(kind.row)}}}"],
            above=above,
        ),
        Result(
            rotated_y,
            {"x": y, "angles": angles},
            recorded=position.steps[kind.step].array[kind.head, kind.row, : kind.width],
            step=kind.step,
            size=np.abs(y).max(),
            beside=derivation.sizes[kind.step],
        ),
        display=Display(active=kind.row > 0, bars=dimension),
        at=kind.row,
    )


def _entry(derivation: Derivation, ends: tuple[float, float], angle: float, at: int) -> str:
    """Return an entry of a rotated pair, written out; `at` is 0 for the first of the pair and 1 for the second."""
    fmt, by = derivation.fmt, derivation.fmt.number(angle)
    left, sign, right = (r"\sin", "+", r"\cos") if at else (r"\cos", "-", r"\sin")
    return rf"{fmt.number(ends[0])} \cdot {left}({by}) {sign} {fmt.factor(ends[1])} \cdot {right}({by})"


def _sources(position: CellPosition, parts: Sequence[tuple[str, str, int]]) -> str:
    """Return where in the model's files the parameters of a line lie, a sentence; empty for what was made here.

    parts  of each parameter its name in the trace, its symbol and the head
    """
    known = facts_of(position.config)
    slices = [(known.slice_of(position.layer, name), symbol, head) for name, symbol, head in parts]
    return " ".join(tensor_slices.columns(at, symbol, head) for at, symbol, head in slices if at is not None)
