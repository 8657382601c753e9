"""Normalisers that no line says, as formulas of a spreadsheet: along the rows of the masked scores, or the columns.

A forbidden cell holds a text, which sums, maxima, counts and ranks pass over. Sparsemax and entmax need no search for
their threshold. Of all that could be it, one for each number k of keys that might share, the true one is the largest:
of sparsemax always, of entmax among those that do not exceed the k-th score.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.tables.normalisers.hardmax import ROUNDING, TIE, least_winner
from attnviz.exports.workbook.layout import FORBIDDEN, NOTHING, Block, Formula, Sheet
from attnviz.exports.workbook.score_formulas import numbers, shape
from attnviz.settings.language import Words

HEADINGS = Words(
    {
        "below": "z = (ŝ − max) / T · {shape} · how far each lies below the largest",
        "half_below": "z = (ŝ − max) / 2T · {shape} · how far each lies below the largest, halved",
        "sorted": "z₁, z₂, z₃ ... · {shape} · what lies above −1, in falling order; the rest gets no weight",
        "thresholds": "(z₁ + ... + z_k − 1) / k · {shape} · the largest of these is τ",
        "roots": "mean − √((1 − spread) / k) · {shape} · of z₁ ... z_k; their spread is the sum of (z − mean)²",
        "holding": "those not above z_k · {shape} · the largest of these is τ",
    }
)
WORDS = Words(
    {
        "largest": "largest",
        "winner": "wins from",
        "ties": "how many",
        "tau": "τ",
    }
)


@dataclass(frozen=True)
class Lines:
    """The masked scores of one head, along whose rows or columns they are normalised; T is the temperature's cell.

    size  how large the numbers are whose sums the scores are, as a formula and as a number
    """

    sheet: Sheet
    masked: Block
    T: str
    temperature: float
    by_column: bool
    size: tuple[str, float] = ("0", 0.0)

    @property
    def axis(self) -> int:
        return 0 if self.by_column else 1

    def line(self, block: Block, i: int, j: int) -> str:
        """Return the reference to the row or column in which a cell stands."""
        return block.column(j) if self.by_column else block.row(i)

    def each(self, vector: Block, i: int, j: int) -> str:
        """Return the reference to the number that belongs to that row or column."""
        return vector.at(0, j) if self.by_column else vector.at(i, 0)

    def upto(self, block: Block, i: int, j: int) -> str:
        """Return the reference to the cells of that row or column from its first to this one."""
        return block.part((0, i), (j, j)) if self.by_column else block.part((i, i), (0, j))

    def rank(self, i: int, j: int) -> int:
        return (i if self.by_column else j) + 1

    def block(self, which: str, array: Array, formula: Formula) -> Block:
        """Return a block of the shape of the scores.

        One in falling order has ranks instead of tokens along its lines.
        """
        rows, columns, grey_of = self.masked.rows, self.masked.columns, None if which in RANKED else self.masked
        if which in RANKED:
            rows, columns = (numbers(len(rows)), columns) if self.by_column else (rows, numbers(len(columns)))
        heading = HEADINGS[which].format(shape=shape(array))
        return self.sheet.add(heading, array, formula, rows=rows, columns=columns, grey_of=grey_of)

    def vector(self, which: str, array: Array, function: str, block: Block) -> Block:
        """Return a number for each row or column of a block: a function of all that stands there."""
        return self.sheet.along(WORDS[which], array, lambda i, j: function.format(self.line(block, i, j)), block)

    def largest(self) -> Block:
        X = self.masked.array.max(axis=self.axis, keepdims=True)
        return self.vector("largest", np.where(np.isneginf(X), 0.0, X), "MAX({})", self.masked)


RANKED = ("sorted", "thresholds", "roots", "holding")
"""Blocks whose cells stand in falling order and belong to no token."""


def _hardmax(lines: Lines) -> Formula:
    largest, X = lines.largest(), lines.masked.array
    least = np.moveaxis(least_winner(np.moveaxis(X, lines.axis, -1), lines.size[1]), -1, lines.axis)

    def won_from(i: int, j: int) -> str:
        top, low = largest.at(i, j), f"MIN({lines.line(lines.masked, i, j)})"
        size = f"MAX(ABS({top}),ABS({low}),{lines.size[0]})"
        return f"{top}-MAX({TIE:.0E}*({top}-{low}),{ROUNDING!r}*{size})"

    winner = lines.sheet.along(
        WORDS["winner"],
        np.where(np.isneginf(least), 0.0, least),
        won_from,
        lines.masked,
    )

    def counted(i: int, j: int) -> str:
        line = lines.line(lines.masked, i, j)
        return f"SUMPRODUCT(ISNUMBER({line})*({line}>={winner.at(i, j)}))"

    wins = (least <= X) & ~np.isneginf(X)
    ties = lines.sheet.along(
        WORDS["ties"], wins.sum(axis=lines.axis, keepdims=True).astype(float), counted, lines.masked
    )

    def formula(i: int, j: int) -> str:
        s = lines.masked.at(i, j)
        return f"IF(ISNUMBER({s}),IF({s}>={lines.each(winner, i, j)},1/{lines.each(ties, i, j)},0),0)"

    return formula


def _sparsemax(lines: Lines) -> Formula:
    z = _below(lines, "below", 1.0)
    falling = _sorted(lines, z)
    t = (np.cumsum(falling.array, axis=lines.axis) - 1.0) / _ranks(lines)

    def formula(i: int, j: int) -> str:
        line = lines.upto(falling, i, j)
        return f'IF(ISNUMBER({falling.at(i, j)}),(SUM({line})-1)/{lines.rank(i, j)},"{NOTHING}")'

    return _above(lines, z, lines.block("thresholds", t, formula), "")


def _entmax15(lines: Lines) -> Formula:
    z = _below(lines, "half_below", 2.0)
    falling = _sorted(lines, z)
    u, rank = falling.array, _ranks(lines)
    mean = np.cumsum(u, axis=lines.axis) / rank
    spread = np.cumsum(u**2, axis=lines.axis) - rank * mean**2
    t = mean - np.sqrt(np.maximum((1.0 - spread) / rank, 0.0))

    def root(i: int, j: int) -> str:
        line = lines.upto(falling, i, j)
        t = f"AVERAGE({line})-SQRT(MAX((1-DEVSQ({line}))/{lines.rank(i, j)},0))"
        return f'IF(ISNUMBER({falling.at(i, j)}),{t},"{NOTHING}")'

    roots = lines.block("roots", t, root)

    def held(i: int, j: int) -> str:
        t = roots.at(i, j)
        return f'IF({t}<={falling.at(i, j)},{t},"{NOTHING}")'

    return _above(lines, z, lines.block("holding", np.where(t <= u, t, np.nan), held), "^2")


def _below(lines: Lines, which: str, over: float) -> Block:
    """Return each score less the largest of its line, over the temperature."""
    largest, T = lines.largest(), lines.T if over == 1.0 else f"({over:.0f}*{lines.T})"

    def formula(i: int, j: int) -> str:
        s = lines.masked.at(i, j)
        return f'IF(ISNUMBER({s}),({s}-{lines.each(largest, i, j)})/{T},"{FORBIDDEN}")'

    return lines.block(which, (lines.masked.array - largest.array) / (over * lines.temperature), formula)


def _sorted(lines: Lines, z: Block) -> Block:
    """Return the scores that can get a weight, largest first: with a sum of 1, nothing 1 below the largest does."""
    falling = -np.sort(-z.array, axis=lines.axis)

    def formula(i: int, j: int) -> str:
        line, k = lines.line(z, i, j), lines.rank(i, j)
        return f'IF({k}<=COUNTIF({line},">-1"),LARGE({line},{k}),"{NOTHING}")'

    return lines.block("sorted", np.where(falling > -1.0, falling, np.nan), formula)


def _ranks(lines: Lines) -> Array:
    ranks = np.arange(1.0, lines.masked.array.shape[lines.axis] + 1)
    return ranks[:, None] if lines.by_column else ranks[None]


def _above(lines: Lines, z: Block, thresholds: Block, power: str) -> Formula:
    """Return the excess over the threshold of its line, the largest of those that were found."""
    t = thresholds.array
    tau = np.where(
        np.isnan(t).all(axis=lines.axis, keepdims=True),
        0.0,
        np.nan_to_num(t, nan=-np.inf).max(lines.axis, keepdims=True),
    )
    threshold = lines.vector("tau", tau, "MAX({})", thresholds)

    def formula(i: int, j: int) -> str:
        return f"IF(ISNUMBER({z.at(i, j)}),MAX({z.at(i, j)}-{lines.each(threshold, i, j)},0){power},0)"

    return formula


WRITTEN: dict[str, Callable[[Lines], Formula]] = {
    "sparsemax": _sparsemax,
    "entmax15": _entmax15,
    "hardmax": _hardmax,
}
"""The formula of the weights of each normaliser that sorts, or tells rounding from what is apart: no line says how."""
