"""The installed Streamlit has every private name that the page leans on, and no other file touches one."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit import config
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import Runtime, app_session
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.testing.v1 import AppTest

from attnviz.ui.session.browser import streamlit_private

UI = Path(streamlit_private.__file__).parents[2]
NAMES = (
    "_yield_callback",
    "fragment_ids_this_run",
    "widget_user_keys_this_run",
    "is_history_navigation",
    "is_active_session",
    "_populate_theme_msg",
    "_widget_changed",
    "_new_widget_state",
)
TWO = """
import streamlit as st
from attnviz.ui.session.browser import streamlit_private as private

def count():
    st.session_state["changed"] = private.n_changed(private.current_run())

st.number_input("one", key="one", on_change=count)
st.toggle("two", key="two")
st.text_input("three", key="three")
"""
PAGE = """
import streamlit as st
from attnviz.ui.session.browser import streamlit_private as private

run = private.current_run()
st.button("drawn", key="drawn")
found = {
    "part": private.is_part(run),
    "drawn": [private.has_drawn(run, key) for key in ("drawn", "not drawn")],
    "history": private.asked_by_history(run),
    "looks": callable(run.session_state._yield_callback),
    "session": run.session_id,
}
private.end_if_asked(run)()
before = run.session_state._yield_callback
with private.requests_waiting(run):
    found["waits"] = run.session_state._yield_callback is not before
found["again"] = run.session_state._yield_callback == before
st.session_state["found"] = found

@st.fragment
def part():
    st.button("again", key="again")
    st.session_state["part"] = private.is_part(private.current_run())

part()
"""


def test_a_run_has_every_name() -> None:
    page = AppTest.from_string(PAGE).run()
    assert not page.exception
    found = page.session_state["found"]
    assert isinstance(found.pop("session"), str)
    assert found == {
        "part": False,
        "drawn": [True, False],
        "history": False,
        "looks": True,
        "waits": True,
        "again": True,
    }
    assert page.session_state["part"] is False
    assert "fragment_ids_this_run" in ScriptRunContext.__dataclass_fields__
    assert callable(Runtime.is_active_session)
    assert callable(Runtime.exists)


def test_what_was_used_is_counted() -> None:
    page = AppTest.from_string(TWO).run()
    page.number_input(key="one").set_value(1.0).run()
    assert page.session_state["changed"] == 1
    page.number_input(key="one").set_value(2.0)
    page.toggle(key="two").set_value(True).run()
    assert page.session_state["changed"] == 2
    assert not page.exception


def test_the_theme_is_that_of_the_options_and_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read, times, cleared = app_session._populate_theme_msg, [], []

    def counted(message: CustomThemeConfig, section: str = "theme") -> None:
        times.append(section)
        read(message, section)

    def parsed(forget: Callable[[], None], *, force_connect: bool) -> None:
        cleared.append(forget)

    monkeypatch.setattr(app_session, "_populate_theme_msg", counted)
    monkeypatch.setattr(config, "on_config_parsed", parsed)
    streamlit_private.read_theme_once.cache_clear()
    streamlit_private.read_theme_once()
    streamlit_private.read_theme_once()
    sections = ("theme", "theme.light", "theme.dark", "theme.sidebar")
    for _ in range(2):
        for section in sections:
            plain, message = CustomThemeConfig(), CustomThemeConfig()
            read(plain.light if section.endswith("light") else plain, section)
            app_session._populate_theme_msg(message.light if section.endswith("light") else message, section)
            assert message == plain
    assert times == [*sections]
    (forget,) = cleared
    forget()
    app_session._populate_theme_msg(CustomThemeConfig())
    assert times == [*sections, "theme"]
    streamlit_private.read_theme_once.cache_clear()


def test_no_other_file_touches_one() -> None:
    used = {
        path.name for path in UI.rglob("*.py") if any(re.search(rf"\b{name}\b", path.read_text()) for name in NAMES)
    }
    assert used == {"streamlit_private.py"}
    assert streamlit_private.current_run() is None
