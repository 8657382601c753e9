"""Stages as one SVG file for print: shapes and text alone, without a script, a link or anything from elsewhere.

The same stages give the same bytes. The font that comes with the package is named first, then the reader's own; words
are cut by widths that are on the safe side in both.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from xml.etree import ElementTree as ET

from attnviz.engine.records.trace import Trace
from attnviz.pictures import columns
from attnviz.pictures.colours import MASKED_EDGE, PAPER, SHARE
from attnviz.pictures.headings import end_of_scale, sum_up
from attnviz.pictures.layout.mosaic import GAP, Grid
from attnviz.pictures.stage_record import ALLOWED, FORBIDDEN, MASKED_WORD, Stage
from attnviz.pictures.static import fonts, svg_sentence
from attnviz.pictures.static.colour_scale import PALE_INK
from attnviz.pictures.static.svg_elements import Element, group, shown, text
from attnviz.pictures.static.svg_masked import HATCHED
from attnviz.pictures.static.svg_stage import arranged, height, tiles
from attnviz.pictures.static.text_metrics import drawable, width, wrapped
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words, sign, translate
from attnviz.text import opening_sentence
from attnviz.text.format import cell_number
from attnviz.text.format.number_format import localised
from attnviz.text.headline import headline

WORDS = Words({"layer": "Layer {n} of {all}.", "picture": "Attention", "blank": "(empty)"})
MARGIN = 24
NARROWEST, WIDEST = 320, 10_000
BLACK, QUIET = PAPER["ink"][0], PAPER["quiet"][0]
TITLE, STAGE_TITLE, PLAIN, FOOT = 20, 16, 12, 11
MOST_LINES = {"title": 3, "about": 4, "foot": 6, "heading": 4}
SHAPE = " — "  # between a formula and its shape
TRANSPOSED = "ᵀ"  # not in every font: drawn as a small raised T
LINE = 1.35  # of the size of letters: from line to line
LEGEND = (56, 9)
BETWEEN = 28  # pixels between stages that stand one below the other


def picture(stages: Sequence[Stage], *, width: int = 1200, title: str = "", foot: str = "") -> str:
    """Return the stages side by side, or one below the other where that is larger, as an SVG of `width` pixels.

    title, foot  a visitor's words may be in them: they are drawn as text, cut where they are very long

    Raises ValueError for no stages, and for a width that is not 320 to 10,000.
    """
    return _document(stages, width, title, "", foot)


@dataclass(frozen=True)
class View:
    """The part of a layer that the screen shows: counted from 0, None for what is not chosen.

    shown             the step that the stages are those of
    focus             the only head that is drawn
    head, query, key  the cell that is chosen, or the row, or the head that the sentence is about
    apart             whether each head of the scores has colours of its own
    """

    shown: str = "weights"
    focus: int | None = None
    head: int | None = None
    query: int | None = None
    key: int | None = None
    apart: bool = True


def page(trace: Trace, layer: int, view: View = View(), *, width: int = 1200, foot: str = "") -> str:
    """Return the picture of a layer, counted from 0, as the screen has it.

    The sentence with its arcs, what is shown, and the stages side by side, with the names of the heads, their own
    colours and numbers, and the cell that is chosen.
    """
    subtitle = list(headline(trace))
    if len(trace.layers) > 1:
        subtitle.insert(1, WORDS["layer"].format(n=ordinal(layer), all=len(trace.layers)))
    sentence = drawable(" ".join(trace.config.sentence.split())) or " ".join(map(drawable, trace.query_tokens))
    if trace.config.second_sentence.strip():
        sentence += " | " + drawable(" ".join(trace.config.second_sentence.split()))
    in_focus = view.head if view.focus is None else view.focus
    head, telling, _ = opening_sentence.telling(trace, layer, in_focus)
    query = telling if view.query is None else view.query
    room = width - 2 * MARGIN
    over = svg_sentence.sentence(trace, layer, head, query, columns.roles(trace, layer), room)
    stages = [
        _as_seen(stage, trace, view, (head, query))
        for stage in columns.columns(trace, layer, view.shown, apart=view.apart)
    ]
    return _document(stages, width, sentence, sign(" ").join(subtitle), foot, over)


def _as_seen(stage: Stage, trace: Trace, view: View, opening: tuple[int, int]) -> Stage:
    """Return a stage with the cell or the row that is framed in it; of one head, where one is in focus."""
    heads, (head, query) = stage.array.shape[0], opening
    if view.focus is not None:
        stage, head = columns.focused(stage, view.focus, trace.config.n_heads), 0
    elif heads not in (1, trace.config.n_heads):
        return stage
    head = min(head, heads - 1)
    column = view.key if stage.axes == ("query", "key") else None
    if stage.axes[0] != "query" or (column is not None and view.query is None):
        return stage
    return replace(stage, chosen=(head, query, column))


def _document(
    stages: Sequence[Stage], width: int, title: str, subtitle: str, foot: str, over: Sequence[Element] = ()
) -> str:
    if not stages:
        raise ValueError("there are no stages to draw; give one or more")
    if not NARROWEST <= width <= WIDEST:
        raise ValueError(f"width is {width}; choose {NARROWEST} to {WIDEST:,}")
    room, y = width - 2 * MARGIN, float(MARGIN)
    body: list[Element] = []
    if over:
        body.append(group("sentence", over, transform=f"translate({MARGIN} {MARGIN})"))
        y += svg_sentence.HEIGHT
    for words, kind, size, ink in (
        ("" if over else title, "title", TITLE, BLACK),
        (subtitle, "about", PLAIN + 1, QUIET),
    ):
        lines = wrapped(drawable(words), size, room, most=MOST_LINES[kind], bold=kind == "title")
        body += _lines(lines, kind, MARGIN, y, size, ink)
        y += len(lines) * size * LINE + (8 if lines else 0)
    drawn, y = _stages(stages, room, y + 4)
    body += drawn
    lines = wrapped(drawable(foot), FOOT, room, most=MOST_LINES["foot"])
    body += _lines(lines, "foot", MARGIN, y + 8, FOOT, QUIET)
    y += MARGIN + (len(lines) * FOOT * LINE + 8 if lines else 0)
    return _written(body, width, math.ceil(y), title, stages)


def _written(body: Sequence[Element], width: int, tall: int, title: str, stages: Sequence[Stage]) -> str:
    size = {"width": str(width), "height": str(tall), "viewBox": f"0 0 {width} {tall}"}
    root = ET.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", **size, "role": "img"})
    root.attrib |= {"font-family": fonts.FAMILY, "fill": BLACK}
    for kind, words in (
        ("title", title or WORDS["picture"]),
        ("desc", sign(" ").join(localised(stage.alt) for stage in stages)),
    ):
        ET.SubElement(root, kind).text = drawable(words) or WORDS["blank"]
    root.append(ET.Element("rect", {"width": str(width), "height": str(tall), "fill": PALE_INK}))
    root.append(_gradients({stage.legend.colours for stage in stages}))
    root.extend(body)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _lines(lines: Sequence[str], kind: str, x: float, y: float, size: int, ink: str) -> list[Element]:
    """Draw lines of text from y downwards."""
    weight = {"font_weight": 600} if kind in ("title", "name") else {}
    elements = [_raised(text(line, x, y + size * (1 + LINE * at)), size) for at, line in enumerate(lines)]
    return [group(kind, elements, font_size=size, fill=ink, **weight)] if elements else []


def _raised(line: Element, size: int) -> Element:
    before, raised, after = (line.text or "").partition(TRANSPOSED)
    if raised:
        line.text = before
        small = ET.SubElement(line, "tspan", {"font-size": shown(0.65 * size), "dy": shown(-0.35 * size)})
        small.text, small.tail = "T", after
    return line


def _stages(stages: Sequence[Stage], room: int, y: float) -> tuple[list[Element], float]:
    """Return the stages with their headings, and where the lowest of them ends."""
    layout = arranged(stages, room)
    if not layout.side_by_side:
        elements = []
        for stage, grid in zip(stages, layout.grids):
            drawn, bottom = _stage(stage, grid, MARGIN, y, room, _tall([stage], [room]))
            elements.append(drawn)
            y = bottom + BETWEEN
        return elements, y - BETWEEN
    needed = layout.shares
    spare = max(room - sum(needed) - GAP * (len(stages) - 1), 0) / len(stages)
    tall = _tall(stages, [each + spare for each in needed])
    elements, x, bottom = [], float(MARGIN), y
    for stage, grid, each in zip(stages, layout.grids, needed):
        drawn, low = _stage(stage, grid, x, y, each + spare, tall)
        elements.append(drawn)
        x, bottom = x + each + spare + GAP, max(bottom, low)
    return elements, bottom


def _stage(stage: Stage, grid: Grid, x: float, y: float, room: float, tall: float) -> tuple[Element, float]:
    """Return a stage at x, y, its heading `tall` pixels high, and where it ends."""
    body = group("tiles", tiles(stage, grid), transform=f"translate(0 {shown(tall)})")
    offset = f"translate({shown(x)} {shown(y)})"
    drawn = group(f"stage stage-{stage.name}", [*_heading(stage, room), body], transform=offset)
    return drawn, y + tall + height(stage, grid)


def _heading_lines(stage: Stage, room: float) -> list[tuple[str, int, str, list[str]]]:
    """Return the lines of a heading: what they are, their size, their colour, and the words."""
    rows = (
        ("name", STAGE_TITLE, BLACK, stage.title),
        ("phrase", PLAIN, QUIET, stage.phrase),
        ("formula", PLAIN, QUIET, localised(sum_up(stage)).replace("   ", SHAPE)),
    )
    return [
        (kind, size, ink, wrapped(drawable(words), size, room, most=MOST_LINES["heading"], bold=kind == "name"))
        for kind, size, ink, words in rows
    ]


def _tall(stages: Sequence[Stage], rooms: Sequence[float]) -> float:
    """Return the height of the headings of stages that stand side by side."""
    return max(
        sum(size * LINE * len(lines) for _, size, _, lines in _heading_lines(stage, room)) + PLAIN * LINE + 10
        for stage, room in zip(stages, rooms)
    )


def _heading(stage: Stage, room: float) -> list[Element]:
    """Draw name, phrase, formula and shape, and the legend below them."""
    elements, y = [], 0.0
    for kind, size, ink, lines in _heading_lines(stage, room):
        elements += _lines(lines, kind, 0, y, size, ink)
        y += size * LINE * len(lines)
    return [*elements, _legend(stage, y + 4 + PLAIN)]


def _legend(stage: Stage, y: float) -> Element:
    """Return the colour scale between the numbers at its ends, and what lines mean; letters stand on y."""
    shades, x = stage.legend, 0.0
    elements: list[Element] = []
    swatches = [(HATCHED, translate(MASKED_WORD))] if stage.masked is not None and stage.masked.any() else []
    if stage.kind == "allowed":
        swatches = [(SHARE[2], translate(ALLOWED)), (HATCHED, translate(FORBIDDEN))]
    else:
        signed = stage.scale.low < 0
        ends = (cell_number.in_language(end_of_scale(end, signed)) for end in (shades.low, shades.high))
        low, high = ("−", "+") if stage.apart else ends
        start = math.ceil(width(low, PLAIN)) + 6
        elements += [
            text(low, 0, y),
            _bar(start, y - LEGEND[1], LEGEND[0], f"url(#{_gradient(shades.colours)})"),
        ]
        elements.append(text(high, start + LEGEND[0] + 6, y))
        x = start + LEGEND[0] + 6 + width(high, PLAIN) + 14
    for fill, words in swatches:
        elements += [
            _bar(x, y - LEGEND[1], LEGEND[1], fill, MASKED_EDGE[0] if fill == HATCHED else "none"),
            text(words, x + LEGEND[1] + 5, y),
        ]
        x += LEGEND[1] + 5 + width(words, PLAIN) + 14
    return group("legend", elements, font_size=PLAIN, fill=QUIET)


def _bar(x: float, y: float, long: float, fill: str, edge: str = "none") -> Element:
    size = {"x": shown(x), "y": shown(y), "width": shown(long), "height": str(LEGEND[1])}
    return ET.Element("rect", {**size, "fill": fill, "stroke": edge})


def _gradient(colours: Sequence[str]) -> str:
    """Return the name of a colour scale in the file."""
    return "-".join(["scale", *(each.removeprefix("#") for each in colours)])


def _gradients(scales: Collection[tuple[str, ...]]) -> Element:
    """Return the colour scales of the legends."""
    definitions = ET.Element("defs")
    for colours in sorted(scales):
        gradient = ET.SubElement(definitions, "linearGradient", {"id": _gradient(colours)})
        for at, fill in enumerate(colours):
            offset = shown(at / (len(colours) - 1))
            ET.SubElement(gradient, "stop", {"offset": offset, "stop-color": fill})
    return definitions
