"""One cell, all the way down: every line of arithmetic between the layer's input and the output of the head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from attnviz.arithmetic.cell import Cell, derive
from attnviz.arithmetic.notation.derivation import ArithmeticLine
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.pictures.answer.browser_facts import CellFacts
from attnviz.pictures.answer.explanation import column, explanation, most_telling
from attnviz.pictures.answer.motion import motion
from attnviz.pictures.answer.number_answer import number_answer
from attnviz.pictures.answer.row_functions import has_products
from attnviz.pictures.charts.bars import bars
from attnviz.pictures.stage_record import Stage
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words
from attnviz.text import opening_sentence
from attnviz.text.cell_sentence import cell_sentence
from attnviz.text.format.sentence_parts import TEXT, plain
from attnviz.ui.components import formula
from attnviz.ui.components.answer import cells_of_stage, drawer, rail
from attnviz.ui.components.answer.drawer import Around
from attnviz.ui.components.stage import picking
from attnviz.ui.components.stage.picking import Picked
from attnviz.ui.session import widget_values, widgets
from attnviz.ui.session.browser import stage_events
from attnviz.ui.session.browser.stage_events import Event
from attnviz.ui.session.notices import paragraph, typeset
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "invitation": "Click a cell of QKᵀ or of the weights (or Tab, arrow keys, Enter): every number behind it "
        "opens here.",
        "title": "Head {head}: query {query}, “{query_token}”, attends to key {key}, “{key_token}”.",
    }
)
ANSWER, CELLS, FACTS = "answer", "cells", "cells-facts"
PARTS = Words(
    {
        "vectors": "From the tokens to q and k",
        "score": "From q and k to the score",
        "weight": "From the scores to the weight",
        "output": "From the weight to the output",
    }
)
CHANGE_LINES = ("lines", "close")
"""Kinds of events after which all lines are shown, or are not any more."""
SHOWN_AS_BARS = {"products": False, "exponentials": True, "share": False}
"""Lines that are also drawn, and whether their numbers are shares, which are never negative."""


def explain(
    trace: Trace,
    selection: Selection,
    head: int,
    cells: CellFacts | None = None,
    image: Mapping[str, Any] | None = None,
    *,
    setting: Config | None = None,
    beside: str = "",
) -> Cell | None:
    """Draw how what was chosen came to be: a cell of `head`, an entry of its output, or the row or column of a word.

    cells    by which the browser explains any cell at once
    image    what the row attends to in the image that is read
    setting  the one at the left, if the run is of another
    beside   what is said of another run
    """
    with st.container(key=CELLS):
        facts(cells)
    return answer(trace, selection, head, cells, image, setting=setting, beside=beside)


def facts(cells: CellFacts | None) -> None:
    """Send what the browser explains any cell by."""
    cells_of_stage.send(cells, key=FACTS)


def answer(
    trace: Trace,
    selection: Selection,
    head: int,
    cells: CellFacts | None,
    image: Mapping[str, Any] | None = None,
    *,
    setting: Config | None = None,
    beside: str = "",
) -> Cell | None:
    """Draw how what was chosen came to be, as `explain` does, where `facts` are sent elsewhere."""
    chips, lines = rail.chips(setting or trace.config), selection.all_lines
    around = Around(selection.play, chips, selection.head, selection.focus, lines, image)
    layer, query, key, dimension = selection.layer, selection.query, selection.key, selection.dimension
    of_number = number(trace, selection, head)
    if of_number is not None:
        drawer.show(of_number, key=ANSWER, around=replace(around, image=None))
        return None
    if query is None:
        drawer.show(None if key is None else column(trace, layer, head, key), key=ANSWER, around=around)
        return None
    whole = selection.head is not None and key is not None
    if whole and selection.head is not None:
        head = selection.head
    if not whole or key is None:
        key = most_telling(trace, layer, head, query)
    cell = derive(trace, layer, head, query, key, selection.digits)
    if dimension is not None and dimension >= cell.d_v:
        dimension = None
    said = explanation(trace, cell, key=whole, dimension=dimension)
    played = motion(trace, cell) if whole and cell.allowed else None
    more: dict[str, Any] = {"motion": played} | ({"beside": beside} if beside else {})
    if cells is None or cells.is_computed:  # the browser may have no numbers that tell
        more["has_products"] = has_products(trace.config, [*trace.layers[layer]])
    drawer.show(said | more, key=ANSWER, around=around)
    return cell if whole else None


def number(trace: Trace, selection: Selection, head: int | None = None) -> Mapping[str, Any] | None:
    """Return the answer to the number that is chosen in a map of no scores and no weights; None where none is.

    head  in which it is, where none was chosen
    """
    query, key = selection.query, selection.key
    if not selection.number_of or selection.entry is None or None not in (query, key):
        return None
    of = next((each for each in (selection.head, selection.focus, head) if each is not None), 0)
    return number_answer(trace, selection.layer, selection.number_of, {"query": query, "key": key}, selection.entry, of)


def selected(selection: Selection, picked: Picked, stages: Sequence[Stage], heads: int = 0) -> Selection:
    """Return the selection with what was picked; a word alone lets go of head and key.

    heads  of the run, where one number of a map of no scores and no weights is answered
    """
    stage = next(stage for stage in stages if stage.name == picked.stage)
    axes, row, column = stage.axes, picked.row, picked.column
    head = picked.head if selection.focus is None or picked.head is None else selection.focus
    named = selection.head if head is None else head
    if axes == ("query", "key"):
        return replace(selection, head=head, query=row, key=column, dimension=None, number_of="")
    if axes == ("query", "d_v"):
        if row is None:  # the number of a column is no position of any word
            return selection
        return replace(selection, head=named, query=row, key=None, dimension=column, number_of="")
    if heads and axes[0] in ("query", "key") and None not in (row, column):
        of = _head_of(selection, picked, len(stage.array), heads)
        changed: dict[str, Any] = {"query": None, "key": None, axes[0]: row, "dimension": None, "all_lines": False}
        return replace(selection, head=of, number_of=stage.name, entry=column, **changed)
    if axes[0] == "query":
        return replace(selection, head=named, query=row, number_of="")
    return replace(selection, key=row, number_of="") if axes[0] == "key" else selection


def _head_of(selection: Selection, picked: Picked, among: int, heads: int) -> int | None:
    """Return the head of a number in a map of so many: that of its keys, the first that uses them; of one map, none."""
    if among == 1 or picked.head is None:
        return selection.head
    return picked.head * (heads // among) if selection.focus is None else selection.focus


def answered(selection: Selection, event: Event, head: int) -> Selection:
    """Return the selection after an event of the answer: closed, of another key, or with all lines or without them.

    head  the one that the answer is about while no key is chosen
    """
    match event:
        case Event("close"):
            return replace(
                selection, head=event.head, query=None, key=None, dimension=None, number_of="", all_lines=False
            )
        case Event("lines", is_on=True):
            return replace(selection, panel="cell", all_lines=True)
        case Event("lines"):
            return replace(selection, all_lines=False)
        case Event("key", key=key) if selection.query is not None:
            chosen = head if selection.key is None else selection.head or 0
            return replace(selection, head=chosen, key=key, dimension=None, number_of="")
    return selection


def updated(
    selection: Selection,
    asked: str,
    shown: Sequence[Stage],
    of: Mapping[str, tuple[Trace, int]],
    *,
    key: str,
    has_columns: bool = False,
) -> tuple[Selection, str]:
    """Return the selection and the name of the map in which something was chosen, as the last run leaves them.

    For maps beside each other that are of several runs or layers.

    asked        the map before;  shown  those of a key;  of  the run and the layer of each
    has_columns  whether a column is answered, too
    """
    for event in stage_events.heard(key, drawer.part(ANSWER)):
        picked = picking.located(event, shown) if event.kind == "pick" else None
        if picked is not None and (picked.row is not None or has_columns):
            asked, selection = picked.stage, selected(selection, picked, shown)
            if of[asked][0] is of[shown[0].name][0]:
                selection = replace(selection, layer=of[asked][1])
        elif event.kind == "lines" or (event.kind in ("close", "key") and _has(of[asked][0], event)):
            selection = answered(selection, event, head_of(*of[asked], selection))
        if event.kind in CHANGE_LINES:
            widget_values.show(selection, unlike=[replace(selection, all_lines=not selection.all_lines)])
    return selection, asked


def _has(trace: Trace, event: Event) -> bool:
    return (event.head or 0) < trace.config.n_heads and (event.key or 0) < len(trace.key_tokens)


def head_of(trace: Trace, layer: int, selection: Selection) -> int:
    """Return the head that an answer is about: the chosen one, or else the one that tells most."""
    return opening_sentence.telling(trace, layer)[0] if selection.head is None else selection.head


def marked(selection: Selection, asked: str, shown: Sequence[Stage], *, has_columns: bool = False) -> Picked | None:
    """Return what is marked in the map in which it was chosen: a cell, a row or a column."""
    axes = next(stage.axes for stage in shown if stage.name == asked)
    if has_columns and axes == ("query", "key") and selection.query is None and selection.key is not None:
        return Picked(asked, None, None, selection.key)
    if selection.query is None or axes[0] != "query":
        return None
    column = {"key": selection.key, "d_v": selection.dimension}.get(axes[1])
    if None in (selection.head, column):
        return Picked(asked, None, selection.query, None)
    return Picked(asked, selection.head, selection.query, column)


def all_lines(trace: Trace, selection: Selection, cell: Cell | None) -> Selection:
    """Draw all lines of arithmetic of the chosen cell once they were asked for, and a switch to put them away."""
    if cell is None or not selection.all_lines:
        return selection
    with st.container(key="all-lines"):
        selection = widgets.draw(selection, "all_lines")
        return panel(trace, selection, cell) if selection.all_lines else selection


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
