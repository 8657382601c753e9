"""The layout of a workbook, and the references by which its formulas find every number.

Nothing here knows a library for spreadsheets: a book is a list of sheets, a sheet a list of blocks, and a block a
matrix of numbers with the formula of every cell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from attnviz.arrays import Array
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words

Formula = Callable[[int, int], str]
"""Row and column of a cell inside its block, counted from 0, to its formula without the equals sign."""

FORBIDDEN, NOTHING = "−∞", "–"
"""The text of a forbidden cell, and of one without a number."""

MOST_CELLS, MOST_SHEETS, MOST_COLUMNS = 300_000, 255, 16_384
GAP = 2
"""Columns that stay free between matrices side by side, so that a heading has room."""

FAULTS = Words(
    {
        "cells": "a workbook of this setting would hold more than {most:,} numbers; choose fewer tokens, heads or "
        "layers, or smaller sizes",
        "model": "a workbook holds up to {most:,} numbers, and the matrices of this model are {n:,}; choose a smaller "
        "model, such as one of those in the package",
        "sheets": "a workbook of this setting would have more than {most} sheets; choose fewer heads or layers",
        "columns": "a sheet of this setting would have more than {most:,} columns; choose fewer heads or smaller sizes",
        "infinite": "{name} holds infinity or NaN, for which a spreadsheet has no cell; change what makes it so",
    }
)


def letters(column: int) -> str:
    """Return the name of a column, counted from 0.

    >>> [letters(column) for column in (0, 25, 26, 701, 702)]
    ['A', 'Z', 'AA', 'ZZ', 'AAA']
    """
    name = ""
    while column >= 0:
        name, column = chr(ord("A") + column % 26) + name, column // 26 - 1
    return name


@dataclass(frozen=True, eq=False)
class Block:
    """A matrix on a sheet.

    sheet     its name;  top, left  where the first number stands, counted from 0
    heading   what stands above;  rows, columns  the words beside and above the numbers, none if empty
    array     the numbers, 2-D: -inf is a forbidden cell, NaN one that holds nothing
    formula   of every cell; None for numbers that a visitor may change
    name      by which formulas of the visitor's own can call it, empty for steps in between
    kind      of the colours: "signed", "share", "allowed" or "plain";  reach  the largest size that they tell apart
    is_input  whether it looks like what may be changed
    edited    the cells that hold a number where a formula would stand
    grey_of   the block whose forbidden cells are grey here too;  is_masked  whether it has such cells itself
    """

    sheet: str
    top: int
    left: int
    heading: str
    array: Array
    formula: Formula | None
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()
    name: str = ""
    kind: str = "plain"
    reach: float = 1.0
    is_input: bool = False
    edited: frozenset[tuple[int, int]] = frozenset()
    grey_of: Block | None = None
    is_masked: bool = False

    def at(self, i: int, j: int) -> str:
        """Return the reference to one cell.

        >>> import numpy as np
        >>> Block("Head 1", 4, 1, "", np.zeros((2, 3)), None).at(1, 2)
        "'Head 1'!D6"
        """
        return f"'{self.sheet}'!{letters(self.left + j)}{self.top + i + 1}"

    def part(self, rows: tuple[int, int], columns: tuple[int, int]) -> str:
        """Return the reference to a rectangle: first and last row, first and last column."""
        last = f"{letters(self.left + columns[1])}{self.top + rows[1] + 1}"
        return f"{self.at(rows[0], columns[0])}:{last}"

    def row(self, i: int) -> str:
        """Return the reference to a row."""
        return self.part((i, i), (0, self.array.shape[1] - 1))

    def column(self, j: int) -> str:
        """Return the reference to a column."""
        return self.part((0, self.array.shape[0] - 1), (j, j))

    def whole(self) -> str:
        """Return the reference to all of it, fixed in place."""
        right, bottom = self.left + self.array.shape[1] - 1, self.top + self.array.shape[0]
        return f"'{self.sheet}'!${letters(self.left)}${self.top + 1}:${letters(right)}${bottom}"


@dataclass
class Sheet:
    """A sheet: its title, a few lines of words below it, and its blocks, one below the other or side by side."""

    book: Book
    name: str
    title: str
    lines: Sequence[str] = ()
    blocks: list[Block] = field(default_factory=list)

    def add(
        self, heading: str, array: Array, formula: Formula | None, *, beside: Block | None = None, **more: object
    ) -> Block:
        """Return a block below all others, or right of the one it stands beside, which lends it the words of its
        rows.
        """
        top, left = self._below() + 3, 1
        if beside is not None:
            top, left = (
                beside.top,
                1 + GAP + max(b.left + b.array.shape[1] - 1 for b in self.blocks if b.top == beside.top),
            )
        return self._placed(top, left, heading, array, formula, more)

    def along(self, word: str, array: Array, formula: Formula, beside: Block) -> Block:
        """Return a number for every row of a block, right of it, or for every column, under it; a word says what."""
        if array.shape[1] == 1:
            left = 2 + max(b.left + b.array.shape[1] - 1 for b in self.blocks if b.top == beside.top)
            return self._placed(beside.top, left, "", array, formula, {"columns": (word,)})
        return self._placed(self._below(), beside.left, "", array, formula, {"rows": (word,)})

    def _below(self) -> int:
        """Return the first row that is free."""
        return max([b.top + b.array.shape[0] for b in self.blocks], default=len(self.lines) + 1)

    def _placed(
        self, top: int, left: int, heading: str, array: Array, formula: Formula | None, more: dict[str, object]
    ) -> Block:
        settled = {"is_input": formula is None} | more
        block = Block(self.name, top, left, heading, array, formula, **settled)  # type: ignore[arg-type]
        self.book.count(block)
        self.blocks.append(block)
        return block


@dataclass
class Book:
    """The sheets in their order, and how many numbers they hold."""

    sheets: list[Sheet] = field(default_factory=list)
    n_cells: int = 0

    def sheet(self, name: str, title: str, lines: Sequence[str] = ()) -> Sheet:
        """Return a new sheet at the end; raises ConfigError if there are too many."""
        if len(self.sheets) == MOST_SHEETS:
            raise fault("sheets", most=MOST_SHEETS)
        self.sheets.append(Sheet(self, name, title, lines))
        return self.sheets[-1]

    def count(self, block: Block) -> None:
        """Count the cells of a block; raise ConfigError if they are more than a workbook should hold."""
        self.n_cells += block.array.size
        if self.n_cells > MOST_CELLS:
            raise fault("cells", most=MOST_CELLS)
        if block.left + block.array.shape[1] > MOST_COLUMNS:
            raise fault("columns", most=MOST_COLUMNS)


def fault(which: str, **facts: object) -> ConfigError:
    """Return the reason why no workbook can hold a setting."""
    return ConfigError(FAULTS[which].format(**facts))
