"""The places of everything in a picture for a paper, in centimetres from its upper left corner.

A cell is as dark as its number is large, whatever its colour, and a bar in it says that the number is negative: so
nothing is lost where the page is printed in grey.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from attnviz.engine.numerics import cancellation
from attnviz.pictures.headings import end_of_scale
from attnviz.pictures.stage_record import Stage
from attnviz.pictures.static.colour_scale import INK, PALE_INK, colour, contrast
from attnviz.pictures.static.text_metrics import fitted, stands, width, word
from attnviz.settings.counting import ordinals
from attnviz.text.format.number_format import localised

COLUMN, PAGE = 8.4, 16.0
"""Centimetres of a column of a paper, which one map takes at most, and of a page, which several do."""
LARGEST_CELL, GUTTER, GAP = 0.6, 0.35, 0.12
"""Centimetres of a cell, between two maps, and between a map and its words."""
ACROSS = 4
LETTERS, LEAST_LETTERS, LABEL = 7.0, 4.5, 2.2
"""Points of the letters, at most and at least, and centimetres that a word may take."""
POINT = 2.54 / 72
"""Centimetres of a point, of which PDF has 72 an inch."""
SWATCHES = 5


@dataclass(frozen=True)
class Box:
    """A filled square; `mark` is "" or, drawn over it in `ink`: "minus", or "cross" for what is no number."""

    x: float
    y: float
    size: float
    fill: str
    mark: str = ""
    ink: str = INK


@dataclass(frozen=True)
class Text:
    """Words whose letters stand on y: `anchor` is start, middle or end; `turned` words run upwards. Size in points."""

    x: float
    y: float
    text: str
    size: float
    anchor: str = "start"
    turned: bool = False


@dataclass(frozen=True)
class Grid:
    """The arrangement of the maps: so many side by side, of square cells, with words left of and below them."""

    across: int
    down: int
    rows: int
    columns: int
    cell: float
    left: float
    below: float
    letters: float

    def corner(self, at: int) -> tuple[float, float]:
        """Return the upper left corner of a map."""
        row, column = divmod(at, self.across)
        title = LETTERS * POINT + GAP
        x = self.left + column * (self.columns * self.cell + GUTTER)
        return x, title + row * (self.rows * self.cell + title + GUTTER / 2)


@dataclass
class Drawing:
    """All that is drawn: boxes and slashes one by one, as a large step has many, frames (x, y, w, h), and words."""

    stage: Stage
    grid: Grid
    width: float = 0.0
    height: float = 0.0
    legend: list[Box] = field(default_factory=list)
    frames: list[tuple[float, float, float, float]] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)

    def boxes(self) -> Iterator[Box]:
        """Yield the cells of every head, and the shades of the legend."""
        for head in range(len(self.stage.array)):
            cancellation.check()
            shades, cell = self.stage.scale_of(head), self.grid.cell
            for row, column, x, y in self._cells(head, masked=False):
                number = float(self.stage.array[head, row, column])
                fill = colour(shades, number) if math.isfinite(number) else PALE_INK
                mark = "" if number >= 0 else "minus" if math.isfinite(number) else "cross"
                yield Box(x, y, cell, fill, mark, contrast(fill))
        yield from self.legend

    def slashes(self) -> Iterator[tuple[float, float, float]]:
        """Yield the masked cells: x, y and size."""
        for head in range(len(self.stage.array)):
            for _, _, x, y in self._cells(head, masked=True):
                yield x, y, self.grid.cell

    def _cells(self, head: int, *, masked: bool) -> Iterator[tuple[int, int, float, float]]:
        """Yield row, column and upper left corner of the cells of a head that are masked, or of all others."""
        seen, (x, y) = self.stage.drawn_cells[head], self.grid.corner(head)
        for row in range(self.grid.rows):
            for column in range(self.stage.true_widths[head]):
                if masked != seen[row, column]:
                    yield row, column, x + column * self.grid.cell, y + row * self.grid.cell


def drawing(stage: Stage) -> Drawing:
    """Return the picture of a step: its maps side by side, the words beside them, and the scale of their shades."""
    grid = _grid(stage)
    drawn = Drawing(stage, grid, width=grid.left + grid.across * (grid.columns * grid.cell + GUTTER) - GUTTER)
    for head, wide in enumerate(stage.true_widths):
        x, y = grid.corner(head)
        drawn.frames.append((x, y, wide * grid.cell, grid.rows * grid.cell))
        if name := stage.names[head]:
            label = fitted(word(name), LETTERS, grid.columns * grid.cell / POINT)
            drawn.texts.append(Text(x, y - GAP, label, LETTERS))
    _words(drawn, stage, grid)
    _legend(drawn, stage)
    drawn.width = max(drawn.width, *(_right_end(each) for each in drawn.texts)) + 0.02
    return drawn


def _grid(stage: Stage) -> Grid:
    heads, rows, columns = stage.array.shape
    across = min(ACROSS, math.ceil(math.sqrt(heads)))
    left = max((_wide(each, LETTERS) for each in stage.rows), default=0.0) + GAP
    below = max((_wide(each, LETTERS) for each in _below(stage)), default=0.0) + GAP
    room = (COLUMN if heads == 1 else PAGE) - left - GUTTER * (across - 1)
    cell = min(room / (across * columns), LARGEST_CELL)
    letters = min(max(0.8 * cell / POINT, LEAST_LETTERS), LETTERS)
    return Grid(across, math.ceil(heads / across), rows, columns, cell, left, below, letters)


def _below(stage: Stage) -> Sequence[str]:
    return stage.columns or [str(n) for n in ordinals(stage.array.shape[2])]


def _wide(token: str, size: float) -> float:
    return min(width(word(token), size) * POINT, LABEL)


def _words(drawn: Drawing, stage: Stage, grid: Grid) -> None:
    """Draw the words left of the first maps and below the last of each column; every n-th where there is no room."""
    every = math.ceil(grid.letters * POINT / grid.cell)
    raised = 0.35 * grid.letters * POINT
    low = drawn.height
    for line in range(grid.down):
        x, y = grid.corner(line * grid.across)
        for at in range(0, grid.rows, every):
            label = fitted(word(stage.rows[at]), grid.letters, LABEL / POINT)
            drawn.texts.append(Text(x - GAP, y + (at + 0.5) * grid.cell + raised, label, grid.letters, "end"))
    heads = len(stage.array)
    for at in range(max(heads - grid.across, 0), heads):
        x, y = grid.corner(at)
        y += grid.rows * grid.cell + GAP
        for column in range(0, stage.true_widths[at], every):
            label = fitted(word(_below(stage)[column]), grid.letters, LABEL / POINT)
            middle = x + (column + 0.5) * grid.cell
            if stands(label):
                drawn.texts.append(Text(middle, y + grid.letters * POINT, label, grid.letters, "middle"))
            else:
                drawn.texts.append(Text(middle + raised, y, label, grid.letters, "end", turned=True))
        low = max(low, y + grid.below)
    drawn.height = low


def _legend(drawn: Drawing, stage: Stage) -> None:
    """Draw the shades from the smallest to the largest number below the maps."""
    shades = stage.legend
    if stage.kind == "allowed" or stage.apart:
        return
    y, size, x = drawn.height + GAP, LETTERS * POINT, drawn.frames[0][0]
    signed = stage.scale.low < 0
    low, high = (localised(end_of_scale(end, signed)) for end in (shades.low, shades.high))
    drawn.texts.append(Text(x, y + 0.85 * size, low, LETTERS))
    x += width(low, LETTERS) * POINT + GAP
    for at in range(SWATCHES):
        number = shades.low + (shades.high - shades.low) * at / (SWATCHES - 1)
        fill = colour(stage.scale, number)
        drawn.legend.append(Box(x, y, size, fill, "minus" if number < 0 else "", contrast(fill)))
        x += size
    drawn.texts.append(Text(x + GAP, y + 0.85 * size, high, LETTERS))
    drawn.height = y + size + GAP


def _right_end(each: Text) -> float:
    if each.turned or each.anchor == "end":
        return each.x
    part = 0.5 if each.anchor == "middle" else 1.0
    return each.x + part * width(each.text, each.size) * POINT


def batched(lines: Iterator[str], n: int = 1000) -> Iterator[list[str]]:
    """Yield lists of n of them, the last with what is left."""
    while part := list(islice(lines, n)):
        yield part
