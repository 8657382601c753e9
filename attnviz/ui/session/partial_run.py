"""The part of a page in which a visitor sees the numbers and chooses what to look at: it runs alone where it can.

A click on a cell changes no number, and a move of a slider no other control: nothing outside of the part follows from
them, and Streamlit runs a fragment, in which server and browser have a third as many elements to go through. Where
nothing but numbers changes, what shows them runs within it (`numbers`), and all else of the part stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import streamlit as st
from streamlit.errors import StreamlitAPIException

from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.ui.session import admission, browser_learner, failures, interrupted, locale, session_state
from attnviz.ui.session.browser import component, streamlit_private
from attnviz.ui.session.browser.uninterrupted import uninterrupted
from attnviz.ui.session.callback import callback
from attnviz.ui.session.selection import Selection, within

KEY, NUMBERS = "part", "numbers"
_PART = "_part"
"""Of the session: the part as the whole page was drawn with it last, if it takes moves of the controls."""

AfterMove = Callable[[Config, str], Config | None]
"""Gives the setting after a move of a number, by its name; None where more than the part follows from it."""
AreNumbers = Callable[[Config, str, Selection], bool]
"""Says whether numbers alone follow from the move of a number, by the setting after it, its name, and what is shown."""


@dataclass
class _Part:
    """A part of the page.

    fresh      the run with which the whole page is drawn; it is taken out, as a session keeps this
    selection  what is looked at, as the visitor leaves it
    compute    makes the run of the setting anew
    page       draws the part, and returns what is then looked at
    is_enough  whether nothing outside of the part follows from what is looked at in a setting
    after_move  gives the setting after a move, where nothing outside of the part follows from that
    are_numbers  whether what `numbers` draws is all that follows
    is_whole   whether its last run came to its end: else more of it is to be drawn than numbers
    """

    config: Config
    fresh: Trace | None
    selection: Selection
    compute: Callable[[Config], Trace | None]
    page: Callable[[Trace, Selection], Selection]
    is_enough: Callable[[Config, Selection], bool]
    after_move: AfterMove
    are_numbers: AreNumbers
    is_whole: bool = True


def begin() -> None:
    """Begin a run of the whole page, which may have no part, or one that takes no moves; call it before all else.

    What has led to the run may be all of the page's, like a language: a move that ends it before it has come to its end
    must not run the part alone.
    """
    with uninterrupted():
        st.session_state.pop(_PART, None)


@callback
def moved(name: str) -> None:
    """Have the part run alone where a number was moved from which nothing else follows; else the whole page runs.

    As it does where another widget was used before the server has heard of the first.
    """
    part: _Part | None = st.session_state.get(_PART)
    is_alone = streamlit_private.is_served() and streamlit_private.n_changed(streamlit_private.current_run()) == 1
    if part is None or not (is_alone and session_state.are_widgets_told()):
        return
    config, selection = session_state.saved(Config, Selection)
    after = part.after_move(config, name) if config == part.config else None
    if after is not None and part.is_enough(after, selection):
        session_state.keep(after, selection)
        part.config = after
        with suppress(StreamlitAPIException):  # there is no such part any more, and the whole page runs
            is_rest = part.is_whole and not component.has_heard()  # nothing that was pressed waits for the part
            st.rerun(NUMBERS if is_rest and part.are_numbers(after, name, selection) else KEY)


def show(
    trace: Trace,
    config: Config,
    selection: Selection,
    *,
    compute: Callable[[Config], Trace | None],
    page: Callable[[Trace, Selection], Selection],
    is_enough: Callable[[Config, Selection], bool],
    after_move: AfterMove | None = None,
    are_numbers: AreNumbers = lambda *_: False,
) -> Selection:
    """Draw a page, now and whenever a widget in it asks for that; return the selection as the visitor leaves it.

    config      the setting, as it is saved; `trace` may be the run of another, while a field moves by itself
    after_move  without it, the whole page is run after any move
    """
    part = _Part(config, trace, selection, compute, page, is_enough, after_move or (lambda *_: None), are_numbers)
    with st.container(key=KEY, gap=None):
        draw = locale.in_current_language(lambda: failures.attempted(partial(_draw, part), None))
        st.fragment(draw, key=KEY)()
    st.session_state[_PART] = part
    return part.selection


def numbers(first: Callable[[], None], again: Callable[[Trace, Selection], None]) -> None:
    """Draw what shows the numbers of a run, within a part or a page without one.

    first  draws it now;  again  draws it with another run, after a move from which nothing else follows
    """
    now = [first]  # it is taken out, as a session keeps the other, and there is a run in it

    def draw() -> None:
        if now:
            now.pop()()
            return
        part: _Part | None = st.session_state.get(_PART)
        if part is None:  # the page has left it meanwhile
            st.rerun()
        _run(part, shown)

    def shown(trace: Trace, selection: Selection) -> Selection:
        again(trace, selection)
        return selection

    try:
        st.fragment(locale.in_current_language(lambda: failures.attempted(draw, None)), key=NUMBERS)()
    finally:
        now.clear()  # also where another request has ended this before it was drawn


def _draw(part: _Part) -> None:
    trace, part.fresh = part.fresh, None
    if trace is None:
        part.is_whole = False
        _run(part, part.page)
        part.is_whole = True
    else:
        part.selection = part.page(trace, part.selection)


def _run(part: _Part, page: Callable[[Trace, Selection], Selection]) -> None:
    """Draw a page of the part with what was saved last, and save what is then looked at."""
    if session_state.is_led_elsewhere():  # what was pressed in the part before that is of another address
        st.rerun()
    session_state.resume()
    with admission.turn(), component.read_once():
        browser_learner.begin()
        config, selection = session_state.saved(Config, Selection)
        again = part.compute(config) if config == part.config else None
        if again is None:  # a button in the part has changed the setting
            st.rerun()
        part.selection = page(again, within(selection, again))
        left_out = session_state.write(config, part.selection)
        interrupted.ended()
        if left_out or not part.is_enough(part.config, part.selection):
            st.rerun()
