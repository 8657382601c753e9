"""The arithmetic of each normaliser, from the scores of a whole row to the weight of one of its cells.

The line is a row of scores, or a column where the queries are normalised over; `at` is the place of the cell in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from attnviz.core.language import say
from attnviz.views.latex import row, shown
from attnviz.views.line import Array, Sheet


@dataclass(frozen=True)
class Row:
    """The scores x that are normalised together, the cell's place among them, the temperature, and what came out."""

    x: Array
    at: int
    T: float
    recorded: Array
    over_keys: bool
    ij: tuple[int, int]

    @property
    def name(self) -> str:
        """What one of the scores is called, with l for its place in the line."""
        return rf"\hat s_{{{self.ij[0]},l}}" if self.over_keys else rf"\hat s_{{l,{self.ij[1]}}}"

    def label(self, place: int) -> str:
        """What stands under the bar of a score."""
        return say("key {n}", n=place) if self.over_keys else say("query {n}", n=place)


def softmax(sheet: Sheet, line: Row) -> None:
    """The exponentials of the row, their sum, and the quotient."""
    E = _exponentials(sheet, line, _largest(sheet, line, np.max(line.x), "largest"))
    total = sheet.write(
        "sum", r"\textstyle\sum_l e^{u_l}", [sheet.pen.total(E, line.at)], E.sum(), operands={"terms": E}
    )
    _quotient(sheet, line, E, total, f"e^{{u_{{{line.at + 1}}}}}", r"\sum_l e^{u_l}")


def quiet_softmax(sheet: Sheet, line: Row) -> None:
    """As the softmax, with one more in the sum."""
    pen = sheet.pen
    m = _largest(sheet, line, max(float(np.max(line.x)), 0.0), "largest_or_zero")
    E = _exponentials(sheet, line, m)
    member = rf"e^{{-{pen.factor(m)} / {pen.factor(line.T)}}}"
    one = sheet.write("one", "e^{u_0}", [member], np.exp(-m / line.T), operands={"m": m, "T": line.T})
    *lines, last = pen.total(E, line.at)
    member_lines = [*lines, f"{last} + {pen.number(one)}"]
    total = sheet.write(
        "sum",
        r"e^{u_0} + \textstyle\sum_l e^{u_l}",
        [member_lines],
        one + E.sum(),
        operands={"terms": E, "one": one},
        words="sum_with_one",
    )
    _quotient(sheet, line, E, total, f"e^{{u_{{{line.at + 1}}}}}", r"e^{u_0} + \sum_l e^{u_l}")


def sigmoid(sheet: Sheet, line: Row) -> None:
    """The score alone decides."""
    z = line.x[line.at] / line.T
    text = sheet.pen.number(z)
    if z >= 0:
        members = [rf"\frac{{1}}{{1 + e^{{-{text}}}}}"]
    else:  # the same, and e^(-z) cannot overflow
        members = [rf"\frac{{e^{{{text}}}}}{{1 + e^{{{text}}}}}"]
    small = np.exp(-np.abs(z))
    made = (1.0 if z >= 0 else small) / (1.0 + small)
    _weight(sheet, line, members, made, {"x": line.x[line.at], "T": line.T}, "weight_of_sigmoid")


def hardmax(sheet: Sheet, line: Row) -> None:
    """One over the number of winners, or nothing."""
    m = _largest(sheet, line, np.max(line.x), "largest_that_wins")
    winners = sheet.write("winners", "w", [], np.sum(line.x == m), operands={"x": line.x, "m": m})
    wins = line.x[line.at] == m
    operands = {"x": line.x[line.at], "m": m, "winners": winners}
    members = [rf"\frac{{1}}{{{sheet.pen.number(winners)}}}"] if wins else []
    words = "weight_of_hardmax" if wins else "weight_of_loser"
    _weight(sheet, line, members, float(wins) / winners, operands, words)


