"""One stage as elements of a drawing: its cells, the numbers in them, the words beside them, names and frames.

The arrangement is that of the page, with as much room beside the cells as the words need in print.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from xml.etree import ElementTree as ET

import numpy as np

from attnviz.engine.numerics import cancellation
from attnviz.pictures.colours import EDITED, NOT_A_NUMBER, PAGE, PAPER
from attnviz.pictures.layout.mosaic import GAP, LARGEST_CELL, TOP, Grid, Layout, Shape, arrange
from attnviz.pictures.stage_record import Stage
from attnviz.pictures.static.colour_scale import INK, PALE_INK, colour, contrast
from attnviz.pictures.static.svg_elements import Element, box, corner, group, shown, text
from attnviz.pictures.static.svg_masked import masked
from attnviz.pictures.static.text_metrics import drawable, fitted, stands, width, word
from attnviz.settings.counting import ordinal
from attnviz.settings.language import translate
from attnviz.text.format import cell_number

GREY = "#808080"
GAP_FROM = 14  # a cell of so many pixels has a gap around it
LABEL, SMALL_LABEL, NAME = 12, 10, 12
ROOM_LEFT, ROOM_BELOW = (24, 150), (22, 130)
LEVEL_ROOM, LEVEL_FROM = 20, 26
WORD_GAP = 6
LONGEST_NUMBER, SHARE_NUMBER, LARGEST_NUMBER, LEAST_NUMBER = "−0.00", ".00", 12.0, 6.0
ROLE, ROLE_GAP, SHORTEST_ROLE = 11, 6, 6
QUIET_INK, RING = PAPER["quiet"][0], PAGE["accent"][0]
UPRIGHT = 0.35  # of a letter's size: how far its foot is below its middle
WIDE = " · {n} wide"


def arranged(stages: Sequence[Stage], room: int) -> Layout:
    """Lay out all heads of all stages in `room` pixels.

    Side by side they take all of it: no screen has to hold them.

    The picture does not become higher than it is wide.
    """
    layout = arrange(tuple(_shape(stage) for stage in stages), room)
    if not layout.side_by_side:
        return layout
    start = layout.grids[0].cell_h
    ways = (_enlarged(layout, cell / start) for cell in range(LARGEST_CELL, start, -1))
    return next(
        (way for way in ways if _extent(way) <= room and max(grid.height for grid in way.grids) <= room), layout
    )


def _enlarged(layout: Layout, times: float) -> Layout:
    """Return the same with larger cells, and no more cells of gutter than before."""
    grids = [replace(grid, cell_w=grid.cell_w * times, cell_h=round(grid.cell_h * times)) for grid in layout.grids]
    return replace(layout, grids=tuple(grids))


def _extent(layout: Layout) -> int:
    return sum(layout.shares) + GAP * (len(layout.grids) - 1)


def tiles(stage: Stage, grid: Grid) -> list[Element]:
    """Draw everything of a stage but its heading, from the upper left corner of the grid's own room."""
    elements = [masked(stage, grid), _cells(stage, grid), _outlines(grid), *_frames(stage, grid)]
    elements += [
        _names(stage, grid),
        _row_words(stage, grid),
        _column_words(stage, grid),
        _numbers(stage, grid),
        *_chosen(stage, grid),
    ]
    return [element for element in elements if len(element) or element.get("d")]


def height(stage: Stage, grid: Grid) -> float:
    """Return pixels that the grid and its words take."""
    below = LEVEL_ROOM if _level(stage, grid) else grid.bottom
    return TOP + grid.cells_y * grid.cell_h + below


def _shape(stage: Stage) -> Shape:
    left = _room([_row(stage, row) for row in range(len(stage.rows))], *ROOM_LEFT)
    below = ROOM_BELOW[0] if stage.columns is None else _room([word(each) for each in stage.columns], *ROOM_BELOW)
    return replace(stage.shape, left=left, bottom=below)


def _row(stage: Stage, row: int) -> str:
    """Return the word of a row; the one row of a vector has none, unlike an empty token."""
    return word(stage.rows[row]) if stage.rows[row] or stage.axes[0] != "row" else ""


def _room(words: Sequence[str], least: int, most: int) -> int:
    longest = max((width(each, LABEL) for each in words), default=0.0)
    return min(max(math.ceil(longest) + 2 * WORD_GAP, least), most)


