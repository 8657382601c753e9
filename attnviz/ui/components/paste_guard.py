"""A paste that is too long for its field: Streamlit would drop it without a word, or the connection would break."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.settings.language import Words, current_language, tag
from attnviz.ui.components import streamlit_words
from attnviz.ui.session.browser import transport
from attnviz.ui.session.browser.component import component

WORDS = Words(
    {
        "refused": "The pasted text has {n} characters, and at most {most} fit here: nothing was changed. Paste a "
        "part of it, or upload a file where that is offered.",
    }
)

_component = component(__file__, is_isolated=False)


def guard(limits: Mapping[str, int]) -> None:
    """Say, and change nothing, where more is pasted into a field than fits; `limits` in characters, by widget key.

    Also has Streamlit's own words said in the language of the page, and tells style sheets whether the page was pressed
    last (`:root[data-pressed]`) or come to with the keyboard.
    """
    said = {"words": dict(WORDS), "streamlit": streamlit_words.words(), "language": tag(current_language())}
    data = transport.packed({"limits": dict(limits), **said})
    _component(data=data, height="content")  # without a key: what has one is asked for its state by every widget
