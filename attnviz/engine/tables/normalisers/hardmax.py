"""All to the largest score, where what is equal but for rounding is equal.

The line does not say what rounding is: so what a cell, a workbook, a browser and a script say of it is written here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from attnviz.arrays import Array, Keys, Queries, Scores, Weights
from attnviz.engine.rows.line_row import CellLine, LineRow, Written
from attnviz.engine.tables.normalisers.shared import over_sum

TIE = 1e-9
"""Scores that are this much of their row's spread below the largest are equal to it but for rounding."""


ROUNDING = 2.0**-44
"""So are those that are this much of what was added up below it: where all scores are equal, rounding is the spread."""


def size_of_terms(Q: Queries, K: Keys, scale: float | Array = 1.0) -> Array:
    """Return the size of the terms that the scores of each head are sums of, (..., 1, 1).

    It is |scale| |Q| |K|, with the root of the sum of all squares of a matrix, which no score exceeds (Cauchy-Schwarz).

    >>> size_of_terms(np.array([[3.0, 4.0]]), np.array([[0.0, 2.0]])).item()
    10.0
    """
    squares = [np.square(X).sum(axis=(-2, -1), keepdims=True) for X in (Q, K)]
    size = np.abs(scale) * np.sqrt(squares[0]) * np.sqrt(squares[1])
    return np.where(np.isfinite(size), size, 0.0)


def least_winner(X: Scores, size: float | Array = 0.0) -> Array:
    """Return the least score of each row that counts as the largest, last axis kept: equal but for rounding is equal.

    size  that of the numbers whose sums the scores are; what they cancel to is rounding, however small the scores are

    >>> least_winner(np.array([1.0, 3.0, 2.0])).item()
    2.999999998
    """
    largest = np.max(X, axis=-1, keepdims=True, initial=-np.inf)
    least = np.min(np.where(np.isneginf(X), np.inf, X), axis=-1, keepdims=True, initial=np.inf)
    with np.errstate(invalid="ignore"):  # infinities are no spread
        spread = TIE * largest - TIE * least  # each made small first, so that the difference cannot overflow
        sizes = np.maximum(np.maximum(np.abs(largest), np.abs(least)), size)
        below = np.maximum(spread, ROUNDING * sizes)
    return largest - np.where(np.isfinite(below), below, 0.0)


def hardmax(X: Scores, T: float = 1.0, size: float | Array = 0.0) -> Weights:
    """Give all to the largest score; equal ones share equally. The temperature changes nothing.

    >>> hardmax(np.array([1.0, 3.0, 3.0]))
    array([0. , 0.5, 0.5])
    """
    least = least_winner(X, size)
    wins = np.where(np.isnan(least), np.nan, least <= X)
    return over_sum(np.where(np.isneginf(X), 0.0, wins))


def back(G: Weights, X: Scores, A: Weights, T: float = 1.0) -> Scores:
    """Return zeros: the best key stays the best for any small change, and a tie is a kink."""
    return np.zeros(G.shape)


def cell(write: Any) -> None:
    """Add one over the number of winners, or nothing."""
    m = write.largest()
    least = least_winner(write.x, write.size)[0]  # equal but for rounding is equal
    winners = write.add("winners", "w", [], np.sum(write.x >= least), {"x": write.x, "m": m})
    x = write.x[write.at]
    operands = {"x": x, "m": m, "winners": winners}
    if x >= least:
        write.weight([rf"\frac{{1}}{{{write.fmt.number(winners)}}}"], 1.0 / winners, operands)
    else:
        write.weight([], 0.0 / winners, operands, "loser")


def workbook(lines: Any) -> Any:
    """Return whatever is not less than what wins from the largest, over how many those are."""
    largest, X = lines.largest(), lines.masked.array
    least = np.moveaxis(least_winner(np.moveaxis(X, lines.axis, -1), lines.size[1]), -1, lines.axis)

    def won_from(i: int, j: int) -> str:
        top, low = largest.at(i, j), f"MIN({lines.line(lines.masked, i, j)})"
        size = f"MAX(ABS({top}),ABS({low}),{lines.size[0]})"
        return f"{top}-MAX({TIE:.0E}*({top}-{low}),{ROUNDING!r}*{size})"

    winner = lines.own("winner", np.where(np.isneginf(least), 0.0, least), won_from)

    def counted(i: int, j: int) -> str:
        line = lines.line(lines.masked, i, j)
        return f"SUMPRODUCT(ISNUMBER({line})*({line}>={winner.at(i, j)}))"

    wins = (least <= X) & ~np.isneginf(X)
    ties = lines.own("ties", wins.sum(axis=lines.axis, keepdims=True).astype(float), counted)

    def formula(i: int, j: int) -> str:
        s = lines.masked.at(i, j)
        return f"IF(ISNUMBER({s}),IF({s}>={lines.each(winner, i, j)},1/{lines.each(ties, i, j)},0),0)"

    return formula


ROW = LineRow(
    kind="normaliser",
    name="hardmax",
    label="Hardmax",
    line="best = x == max(x); best / sum(best)",
    note="All the weight to the largest score; ties share it equally (equal up to rounding, a billionth of the row's "
    "range). The limit of softmax as the temperature goes to 0.",
    source="ONNX operators, Hardmax (there the first of equal ones wins)",
    plain="hardmax",
    fast=hardmax,
    back=back,
    written=Written(
        cell=cell,
        words=(
            CellLine("largest", "", "The largest of the {line}", "It gets all the weight."),
            CellLine("winners", "", "The winners", "How many of the {line} share the largest score."),
            CellLine("weight", "", "The weight", "This score is the largest: 1 over the number of winners."),
            CellLine("loser", "", "The weight", "This score is not the largest, so it gets nothing."),
        ),
        workbook=workbook,
        browser="winners(x, place, head)",
        live="help.winners(x, w, n, c.size)",
        before=(
            "top = {x}.{largest}({over})",
            "low = {np}.where({np}.isneginf({x}), {np}.inf, {x}).{smallest}({over})",
            "size = {size}  # no score is larger",
            "size = {np}.maximum(size, {np}.maximum(abs(top), abs(low)))",
            "tie = {np}.maximum(1e-9 * (top - low), 2**-44 * size)  # what is equal but for rounding is equal",
            "tie = {np}.nan_to_num(tie, posinf=0.0)  # infinities are no spread",
            "wins = {x} >= top - tie",
        ),
        weights="wins / wins.sum({over})",
    ),
    masked_as_0="A score of 0 takes all the weight wherever every allowed score is below it. −1e9 stretches the row "
    "so far that scores less than about 1 apart count as equal. Setting weights to 0 afterwards leaves nothing where "
    "a forbidden key had the largest score.",
    latex=r"a_{ij} = \frac{[\, z_{ij} = \max_l z_{il} \,]}{\#\{ l : z_{il} = \max \}}",
)
