"""A large computation that was not finished when the connection to the server was lost.

A server that has run out of memory forgets what it was doing, and a browser that connects again asks for the same once
more. So the browser keeps a note of what was begun, a cookie that is there only while something large is computed; what
it names is not begun again before the visitor has said so.
"""

from __future__ import annotations

import hashlib
import time

import streamlit as st

from attnviz.settings.language import Words
from attnviz.ui.session.browser.component import component
from attnviz.ui.session.callback import callback
from attnviz.ui.session.notices import notice

COOKIE = "attnviz_unfinished"
_BEGUN, _OPEN = "_unfinished_begun", "_unfinished_open"
_IS_NOTED, _NOTES = "_unfinished_noted", "_unfinished_notes"

WORDS = Words(
    {
        "lost": "The connection to the server was lost while it computed this setting, so it is not restarted "
        "automatically.",
        "anyway": "Compute it anyway",
        "default": "Open the default setting",
    }
)

_component = component(__file__, is_isolated=False)


def name(*things: object) -> str:
    """Return a short name for a computation, the same in every process."""
    return hashlib.blake2b(repr(things).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def may_begin(key: str) -> bool:
    """Return whether a computation may begin; if so, have the browser note it, else ask the visitor."""
    begun: frozenset[str] = st.session_state.get(_BEGUN, frozenset())
    if key not in begun and st.context.cookies.get(COOKIE) == key:
        _ask(key)
        return False
    st.session_state[_BEGUN] = begun | {key}
    _note(key)
    return True


def ended() -> None:
    """Have the browser delete its note; call it at the end of a run."""
    if st.session_state.pop(_IS_NOTED, False):
        _note("")


def wants_default() -> bool:
    """Return whether the visitor has asked for the default setting instead, once."""
    return bool(st.session_state.pop(_OPEN, False))


def _note(key: str) -> None:
    st.session_state[_IS_NOTED] = bool(key)
    st.session_state[_NOTES] = n = st.session_state.get(_NOTES, 0) + 1  # what a browser was told already does nothing
    _component(key=f"unfinished-{n}", data={"cookie": COOKIE, "key": key, "at": time.time()}, height="content")


def _ask(key: str) -> None:
    notice(WORDS["lost"], kind="fault")
    with st.container(horizontal=True, gap="small"):
        st.button(WORDS["anyway"], key="unfinished-anyway", on_click=_allow, args=(key,))
        st.button(WORDS["default"], key="unfinished-default", on_click=_open_default)


@callback
def _allow(key: str) -> None:
    st.session_state[_BEGUN] = st.session_state.get(_BEGUN, frozenset()) | {key}


@callback
def _open_default() -> None:
    st.session_state[_OPEN] = True
