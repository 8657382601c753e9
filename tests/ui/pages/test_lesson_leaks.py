"""What the browser is sent of a slide holds nothing of the answer before it is given: messages, texts and the link."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest, local_script_runner

from attnviz import run
from attnviz.classroom.question_kinds import resolve
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.lesson import Lesson, Slide
from attnviz.ui.pages import lessons
from tests.lessons.test_ask_first import QUESTIONS
from tests.support.cases import for_each
from tests.support.lesson_leaks import found_in, hidden
from tests.ui.test_app import clean, opened

pytestmark = pytest.mark.usefixtures("language_models")

SENT: list[list[bytes]] = []


@pytest.fixture(autouse=True)
def _recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    parse = local_script_runner.parse_tree_from_messages

    def record(messages: Sequence[Any]) -> Any:
        SENT.append([message.delta.SerializeToString(deterministic=True) for message in messages])
        return parse(messages)

    monkeypatch.setattr(local_script_runner, "parse_tree_from_messages", record)


def opened_slide(lesson: Lesson, slide: Slide, **query: str) -> tuple[AppTest, list[bytes]]:
    number = lesson.slides.index(slide) + 1
    SENT.clear()
    at = opened(page="lessons", lesson=lesson.name, slide=str(number), **query)
    return at, SENT[-1]


@pytest.mark.slow
@for_each("lesson, slide, at", [(*each.values, at) for at, each in enumerate(QUESTIONS)])
def test_no_message_of_an_open_question_holds_its_answer(
    lesson: Lesson, slide: Slide, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a presenter every third; that another answer would not be told apart, of every second."""
    query = {"presenter": "yes"} if at % 3 == 0 else {}
    page, sent = opened_slide(lesson, slide, **query)
    assert clean(page)
    link = str(dict(page.query_params)).encode()
    assert found_in([*sent, link], hidden(lesson, slide)) == []
    question = slide.question
    assert question is not None
    assert b"".join(sent).count(question.why[:40].encode()) == 0 or not question.why
    if at % 2:
        return

    def otherwise(*given: Any, **more: Any) -> ResolvedQuestion:
        found = resolve(*given, **more)
        other = frozenset({(min(found.right, default=0) + 1) % max(len(found.options), 1)})
        return replace(found, right=other, value=found.value + 3, solution=(), lines=(), why="", mistakes=())

    monkeypatch.setattr(lessons, "resolve", otherwise)
    page, again = opened_slide(lesson, slide, **query)
    assert again == sent
    assert str(dict(page.query_params)).encode() == link


def test_an_answer_that_is_shown_is_found() -> None:
    lesson = LESSONS["tied"]
    at, sent = opened_slide(lesson, lesson.slides[2])
    values = hidden(lesson, lesson.slides[2])
    assert found_in(sent, values) == []
    at.button(key="show-answer").click().run()
    assert found_in(SENT[-1], values) == list(values)


def test_numbers_are_found_however_they_are_sent() -> None:
    value = run(LESSONS["tied"].config)["scores"].array[0, 0, 0]
    for message in (b"It is 5.993.", b"5,993", np.float32(value).tobytes(), np.float64(value).tobytes()):
        assert found_in([message], [value])
        assert found_in([b'{"bdata":"' + base64.b64encode(message + b" and more") + b'"}'], [value])
    assert not found_in([b"15.993 and 5.9931"], [value])