def linear(sheet: Sheet, line: Row) -> None:
    """The positive part over the sum of the positive parts."""
    pen, positive = sheet.pen, np.maximum(line.x, 0.0)
    members = [row([rf"\max({pen.number(x)},\, 0)" for x in line.x], line.at)]
    p = sheet.write("positive", "p", members, positive, operands={"x": line.x}, keep=line.at, bars=line.label)
    total = sheet.write(
        "sum",
        r"\textstyle\sum_l p_l",
        [pen.total(p, line.at)],
        p.sum(),
        operands={"terms": p},
        words="sum_of_positive",
    )
    if total == 0:
        _weight(sheet, line, [], 0.0, {"x": p[line.at], "sum": total}, "weight_of_nothing")
    else:
        _quotient(sheet, line, p, total, f"p_{{{line.at + 1}}}", r"\sum_l p_l", "weight_of_linear")


def sparsemax(sheet: Sheet, line: Row) -> None:
    """The threshold that makes what lies above it add to 1, and what lies above it."""
    u, falling, allowed = _below(sheet, line, "exponents", 1.0)
    rank = np.arange(1.0, len(u) + 1)
    inside = allowed & (1.0 + rank * falling > np.cumsum(np.where(allowed, falling, 0.0)))
    k, total = _support(sheet, falling, inside)
    fraction = rf"\frac{{{sheet.pen.number(total)} - 1}}{{{sheet.pen.number(k)}}}"
    tau = sheet.write("threshold", r"\tau", [fraction], (total - 1.0) / k, operands={"sum": total, "k": k})
    member = rf"\max({sheet.pen.difference(u[line.at], tau)},\; 0)"
    made = np.maximum(u[line.at] - tau, 0.0)
    _weight(sheet, line, [member], made, {"u": u[line.at], "threshold": tau}, "weight_of_sparsemax", size=1.0)


def entmax15(sheet: Sheet, line: Row) -> None:
    """Mean and spread of the support give the threshold; what lies above it is squared."""
    pen = sheet.pen
    u, falling, allowed = _below(sheet, line, "half_exponents", 2.0)
    k, total = _support(sheet, falling, _entmax_support(falling, allowed))
    mean = sheet.write(
        "mean",
        r"\bar u",
        [rf"\frac{{{pen.number(total)}}}{{{pen.number(k)}}}"],
        total / k,
        operands={"sum": total, "k": k},
    )
    inside = falling[: int(k)]
    squares = [f"{pen.base(x)}^2" for x in inside]
    listed = " + ".join(r"\cdots" if at is None else squares[at] for at in shown(len(squares)))
    spread = sheet.write(
        "spread",
        r"\sigma",
        [rf"{listed} - {pen.number(k)} \cdot {pen.base(mean)}^2"],
        np.cumsum(inside**2)[-1] - k * mean**2,
        operands={"terms": inside, "k": k, "mean": mean},
        size=1.0,
    )
    root = rf"\sqrt{{\frac{{\max(1 - {pen.factor(spread)},\, 0)}}{{{pen.number(k)}}}}}"
    tau = sheet.write(
        "threshold",
        r"\tau",
        [f"{pen.number(mean)} - {root}"],
        mean - np.sqrt(np.maximum((1.0 - spread) / k, 0.0)),
        operands={"mean": mean, "spread": spread, "k": k},
    )
    member = rf"\max({pen.difference(u[line.at], tau)},\; 0)^2"
    made = np.maximum(u[line.at] - tau, 0.0) ** 2
    _weight(sheet, line, [member], made, {"u": u[line.at], "threshold": tau}, "weight_of_entmax15", size=1.0)


def other(sheet: Sheet, line: Row) -> None:
    """A normaliser without a row in ARITHMETIC: what goes in and what comes out."""
    _weight(sheet, line, [], line.recorded, {"x": line.x, "T": line.T}, "weight_of_formula")


Arithmetic = Callable[[Sheet, Row], None]

ARITHMETIC: dict[str, Arithmetic] = {
    "softmax": softmax,
    "sparsemax": sparsemax,
    "entmax15": entmax15,
    "sigmoid": sigmoid,
    "hardmax": hardmax,
    "quiet_softmax": quiet_softmax,
    "linear": linear,
}
"""By the name of the normaliser; each writes its lines, the last of which is the weight."""


