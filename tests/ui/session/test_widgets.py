"""The controls, on a page with one field of every kind: they know no field by name, so any record will do."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.engine.records.config import Config
from attnviz.settings import fields
from tests.support.cases import for_each
from tests.support.settings_page import opened, run, shown


def texts_starting(page: AppTest, start: str) -> list[str]:
    return [text.value for text in page.text if text.value.startswith(start)]


def test_each_kind_has_its_widget() -> None:
    page = opened(dish="curry")
    assert page.text_input(key="name").value == "A meal"
    assert page.text_area(key="notes").value == ""
    assert (page.slider(key="guests").min, page.slider(key="guests").max) == (1, 24)
    assert page.select_slider(key="pot").options == ["1", "2", "4", "8", "16", "32", "64"]
    assert page.number_input(key="ticket").max == 999_999
    assert (page.slider(key="heat").step, page.slider(key="heat").proto.format) == (0.1, "%g")
    assert (page.text_input(key="salt").value, page.text_input(key="salt").placeholder) == ("", "to taste")
    assert page.toggle(key="warm").value is True
    assert page.selectbox(key="dish").options == ["Soup", "Curry", "Stew"]
    assert (page.multiselect(key="extras").options, page.multiselect(key="extras").value) == (
        ["Bread", "Salad", "Rice"],
        [],
    )
    assert page.text_input(key="spoons").value == "2"


@pytest.mark.slow
@for_each(
    "kind, name, typed, value",
    [
        ("text_input", "name", "Tea", "Tea"),
        ("text_input", "name", "a\x00\u202eb", "ab"),
        ("text_area", "notes", "a\nb", "a\nb"),
        ("slider", "guests", 9, 9),
        ("select_slider", "pot", 32, 32),
        ("number_input", "ticket", 123_456, 123_456),
        ("slider", "plate", 3, 3),
        ("text_input", "salt", " 0.25 ", 0.25),
        ("toggle", "warm", False, False),
        ("selectbox", "dish", "stew", "stew"),
        ("selectbox", "tables", "2", 2),
        ("multiselect", "extras", ["rice", "bread"], ["bread", "rice"]),
        ("text_input", "spoons", "4, 3, 2", [4, 3, 2]),
        ("text_input", "spoons", "4,", [4]),
        ("text_input", "spoons", " 3 ", 3),
    ],
)
def test_what_is_set_is_what_the_record_says(kind: str, name: str, typed: Any, value: Any) -> None:
    page = opened()
    getattr(page, kind)(key=name).set_value(typed)
    assert shown(run(page)) == shown(opened()) | {name: value}


def test_the_help_is_that_of_the_field_and_of_every_chosen_row() -> None:
    page = opened(dish="curry", extras="bread.rice")
    assert page.selectbox(key="dish").help == "The main thing.\n\n**Curry.** What curry does."
    assert page.multiselect(key="extras").help == "**Bread.** What bread does.\n\n**Rice.** What rice does."
    page.selectbox(key="dish").set_value("stew")
    assert run(page).selectbox(key="dish").help == "The main thing.\n\n**Stew.** What stew does."


def test_a_knob_that_is_not_drawn_keeps_its_value() -> None:
    page = opened(dish="curry", heat="2.5")
    page.slider(key="heat").set_value(3.5)
    run(page).selectbox(key="dish").set_value("soup")
    run(page)
    assert [slider.key for slider in page.slider] == ["guests", "plate"]
    run(page)
    assert shown(page)["heat"] == 3.5
    page.selectbox(key="dish").set_value("curry")
    assert run(page).slider(key="heat").value == 3.5


def test_a_knob_appears_in_the_run_that_chooses_it() -> None:
    page = opened()
    page.multiselect(key="extras").set_value(["salad"])
    page.selectbox(key="dish").set_value("curry")
    assert run(page).number_input(key="oil").value == 0.0
    assert page.slider(key="heat").value == 1.0
    page.multiselect(key="extras").set_value([])
    page.selectbox(key="dish").set_value("soup")
    assert [slider.key for slider in run(page).slider] == ["guests", "plate"]


def test_a_number_between_two_stops_is_kept_until_it_is_moved() -> None:
    page = opened(pot="10")
    assert page.select_slider(key="pot").value == 10
    assert shown(run(page))["pot"] == 10
    page.select_slider(key="pot").set_value(16)
    assert shown(run(page))["pot"] == 16
    assert "10" not in run(page).select_slider(key="pot").options


def test_a_number_off_the_step_keeps_its_last_bit() -> None:
    page = opened(dish="curry", heat="0.1234567890123456", extras="salad", oil="1e-7")
    assert shown(run(page))["heat"] == 0.1234567890123456
    assert shown(page)["oil"] == 1e-7


def test_only_numbers_that_go_with_the_others_are_offered_and_one_that_no_longer_does_gives_way() -> None:
    page = opened(guests="8", tables="8")
    assert page.selectbox(key="tables").options == ["one a guest", "1", "2", "4", "8"]
    page.slider(key="guests").set_value(12)
    assert shown(run(page))["tables"] == 6
    assert page.selectbox(key="tables").value == "6"
    assert shown(run(page))["tables"] == 6


def test_an_optional_number_can_be_emptied() -> None:
    page = opened(salt="2.5")
    page.text_input(key="salt").set_value("")
    assert shown(run(page))["salt"] is None


@for_each(
    "name, typed, used, words",
    [
        ("spoons", "4, 99", [4, 9], ["1 to 9", "now: 4, 9"]),
        ("spoons", "<b>", 2, ["1 to 9", "now: 2"]),
        ("spoons", "", 2, ["1 to 9", "now: 2"]),
        ("salt", "-3", 0.0, ["0 to 1e+06", "now: 0.0"]),
        ("salt", "<b>", None, ["0 to 1e+06", "now: to taste"]),
    ],
)
def test_what_was_typed_and_cannot_be_used_is_said_under_the_field(
    name: str, typed: str, used: Any, words: list[str]
) -> None:
    page = opened()
    page.text_input(key=name).set_value(typed)
    assert shown(run(page))[name] == used
    assert page.text_input(key=name).value == typed
    assert len(page.caption) == 1
    for word in words:
        assert word in page.caption[0].value
    assert "<" not in page.caption[0].value


def test_a_record_whose_fields_do_not_go_together_is_refused_and_what_was_typed_stays() -> None:
    page = opened(warm="no", dish="curry")
    page.number_input(key="ticket").set_value(13)
    run(page).text_input(key="name").set_value("Tea")
    run(page)
    assert texts_starting(page, "Refused: ") == ["Refused: ticket is 13; a cold meal takes any other"]
    assert shown(page)["ticket"] == 0
    assert page.number_input(key="ticket").value == 13
    assert page.slider(key="heat").value == 1.0
    page.toggle(key="warm").set_value(True)
    assert shown(run(page))["ticket"] == 13
    assert shown(page)["name"] == "Tea"
    assert texts_starting(page, "Refused: ") == []


def test_the_labels_within_a_table_differ_as_a_widget_tells_rows_apart_by_them() -> None:
    for item in fields.settings(Config):
        labels = [row.label for row in getattr(item.metadata["kind"], "table", {}).values()]
        assert len(labels) == len(set(labels)), item.name
