"""Orders, cells, masks and sliders before a room: asked, noted, counted and shown; and what nobody touched."""

from __future__ import annotations

import re
from typing import Any

import pytest

from attnviz import run
from attnviz.classroom import slides
from attnviz.classroom.question_kinds import resolve
from attnviz.classroom.writing.lesson_link import pack
from attnviz.lessons.catalogue import LESSONS
from attnviz.ui.panels.lesson import proposals
from tests.classroom.test_printed_forms import AT, HEAD, QUESTION, WHOLE
from tests.support.cases import for_each
from tests.ui.pages.test_lessons import everything, lesson, question
from tests.ui.test_app import clean, opened, page_text

pytestmark = pytest.mark.usefixtures("language_models")

TEXT = HEAD + "".join(WHOLE + QUESTION.format(kind=kind, at=at) for kind, at in AT.items())
SLIDES = {kind: number for number, kind in enumerate(AT, 1)}
PLAIN = WHOLE.replace('"scores", "masked", "weights"', '"queries"')


def room(kind: str, **more: str) -> Any:
    at = opened(page="lessons", written=pack(TEXT), slide=str(SLIDES[kind]), **more)
    assert clean(at)
    return at


def widget_key(at: Any, kind: str) -> str:
    return f"answer-{at.session_state['_opened_lesson'].name}-{SLIDES[kind]}"


def give(at: Any, kind: str, answer: Any) -> None:
    """Set the widget of a kind; what is painted is kept in the session."""
    key = widget_key(at, kind)
    if kind == "mask":
        at.session_state[key] = answer
        at.run()
        return
    found = {"order": at.multiselect, "cell": at.selectbox, "slider": at.select_slider}[kind]
    found(key=key).set_value(answer).run()


def tally(at: Any) -> list[tuple[str, str]]:
    """What stands beside each bar of the tally, and how many hands."""
    (shown,) = [each.value for each in at.get("html") if '"attn-tally' in each.value]
    return re.findall(r"<span>(.*?)</span><span>.*?<b>(\d+)</b>", shown)


ANSWERS: dict[str, tuple[Any, Any]] = {
    "order": ([0, 1, 3, 2], [1, 0, 3, 2]),
    "cell": (12, 9),
    "mask": ([0, 4, 5, 8, 9, 10, 12, 13, 14, 15], [0, 4]),
    "slider": (2, 3),
}
"""A right answer of each kind, as its widget has it, and a wrong one."""


@for_each("kind", AT)
def test_a_room_answers_and_hands_are_counted(kind: str) -> None:
    at = room(kind, presenter="yes")
    assert not [each for each in at.text_input if each.key.startswith("hands-")]
    assert at.button(key="note-answer").disabled
    for answer in ANSWERS[kind]:
        give(at, kind, answer)
        at.button(key="note-answer").click().run()
        assert clean(at)
        assert at.button(key="note-answer").disabled  # it is noted
    (hands,) = [each for each in at.text_input if each.key.startswith("hands-")]
    hands.set_value("5 12").run()
    assert [n for _, n in tally(at)] == ["5", "12"]
    assert "✓" not in "".join(label for label, _ in tally(at))
    at.button(key="space").click().run()
    assert clean(at)
    assert [label.startswith("✓") for label, _ in tally(at)] == [True, False]
    assert not [each for each in at.button if each.key == "note-answer"]


def rows(at: Any) -> list[str]:
    (shown,) = [each.value for each in at.get("html") if '"attn-tally' in each.value]
    return re.findall(r"<span>(.*?)</span><span>", shown)


def test_hands_are_counted_for_numbers_without_giving_the_right_one_away() -> None:
    at = lesson("softmax_axis", 1, presenter="yes")
    asked = question("softmax_axis", 1)
    assert not [each for each in at.text_input if each.key.startswith("hands-")]
    assert slides.format_number(asked.value) == "1"
    at.button(key="offer-numbers").click().run()
    assert clean(at)
    offered = rows(at)
    assert offered == ["0.25", "1", "1.608", "another number"]  # by size: the order says nothing
    assert [asked.is_right(float(each)) for each in offered[:3]] == [False, True, False]
    assert all(asked.known(float(each)) for each in ("0.25", "1.608"))
    at.text_input(key="answer-softmax_axis-1").set_value("3/4").run()
    at.button(key="note-answer").click().run()
    assert rows(at) == ["0.25", "1", "1.608", "0.75", "another number"]
    (hands,) = [each for each in at.text_input if each.key.startswith("hands-")]
    hands.set_value("9 12 3 1 2").run()
    assert tally(at) == [("0.25", "9"), ("1", "12"), ("1.608", "3"), ("0.75", "1"), ("another number", "2")]
    assert "That is the mean" not in page_text(at)
    at.button(key="space").click().run()
    assert clean(at)
    assert tally(at)[:2] == [("0.25", "9"), ("✓ 1", "12")]
    assert "0.25: That is the mean: the sum is asked for." in page_text(at)  # behind the wrong number with most hands
    assert "That is the sum along" not in page_text(at)


def test_a_number_without_a_known_mistake_is_never_offered_alone() -> None:
    at = lesson("bits", 2, presenter="yes")
    assert not [each for each in at.button if each.key == "offer-numbers"]
    at.text_input(key="answer-bits-2").set_value("a lot").run()
    assert "cannot be read as a number" in page_text(at)
    assert at.button(key="note-answer").disabled
    at.text_input(key="answer-bits-2").set_value("0").run()
    at.button(key="note-answer").click().run()
    assert rows(at) == ["0", "another number"]


@for_each("name", LESSONS)
def test_of_numbers_that_are_offered_one_is_right_and_each_other_one_is_of_a_known_mistake(name: str) -> None:
    found = LESSONS[name]
    for slide in found.slides:
        asked = (
            resolve(slide.question, run(found.on(slide)), run(found.config), worked=False) if slide.question else None
        )
        offered = proposals.usual(asked) if asked is not None and asked.form == "number" else ()
        if asked is None or not offered:
            continue
        assert list(offered) == sorted(offered)
        assert 2 <= len({slides.format_number(each) for each in offered}) == len(offered) <= proposals.MOST
        assert [each for each in offered if asked.is_right(each)] == [asked.value]
        assert all(asked.mistake(each) for each in offered if each != asked.value)


def test_what_was_noted_can_be_cleared() -> None:
    at = room("cell", presenter="yes")
    give(at, "cell", 3)
    at.button(key="note-answer").click().run()
    assert "row 1, column 4" in page_text(at) + everything(at)
    at.button(key="clear-answers").click().run()
    assert not [each for each in at.get("html") if '"attn-tally' in each.value]


@for_each("kind, said", [("slider", "Move the slider first."), ("mask", "Paint the mask first")])
def test_what_nobody_touched_is_no_answer(kind: str, said: str) -> None:
    at = room(kind)
    at.button(key="check").click().run()
    assert said in page_text(at)
    assert "Not quite" not in page_text(at)
    give(at, kind, ANSWERS[kind][1])
    at.button(key="check").click().run()
    assert "Not quite" in page_text(at)


def test_once_a_mask_is_drawn_it_is_seen_in_the_weights() -> None:
    lesson = HEAD + PLAIN + QUESTION.format(kind="mask", at="{}")
    at = opened(page="lessons", written=pack(lesson))
    assert "Weights" not in everything(at)
    at.button(key="show-answer").click().run()
    assert clean(at)
    assert "1: 1; 2: 1–2; 3: 1–3; 4: 1–4" in page_text(at)
