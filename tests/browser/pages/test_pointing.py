"""A cell that is pointed at in the map of an assignment, and what a room paints, in a real browser."""

from __future__ import annotations

from typing import Any

import pytest

from attnviz import Config
from attnviz.classroom import question_codec
from attnviz.classroom.marking import assignments
from attnviz.classroom.marking.assignments import Assignment
from attnviz.classroom.writing.lesson_link import pack
from attnviz.settings import url_codec
from attnviz.ui.session.selection import Selection
from tests.browser_idle import QUIET
from tests.classroom.test_printed_forms import HEAD, QUESTION, WHOLE
from tests.support.cases import for_each

pytestmark = pytest.mark.browser
CONFIG = Config(sentence="the cat sat down", n_heads=2, mask="causal")
CELL = question_codec.item("cell", {"head": 2, "query": 3, "key": 2})


@for_each("is_hidden", [False, True])
def test_the_cell_is_pointed_at_in_the_map(is_hidden: bool, app: Any, browser_page: Any) -> None:
    hidden = ("weights", *assignments.PANELS) if is_hidden else ()
    task = assignments.with_setting(Assignment(task_questions=(CELL,), task_hidden=hidden), CONFIG)
    student = Selection(page="assign", desk="student", assigned=assignments.encode(task))
    browser_page.goto(f"{app.url}/?{url_codec.query_string(CONFIG, student)}")
    browser_page.get_by_role("textbox", name="Your name or number").fill("Ada")
    browser_page.keyboard.press("Enter")
    asked = browser_page.locator(".st-key-question-1")
    box = asked.locator("[data-map=weights]")
    box.wait_for()
    browser_page.evaluate(QUIET)
    assert asked.locator("[data-map]").count() == 1  # of the head that is asked about
    size = box.bounding_box()
    box.click(position={"x": 0.4 * size["width"], "y": 0.6 * size["height"]})
    browser_page.evaluate(QUIET)
    (tip,) = [each for each in browser_page.locator(".attn-tip").all_inner_texts() if each]
    assert tip.startswith("head 2")
    assert "sat" not in tip  # which would say whose cell it is
    assert asked.get_by_text("Its numbers are left out").count() == is_hidden
    chosen = asked.get_by_role("combobox")
    assert chosen.input_value() == "row 3, column 2"
    asked.locator(".attn-focus").focus()
    browser_page.keyboard.press("ArrowUp")
    browser_page.keyboard.press("Enter")
    browser_page.evaluate(QUIET)
    assert chosen.input_value() == "row 2, column 2"


def test_a_room_paints_a_mask_and_its_answer_is_noted(app: Any, browser_page: Any) -> None:
    lesson = HEAD + WHOLE + QUESTION.format(kind="mask", at="{}")
    browser_page.goto(f"{app.url}/?v=2&page=lessons&presenter=yes&written={pack(lesson)}")
    cells = browser_page.locator(".paint .cell")
    cells.first.wait_for()
    assert cells.first.bounding_box()["width"] > 40  # it is seen from the last row
    browser_page.evaluate(QUIET)
    cells.nth(1).click()
    browser_page.evaluate(QUIET)
    browser_page.get_by_role("button", name="Note this answer").click()
    drawn = browser_page.locator(".attn-drawn i")
    drawn.nth(15).wait_for()
    assert [each.get_attribute("class") for each in drawn.all()].index("") == 1
