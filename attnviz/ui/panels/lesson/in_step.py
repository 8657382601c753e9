"""The slides for a room and the notes on them, which are turned together: the browser tells each of its windows.

No server takes part: a window says where it is to the other windows of the same browser at the same address.
"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attnviz.engine.records.config import Config
from attnviz.lessons.catalogue import LESSONS
from attnviz.settings.counting import index_of, ordinal
from attnviz.ui.session import session_state
from attnviz.ui.session.browser.component import component
from attnviz.ui.session.callback import callback
from attnviz.ui.session.selection import Selection

KEY = "slides-in-step"

_component = component(__file__, is_isolated=False)


def draw(selection: Selection) -> None:
    """Tell the other windows which slide is shown, and follow them."""
    slide = f"{selection.lesson}~{ordinal(selection.slide)}"
    _component(key=KEY, data={"slide": slide}, height="content", on_turned_change=_turned)


@callback
def _turned() -> None:
    """Show the slide that another window shows; a browser can say anything."""
    name, _, number = str(st.session_state[KEY].get("turned")).partition("~")
    if name not in LESSONS or number not in map(str, range(1, len(LESSONS[name].slides) + 1)):
        return
    config, selection = session_state.saved(Config, Selection)
    session_state.adopt(config, replace(selection, lesson=name, slide=index_of(int(number))))
