"""A callback is called whole although another request arrives, in the session's language; and all are called so."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import attnviz

PAGE = """
import streamlit as st
from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx
from attnviz.settings.language import current_language
from attnviz.ui.session.callback import callback

def press(name):
    get_script_run_ctx().script_requests.request_rerun(RerunData())  # as one that arrives in this moment
    st.session_state[name] = current_language()
    st.session_state["done"] = name

st.session_state.setdefault("_language", "de")
st.session_state["runs"] = st.session_state.get("runs", 0) + 1
st.button("whole", on_click=callback(press), args=("whole",))
st.button("bare", on_click=press, args=("bare",))
"""
ROOT = Path(attnviz.__file__).parent / "ui"


def test_a_request_that_arrives_waits_until_a_callback_has_returned() -> None:
    page = AppTest.from_string(PAGE).run()
    page.button[1].click().run()
    assert "bare" not in page.session_state, "Streamlit no longer ends callbacks: attnviz.ui.session.callback can go"
    page.button[0].click().run()
    assert page.session_state["whole"] == "de"
    assert page.session_state["done"] == "whole"
    assert page.session_state["runs"] == 3, "the request that arrived is run, and ends the run that came before it"


def called_for_what_is_gone() -> None:
    from attnviz import Config
    from attnviz.text.edit_table import EditedMatrix
    from attnviz.ui.pages import your_data
    from attnviz.ui.panels import what_if
    from attnviz.ui.panels.learn import controls
    from attnviz.ui.session.browser import component
    from attnviz.ui.session.selection import Selection

    config, selection = Config(), Selection()
    component._hear("gone", "picked", lambda: 1 / 0)
    what_if._typed("gone", config, selection, EditedMatrix(0, "scores", 0), 3, (), ())
    controls._to_frame(config, selection, controls.slider_key())
    your_data._uploaded(config)
    your_data._pasted(config)


def test_a_press_on_what_a_later_run_has_taken_away_changes_nothing() -> None:
    assert not AppTest.from_function(called_for_what_is_gone).run().exception


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(ROOT.rglob("*.py")):
        yield path.stem, ast.parse(path.read_text("utf-8"))


def called_by_widgets() -> Iterator[tuple[str, str]]:
    """Give what a widget or a component is given to call: its module and its name."""
    for module, tree in modules():
        for node in ast.walk(tree):
            for argument, value in arguments(node):
                if argument.startswith("on_") and isinstance(value, ast.Name | ast.Attribute):
                    *elsewhere, name = ast.unparse(value).split(".")
                    yield elsewhere[-1] if elsewhere else module, name


def arguments(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Give the named arguments of a call, and those that a dictionary holds for one."""
    if isinstance(node, ast.Call):
        yield from ((keyword.arg or "", keyword.value) for keyword in node.keywords)
    if isinstance(node, ast.Dict):
        yield from (
            (str(key.value), value) for key, value in zip(node.keys, node.values) if isinstance(key, ast.Constant)
        )


IDLE = {"ignore"}  # which only asks for a run
PASSED_ON = {("locale", "choose"): ("main", "_speak"), ("speaker", "turn"): ("lessons", "_turn")}
PASSED_ON |= {("heatmap", "kept"): ("sweep", "keep_chosen"), ("heatmap", "held"): ("by_hand", "_keep")}
PASSED_ON |= {("field_widgets", "moved"): ("partial_run", "moved")}
PASSED_ON |= {("kept_text", "found"): ("practice", "_found")}  # kept_draft gives its own, which is a callback, too
"""What a function is given by its caller."""


@pytest.mark.slow
def test_every_function_that_a_widget_calls_is_a_callback() -> None:
    callbacks = {
        (module, node.name)
        for module, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and "callback" in map(ast.unparse, node.decorator_list)
    }
    called = [PASSED_ON.get(each, each) for each in called_by_widgets() if each[1] not in IDLE]
    assert len(called) > 50
    assert {*called} <= callbacks


def test_what_a_button_does_is_a_callback() -> None:
    """A page that reads whether one was pressed would not know of it if its run is ended by another."""
    read = [
        (module, node.lineno)
        for module, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith(".button")
        and not {"on_click", "disabled", None} & {keyword.arg for keyword in node.keywords}
        and ast.unparse(node.func) != "svg_to_png.button"
    ]
    assert {module for module, _ in read} == {"exports"}, read  # which makes a file, and shows it in the same run
