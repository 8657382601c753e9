"""Answers that are clicked in a picture."""

from __future__ import annotations

import pytest

from attnviz import run
from attnviz.classroom import open_questions
from attnviz.classroom.question_kinds import resolve
from attnviz.lessons.catalogue import LESSONS
from attnviz.ui.components.stage import picking
from attnviz.ui.components.stage.picking import Picked
from attnviz.ui.panels.classroom.picked_answer import option_at
from tests.support.cases import for_each
from tests.ui.pages.test_lessons import everything, lesson
from tests.ui.test_app import clean, page_text

pytestmark = pytest.mark.usefixtures("language_models")


def question_at(name: str, number: int):  # type: ignore[no-untyped-def]
    slide = LESSONS[name].slides[number - 1]
    assert slide.question
    own, shown = run(LESSONS[name].config), run(LESSONS[name].on(slide))
    found = resolve(slide.question, shown, own)
    return found, open_questions.pictures(slide, slide.question, found, own, shown)


@for_each(
    "picked, number",
    [
        (Picked("weights", 0, 2, 1), 1),
        (Picked("weights", 0, None, 4), 4),
        (Picked("weights", None, 2, None), None),
        (Picked("masked", 0, 5, 3), 3),
    ],
)
def test_a_key_is_the_column_of_a_weight(picked: Picked, number: int | None) -> None:
    found, stages = question_at("causal", 3)
    assert found.axis == "key"
    assert {stage.name for stage in stages} >= {"masked", "weights"}
    assert option_at(found, stages, picked) == number


def test_a_row_is_the_row_of_any_picture_that_has_it() -> None:
    found, stages = question_at("store", 5)
    assert found.axis == "query"
    name = stages[0].name
    assert option_at(found, stages, Picked(name, 0, 3, 0)) == 3
    assert option_at(found, stages, Picked(name, None, 2, None)) == 2
    assert option_at(found, stages, Picked(name, 0, None, 2)) is None


def test_clicks_choose_and_take_back_rows_and_are_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    _, stages = question_at("store", 5)
    clicks: list[Picked | None] = [None]
    monkeypatch.setattr(picking, "picked", lambda *_, **__: clicks[0])
    at = lesson("store", 5)
    assert "by clicking" in everything(at)
    for row in (0, 3, 0):
        clicks[0] = Picked(stages[0].name, 0, row, 0)
        at.run()
    clicks[0] = None
    assert clean(at)
    at.button(key="check").click().run()
    assert "Only “lock” changes" in page_text(at)


def test_a_click_chooses_a_key_and_says_nothing_of_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = question_at("causal", 3)
    clicks: list[Picked | None] = [Picked("weights", 0, 2, 0)]
    monkeypatch.setattr(picking, "picked", lambda *_, **__: clicks[0])
    at = lesson("causal", 3)
    assert at.radio(key="answer-causal-3").value == 0
    assert "0.8818" not in everything(at)
    assert min(found.right) != 0
    clicks[0] = None
    at.button(key="check").click().run()
    assert "Not quite." in page_text(at)
    assert "0.8818" not in everything(at)
