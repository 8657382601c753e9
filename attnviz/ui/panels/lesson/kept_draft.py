"""The draft of a lesson, which the visitor's browser keeps: no server does."""

from __future__ import annotations

import streamlit as st

from attnviz.classroom.writing import draft
from attnviz.lessons.read_lesson import MAX_LESSON_CHARACTERS
from attnviz.ui.panels.lesson import kept_text
from attnviz.ui.session.callback import callback

KEY = "kept-draft"
_KNOWN = "_draft_known"


def keep(text: str, held: tuple[str, ...]) -> None:
    """Have the browser keep a draft, or hand over the one that it has kept, once in a session.

    held  the keys of the session under which the draft stands
    """

    @callback
    def found() -> None:
        """Take the draft that the browser has kept, unless another was begun here."""
        kept = kept_text.kept(KEY) or ""
        if 0 < len(kept) <= MAX_LESSON_CHARACTERS and draft.has_no_slide(text):
            for key in held:
                st.session_state[key] = kept
        st.session_state[_KNOWN] = True

    is_known = bool(st.session_state.get(_KNOWN))
    kept_text.keep(
        "" if draft.has_no_slide(text) else text, name="lesson-draft", key=KEY, is_known=is_known, found=found
    )
