"""The What if panel without a browser: pasting, undoing, and what it says."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.test_app import clean, opened, said


def panel(**query: str) -> AppTest:
    return opened(**{"panel": "what_if", "sentence": "a b", "n_heads": "1", "d_model": "2"} | query)


@pytest.mark.parametrize("step", ["embedded", "w_q", "scores", "weights", "output", "nonsense", "allowed"])
def test_every_step_opens(step: str) -> None:
    assert clean(panel(step=step, edits="scores.1.1.1.1~2.0", n_layers="2", layer="2", projection_bias="yes"))


def test_a_pasted_matrix_replaces_what_differs() -> None:
    at = panel(step="embedded")
    at.text_area(key="pasted_matrix").set_value("1,2\n3,4").run()
    at.button(key="set_matrix").click().run()
    assert clean(at)
    assert at.query_params["edits"] == "embedded.1.1~1.0~~embedded.1.2~2.0~~embedded.2.1~3.0~~embedded.2.2~4.0"
    assert "4 numbers were changed by hand" in said(at)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,2\n3", "row 2"),
        ("1,2\n3,nan", "row 2, column 2"),
        ("1,2\n3,inf", "row 2, column 2"),
        ("1,2,3", "the matrix has 1 rows and 3 columns; X has 2 and 2 here"),
        (" ", "there is nothing to set"),
    ],
)
def test_a_bad_matrix_changes_nothing_and_says_where(text: str, words: str) -> None:
    at = panel(step="embedded", edits="scores.1.1.1.1~2.0")
    at.text_area(key="pasted_matrix").set_value(text).run()
    at.button(key="set_matrix").click().run()
    assert clean(at)
    assert "Nothing was changed: " in said(at)
    assert words in said(at)
    assert at.query_params["edits"] == "scores.1.1.1.1~2.0"
    at.run()
    assert "Nothing was changed: " not in said(at)


def test_each_change_is_undone_by_itself_or_all_at_once() -> None:
    at = panel(edits="embedded.1.1~1.0~~scores.1.1.1.1~2.0~~scores.1.1.1.2~3.0")
    at.button(key="undo-1").click().run()
    assert at.query_params["edits"] == "embedded.1.1~1.0~~scores.1.1.1.2~3.0"
    at.button(key="undo_all").click().run()
    assert "edits" not in at.query_params
    assert clean(at)


def test_what_was_changed_can_be_compared_with_the_run_before() -> None:
    at = panel(edits="scores.1.1.1.1~2.0", step="scores")
    at.button(key="compare_edits").click().run()
    assert clean(at)
    assert (at.query_params["page"], at.query_params["b_edits"]) == ("compare", "scores.1.1.1.1~2.0")
    assert "1 of 4 numbers moved" in said(at)


def test_changes_that_have_no_place_are_said() -> None:
    at = panel(edits="scores.1.1.1.3~2.0")
    assert "left out: scores.1.1.1.3." in said(at)
    assert clean(at)


def test_changes_that_have_no_place_can_be_undone() -> None:
    at = panel(edits="scores.1.1.1.1~2.0~~scores.1.1.1.3~2.0")
    assert "scores.1.1.1.3: has no place in this setting" in said(at)
    at.button(key="undo-1").click().run()
    assert clean(at)
    assert at.query_params["edits"] == "scores.1.1.1.1~2.0"
