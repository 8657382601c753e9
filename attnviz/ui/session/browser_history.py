"""Back and Forward, as the browser reports them.

Streamlit says of a run whether the browser's history asked for it, and forgets that if another request joins this one
before the run has begun: pictures send one when they find how much room there is. So the browser says itself where it
went, and that is kept until a run shows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qs

import streamlit as st

from attnviz.settings.language import current_language, tag
from attnviz.ui.session.browser.component import component
from attnviz.ui.session.callback import callback

KEY = "history"
_GONE = "_gone_to"
_LONGEST = 2**16  # characters; no link is nearly as long
_STREAMLITS = ("embed", "embed_options")  # in the address, but not in `st.query_params`

_component = component(__file__, is_isolated=False)


def listen() -> None:
    """Report browser navigation to the server, and name the language; call it once in a run, before all else."""
    _component(key=KEY, data={"language": tag(current_language())}, height="content", on_gone_change=_remember)


@callback
def _remember() -> None:
    st.session_state[_GONE] = st.session_state[KEY].get("gone")


def gone_to() -> dict[str, list[str]] | None:
    """Return the address to which the browser went, where no run has shown that yet."""
    address = st.session_state.get(_GONE)
    if not isinstance(address, str) or len(address) > _LONGEST:  # browsers can say anything
        return None
    parts = parse_qs(address, keep_blank_values=True)
    return {name: values for name, values in parts.items() if name.lower() not in _STREAMLITS}


def leads_to(query: Mapping[str, list[str]]) -> bool:
    """Return whether this address is where the browser went, and no run has shown that yet."""
    return gone_to() == query


def arrived() -> None:
    """Forget where the browser went: the run shows that, or it is there no more."""
    st.session_state.pop(_GONE, None)
