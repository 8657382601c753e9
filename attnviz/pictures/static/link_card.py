"""The card of a link: one head's map and what it tells, as the picture that a chat shows under the link."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.pictures import columns
from attnviz.pictures.colours import HATCH, NOT_A_NUMBER, PAGE
from attnviz.pictures.stage_record import Stage
from attnviz.pictures.static import fonts
from attnviz.pictures.static.colour_scale import INK, PALE_INK, colour, contrast
from attnviz.pictures.static.svg_elements import Element, box, group, shown, text
from attnviz.pictures.static.text_metrics import drawable, fitted, stands, width, word, wrapped
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words
from attnviz.text import link_words, opening_sentence
from attnviz.text.format import cell_number
from attnviz.text.format.sentence_parts import TOKEN, Sentence
from attnviz.text.link_words import Telling

WORDS = Words({"about": "see attention happen", "head": "head {n} of {all}: {role}, {made}", "picture": "Attention"})
WIDTH, HEIGHT = 1200, 630
LEFT, ROOM = 60, 530
"""Where the words stand, and how wide they may be."""
RIGHT, TOP, LOWEST, LARGEST_CELL = 1178, 60, 545, 64
LABELS, BELOW = 120, 78
"""Pixels for the words beside the map, and below it."""
MOST_CELLS = 24
"""Words of a side that are drawn; of more, those around the one that it is about."""
SAID = (58, 46, 36, 28)
NAMED_FROM, NUMBERED_FROM = 13, 26  # pixels of a cell
HATCH_STEP = 6 * math.sqrt(2)  # pixels from a line to the next, across
ACCENT, TEXT, MUTED, BORDER = (PAGE[name][0] for name in ("accent", "ink", "muted", "border"))


@dataclass(frozen=True)
class Seen:
    """The rows and the columns that are drawn, in pixels of a cell, and the pixel where the map begins."""

    rows: range
    columns: range
    cell: float
    left: float


def card(trace: Trace, layer: int, telling: Telling) -> str:
    """Return the picture of a setting as an SVG of 1200 by 630 pixels: shapes and text alone."""
    stage = next(each for each in columns.columns(trace, layer, "weights", apart=False) if each.name == "weights")
    size = {"width": str(WIDTH), "height": str(HEIGHT), "viewBox": f"0 0 {WIDTH} {HEIGHT}"}
    root = ET.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", **size, "font-family": fonts.FAMILY, "fill": TEXT})
    ET.SubElement(root, "title").text = drawable(telling.brief) or WORDS["picture"]
    root.append(_rectangle(0, 0, WIDTH, HEIGHT, fill=PALE_INK))
    root.append(_rectangle(0, 0, 14, HEIGHT, fill=ACCENT))
    root.append(text("attnviz", LEFT, 82, **{"font-size": 32, "font-weight": 700}))
    root.append(text(WORDS["about"], LEFT, 116, **{"font-size": 20, "fill": MUTED}))
    root.extend(_said(telling))
    root.extend(_about(trace, layer, telling))
    root.extend(_facts(trace.config))
    root.extend(_map(stage, telling))
    return ET.tostring(root, encoding="unicode")


def _rectangle(x: float, y: float, w: float, h: float, **more: object) -> Element:
    size = {"x": shown(x), "y": shown(y), "width": shown(w), "height": shown(h)}
    return ET.Element("rect", {**size, **{name.replace("_", "-"): str(value) for name, value in more.items()}})


def _said(telling: Telling) -> list[Element]:
    """Draw what is said, as large as there is room for, and how much it is."""
    size = next((size for size in SAID if _wide(telling.said, size) <= ROOM), SAID[-1])
    line = text("", LEFT, 222, **{"font-size": size})
    line.set("xml:space", "preserve")
    tokens = [words for kind, words in telling.said if kind == TOKEN]
    spare = ROOM - _wide([part for part in telling.said if part[0] != TOKEN], size)
    most = ROOM if _wide(telling.said, size) <= ROOM else max(spare / len(tokens), 4 * size)
    for kind, words in telling.said:
        piece = ET.SubElement(line, "tspan")
        piece.text = drawable(words)
        if kind == TOKEN:
            piece.text = fitted(piece.text, size, most, bold=True)
            piece.attrib |= {"font-weight": "700", "fill": ACCENT if words is tokens[0] else TEXT}
    amount = fitted(telling.amount, 36, ROOM, bold=True)
    return [line, text(amount, LEFT, 282, **{"font-size": 36, "font-weight": 700, "fill": ACCENT})]


def _wide(said: Sentence | Sequence[tuple[str, str]], size: int) -> float:
    return sum(width(drawable(words), size, bold=kind == TOKEN) for kind, words in said)


def _about(trace: Trace, layer: int, telling: Telling) -> list[Element]:
    """Draw the whole sentence, and which head it is and what that does."""
    lines = wrapped(drawable(link_words.sentence(trace.config)), 25, ROOM, most=3)
    elements = [text(line, LEFT, 350 + 34 * at, **{"font-size": 25}) for at, line in enumerate(lines)]
    role = WORDS["head"].format(
        n=ordinal(telling.head),
        all=trace.config.n_heads,
        role=columns.roles(trace, layer)[telling.head],
        made=opening_sentence.describe_origin(trace),
    )
    below = 350 + 34 * len(lines) + 16
    lines = wrapped(drawable(role), 19, ROOM, most=2)
    return elements + [
        text(line, LEFT, below + 27 * at, **{"font-size": 19, "fill": MUTED}) for at, line in enumerate(lines)
    ]


def _facts(config: Config) -> list[Element]:
    """Draw facts of the setting in a row, as many as there is room for."""
    elements, x = [], float(LEFT)
    for fact in link_words.facts(config):
        wide = width(fact, 17, bold=True) + 20
        if x + wide > LEFT + ROOM:
            break
        elements.append(_rectangle(x, 540, wide, 44, rx=22, fill="none", stroke=BORDER, stroke_width=1.5))
        middle = {"font-size": 17, "font-weight": 700, "text-anchor": "middle"}
        elements.append(text(fact, x + wide / 2, 568, **middle))
        x += wide + 11
    return elements


def _map(stage: Stage, telling: Telling) -> list[Element]:
    """Draw the head that it is about, with its words and with a frame around the row and the cell."""
    _, n, m = stage.array.shape
    rows, across = _part(n, telling.query), _part(m, telling.key)
    longest = max(width(word(stage.rows[row]), 18) for row in rows)
    left = 640 + min(longest, LABELS)
    # In whole pixels, as an edge between two is drawn and packed as something curved is.
    cell = float(math.floor(min((RIGHT - left) / len(across), (LOWEST - TOP) / len(rows), LARGEST_CELL)))
    seen = Seen(rows, across, cell, RIGHT - cell * len(across))
    end = TOP + cell * len(rows)
    elements = [*_cells(stage, telling.head, seen), *_words(stage, telling, seen)]
    elements.append(_rectangle(seen.left, TOP, RIGHT - seen.left, end - TOP, fill="none", stroke=BORDER))
    y, x = TOP + cell * (telling.query - rows.start), seen.left + cell * (telling.key - across.start)
    elements.append(
        _rectangle(seen.left - 1, y - 1, RIGHT - seen.left + 2, cell + 2, fill="none", stroke=ACCENT, stroke_width=3)
    )
    return [*elements, _rectangle(x, y, cell, cell, fill="none", stroke=INK, stroke_width=4)]


def _part(n: int, around: int) -> range:
    start = min(max(around - MOST_CELLS // 2, 0), max(n - MOST_CELLS, 0))
    return range(start, min(n, start + MOST_CELLS))


def _cells(stage: Stage, head: int, seen: Seen) -> list[Element]:
    shades, drawn = stage.scale_of(head), stage.drawn_cells[head]
    is_share = stage.kind == "share" and shades.low == 0 and shades.high <= 1
    size = shown(min(seen.cell * 0.42, 18))
    cells, numbers, lines = [], [], []
    for at, row in enumerate(seen.rows):
        for over, column in enumerate(seen.columns):
            x, y, number = seen.left + over * seen.cell, TOP + at * seen.cell, float(stage.array[head, row, column])
            if not drawn[row, column]:
                lines.append(_hatching(x, y, seen.cell - 1))
                continue
            fill = colour(shades, number) if math.isfinite(number) else NOT_A_NUMBER
            cells.append(ET.Element("path", {"fill": fill, "d": box(x, y, seen.cell - 1, seen.cell - 1)}))
            if is_share and seen.cell >= NUMBERED_FROM and number >= 0.1:
                label = cell_number.in_language(cell_number.share(number, seen.cell))
                middle = y + seen.cell / 2 + 0.15 * seen.cell
                numbers.append(text(label, x + seen.cell / 2, middle, fill=contrast(fill)))
    look = {"stroke": HATCH[0], "stroke-width": "1.2", "shape-rendering": "crispEdges"}
    masked = ET.Element("path", {**look, "d": "".join(lines)})
    return [*cells, masked, group("numbers", numbers, font_size=size, font_weight=700, text_anchor="middle")]


def _hatching(x: float, y: float, size: float) -> str:
    """Return the lines of a masked cell, which go on in the next one.

    A pattern, as in pictures that are not drawn in a hurry, takes as much of the processor as all the rest.
    """
    first = math.ceil((x + y) / HATCH_STEP)
    lines = []
    for at in range(first, math.floor((x + y + 2 * size) / HATCH_STEP) + 1):
        left, right = max(x, at * HATCH_STEP - y - size), min(x + size, at * HATCH_STEP - y)
        lines.append(f"M{shown(left)} {shown(at * HATCH_STEP - left)}L{shown(right)} {shown(at * HATCH_STEP - right)}")
    return "".join(lines)


def _words(stage: Stage, telling: Telling, seen: Seen) -> list[Element]:
    """Draw the words beside the rows and, turned, below the columns: all of them, or only the two."""
    size = min(18.0, seen.cell * 0.8) if seen.cell >= NAMED_FROM else 14.0
    below = stage.columns or stage.rows
    elements = []
    for at, row in enumerate(seen.rows):
        look = _look(row == telling.query, size)
        if seen.cell >= NAMED_FROM or row == telling.query:
            label = fitted(word(stage.rows[row]), size, LABELS, bold=row == telling.query)
            y = TOP + (at + 0.5) * seen.cell + 0.35 * size
            elements.append(text(label, seen.left - 8, y, **look, **{"text-anchor": "end"}))
    for at, column in enumerate(seen.columns):
        look = _look(column == telling.key, size)
        if seen.cell >= NAMED_FROM or column == telling.key:
            label = fitted(word(below[column]), size, BELOW, bold=column == telling.key)
            x, y = seen.left + (at + 0.5) * seen.cell + 0.35 * size, TOP + len(seen.rows) * seen.cell + 8
            if stands(label):
                elements.append(text(label, x - 0.35 * size, y + size, **look, **{"text-anchor": "middle"}))
                continue
            turned = {"transform": f"rotate(-90 {shown(x)} {shown(y)})", "text-anchor": "end"}
            elements.append(text(label, x, y, **look, **turned))
    return elements


def _look(is_told: bool, size: float) -> dict[str, object]:
    return {"font-size": shown(size)} | ({"font-weight": 700, "fill": ACCENT} if is_told else {})
