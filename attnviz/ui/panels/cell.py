"""One cell, all the way down: every line of arithmetic between the layer's input and the output of the head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from attnviz.arithmetic.cell import Cell, derive
from attnviz.arithmetic.notation.derivation import ArithmeticLine
from attnviz.engine.records.trace import Trace
from attnviz.pictures.answer.browser_facts import CellFacts
from attnviz.pictures.answer.explanation import explanation, most_telling
from attnviz.pictures.answer.motion import motion
from attnviz.pictures.charts.bars import bars
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words
from attnviz.text.cell_sentence import cell_sentence
from attnviz.text.format.sentence_parts import TEXT, plain
from attnviz.ui.components import formula
from attnviz.ui.components.answer import cells_of_stage, drawer, rail
from attnviz.ui.components.answer.drawer import Around
from attnviz.ui.session import widgets
from attnviz.ui.session.notices import paragraph, typeset
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "invitation": "Click a cell of QKᵀ or of the weights (or Tab, arrow keys, Enter): every number behind it "
        "opens here.",
        "title": "Head {head}: query {query}, “{query_token}”, attends to key {key}, “{key_token}”.",
    }
)
ANSWER, CELLS = "answer", "cells"
PARTS = Words(
    {
        "vectors": "From the tokens to q and k",
        "score": "From q and k to the score",
        "weight": "From the scores to the weight",
        "output": "From the weight to the output",
    }
)
SHOWN_AS_BARS = {"products": False, "exponentials": True, "share": False}
"""Lines that are also drawn, and whether their numbers are shares, which are never negative."""


def explain(
    trace: Trace, selection: Selection, head: int, cells: CellFacts | None, image: Mapping[str, Any] | None = None
) -> Cell | None:
    """Draw how what was chosen came to be: a cell of `head`, an entry of its output, or the row of a word.

    cells  by which the browser explains any cell at once;  image  what the row attends to in the image that is read
    """
    with st.container(key=CELLS):
        cells_of_stage.send(cells, key=f"{CELLS}-facts")
    around = Around(selection.play, rail.chips(trace.config), selection.head, selection.focus, image)
    if selection.query is None:
        drawer.show(None, key=ANSWER, around=around)
        return None
    layer, query, key, dimension = selection.layer, selection.query, selection.key, selection.dimension
    whole = selection.head is not None and key is not None
    if whole and selection.head is not None:
        head = selection.head
    if not whole or key is None:
        key = most_telling(trace, layer, head, query)
    cell = derive(trace, layer, head, query, key, selection.digits)
    if dimension is not None and dimension >= cell.d_v:
        dimension = None
    answer = explanation(trace, cell, key=whole, dimension=dimension)
    played = motion(trace, cell) if whole and cell.allowed else None
    drawer.show(answer | {"motion": played}, key=ANSWER, around=around)
    return cell if whole else None


def panel(trace: Trace, selection: Selection, derived: Cell | None = None) -> Selection:
    """Draw the arithmetic of the selected cell, or an invitation to select one.

    `derived` if that has been done already.
    """
    if selection.head is None or selection.query is None or selection.key is None:
        paragraph([WORDS["invitation"]])
        return selection
    position = selection.layer, selection.head, selection.query, selection.key
    words, digits = st.columns([4, 1], vertical_alignment="bottom")
    digits_before = selection.digits
    with digits:
        selection = widgets.draw(selection, "digits")
    cell = derived
    if cell is None or digits_before != selection.digits:
        cell = derive(trace, *position, selection.digits)
    tokens = {"query_token": cell.query_token, "key_token": cell.key_token}
    with words:
        sentence = plain(cell_sentence(trace, *position))
        head, query, key = map(ordinal, position[1:])
        paragraph([WORDS["title"].format(head=head, query=query, key=key, **tokens), sentence])
    for part, title in PARTS.items():
        if getattr(cell, part):
            _part(part, title, getattr(cell, part), opened=part != "vectors")
    return selection


def _part(name: str, title: str, lines: Sequence[ArithmeticLine], *, opened: bool) -> None:
    """Draw a part of the way; lines that change nothing here are left out, unless a person has edited them."""
    with st.expander(title, expanded=opened, key=f"part-{name}"):
        for each in lines:
            if each.active or each.edited:
                _line(each)


def _line(each: ArithmeticLine) -> None:
    words, arithmetic = st.columns([1, 3], gap="medium")
    words.markdown(f"**{each.title}**  \n{each.sentence}")
    if each.source:
        with words:
            typeset(((TEXT, each.source),))
    with arithmetic:
        if each.name in SHOWN_AS_BARS and len(each.bars) > 1:
            st.plotly_chart(
                bars(each.bars), key=f"bars-{each.name}", config={"displayModeBar": False}, alt=each.sentence
            )
        formula.show_aligned(each.latex)
