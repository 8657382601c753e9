"""The part of a page in which a visitor chooses what to look at: where nothing outside of it follows, it runs alone.

A click on a cell changes no number, and a move of the seed none of the other controls. So these need not be drawn
again: Streamlit runs a fragment, in which a browser has half as many elements to go through, and the answer is there
sooner.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import streamlit as st
from streamlit.errors import StreamlitAPIException

from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.settings.faults import ConfigError
from attnviz.ui.session import admission, browser_learner, interrupted, locale, session_state, widgets
from attnviz.ui.session.browser import component
from attnviz.ui.session.selection import Selection, within

KEY = "part"

_DRAWN = "_part"
"""Of the session: the part that is on the page."""


@dataclass
class _Part:
    """A part of the page.

    config, above  the setting that is drawn, as it is saved, and what of its run is told above the part
    fresh      the run with which the whole page is drawn; it is taken out, as a session keeps this
    selection  what is looked at, as the visitor leaves it
    compute    makes the run of a setting
    page       draws the part, and returns what is then looked at
    is_enough  whether nothing outside of the part follows from a setting and what is looked at
    accepts_moves  whether all else of the page has been drawn as well
    """

    config: Config
    above: tuple[object, ...]
    fresh: Trace | None
    selection: Selection
    compute: Callable[[Config], Trace | None]
    page: Callable[[Trace, Selection], Selection]
    is_enough: Callable[[Config, Selection], bool]
    accepts_moves: bool = False


def begin() -> None:
    """Begin a run of the whole page; call it before anything is drawn, as drawing may end the run for another."""
    st.session_state.pop(_DRAWN, None)


def accept_moves() -> None:
    """Let the part of this run run alone when a control moves; call it when all else has been drawn.

    Where a fault is said above the part, or that a link is too long, it is for the whole page to take that back.
    """
    if part := st.session_state.get(_DRAWN):
        part.accepts_moves = True


def show(
    trace: Trace,
    config: Config,
    selection: Selection,
    *,
    compute: Callable[[Config], Trace | None],
    page: Callable[[Trace, Selection], Selection],
    is_enough: Callable[[Config, Selection], bool],
) -> Selection:
    """Draw a page, now and whenever a widget in it asks for that; return the selection as the visitor leaves it.

    config  the setting, as it is saved; `trace` may be the run of another, while a field moves by itself
    """
    part = _Part(config, _above(trace), trace, selection, compute, page, is_enough)
    with st.container(key=KEY, gap=None):
        st.fragment(locale.in_current_language(lambda: _draw(part)), key=KEY)()
    st.session_state[_DRAWN] = part
    return part.selection


def move(name: str) -> None:
    """Run the part alone if that is enough after the move of a number, as a callback; else the whole page is run."""
    part: _Part | None = st.session_state.get(_DRAWN)
    if (
        part is None
        or not part.accepts_moves
        or not (session_state.is_settled() and widgets.hold(part.config, but=name))
    ):
        return
    try:
        moved = replace(part.config, **{name: st.session_state[name]})
    except ConfigError:
        return
    if widgets.drawn_alike(part.config, moved) and part.is_enough(moved, part.selection):
        part.config = moved
        session_state.keep(moved, part.selection)
        with suppress(StreamlitAPIException):  # where the browser has left the page of the part
            st.rerun(KEY)


def _draw(part: _Part) -> None:
    trace, part.fresh = part.fresh, None
    if trace is not None:
        part.selection = part.page(trace, part.selection)
        return
    session_state.resume()
    with admission.TURNS.turn(), component.read_once():
        browser_learner.begin()
        config, selection = session_state.saved(Config, Selection)
        again = part.compute(config) if config == part.config else None
        if again is None or _above(again) != part.above:  # a button in the part has changed the setting
            st.rerun()
        part.selection = part.page(again, within(selection, again))
        left_out = session_state.write(config, part.selection)
        interrupted.ended()
        if left_out or not part.is_enough(config, part.selection):
            st.rerun()


def _above(trace: Trace) -> tuple[object, ...]:
    """Return that of a run from which follows what is said above the part."""
    return trace.notes, trace.query_tokens, trace.key_tokens
