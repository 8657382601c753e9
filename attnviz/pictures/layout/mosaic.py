"""The layout of the heads of a stage: all of them in one picture, side by side and wrapped into rows.

Lengths called `cell_...`, `left`, `bottom` and `width` are pixels; everything else is counted in cells. A mosaic is a
grid of equal tiles, one a head, each as wide as the widest head, with whole cells of gutter between them. So the cell
under a pixel, and the pixel of a cell, are found by arithmetic alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

LARGEST_CELL = 46
LEGIBLE_CELL = 11  # a word needs this much height
FEW_WORDS = 24  # up to here every word should be readable beside its row
TALLEST = 720  # a stage should fit on one screen,
LOW = 440  # and all of them, side by side, on the first screen below the sentence
GAP = 16  # pixels between stages that stand side by side
TOP = 18  # room for the names of the first row of heads
RIGHT = 6
NARROWEST_STAGE = 210  # a heading needs this much
NARROWEST_PAGE = 640  # below this, stages stand one below the other
GUTTER = 14  # pixels between heads, rounded up to whole cells


@dataclass(frozen=True)
class Grid:
    """The tiles of one stage: as many as `widths` has entries, `across` of them in a row."""

    widths: tuple[int, ...]
    rows: int
    across: int
    cell_w: float
    cell_h: int
    gap_x: int
    gap_y: int
    left: int
    bottom: int

    @property
    def heads(self) -> int:
        return len(self.widths)

    @property
    def columns(self) -> int:
        return max(self.widths)

    @property
    def down(self) -> int:
        return math.ceil(self.heads / self.across)

    @property
    def cells_x(self) -> int:
        return self.across * (self.columns + self.gap_x) - self.gap_x

    @property
    def cells_y(self) -> int:
        return self.down * (self.rows + self.gap_y) - self.gap_y

    @property
    def width(self) -> int:
        return self.left + math.ceil(self.cells_x * self.cell_w) + RIGHT

    @property
    def height(self) -> int:
        return TOP + self.cells_y * self.cell_h + self.bottom

    def corners(self) -> Iterator[tuple[int, int, int]]:
        """Yield head, top row and left column of every tile.

        >>> grid = Grid((3, 3, 3), 2, across=2, cell_w=9, cell_h=9, gap_x=1, gap_y=2, left=0, bottom=0)
        >>> list(grid.corners())
        [(0, 0, 0), (1, 0, 4), (2, 4, 0)]
        """
        for head in range(self.heads):
            down, across = divmod(head, self.across)
            yield head, down * (self.rows + self.gap_y), across * (self.columns + self.gap_x)


@dataclass(frozen=True)
class Shape:
    """The size of a stage: true columns of every head, rows, and room for words in pixels.

    worded   whether columns carry words; their cells stay square, while numbered columns may become narrow stripes
    """

    widths: tuple[int, ...]
    rows: int
    left: int
    bottom: int
    worded: bool = True


@dataclass(frozen=True)
class Layout:
    """One grid a stage, for a page of `width` pixels."""

    width: int
    side_by_side: bool
    grids: tuple[Grid, ...]

    @property
    def shares(self) -> tuple[int, ...]:
        """The share of the width for each of the stages that stand side by side."""
        return tuple(max(grid.width, NARROWEST_STAGE) for grid in self.grids)


def room_for(words: Sequence[str], *, least: int, most: int) -> int:
    """Return pixels for the longest of `words` in small type, within `least` and `most`.

    >>> room_for(["a"], least=24, most=64), room_for(["warm", "mat"], least=24, most=64)
    (24, 46)
    """
    longest = max(map(len, words), default=0)
    return min(max(8 * longest + 14, least), most)


@lru_cache(maxsize=128)
def arrange(shapes: tuple[Shape, ...], width: int, height: int | None = None) -> Layout:
    """Return the arrangement in which heads are legible.

    Stages side by side if cells stay large, else one below the other.

    height  pixels that all stages should fit into, side by side, where nothing is to be scrolled
    """
    if height is not None and (within := _within(shapes, width, height)):
        return within
    beside = _beside(shapes, width)
    below = _alone(shapes, width) if len(shapes) == 1 else _below(shapes, width)
    if beside is None or len(shapes) == 1:
        return below
    many = max(shape.rows for shape in shapes) > FEW_WORDS
    return beside if _cell(beside) >= (LEGIBLE_CELL // 2 if many else LEGIBLE_CELL) else below


def _within(shapes: Sequence[Shape], width: int, height: int) -> Layout | None:
    """Return the largest legible cells with which the stages fit side by side into `width` and `height`.

    None if none do.
    """
    most = max(len(shape.widths) for shape in shapes) if width >= NARROWEST_PAGE else 0
    layouts = [way for across in range(most, 0, -1) if (way := _columns(shapes, across, width, height))]
    best = max(layouts, key=_cell, default=None)
    return replace(best, side_by_side=len(shapes) > 1) if best and _cell(best) >= LEGIBLE_CELL else None


def _beside(shapes: Sequence[Shape], width: int) -> Layout | None:
    """Lay stages out as columns, with as many heads in a row as makes the largest cells; None if that is too wide."""
    if width < NARROWEST_PAGE:
        return None
    usual = _wide(max(len(shape.widths) for shape in shapes))
    ways = [_columns(shapes, across, width, LOW) for across in range(usual, 0, -1)]
    layouts = [way for way in ways if way]
    return max(layouts, key=_cell) if layouts else _columns(shapes, usual, width, TALLEST)


def _columns(shapes: Sequence[Shape], across: int, width: int, height: int) -> Layout | None:
    """Return the largest cells with which the stages fit side by side into `width` and `height`."""
    room, fair = width - GAP * (len(shapes) - 1), _fair(shapes)
    for cell in _cells(sum(_words(shapes, across)), room):
        grids = tuple(_grid(shape, min(across, len(shape.widths)), cell, fair) for shape in shapes)
        layout = Layout(width, True, grids)
        if sum(layout.shares) <= room and _height(layout) <= height:
            return layout
    return None


def _wide(heads: int) -> int:
    """Return how many heads stand in a row of a column: 1, 2 up to four heads, 3 up to nine, 4 up to sixteen."""
    return math.ceil(math.sqrt(heads))


def _below(shapes: Sequence[Shape], width: int) -> Layout:
    """Lay stages out as full-width strips with the fewest rows of heads that keep cells legible.

    All strips have as many heads in a row and tiles of one width, so that a head stands below itself.
    """
    most = max(shape.rows for shape in shapes)
    goal = LEGIBLE_CELL if most <= FEW_WORDS else max(2, 260 // most)
    ways = _ways(shapes, width)
    best = next((way for way in ways if _cell(way) >= goal), ways[-1])
    seen = [way for way in ways if _cell(way) >= 2] or ways
    lower = [way for way in seen if _height(way) <= TALLEST] or [min(seen, key=_height)]
    if best not in lower:
        best = max(lower, key=_cell)
    return next(way for way in ways if _cell(way) == _cell(best))


def _alone(shapes: Sequence[Shape], width: int) -> Layout:
    """Return a stage by itself: the largest cells with which it fits on the first screen, if they are legible."""
    low = [way for way in _ways(shapes, width) if _height(way) <= LOW and _cell(way) >= LEGIBLE_CELL]
    return max(low, key=_cell) if low else _below(shapes, width)


def _ways(shapes: Sequence[Shape], width: int) -> list[Layout]:
    """Return one layout for every number of rows of heads, the fewest rows first."""
    heads = max(len(shape.widths) for shape in shapes)
    return [_strips(shapes, math.ceil(heads / rows), width) for rows in range(1, heads + 1)]


def _strips(shapes: Sequence[Shape], across: int, width: int) -> Layout:
    fair = _fair(shapes)
    for cell in _cells(max(_words(shapes, across)), width):
        grids = _in_line([_grid(shape, min(across, len(shape.widths)), cell, fair) for shape in shapes])
        layout = Layout(width, False, grids)
        low = cell <= LEGIBLE_CELL or _height(layout) <= TALLEST
        if low and max(grid.width for grid in grids) <= width:
            break
    return layout


def _words(shapes: Sequence[Shape], across: int) -> list[int]:
    """Return the number of labelled columns in a row of heads, for every stage."""
    return [min(across, len(shape.widths)) * max(shape.widths) if shape.worded else 0 for shape in shapes]


def _cells(columns: int, room: int) -> range:
    """Yield sizes of a cell to try, the largest first; so many columns could not have larger ones."""
    return range(max(1, min(LARGEST_CELL, room // max(columns, 1))), 0, -1)


def _cell(layout: Layout) -> int:
    return min(grid.cell_h for grid in layout.grids)


def _height(layout: Layout) -> int:
    return max(grid.height for grid in layout.grids)


def _fair(shapes: Sequence[Shape]) -> int:
    """Return the largest width of a head, in square cells, before its numbered columns become stripes."""
    worded = [max(shape.widths) for shape in shapes if shape.worded]
    return max([round(1.6 * max(shape.rows for shape in shapes)), *worded])


def _grid(shape: Shape, across: int, cell: int, fair: int) -> Grid:
    columns = max(shape.widths)
    cell_w = cell if columns <= fair else min(cell, max(2, fair * cell // columns))
    gap_x, gap_y = math.ceil(GUTTER / cell_w), math.ceil(TOP / cell)
    return Grid(shape.widths, shape.rows, across, cell_w, cell, gap_x, gap_y, shape.left, shape.bottom)


def _in_line(grids: Sequence[Grid]) -> tuple[Grid, ...]:
    """Return the grids with tiles one pitch apart in all of them, so that every head stands below itself.

    A narrow head has wider gutters; where cells are small it has wider cells instead, which are easier to see and do
    not fill the picture with gutter.
    """
    pitch = max((grid.columns + grid.gap_x) * grid.cell_w for grid in grids)
    return tuple(
        replace(grid, gap_x=1, cell_w=pitch / (grid.columns + 1))
        if grid.cell_h < LEGIBLE_CELL and 2 * (grid.columns + 1) * grid.cell_w <= pitch
        else replace(grid, gap_x=int(pitch // grid.cell_w) - grid.columns)
        for grid in grids
    )
