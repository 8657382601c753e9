"""Texts that the visitor's browser keeps, each by a name: no server does."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from attnviz.ui.session.browser.component import component

_component = component(__file__, is_isolated=False)


def keep(text: str, *, name: str, key: str, is_known: bool, found: Callable[[], None]) -> None:
    """Have the browser keep a text, or hand over the one that it has kept.

    name      of the text in the browser;  key  of the element
    is_known  whether what the browser has kept was handed over already
    found     called before the next run when it is handed over; see `kept`
    """
    data = {"name": f"attnviz:{name}", "text": text, "isKnown": is_known}
    _component(key=key, data=data, height="content", on_kept_change=found)


def kept(key: str) -> str | None:
    """Return the text that the browser has handed over; a browser can say anything."""
    text = st.session_state[key].get("kept")
    return text if isinstance(text, str) else None