def _shown(stage: Stage, head: int) -> Iterator[tuple[int, int, float]]:
    """Yield row, column and number of every cell of a head that has one to show."""
    for row, column in np.argwhere(stage.drawn_cells[head]).tolist():
        yield row, column, float(stage.array[head, row, column])


def _cells(stage: Stage, grid: Grid) -> Element:
    """Return the cells of every head, those of one colour as one shape."""
    gap = 1 if min(grid.cell_w, grid.cell_h) >= GAP_FROM else 0
    heads = []
    for head, top, left in grid.corners():
        cancellation.check()
        boxes: dict[str, list[str]] = defaultdict(list)
        shades = stage.scale_of(head)
        for row, column, number in _shown(stage, head):
            x, y = corner(grid, top + row, left + column)
            fill = colour(shades, number) if math.isfinite(number) else NOT_A_NUMBER
            boxes[fill].append(box(x + gap / 2, y + gap / 2, grid.cell_w - gap, grid.cell_h - gap))
        shapes = [ET.Element("path", {"fill": fill, "d": "".join(each)}) for fill, each in boxes.items()]
        heads.append(group("head", shapes))
    return group("cells", heads, **({} if gap else {"shape-rendering": "crispEdges"}))


def _outlines(grid: Grid) -> Element:
    """Return a thin line around every head."""
    boxes = []
    for head, top, left in grid.corners():
        x, y = corner(grid, top, left)
        boxes.append(box(x, y, grid.widths[head] * grid.cell_w, grid.rows * grid.cell_h))
    line = {"fill": "none", "stroke": GREY, "stroke-opacity": ".45"}
    return ET.Element("path", {"class": "outlines", **line, "d": "".join(boxes)})


def _frames(stage: Stage, grid: Grid) -> list[Element]:
    """Return a frame around every number that was changed by hand."""
    corners = {head: (top, left) for head, top, left in grid.corners()}
    boxes = []
    for head, row, column in stage.edited:
        x, y = corner(grid, corners[head][0] + row, corners[head][1] + column)
        boxes.append(box(x, y, grid.cell_w, grid.cell_h))
    line = {"fill": "none", "stroke": EDITED, "stroke-width": "2"}
    return [ET.Element("path", {"class": "edited", **line, "d": "".join(boxes)})]


def _chosen(stage: Stage, grid: Grid) -> list[Element]:
    """Return a frame around the row that is chosen, and a thicker one around its cell, each on a pale ground."""
    if stage.chosen is None:
        return []
    head, row, column = stage.chosen
    top, left = {each: corner for each, *corner in grid.corners()}[head]
    frames = [(0, grid.widths[head], 1.5)] if column is None else [(0, grid.widths[head], 1.5), (column, 1, 2.0)]
    elements = []
    for start, length, line in frames:
        x, y = corner(grid, top + row, left + start)
        d = box(x, y, length * grid.cell_w, grid.cell_h)
        ink = RING if line < 2 else INK
        for stroke, thick in ((PALE_INK, line + 2), (ink, line)):
            attributes = {"fill": "none", "stroke": stroke, "stroke-width": shown(thick), "d": d}
            elements.append(ET.Element("path", {"class": "chosen", **attributes}))
    return elements


def _names(stage: Stage, grid: Grid) -> Element:
    """Return the name of every head over it, and its role: whole, or what of it there is room for."""
    room = (grid.columns + grid.gap_x) * grid.cell_w - 4
    ragged = len(set(grid.widths)) > 1
    elements = []
    for head, top, left in grid.corners():
        name, (x, y) = word(stage.names[head]) if stage.names[head] else "", corner(grid, top, left)
        wide = translate(WIDE, n=grid.widths[head]) if ragged else ""
        ways = [name + wide, name, name.split(" · ")[0], str(ordinal(head))]
        label = next((way for way in ways if width(way, NAME, bold=True) <= room), "")
        if name and label:
            elements.append(text(label, x, y - 5))
            start = width(label, NAME, bold=True) + ROLE_GAP
            role = fitted(drawable(stage.roles[head]), ROLE, room - start) if stage.roles else ""
            if len(role) >= SHORTEST_ROLE or (stage.roles and role == stage.roles[head]):
                plain = {"font-size": ROLE, "font-weight": 400, "fill": QUIET_INK}
                elements.append(text(role, x + start, y - 5, **plain))
    return group("names", elements, font_size=NAME, font_weight=600)


def _label(grid: Grid, cell: float) -> int:
    return LABEL if min(cell, grid.cell_h) >= LABEL + 1 else SMALL_LABEL


