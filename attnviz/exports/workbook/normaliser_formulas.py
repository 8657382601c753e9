"""Workbook formulas of the normalisers that no line defines: along the rows of the masked scores, or the columns.

A forbidden cell holds a text, which sums, maxima, counts and ranks pass over. Sparsemax and entmax need no search for
their threshold. Of all that could be it, one for each number k of keys that might share, the true one is the largest:
of sparsemax always, of entmax among those that do not exceed the k-th score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attnviz.arrays import Array
from attnviz.exports.workbook.layout import FORBIDDEN, NOTHING, Block, Formula, Sheet
from attnviz.exports.workbook.score_formulas import numbers, shape
from attnviz.settings.language import Words

HEADINGS = Words(
    {
        "below": "z = (ŝ − max) / T · {shape} · how far each lies below the largest",
        "half_below": "z = (ŝ − max) / 2T · {shape} · how far each lies below the largest, halved",
        "sorted": "z₁, z₂, z₃ ... · {shape} · what lies above −1, in descending order; the rest gets no weight",
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


RANKED = ("sorted", "thresholds", "roots", "holding")
"""Blocks whose cells stand in falling order and belong to no token."""


@dataclass(frozen=True)
class MaskedScores:
    """The masked scores of one head, along whose rows or columns they are normalised; T is the temperature's cell.

    size     how large the numbers are whose sums the scores are, as a formula and as a number
    nothing  the text in a cell that takes no part
    """

    sheet: Sheet
    masked: Block
    T: str
    temperature: float
    by_column: bool
    size: tuple[str, float] = ("0", 0.0)
    nothing: ClassVar[str] = NOTHING

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

    def own(self, which: str, array: Array, formula: Formula) -> Block:
        """Return a number for each row or column of the masked scores."""
        return self.sheet.along(WORDS[which], array, formula, self.masked)

    def vector(self, which: str, array: Array, function: str, block: Block) -> Block:
        """Return a number for each row or column of a block: a function of all that stands there."""
        return self.sheet.along(WORDS[which], array, lambda i, j: function.format(self.line(block, i, j)), block)

    def largest(self) -> Block:
        X = self.masked.array.max(axis=self.axis, keepdims=True)
        return self.vector("largest", np.where(np.isneginf(X), 0.0, X), "MAX({})", self.masked)

    def below(self, which: str, over: float) -> Block:
        """Return each score less the largest of its line, over the temperature."""
        largest, T = self.largest(), self.T if over == 1.0 else f"({over:.0f}*{self.T})"

        def formula(i: int, j: int) -> str:
            s = self.masked.at(i, j)
            return f'IF(ISNUMBER({s}),({s}-{self.each(largest, i, j)})/{T},"{FORBIDDEN}")'

        return self.block(which, (self.masked.array - largest.array) / (over * self.temperature), formula)

    def sorted(self, z: Block) -> Block:
        """Return the scores that can get a weight, largest first: with a sum of 1, nothing 1 below the largest does."""
        falling = -np.sort(-z.array, axis=self.axis)

        def formula(i: int, j: int) -> str:
            line, k = self.line(z, i, j), self.rank(i, j)
            return f'IF({k}<=COUNTIF({line},">-1"),LARGE({line},{k}),"{NOTHING}")'

        return self.block("sorted", np.where(falling > -1.0, falling, np.nan), formula)

    def ranks(self) -> Array:
        ranks = np.arange(1.0, self.masked.array.shape[self.axis] + 1)
        return ranks[:, None] if self.by_column else ranks[None]

    def above(self, z: Block, thresholds: Block, power: str) -> Formula:
        """Return the excess over the threshold of its line, the largest of those that were found."""
        t = thresholds.array
        tau = np.where(
            np.isnan(t).all(axis=self.axis, keepdims=True),
            0.0,
            np.nan_to_num(t, nan=-np.inf).max(self.axis, keepdims=True),
        )
        threshold = self.vector("tau", tau, "MAX({})", thresholds)

        def formula(i: int, j: int) -> str:
            return f"IF(ISNUMBER({z.at(i, j)}),MAX({z.at(i, j)}-{self.each(threshold, i, j)},0){power},0)"

        return formula
