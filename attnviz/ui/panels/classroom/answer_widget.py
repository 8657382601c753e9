"""The widgets of answers that are neither a number, a choice nor a text: an order, a cell, a mask, a slider."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from attnviz.arrays import Array
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.classroom.run_questions import QUESTIONS
from attnviz.engine.records.trace import Trace
from attnviz.settings.language import Words
from attnviz.ui.components import mask_painter

WORDS = Words(
    {
        "order": "Choose one after the other, in their order",
        "cell": "Your choice, here or by clicking a cell in the picture",
        "slider": "Your choice",
    }
)
ROOM = 280  # pixels of height that a mask has on a slide for a room
FINGER = 36  # pixels of a cell that a finger finds
FORMS = tuple(QUESTIONS)


def draw(question: ResolvedQuestion, labels: Sequence[str], key: str, trace: Trace, *, large: bool = False) -> None:
    """Draw the widget of one of these forms; its labels are markdown, so none of them holds a visitor's word.

    large  whether a mask is drawn for a room
    """
    positions = range(len(labels))
    match question.form:
        case "order":
            st.multiselect(
                WORDS["order"],
                positions,
                placeholder="",
                select_all=False,
                width=480,
                format_func=labels.__getitem__,
                key=key,
            )
        case "cell":
            st.selectbox(
                WORDS["cell"], positions, index=None, placeholder="", width=480, format_func=labels.__getitem__, key=key
            )
        case "slider":
            st.select_slider(WORDS["slider"], positions, width=480, format_func=labels.__getitem__, key=key)
        case "mask":
            _mask(key, trace, large=large)


def _mask(key: str, trace: Trace, *, large: bool) -> None:
    """Draw a mask that is painted as an answer; at first nothing is forbidden."""
    shape = trace["allowed"].array.shape

    def painted(cells: Array) -> None:
        st.session_state[key] = np.flatnonzero(cells).tolist()

    largest = max(mask_painter.LARGEST, min(56, ROOM // shape[0])) if large else FINGER
    whole = range(int(np.prod(shape)))
    allowed = np.isin(np.array(whole), st.session_state.get(key, [*whole]))
    mask_painter.show(
        allowed.reshape(shape),
        trace.query_tokens,
        trace.key_tokens,
        key=f"paint-{key}",
        painted=painted,
        largest=largest,
    )