def _row_words(stage: Stage, grid: Grid) -> Element:
    """Return words left of every row of heads, as many as there is room for."""
    size = _label(grid, grid.cell_h)
    every = math.ceil((size + 1) / grid.cell_h)
    elements = []
    for head, top, left in grid.corners():
        for row in range(0, grid.rows if head % grid.across == 0 else 0, every):
            x, y = corner(grid, top + row, left)
            label = fitted(_row(stage, row), size, x - WORD_GAP)
            elements.append(text(label, x - WORD_GAP, y + grid.cell_h / 2 + UPRIGHT * size))
    return group("rows", [each for each in elements if each.text], font_size=size, text_anchor="end")


def _level(stage: Stage, grid: Grid) -> bool:
    """Return whether the words under the columns can stand level."""
    if stage.columns is None:
        return True
    size = _label(grid, grid.cell_w)
    return grid.cell_w >= LEVEL_FROM and all(width(word(each), size) <= grid.cell_w - 4 for each in stage.columns)


def _column_words(stage: Stage, grid: Grid) -> Element:
    """Return words, or numbers, under the lowest head of every column of heads."""
    size, level = _label(grid, grid.cell_w), _level(stage, grid)
    label = [str(ordinal(at)) if stage.columns is None else word(stage.columns[at]) for at in range(grid.columns)]
    wide = width(str(grid.columns), size) + 5 if stage.columns is None else 0 if level else size + 1
    every = max(math.ceil(wide / grid.cell_w), 1)
    elements = []
    for head, top, left in grid.corners():
        for column in range(0, grid.widths[head] if head + grid.across >= grid.heads else 0, every):
            x, y = corner(grid, top + grid.rows, left + column)
            middle = x + grid.cell_w / 2
            elements.append(_under(label[column], middle, y, size, None if level else grid.bottom - WORD_GAP))
    return group("columns", elements, font_size=size, text_anchor="middle" if level else "end")


def _under(label: str, x: float, y: float, size: int, room: float | None) -> Element:
    """Return a word under a column: level, or upright where there is so much room below and it is read so."""
    if room is None:
        return text(label, x, y + 4 + size)
    if stands(label):
        return text(label, x, y + 4 + size, **{"text-anchor": "middle"})
    across, down = x + UPRIGHT * size, y + WORD_GAP
    turn = f"rotate(-90 {shown(across)} {shown(down)})"
    return text(fitted(label, size, room - 2), across, down, transform=turn)


def _numbers(stage: Stage, grid: Grid) -> Element:
    """Return the numbers as the page writes them, where cells have room, and always what is not a finite number."""
    if stage.kind == "allowed":
        return group("numbers", ())
    size, write = _writing(stage, grid)
    elements = []
    for head, top, left in grid.corners():
        shades = stage.scale_of(head)
        for row, column, number in _shown(stage, head):
            is_finite = math.isfinite(number)
            if label := cell_number.in_language(write(number)) if is_finite else _odd(number, grid.cell_w - 3, size):
                x, y = corner(grid, top + row, left + column)
                fill = contrast(colour(shades, number)) if is_finite else INK
                elements.append(text(label, x + grid.cell_w / 2, y + grid.cell_h / 2 + UPRIGHT * size, fill=fill))
    return group("numbers", elements, font_size=shown(size), text_anchor="middle")


def _writing(stage: Stage, grid: Grid) -> tuple[float, Callable[[float], str]]:
    """Return the size of the numbers of a stage, and how each is written: not at all where cells are too small."""
    is_share = stage.kind == "share" and stage.scale.low == 0 and stage.scale.high <= 1
    size = min((grid.cell_w - 4) / width(SHARE_NUMBER if is_share else LONGEST_NUMBER, 1), LARGEST_NUMBER)
    size = min(size, grid.cell_h - 6)
    if size < LEAST_NUMBER:
        return LEAST_NUMBER, lambda number: ""
    if is_share:
        return size, partial(cell_number.share, room=grid.cell_w)
    finite = stage.array[stage.drawn_cells & np.isfinite(stage.array)].tolist()
    digits = cell_number.places(finite, lambda label: width(label, size) <= grid.cell_w - 3)
    return size, lambda number: cell_number.written(number, digits) if digits >= 0 else ""


def _odd(number: float, room: float, size: float) -> str:
    label = "NaN" if math.isnan(number) else "∞" if number > 0 else "−∞"
    return label if width(label, size) <= room else ""
