"""The sentence over a saved picture: arcs from one word to those that it attends to, and one line that says it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from unicodedata import bidirectional
from xml.etree import ElementTree as ET

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.records.trace import Trace
from attnviz.pictures.colours import PAGE, PAPER
from attnviz.pictures.static.svg_elements import Element, group, shown, text
from attnviz.pictures.static.text_metrics import fitted, width, word
from attnviz.settings.counting import ordinal
from attnviz.text import opening_sentence
from attnviz.text.cell_sentence import percent
from attnviz.text.format.number_format import short
from attnviz.text.query_sentences import QueryWeights, query_weights

WORD, SHARE, SAID, FROM = 17, 12, 17, 12
"""Sizes of letters: of the words, of the shares under them, of the line that says what is shown, of its origin."""

SPACE, TIGHT = 15, 6
"""Pixels between two words: usually, and where the sentence would not fit otherwise."""

ARCS, CLEAR = 44, 4
"""Pixels over the words, and how many of them stay free above the highest arc."""

THICKEST, THINNEST = 8.0, 0.8
LEAST, NAMED, MOST_NAMED, ALSO = 0.03, 0.05, 4, 0.2
"""A weaker weight has no arc, or no number, so many have one at most, and one is said beside the word itself."""

ACCENT, QUIET = PAGE["accent"][0], PAPER["quiet"][0]


@dataclass(frozen=True)
class Line:
    """The words on one line: where each begins and how wide it is, and the arrow from the keys to the queries."""

    queries: Sequence[tuple[float, float]]
    keys: Sequence[tuple[float, float]]
    arrow: tuple[float, float] | None = None


def sentence(trace: Trace, layer: int, head: int, query: int, roles: Sequence[str], room: float) -> list[Element]:
    """Return the words with the arcs of a query in one head, and what it attends to; nothing where they do not fit.

    The drawing begins at 0, 0 and is `HEIGHT` pixels high.
    """
    weights = query_weights(trace, layer, head)
    line = _line(weights, room)
    if line is None:
        return []
    row = np.where(weights.masked[query] | ~np.isfinite(weights.weights[query]), 0.0, weights.weights[query])
    order = np.argsort(-row, kind="stable").tolist()
    elements = [group("arcs", _arcs(line, query, row, order), fill="none", stroke=ACCENT)]
    elements.append(
        group("words", _words(weights, line, query, row), font_size=WORD, font_weight=500, text_anchor="middle")
    )
    if weights.shares[query]:
        elements.append(group("shares", _shares(line, row, order), font_size=SHARE, text_anchor="middle", fill=QUIET))
    said = _said(weights, query, row, order)
    origin = " · ".join(
        [opening_sentence.WORDS["head"].format(n=ordinal(head)), roles[head], opening_sentence.describe_origin(trace)]
    )
    y = ARCS + SHARE + 6 + SAID + 8
    elements.append(group("said", [text(fitted(said, SAID, room), 0, y)], font_size=SAID))
    elements.append(group("origin", [text(fitted(origin, FROM, room), 0, y + FROM + 6)], font_size=FROM, fill=QUIET))
    return elements


HEIGHT = ARCS + SHARE + SAID + FROM + 30
"""Pixels that the sentence takes."""


def _line(weights: QueryWeights, room: float) -> Line | None:
    """Return where the words stand, or None where a line is too short for them."""
    keys = [] if weights.is_self else [word(token) for token in weights.keys]
    words = [word(token) for token in weights.queries]
    texts = [*words, *(["←"] if keys else []), *keys]
    widths = [width(each, WORD, bold=True) for each in texts]
    space = next((space for space in (SPACE, TIGHT) if sum(widths) + space * (len(widths) - 1) <= room), None)
    if space is None:
        return None
    step = -1 if is_read_from_the_right(weights.queries) else 1
    places, x = [], 0.0
    for each in widths[::step]:
        places.append((x, each))
        x += each + space
    places, n = places[::step], len(words)
    return Line(places[:n], places[n + 1 :], places[n]) if keys else Line(places, places)


def is_read_from_the_right(tokens: Sequence[str]) -> bool:
    """Return whether most of the words are of a script that runs from right to left.

    >>> is_read_from_the_right(("القط", "cat", "الفأر")), is_read_from_the_right(("cat", "1"))
    (True, False)
    """
    words = [token for token in tokens if any(map(str.isalpha, token))]
    return 2 * sum(any(bidirectional(letter) in ("R", "AL") for letter in token) for token in words) > len(words)


def _middle(place: tuple[float, float]) -> float:
    return place[0] + place[1] / 2


def _arcs(line: Line, query: int, row: Array, order: Sequence[int]) -> list[Element]:
    """Return an arc to each word that is attended to, the faintest first."""
    top, x = ARCS - WORD, _middle(line.queries[query])
    paths = []
    for key in reversed(order):
        weight, to = min(float(row[key]), 1.0), _middle(line.keys[key])
        if weight < LEAST or line.keys[key] == line.queries[query]:
            continue
        thick = THINNEST + (THICKEST - THINNEST) * weight
        high = top - 1.3 * min(top - thick / 2 - CLEAR, 9 + abs(to - x) / 9)  # a curve rises to 3/4 of its handles
        d = f"M{shown(x)} {top}C{shown(x)} {shown(high)} {shown(to)} {shown(high)} {shown(to)} {top}"
        stroke = {"stroke-width": shown(thick), "stroke-opacity": shown(0.25 + 0.6 * weight)}
        paths.append(ET.Element("path", {"d": d, **stroke}))
    return paths


def _words(weights: QueryWeights, line: Line, query: int, row: Array) -> list[Element]:
    """Return the words: those that are attended to on a tinted ground, the one that attends in the accent."""
    elements = []
    for (x, wide), weight in zip(line.keys, row):
        if weight >= LEAST:
            ground = {"x": shown(x - 3), "y": shown(ARCS - WORD + 1), "width": shown(wide + 6), "height": str(WORD + 6)}
            tint = shown(0.04 + 0.32 * min(float(weight), 1.0))
            elements.append(ET.Element("rect", {**ground, "rx": "4", "fill": ACCENT, "fill-opacity": tint}))
    for at, (token, (x, wide)) in enumerate(zip(weights.queries, line.queries)):
        chosen = {"fill": ACCENT, "font-weight": 700} if at == query else {}
        elements.append(text(word(token), x + wide / 2, ARCS, **chosen))
    if line.arrow is not None:
        arrow = "→" if line.arrow > line.keys[0] else "←"
        elements.append(text(arrow, _middle(line.arrow), ARCS, fill=QUIET))
        elements += [text(word(token), _middle(place), ARCS) for token, place in zip(weights.keys, line.keys)]
    return elements


def _shares(line: Line, row: Array, order: Sequence[int]) -> list[Element]:
    named = [key for key in order if row[key] >= NAMED][:MOST_NAMED]
    return [text(percent(float(row[key])), _middle(line.keys[key]), ARCS + SHARE + 6) for key in named]


def _said(weights: QueryWeights, query: int, row: Array, order: Sequence[int]) -> str:
    """Return what the query attends to most, in one line."""
    words, key = opening_sentence.WORDS, order[0]
    asks = word(weights.queries[query])
    kind = weights.kind(query)
    if kind == "no_numbers":
        return words[kind].replace("{query}", asks)
    if row[key] <= 0:
        return words["nothing"].replace("{query}", asks)
    is_itself = weights.is_self and query == key
    slots = {"{query}": asks, "{key}": words["itself"] if is_itself else word(weights.keys[key])}
    if kind != "shares":
        return _filled(words["weighs"], slots | {"{amount}": short(float(row[key]))})
    slots |= {"{amount}": percent(float(row[key]))}
    other = order[1] if is_itself and len(order) > 1 else None
    if other is None or row[other] < ALSO:
        return _filled(words["takes"], slots)
    return _filled(
        words["takes_two"], slots | {"{other}": word(weights.keys[other]), "{more}": percent(float(row[other]))}
    )


def _filled(sentence: str, slots: Mapping[str, str]) -> str:
    """Return a sentence with its slots filled, whatever signs the words themselves hold."""
    return re.sub("|".join(map(re.escape, slots)), lambda found: slots[found[0]], sentence)
