"""The placement of the heads of every stage in a box of the window: a pure function of shapes and pixels.

All lengths are CSS pixels. The box depends on the window alone, so that one word or head more never moves what is
around it; what changes is the size of the cells. Where cells would be smaller than `BLOCKS_BELOW`, several words share
one, which then shows the largest value of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from tests.support.cell_shape import flattest, tallest, whole, worth

LARGEST_CELL = 46
LARGEST_FOR_A_ROOM = 120
LARGEST_ON_A_PHONE = 96  # where one stage is shown by itself, and few words would leave most of the window empty
BLOCKS_BELOW = 4
EVEN_FROM = 30  # from here on the cells of all stages are equally wide; below, those that lead are wider
NAME, SUMS, WORDS_BELOW = 17, 11, 36  # over a head its name; under it the sums of its columns; words under the last row
AIR = 4  # between a head and the next line where there are no sums
STAGE_GAP, MORE_GAP = 16, 28  # pixels between stages, and how many more if there are any; then each has its part
NARROWEST_STAGE, NARROWEST_ALONE = 100, 340  # a heading needs this much, and this much to be whole
NARROWEST_PAGE = 640  # below this, stages do not stand side by side
LEAD, BESIDE = 0.75, 0.55  # how wide the cells of other stages are beside those that lead; in focus while small
NUMBERED = 28  # the width from which a cell has its number, if that is no share
STRIPE = 0.6  # the same for columns that are only counted
LARGER = 1.4  # where type is large
BELOW_EVEN = (3.5, 3.0, 2.6, 2.2, 1.8, 1.4, 1.0)


@dataclass(frozen=True)
class Shape:
    """The size of a stage, as far as its placement depends on it.

    widths  true columns of every head;  rows  of each of them
    left    pixels for the words beside the rows
    worded  whether columns carry words; columns that are only counted become narrow stripes beside a stage that leads
    leads   whether its cells are to be the widest
    sums    whether each head has bars of its rows at the right and of its columns below
    large   words and numbers in large type, for a room
    """

    widths: tuple[int, ...]
    rows: int
    left: int
    worded: bool = True
    leads: bool = False
    sums: bool = False
    large: bool = False


@dataclass(frozen=True)
class Tiling:
    """The heads of one stage as tiles of equal size, `across` of them in a row.

    cell_w, cell_h  may be fractions; edges are whole pixels
    gap_x, gap_y    between tiles;  left, right, top, below  around them
    block, fold     how many rows and how many columns share a drawn cell
    """

    widths: tuple[int, ...]
    rows: int
    across: int
    cell_w: float
    cell_h: float
    gap_x: int
    gap_y: int
    left: int
    right: int
    top: int
    below: int
    block: int = 1
    fold: int = 1

    @property
    def heads(self) -> int:
        return len(self.widths)

    @property
    def down(self) -> int:
        return math.ceil(self.heads / self.across)

    @property
    def columns(self) -> int:
        """The number of drawn cells side by side in the widest head."""
        return math.ceil(max(self.widths) / self.fold)

    @property
    def lines(self) -> int:
        """The number of drawn cells one below the other in a head."""
        return math.ceil(self.rows / self.block)

    @property
    def x(self) -> tuple[int, ...]:
        """The edges of all columns of cells, and between tiles those of a gutter.

        >>> Tiling((3, 3), 1, 2, 9.5, 20, gap_x=12, gap_y=0, left=0, right=0, top=0, below=0).x
        (0, 10, 19, 29, 41, 51, 60, 70)
        """
        return _edges(self.across, self.columns, self.cell_w, self.gap_x)

    @property
    def y(self) -> tuple[int, ...]:
        """The edges of all rows of cells, as `x`."""
        return _edges(self.down, self.lines, self.cell_h, self.gap_y)

    @property
    def width(self) -> int:
        return self.left + self.x[-1] + self.right

    @property
    def height(self) -> int:
        return self.top + self.y[-1] + self.below

    def corners(self) -> Iterator[tuple[int, int, int]]:
        """Yield head, top row and left column of every tile, in drawn cells and with a gutter of one between tiles.

        >>> list(Tiling((3, 3, 3), 2, 2, 9, 9, 0, 0, 0, 0, 0, 0).corners())
        [(0, 0, 0), (1, 0, 4), (2, 3, 0)]
        """
        for head in range(self.heads):
            down, across = divmod(head, self.across)
            yield head, down * (self.lines + 1), across * (self.columns + 1)


@dataclass(frozen=True)
class Placement:
    """The tiles of every stage, and the pixels that each takes of the width; side by side or one below the other."""

    tilings: tuple[Tiling, ...]
    spans: tuple[int, ...]
    side_by_side: bool


def place(shapes: Sequence[Shape], width: int, height: int, *, focused: bool = False) -> Placement:
    """Return the placement with the largest legible cells within a box; stages share rows of the same heights.

    focused  one head is shown by itself; its cells may be higher than wide by more

    >>> placed = place([Shape((7,) * 4, 7, 42), Shape((7,) * 4, 7, 42, leads=True, sums=True)], 700, 500)
    >>> [(tiling.across, tiling.cell_w, tiling.cell_h) for tiling in placed.tilings]
    [(2, 16, 28), (2, 22, 28)]
    """
    return _place(tuple(shapes), width, height, focused)


@lru_cache(maxsize=256)
def _place(shapes: tuple[Shape, ...], width: int, height: int, focused: bool) -> Placement:
    if width < NARROWEST_PAGE and len(shapes) > 1:
        alone = [_place((shape,), width, height, focused).tilings[0] for shape in shapes]
        return Placement(tuple(alone), (width,) * len(alone), False)
    tilings = _widened(shapes, _largest(shapes, width, height, focused), width)
    narrowest = NARROWEST_STAGE if len(shapes) > 1 else min(NARROWEST_ALONE, width)
    spans = [max(tiling.width, narrowest) for tiling in tilings]
    spare = width - sum(spans) - STAGE_GAP * (len(spans) - 1)
    more = max(0, min(max(MORE_GAP, spare // len(spans)), spare // max(1, len(spans) - 1)))
    return Placement(tilings, (*(span + more for span in spans[:-1]), spans[-1]), len(shapes) > 1)


def _largest(shapes: tuple[Shape, ...], width: int, height: int, focused: bool) -> tuple[Tiling, ...]:
    """Return the tiles with the largest cells; words share cells only where these would be too small otherwise."""
    heads, rows = max(len(shape.widths) for shape in shapes), max(shape.rows for shape in shapes)
    most = max([rows, *(max(shape.widths) for shape in shapes if shape.worded)])
    best, fits, block = _Way((0.0, 0.0, 0.0, 0.0), 1, 1, 1.0, 1.0), False, 1
    while True:
        for across in range(1, heads + 1):
            way = _columns(shapes, across, block, width, height, focused, best.score)
            best, fits = way or best, fits or way is not None
        if fits and (best.score[0] >= BLOCKS_BELOW or block >= most):
            return _tilings(shapes, best, focused)
        if block >= most:  # not even that fits: it is drawn as small as can be, and may be scrolled to
            return _tilings(shapes, _Way((1.0, 1.0, 1.0, 1.0), math.ceil(math.sqrt(heads)), block, 1.0, 1.0), focused)
        block *= 2


def _widened(shapes: tuple[Shape, ...], tilings: tuple[Tiling, ...], width: int) -> tuple[Tiling, ...]:
    """Return the tiles with wider stripes where so much width is spare that their numbers fit in."""
    led = [tiling.cell_w for tiling, shape in zip(tilings, shapes, strict=True) if shape.leads]
    stripes = [at for at, shape in enumerate(shapes) if not shape.worded]
    if not led or not stripes:
        return tilings
    taken = sum(max(tiling.width, NARROWEST_STAGE) for tiling in tilings) + (STAGE_GAP + MORE_GAP) * (len(tilings) - 1)
    cells = sum(tilings[at].across * tilings[at].columns for at in stripes)
    found = list(tilings)
    for at in stripes:
        cell = min(led[0], tilings[at].cell_w + (width - taken) // cells)
        if cell >= NUMBERED and tilings[at].fold == 1:
            found[at] = replace(tilings[at], cell_w=cell)
    return tuple(found)


_Score = tuple[float, float, float, float]


@dataclass(frozen=True)
class _Way:
    """Heads in a row, rows to a cell and the size of the leading cells, and how good that is.

    score  the shorter side of a cell, worth more where there is text; its area; places without a head, less
           than none; and the part of the box along which least is filled
    """

    score: _Score
    across: int
    block: int
    cell: float
    high: float


def _columns(
    shapes: tuple[Shape, ...],
    across: int,
    block: int,
    width: int,
    height: int,
    focused: bool,
    least: _Score,
) -> _Way | None:
    """Return the largest cells with so many heads in a row; None if none fit, or none are better than `least`."""
    down = max(math.ceil(len(shape.widths) / across) for shape in shapes)
    lines = max(math.ceil(shape.rows / block) for shape in shapes)
    top, gap, below = _around(shapes)
    largest = LARGEST_ON_A_PHONE if focused and width < NARROWEST_PAGE else LARGEST_CELL
    largest = LARGEST_FOR_A_ROOM if any(shape.large for shape in shapes) else largest
    highest = min(largest, (height - top - below - (down - 1) * gap) / (down * lines))
    if highest < 1:
        return None
    flat = flattest(len(shapes), len(shapes[0].widths))
    empty = across * down - max(len(shape.widths) for shape in shapes)
    room = width - STAGE_GAP * (len(shapes) - 1)
    for cell in (*range(largest, 3, -1), *BELOW_EVEN):
        high = whole(min(highest, tallest(cell, focused=focused)))
        size = (worth(cell, high), cell * high)
        if cell > BLOCKS_BELOW and high < cell * flat:
            continue  # a smaller, squarer cell leaves the same height
        if worth(cell, math.inf) < least[0]:
            return None
        if size < least[:2]:
            continue
        used = sum(_span(shape, shapes, across, block, cell, focused) for shape in shapes)
        if used <= room:
            score = (*size, -empty, min(used / room, (down * lines * high + (down - 1) * gap) / height))
            return _Way(score, across, block, cell, high) if score > least else None
    return None


def _span(shape: Shape, shapes: Sequence[Shape], across: int, block: int, cell: float, focused: bool) -> int:
    """Return pixels that a stage takes of the width."""
    cell_w, fold = _width(shape, shapes, block, cell, focused)
    gap, right = _gutters(shape, cell)
    n = min(across, len(shape.widths))
    tile = math.floor(math.ceil(max(shape.widths) / fold) * cell_w + 0.5)
    return max(shape.left + n * (tile + right) + (n - 1) * gap + (right == 0), NARROWEST_STAGE)


def _gutters(shape: Shape, cell: float) -> tuple[int, int]:
    """Return pixels between two heads, and for the bars at the right of each."""
    gap, bars = (12, 20) if cell >= 14 else (6, 8)
    return gap, bars if shape.sums else 0


def _around(shapes: Sequence[Shape]) -> tuple[int, int, int]:
    """Return pixels over the first row of heads, between two rows and under the last."""
    larger = LARGER if any(shape.large for shape in shapes) else 1
    sums = SUMS if any(shape.sums for shape in shapes) else AIR // 2
    name = round(NAME * larger)
    return name, name + sums, round(sums + WORDS_BELOW * larger + AIR)


def _tilings(shapes: Sequence[Shape], way: _Way, focused: bool) -> tuple[Tiling, ...]:
    top, gap_y, below = _around(shapes)
    tilings = []
    for shape in shapes:
        cell_w, fold = _width(shape, shapes, way.block, way.cell, focused)
        gap, right = _gutters(shape, way.cell)
        across = min(way.across, len(shape.widths))
        place = (gap + right, gap_y, shape.left, right or 1, top, below, way.block, fold)  # a frame needs a pixel
        tilings.append(Tiling(shape.widths, shape.rows, across, cell_w, way.high, *place))
    return tuple(tilings)


def _width(shape: Shape, shapes: Sequence[Shape], block: int, cell: float, focused: bool) -> tuple[float, int]:
    """Return the width of the cells of a stage, and the number of columns that share one."""
    worded = [each for each in shapes if each.worded]
    if shape.worded:
        if shape.leads or cell >= EVEN_FROM or not any(each.leads for each in shapes):
            return cell, block
        less = BESIDE if focused and cell < 24 else LEAD
        return (max(2, math.floor(less * cell)) if cell >= 3 else less * cell), block
    n = max(shape.widths)
    if any(each.leads for each in worded):
        wide = math.ceil(max(max(each.widths) for each in worded) / block) * cell
        share = 0.25 if focused and cell < 12 else 0.5
        wish, most = max(n * cell * (1 if cell >= EVEN_FROM else STRIPE), BLOCKS_BELOW * n), max(share * wide, 36)
    else:
        wish, most = n * cell, max(1.6 * math.ceil(shape.rows / block) * cell, 36)
    tile = min(wish, most)
    fold = 1 if tile / n >= min(BLOCKS_BELOW, cell) else math.ceil(n / max(1, tile // BLOCKS_BELOW))
    return min(tile / math.ceil(n / fold), cell), fold


def _edges(tiles: int, cells: int, cell: float, gap: int) -> tuple[int, ...]:
    inside = [math.floor(at * cell + 0.5) for at in range(cells + 1)]
    pitch = inside[-1] + gap
    return tuple(tile * pitch + at for tile in range(tiles) for at in inside)


def room_beside(words: Sequence[str]) -> int:
    """Return pixels for the longest of `words` beside its row, within reason; a longer one is cut.

    Of two that are compared both are to be read.

    >>> room_beside(["a"]), room_beside(["keeper", "of"]), room_beside(["x" * 200])
    (42, 52, 66)
    >>> room_beside(["king / queen"])
    91
    """
    longest = max(map(len, words), default=0)
    most = 100 if any(" / " in word for word in words) else 60
    return min(max(round(6.4 * longest) + 8, 36), most) + 6
