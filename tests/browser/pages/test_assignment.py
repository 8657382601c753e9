"""An assignment in a real browser: composed, answered by two students, and marked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from attnviz import Config, run
from attnviz.classroom.marking import assignments
from attnviz.settings import url_codec
from attnviz.ui.session.selection import Selection
from tests.browser_idle import QUIET

pytestmark = pytest.mark.browser
WORDING = "Your own wording"


def composed(page: Any, app: Any) -> str:
    """A teacher chooses a question and hides what gives it away; the link for students."""
    page.goto(f"{app.url}/?v=1&page=assign&mask=causal&sentence=one+two+three")
    page.get_by_role("textbox", name="Title").fill("Weights")
    page.get_by_role("button", name="Add a question").click()
    page.get_by_text("1. Head 1: what is the weight that “one” gives “one”?").wait_for()
    page.get_by_role("combobox", name="Query").click()
    page.get_by_role("option", name="3", exact=True).click()
    page.get_by_text("gives “one”?").get_by_text("“three”").wait_for()
    page.get_by_role("button", name="Add a question").click()
    page.get_by_text("2. Head 1: what is the weight").wait_for()
    page.get_by_role("combobox", name="Not shown to students").click()
    for part in (
        "Picture of the weights",
        "This cell",
        "This word",
        "Every step",
        "Statistics",
        "Other seeds",
        "Table",
    ):
        page.get_by_role("option", name=part).click()
    page.keyboard.press("Escape")
    page.get_by_text("students can read off").wait_for(state="detached")
    page.evaluate(QUIET)  # the link follows
    return str(page.locator(".st-key-task-link code").inner_text())


def right(link: str, name: str) -> float:
    """What the engine says: the weight of the third word on the first."""
    (config, selection), problems = url_codec.open_link(link, Config, Selection)
    task, more = assignments.decode(selection.assigned)
    assert task is not None
    assert problems == more == []
    return float(run(assignments.of_student(config, task, name))["weights"].array[0, 2, 0])


def answered(page: Any, link: str, name: str, answer: float) -> str:
    """A student opens the link and answers the first question; the code."""
    page.goto(link)
    page.get_by_role("textbox", name="Your name or number").fill(name)
    page.keyboard.press("Enter")
    page.wait_for_selector(".st-key-task-maps [data-stage=scores] .attn-cells")
    assert page.locator(".st-key-task-maps [data-stage=weights]").count() == 0
    assert page.get_by_text("Explore").count() == 0
    assert page.get_by_role("slider").count() == 0
    assert f"{right(link, name):.4g}" not in page.content()
    page.get_by_role("textbox", name="Your number").first.fill(f"{answer:.4f}")
    page.get_by_role("button", name="Check").click()
    page.locator(".st-key-task-code code").wait_for()
    return str(page.locator(".st-key-task-code code").inner_text())


def test_an_assignment_from_composing_to_the_verified_result(new_page: Callable[..., Any], app: Any) -> None:
    teacher = new_page(viewport={"width": 1280, "height": 900})
    link = composed(teacher, app)
    assert urlsplit(link).query.startswith("v=2&")
    codes, student = {}, new_page()
    for name, off in (("Ada", 0.0), ("Bob", 0.3)):
        codes[name] = answered(student, link, name, right(link, name) + off)
        student.get_by_text("Not quite." if off else "Right.").first.wait_for()
    assert right(link, "Ada") != pytest.approx(right(link, "Bob"), abs=1e-4)
    teacher.get_by_text("Check results", exact=True).click()
    box = teacher.get_by_role("textbox", name="Names and codes")
    box.fill(f"Ada,{codes['Ada']}\nBob\t{codes['Bob']}".replace("\t", ","))
    box.press("Control+Enter")
    teacher.get_by_text("Valid codes: 2 of 2. Mean score 0.5 of 2.").wait_for()
    with teacher.expect_download() as saved:
        teacher.get_by_role("button", name="Save as CSV").click()
    rows = saved.value.path().read_text("utf-8").splitlines()
    table = [row.split(",") for row in rows[1:]]  # as it came in, and the results beside it
    assert [[cells[0], *cells[2:5]] for cells in table] == [["Ada", "yes", "1", "2"], ["Bob", "yes", "0", "2"]]
    box.fill(f"Carl,{codes['Ada']}")
    box.press("Control+Enter")
    teacher.get_by_text("Valid codes: none of 1.").wait_for()


def test_wording_and_points_go_with_a_question_that_is_moved_or_others_removed(
    new_page: Callable[..., Any], app: Any
) -> None:
    page = new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{app.url}/?v=1&page=assign&mask=causal&sentence=one+two+three")
    for _ in range(3):
        page.get_by_role("button", name="Add a question").click()
        page.evaluate(QUIET)
    fields = {
        name: page.get_by_role(role, name=name) for role, name in (("textbox", WORDING), ("spinbutton", "Points"))
    }

    def typed(name: str, at: int, text: str) -> None:
        fields[name].nth(at).fill(text)
        fields[name].nth(at).press("Enter")
        page.evaluate(QUIET)

    def kept() -> list[tuple[str, float]]:
        """What the fields show, which is what the link holds."""
        shown = [[each.input_value() for each in fields[name].all()] for name in fields]
        link = str(page.locator(".st-key-task-link code").inner_text())
        (_, selection), _ = url_codec.open_link(link, Config, Selection)
        task, _ = assignments.decode(selection.assigned)
        assert task is not None
        found = [(words, points) for (_, words), points in zip(task.asked, task.points, strict=True)]
        assert found == [(words, float(points)) for words, points in zip(*shown, strict=True)]
        return found

    typed(WORDING, 0, "First?")
    typed("Points", 0, "2")
    typed("Points", 1, "3")
    page.locator(".st-key-down-0").get_by_role("button").first.click()
    page.evaluate(QUIET)
    typed("Points", 2, "4")  # a run with what the browser holds
    assert kept() == [("", 3.0), ("First?", 2.0), ("", 4.0)]
    page.locator(".st-key-remove-0").get_by_role("button").first.click()
    page.evaluate(QUIET)
    typed("Points", 1, "5")
    assert kept() == [("First?", 2.0), ("", 5.0)]
