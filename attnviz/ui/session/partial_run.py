"""The part of a page in which a visitor chooses what to look at: where nothing outside of it follows, it runs alone.

A click on a cell changes no number, so the controls need not be drawn again: Streamlit runs a fragment, in which a
browser has half as many elements to go through, and the answer is there sooner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import streamlit as st

from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.ui.session import admission, browser_learner, failures, interrupted, locale, session_state
from attnviz.ui.session.browser import component
from attnviz.ui.session.selection import Selection, within

KEY = "part"


@dataclass
class _Part:
    """A part of the page.

    fresh      the run with which the whole page is drawn; it is taken out, as a session keeps this
    selection  what is looked at, as the visitor leaves it
    compute    makes the run of the setting anew
    page       draws the part, and returns what is then looked at
    is_enough  whether nothing outside of the part follows from what is looked at
    """

    config: Config
    fresh: Trace | None
    selection: Selection
    compute: Callable[[Config], Trace | None]
    page: Callable[[Trace, Selection], Selection]
    is_enough: Callable[[Selection], bool]


def show(
    trace: Trace,
    config: Config,
    selection: Selection,
    *,
    compute: Callable[[Config], Trace | None],
    page: Callable[[Trace, Selection], Selection],
    is_enough: Callable[[Selection], bool],
) -> Selection:
    """Draw a page, now and whenever a widget in it asks for that; return the selection as the visitor leaves it.

    config  the setting, as it is saved; `trace` may be the run of another, while a field moves by itself
    """
    part = _Part(config, trace, selection, compute, page, is_enough)
    with st.container(key=KEY, gap=None):
        st.fragment(locale.in_current_language(lambda: failures.attempted(partial(_draw, part), None)))()
    return part.selection


def _draw(part: _Part) -> None:
    trace, part.fresh = part.fresh, None
    if trace is not None:
        part.selection = part.page(trace, part.selection)
        return
    if session_state.is_led_elsewhere():  # what was pressed in the part before that is of another address
        st.rerun()
    session_state.resume()
    with admission.turn(), component.read_once():
        browser_learner.begin()
        config, selection = session_state.saved(Config, Selection)
        again = part.compute(config) if config == part.config else None
        if again is None:  # a button in the part has changed the setting
            st.rerun()
        part.selection = part.page(again, within(selection, again))
        left_out = session_state.write(config, part.selection)
        interrupted.ended()
        if left_out or not part.is_enough(part.selection):
            st.rerun()
