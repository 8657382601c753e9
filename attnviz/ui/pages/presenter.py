"""The Class page: one step in large type that fills the window, and nothing else; previous and next."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attnviz.engine.records.trace import Step, Trace
from attnviz.pictures import pipeline_strip, stages
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words, sign
from attnviz.text import step_names
from attnviz.text.cell_sentence import cell_sentence
from attnviz.text.format.number_format import localised
from attnviz.text.format.sentence_parts import plain, rounded_number
from attnviz.text.headline import headline
from attnviz.ui.components import formula
from attnviz.ui.components.stage import heatmap
from attnviz.ui.components.stage.picking import Picked
from attnviz.ui.components.stage.view import View
from attnviz.ui.panels import explore_panels
from attnviz.ui.session import session_state
from attnviz.ui.session.callback import callback
from attnviz.ui.session.notices import paragraph
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "previous": "Previous",
        "next": "Next",
        "at": "{at} of {n}",
        "choose": "Click a cell to have it explained here.",
        "value": "Head {head}, {symbol}: {value}.",
    }
)
OF_A_CELL = ("query", "key")
HEADLINE = 60  # pixels at the foot of the window, for where the numbers come from


def page(trace: Trace, selection: Selection) -> Selection:
    """Draw one step; return the selection as the buttons, the arrow keys or a click leave it."""
    selection = explore_panels.choose_layer(trace, selection)
    layer = selection.layer
    entries = [entry for entry in pipeline_strip.entries(trace, layer) if entry.on_path and entry.changes]
    names = [entry.name for entry in entries]
    entry = entries[_index(names, selection.step)]
    with st.container(key="tools-class", horizontal=True, vertical_alignment="center"):
        title = entry.label or entry.text
        st.markdown(f"## {title[0].upper()}{title[1:]}{sign(': ')}{entry.meaning}")
        _choose_step(names, selection.step)
    step = step_names.steps(trace, layer)[entry.name]
    with st.container(key="lecture", horizontal=True, vertical_alignment="center"):
        with st.container(width="content"):
            formula.show(entry.formula)
        with st.container(key="explained"):
            container = st.empty()
    shown = replace(stages.stage(trace, step, entry.text, "", entry.words), large=True)
    view = View(fill=True, reserved=HEADLINE, large=True, one_line=True)
    answer = heatmap.show([shown], key="class", picked=_picked(selection, entry.name, step), view=view)
    if answer is not None and shown.axes == OF_A_CELL:
        selection = replace(selection, head=answer.head, query=answer.row, key=answer.column)
    with container:
        paragraph([_explained(trace, selection, step, entry.text)])
    paragraph(headline(trace))
    return replace(selection, step=entry.name)


def _choose_step(names: list[str], step: str) -> None:
    """Draw the buttons that lead to the steps before and after."""
    at = _index(names, step)
    with st.container(key="class-bar", horizontal=True, vertical_alignment="center", width="content"):
        with st.container(width="content"):
            st.button(WORDS["previous"], key="previous", shortcut="Left", on_click=_turn, args=(names, -1))
        with st.container(width="content"):
            paragraph([WORDS["at"].format(at=ordinal(at), n=len(names))])
        st.button(WORDS["next"], key="next", shortcut="Right", on_click=_turn, args=(names, 1))


@callback
def _turn(names: list[str], by: int) -> None:
    """Go to a step after or before the one that is shown."""
    (selection,) = session_state.saved(Selection)
    at = _index(names, selection.step) + by
    session_state.put("step", names[min(max(at, 0), len(names) - 1)])


def _index(names: list[str], step: str) -> int:
    return names.index(step) if step in names else 0


def _chosen(selection: Selection) -> tuple[int, int, int] | None:
    """Return head, query and key of the chosen cell."""
    head, query, key = selection.head, selection.query, selection.key
    return None if head is None or query is None or key is None else (head, query, key)


def _picked(selection: Selection, name: str, step: Step) -> Picked | None:
    """Return the chosen cell where the step has one for it."""
    chosen = _chosen(selection)
    if chosen is None or step.axes[-2:] != OF_A_CELL:
        return None
    head, query, key = chosen
    return Picked(name, min(head, step.shape[0] - 1), query, key)


def _explained(trace: Trace, selection: Selection, step: Step, symbol: str) -> str:
    """Explain the chosen cell in words, with the number of this step."""
    chosen = _chosen(selection)
    if chosen is None:
        return WORDS["choose"]
    head = chosen[0]
    sentence = plain(cell_sentence(trace, selection.layer, *chosen))
    if step.axes[-2:] != OF_A_CELL or step.shape[0] != trace.config.n_heads:
        return sentence
    value = localised(rounded_number(float(step.array[chosen])))
    return f"{WORDS['value'].format(head=ordinal(head), symbol=symbol, value=value)} {sentence}"
