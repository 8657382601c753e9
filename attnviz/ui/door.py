"""The page as a whole: read the address, draw the controls, run, draw the pictures, write the address."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.core.config import Config
from attnviz.core.fields import ConfigError
from attnviz.core.language import Words
from attnviz.core.layers import run
from attnviz.core.trace import Trace
from attnviz.ui import assignment, controls, history, locale, marks, own, paste, state, what_if, wire
from attnviz.ui.pages import PAGES
from attnviz.ui.say import line, say
from attnviz.ui.selection import Selection, within
from attnviz.ui.turns import Turns, is_large
from attnviz.views import handed_in
from attnviz.views.assignments import Assignment
from attnviz.views.overview import overview

WORDS = Words(
    {
        "title": "attnviz: see attention happen",
        "too_long": "Too long for a link, so it travels without: {names}. Save the setting as a file instead, at the "
        "left.",
        "still_shown": "The pictures still show the last setting that worked.",
        "nothing_drawn": "Nothing can be drawn until that is mended; what was typed is kept.",
        "files": "Save and open",
    }
)

OPENING = Config(initialiser="by_hand")  # heads with a purpose: a first picture that can be read

LONGEST = {
    **controls.longest(Config),
    **controls.longest(Config, prefix="b_"),
    **controls.longest(Assignment),
    "pasted_matrix": what_if.LONGEST,
    marks.PASTE: handed_in.LARGEST,
    **dict.fromkeys(own.pasted_into(), own.LONGEST),
}
"""Characters that can be pasted into the fields of the page, by their keys."""


_turns = Turns()


def page() -> None:
    """Draw the page; a script for `streamlit run` calls it once."""
    wire.send_at_once()
    with _turns.one(), ExitStack() as until_drawn:
        _page(until_drawn)


def _page(until_drawn: ExitStack) -> None:
    locale.begin(state.asked_for("lang"))
    st.set_page_config(page_title=WORDS["title"], layout="wide", initial_sidebar_state="auto")
    st.html(Path(__file__).with_name("page.css"))
    history.listen()
    (saved, selection), problems = state.read(Config, Selection, opening=(OPENING, Selection()), beside=("lang",))
    locale.offer(partial(state.put, "lang"))

    if not assignment.is_student(selection):
        selection = controls.choose(selection, "page")
    shown = PAGES[selection.page]
    draft, files = _controls(saved, assignment.locked(selection)) if shown.has_controls else (saved, None)

    # One place for all notes, so that what is below keeps its own when one comes or goes: a browser draws anew what
    # moves, and a stroke that is just being painted there would be lost.
    notes = st.container()
    with notes:
        say(*problems)
        if is_large(draft):
            until_drawn.enter_context(_turns.of_the_large)
        config, trace = _run(draft, saved)
        if shown.of_setting:
            line(overview(trace))
            say(*trace.notes)
            selection = within(selection, trace)

    selection = shown.page(trace, selection)
    left_out = state.write(config, selection)
    if left_out:
        with notes:
            say(WORDS["too_long"].format(names=", ".join(left_out)))
    if files is not None:
        with files:
            state.files(config, selection)
    paste.guard(LONGEST)


def _controls(config: Config, locked: tuple[str, ...] = ()) -> tuple[Config, DeltaGenerator | None]:
    """The setting as the visitor leaves it, and where to offer it as a file, if that is open."""
    draft = controls.draw(config, "sentence", skip=locked)
    with st.sidebar:
        draft = controls.draw(draft, "d_model", "n_heads", "mask", "score", "seed", skip=locked)
        for group in controls.groups(draft, skip=locked):
            if group:
                draft = controls.fold(draft, group, skip=locked)
        files = st.expander(WORDS["files"], key="files", on_change="rerun")
        return controls.fitting(draft), files if files.open else None


def _run(draft: Config, saved: Config) -> tuple[Config, Trace]:
    """The setting that could be run, the visitor's or else the last one, and its run; says what is to be mended."""
    try:
        config = controls.checked(draft)
        return config, run(config)
    except ConfigError as error:
        fault = f"{str(error)[0].upper()}{str(error)[1:]}."
    try:
        trace = run(saved)
    except ConfigError:
        say(fault, WORDS["nothing_drawn"], kind="fault")
        st.stop()
    say(fault, WORDS["still_shown"], kind="fault")
    return saved, trace
