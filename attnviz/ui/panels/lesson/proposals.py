"""Answers that a room proposes where there are too many to be listed: an order, a cell, a mask, a stop of a slider.

A teacher sets the widget as someone in the room says and notes it; hands are then counted for what was noted. It stays
in the session, by the slide that it belongs to.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

import streamlit as st

from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.engine.records.trace import Trace
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words, sign
from attnviz.text.format.number_format import localised
from attnviz.text.format.sentence_parts import plain
from attnviz.ui.panels.classroom import answer_widget
from attnviz.ui.session.callback import callback

WORDS = Words(
    {
        "note": "Note this answer",
        "clear": "Clear the answers",
        "of_mask": "{number}, with {n} of {all} cells allowed",
    }
)
FORMS = answer_widget.FORMS
MOST = 6
"""Answers that are noted for one question."""
_HELD = "_proposed"

Answer = tuple[int, ...]


def noted(at: str) -> tuple[Answer, ...]:
    """Return the answers that were noted on a slide, in the order in which they came."""
    found: tuple[Answer, ...] = st.session_state.get(_HELD, {}).get(at, ())
    return found


def labels(question: ResolvedQuestion, at: str, trace: Trace) -> list[str]:
    """Return the noted answers as markup, in which a mask is a small picture."""
    return [_label(question, answer, number, trace) for number, answer in enumerate(noted(at))]


def _label(question: ResolvedQuestion, answer: Answer, number: int, trace: Trace) -> str:
    if question.form != "mask":
        return html.escape(localised(sign(", ").join(plain(question.options[position]) for position in answer)))
    named = WORDS["of_mask"].format(number=ordinal(number), n=len(answer), all=len(question.options))
    squares = "".join(f'<i class="{"may" if at in answer else ""}"></i>' for at in range(len(question.options)))
    style = f"grid-template-columns:repeat({trace['allowed'].shape[-1]},1fr)"
    return f'<span class="attn-drawn" role="img" aria-label="{html.escape(named)}" style="{style}">{squares}</span>'


def buttons(at: str, answer: Answer) -> None:
    """Draw the buttons that note the answer as the widget has it now, empty for none, and that clear all."""
    held = noted(at)
    is_new = bool(answer) and answer not in held and len(held) < MOST
    with st.container(horizontal=True, gap="small"):
        st.button(WORDS["note"], key="note-answer", on_click=_keep, args=(at, (*held, answer)), disabled=not is_new)
        if held:
            st.button(WORDS["clear"], key="clear-answers", on_click=_keep, args=(at, ()))


@callback
def _keep(at: str, answers: Sequence[Answer]) -> None:
    st.session_state[_HELD] = {**st.session_state.get(_HELD, {}), at: tuple(answers)}