def nothing(sheet: Sheet, line: Row, words: str) -> None:
    """A weight of 0 without arithmetic: an emptied row, or a forbidden cell."""
    _weight(sheet, line, [], 0.0, {"x": line.x}, words)


def _largest(sheet: Sheet, line: Row, m: float, words: str) -> Array:
    zero = r"\max\bigl(0,\, " + rf"\max_l {line.name}\bigr)" if words == "largest_or_zero" else rf"\max_l {line.name}"
    listed = row([sheet.pen.number(x) for x in line.x], line.at)
    above = [rf"{line.name} &= {listed[0]}", *(rf"&\quad {other}" for other in listed[1:])]
    return sheet.write("largest", "m", [zero], m, operands={"x": line.x}, above=above, words=words)


def _exponents(sheet: Sheet, line: Row, m: Array, words: str = "exponents", half: float = 1.0) -> Array:
    """(x - m) / T of every score of the row, or half of it."""
    pen, divisor = sheet.pen, line.T * half
    entries = [pen.difference(x, m) for x in line.x]
    if divisor != 1.0:
        entries = [f"({entry}) / {pen.number(divisor)}" for entry in entries]
    return sheet.write(
        "exponents",
        "u_l",
        [row(entries, line.at)],
        (line.x - m) / divisor,
        operands={"x": line.x, "m": m, "divisor": divisor},
        words=words,
        keep=line.at,
        bars=line.label,
    )


def _exponentials(sheet: Sheet, line: Row, m: Array) -> Array:
    u = _exponents(sheet, line, m)
    members = [row([rf"e^{{{sheet.pen.number(x)}}}" for x in u], line.at)]
    return sheet.write("exponentials", "e^{u_l}", members, np.exp(u), operands={"u": u}, keep=line.at, bars=line.label)


def _below(sheet: Sheet, line: Row, words: str, half: float) -> tuple[Array, Array, Array]:
    """What lies below the largest, the same in falling order, and which of that is allowed."""
    m = _largest(sheet, line, np.max(line.x), "largest")
    u = _exponents(sheet, line, m, words, half)
    falling = -np.sort(-u)
    return u, falling, ~np.isneginf(falling)


def _support(sheet: Sheet, falling: Array, inside: Array) -> tuple[Array, Array]:
    """How many are in the support, and their sum."""
    above = [rf"z_{{(1)}}, z_{{(2)}}, \dots &= {' '.join(sheet.pen.vector(falling))}"]
    k = sheet.write("support", "k", [], inside.sum(), operands={"falling": falling}, above=above)
    terms = falling[: int(k)]
    symbol, members = r"\textstyle\sum_{l \le k} u_{(l)}", [sheet.pen.total(terms)]
    return k, sheet.write("sum_of_support", symbol, members, np.cumsum(terms)[-1], operands={"terms": terms})


def _entmax_support(falling: Array, allowed: Array) -> Array:
    rank = np.arange(1.0, len(falling) + 1)
    kept = np.where(allowed, np.maximum(falling, -1.0), 0.0)
    mean = np.cumsum(kept) / rank
    spread = np.cumsum(kept**2) - rank * mean**2
    return allowed & (mean - np.sqrt(np.maximum((1.0 - spread) / rank, 0.0)) <= falling)


def _quotient(
    sheet: Sheet, line: Row, parts: Array, total: Array, over: str, under: str, words: str = "weight"
) -> None:
    part = parts[line.at]
    members = [rf"\frac{{{over}}}{{{under}}}", rf"\frac{{{sheet.pen.number(part)}}}{{{sheet.pen.number(total)}}}"]
    _weight(sheet, line, members, part / total, {"part": part, "sum": total}, words)


def _weight(
    sheet: Sheet,
    line: Row,
    members: list[str],
    made: float | Array,
    operands: dict[str, float | Array],
    words: str,
    size: float | None = None,
) -> None:
    sheet.write(
        "weight",
        f"a_{{{sheet.ij}}}",
        [*members],
        made,
        operands=operands,
        recorded=line.recorded,
        step="weights",
        words=words,
        size=size,
    )
