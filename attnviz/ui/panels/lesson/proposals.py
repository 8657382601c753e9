"""Answers that a room proposes where there are too many to be listed: a number, an order, a cell, a mask, a slider.

A teacher sets the widget as someone in the room says and notes it; hands are then counted for what was noted. Of a
number the usual answers can be offered at once: the right one among those of known mistakes, by their size, which says
nothing of which is right. All of it stays in the session, by the slide that it belongs to.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from operator import itemgetter

import streamlit as st

from attnviz.classroom import slides
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
        "offer": "Offer numbers",
        "offer_help": "The right number and those of known mistakes, by their size; what is right is marked only with "
        "the answer.",
        "another": "another number",
        "hint": "{number}: {hint}",
    }
)
FORMS = ("number", *answer_widget.FORMS)
MOST = 6
"""Answers that are noted for one question."""
_HELD = "_proposed"

Answer = tuple[int, ...] | float


def noted(at: str) -> tuple[Answer, ...]:
    """Return the answers that were noted on a slide, in the order in which they came."""
    found: tuple[Answer, ...] = st.session_state.get(_HELD, {}).get(at, ())
    return found


def labels(question: ResolvedQuestion, at: str, trace: Trace) -> list[str]:
    """Return the noted answers as markup, in which a mask is a small picture."""
    drawn = [_label(question, answer, number, trace) for number, answer in enumerate(noted(at))]
    return [*drawn, html.escape(WORDS["another"])] if drawn and question.form == "number" else drawn


def _label(question: ResolvedQuestion, answer: Answer, number: int, trace: Trace) -> str:
    if not isinstance(answer, tuple):
        return html.escape(_printed(answer))
    if question.form != "mask":
        return html.escape(localised(sign(", ").join(plain(question.options[position]) for position in answer)))
    named = WORDS["of_mask"].format(number=ordinal(number), n=len(answer), all=len(question.options))
    squares = "".join(f'<i class="{"may" if at in answer else ""}"></i>' for at in range(len(question.options)))
    style = f"grid-template-columns:repeat({trace['allowed'].shape[-1]},1fr)"
    return f'<span class="attn-drawn" role="img" aria-label="{html.escape(named)}" style="{style}">{squares}</span>'


def _printed(number: float) -> str:
    return localised(slides.format_number(number))


def usual(question: ResolvedQuestion) -> tuple[float, ...]:
    """Return the right number and those of its known mistakes, by size; none where no mistake is known.

    Only numbers that print differently can be told apart by a room.
    """
    told = [each.value for each in question.mistakes if question.nearness(each.value)]
    apart = {_printed(number): number for number in reversed([question.value, *told])}
    wrong = [number for printed, number in reversed(apart.items()) if printed != _printed(question.value)]
    return tuple(sorted([question.value, *wrong[: MOST - 1]])) if wrong else ()


def of_mistake(question: ResolvedQuestion, at: str, hands: Sequence[int]) -> str:
    """Return what is said of the known mistake behind the wrong number with the most hands; empty where none is."""
    numbers = [answer for answer in noted(at) if not isinstance(answer, tuple)]
    said = [(n, number, question.mistake(number)) for n, number in zip(hands, numbers)]
    n, number, hint = max((each for each in said if each[2]), key=itemgetter(0), default=(0, 0.0, ""))
    return WORDS["hint"].format(number=_printed(number), hint=localised(hint)) if n else ""


def buttons(question: ResolvedQuestion, at: str, answer: Answer | None) -> None:
    """Draw the buttons that note the answer as the widget has it now, None or empty for none, and that clear all."""
    held, offered = noted(at), usual(question) if question.form == "number" else ()
    is_new = answer is not None and answer != () and answer not in held and len(held) < MOST
    with st.container(horizontal=True, gap="small"):
        st.button(WORDS["note"], key="note-answer", on_click=_keep, args=(at, (*held, answer)), disabled=not is_new)
        if offered and not held:
            st.button(WORDS["offer"], key="offer-numbers", help=WORDS["offer_help"], on_click=_keep, args=(at, offered))
        if held:
            st.button(WORDS["clear"], key="clear-answers", on_click=_keep, args=(at, ()))


@callback
def _keep(at: str, answers: Sequence[Answer]) -> None:
    st.session_state[_HELD] = {**st.session_state.get(_HELD, {}), at: tuple(answers)}
