"""The What if panel without a browser: pasting, undoing, and what it says."""

from __future__ import annotations

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import Config
from attnviz.engine.records import edits
from attnviz.text.edit_table import EditedMatrix
from attnviz.ui.panels import what_if
from attnviz.ui.session import session_state
from attnviz.ui.session.selection import Selection
from tests.support.cases import for_each
from tests.ui.test_app import clean, opened, page_text


def panel(**query: str) -> AppTest:
    return opened(**{"panel": "what_if", "sentence": "a b", "n_heads": "1", "d_model": "2"} | query)


@pytest.mark.slow
@for_each("step", ["embedded", "w_q", "scores", "weights", "output", "nonsense", "allowed"])
def test_every_step_opens(step: str) -> None:
    assert clean(panel(step=step, edits="scores.1.1.1.1~2.0", n_layers="2", layer="2", projection_bias="yes"))


def test_a_pasted_matrix_replaces_what_differs() -> None:
    at = panel(step="embedded")
    at.text_area(key="pasted_matrix").set_value("1,2\n3,4").run()
    at.button(key="set_matrix").click().run()
    assert clean(at)
    assert at.query_params["edits"] == "embedded.1.1~1_2~3_4"
    assert "4 numbers were changed by hand" in page_text(at)


@pytest.mark.slow
@for_each(
    "text",
    [
        "query,query_token,model,value\n1,a,1,1\n1,a,2,2.5\n2,b,1,3\n2,b,2,4",
        ",1,2\n1 a,1,2.5\n2 b,3,4",
        "sep=;\n1;2,5\n3;4",
        "1\t2,5\n3\t4",
    ],
)
def test_a_table_in_any_dress_is_set(text: str) -> None:
    at = panel(step="embedded")
    at.text_area(key="pasted_matrix").set_value(text).run()
    at.button(key="set_matrix").click().run()
    assert clean(at)
    assert at.query_params["edits"] == "embedded.1.1~1_2.5~3_4"


def test_of_a_file_of_all_heads_the_one_on_screen_is_set() -> None:
    text = "head,query,query_token,key,key_token,value\n" + "\n".join(
        f"{h},{i},x,{j},x,{100 * h + 10 * i + j}" for h in (1, 2) for i in (1, 2) for j in (1, 2)
    )
    at = panel(step="scores", n_heads="2", head="2")
    at.text_area(key="pasted_matrix").set_value(text).run()
    at.button(key="set_matrix").click().run()
    assert at.query_params["edits"] == "scores.1.2.1.1~211_212~221_222"


@pytest.mark.parametrize("held", [(), ((0, "scores", (0, 0, 1), 2.0),)])
def test_an_emptied_cell_goes_back_to_what_it_was_and_is_drawn_again(
    held: tuple[edits.Edit, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    config, adopted = Config(sentence="a b", n_heads=1, edits=held), []
    typed = {"sheet": {"edited_rows": {0: {"2 b": None}, 1: {"1 a": 3.0}}}}
    monkeypatch.setattr(what_if.st, "session_state", typed)
    monkeypatch.setattr(session_state, "adopt", lambda *records: adopted.append(records[0]))
    before = what_if._key(config, EditedMatrix(0, "scores", 0))
    what_if._typed("sheet", config, Selection(), EditedMatrix(0, "scores", 0), 3, ("1 a", "2 b"), held)
    assert [each.edits for each in adopted] == [((0, "scores", (0, 1, 0), 3.0),)]
    assert what_if._base(adopted[0], EditedMatrix(0, "scores", 0)) == adopted[0].edits
    assert what_if._key(config, EditedMatrix(0, "scores", 0)) != before


@pytest.mark.slow
@for_each(
    "text, words",
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
    assert "Nothing was changed: " in page_text(at)
    assert words in page_text(at)
    assert at.query_params["edits"] == "scores.1.1.1.1~2.0"
    at.run()
    assert "Nothing was changed: " not in page_text(at)


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
    assert "1 of 4 numbers moved" in page_text(at)


def test_changes_that_have_no_position_are_said() -> None:
    at = panel(edits="scores.1.1.1.3~2.0")
    assert "left out: scores.1.1.1.3." in page_text(at)
    assert clean(at)


def test_changes_that_have_no_position_can_be_undone() -> None:
    at = panel(edits="scores.1.1.1.1~2.0~~scores.1.1.1.3~2.0")
    assert "scores.1.1.1.3: has no place in this setting" in page_text(at)
    at.button(key="undo-1").click().run()
    assert clean(at)
    assert at.query_params["edits"] == "scores.1.1.1.1~2.0"


@pytest.mark.slow
def test_a_pasted_matrix_of_64_rows_travels_in_the_link() -> None:
    numbers = np.random.default_rng(1).normal(size=(64, 16)).round(6)
    at = panel(step="w_q", d_model="64", d_k="16")
    at.text_area(key="pasted_matrix").set_value("\n".join("\t".join(map(str, row)) for row in numbers)).run()
    at.button(key="set_matrix").click().run()
    assert clean(at)
    assert "Too long for a link" not in page_text(at)
    found, unread = edits.decode(at.query_params["edits"])
    assert unread == []
    assert [edit[3] for edit in found] == numbers.ravel().tolist()
