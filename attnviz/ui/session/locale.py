"""The language of the page: the one that was chosen, or else the nearest to the browser's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.settings.language import LANGUAGES, NEW, WRITTEN, Words, current_language, nearest_language, set_language

WORDS = Words(
    {
        "new": "This translation is new. If a sentence is wrong or unclear, tell whoever runs this page, or correct it "
        "in the project: `{file}`.",
    }
)
MENU = "language-menu"
_LANGUAGE = "_language"

Made = TypeVar("Made")


def begin(chosen: str) -> None:
    """Set the chosen language, or the browser's where none was chosen; call it in a run before any text is written."""
    before = st.session_state.get(_LANGUAGE)
    set_language(chosen if chosen in LANGUAGES else nearest_language(st.context.locale))
    st.session_state[_LANGUAGE] = current_language()
    if before not in (None, current_language()):
        _tell_widgets()


def _tell_widgets() -> None:
    """Tell the widgets what they hold, as their words are others now.

    A browser knows options by their labels alone, and a group by its heading, so it would take them for new ones.
    Buttons, menus, files and pictures cannot be told, and need not: a switch that is off, as a button is, stays off.
    """
    for key in [*st.session_state]:
        value = st.session_state[key]
        if isinstance(value, str | int | float | list | tuple) and value is not False and key != MENU:
            st.session_state[key] = value


def resume() -> None:
    """Set the language of the session, in a thread that may be new: for what runs before the page does."""
    set_language(st.session_state.get(_LANGUAGE, WRITTEN))


def in_current_language(make: Callable[[], Made]) -> Callable[[], Made]:
    """Wrap a file factory so that it runs, in a thread of its own, in the language that is current now."""
    language = current_language()

    def in_language() -> Made:
        set_language(language)
        return make()

    return in_language


def offer(choose: Callable[[], None]) -> DeltaGenerator:
    """Draw a menu of the other languages, above the page; `choose` is called, as a callback, with one of them chosen.

    Gives the container of the menu, for what else leads away from the page.
    """
    bar = st.container(key="languages", horizontal=True, gap="small")
    others = [code for code in LANGUAGES if code != current_language()]
    with bar:
        st.menu_button(
            LANGUAGES[current_language()],
            others,
            key=MENU,
            type="tertiary",
            icon=":material/translate:",
            format_func=LANGUAGES.__getitem__,
            on_click=choose,
        )
    return bar


def say_if_new() -> None:
    """Say that the current language is new, where it is, and how to correct it."""
    language = current_language()
    if language in NEW:
        st.caption(WORDS["new"].format(file=f"attnviz/languages/{language}/LC_MESSAGES/attnviz.po"))
