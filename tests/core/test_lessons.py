"""The form of a lesson, and the table of all lessons."""

from __future__ import annotations

import pytest

from attnviz.core.lesson import Lesson, Slide
from attnviz.core.lessons import LESSONS
from attnviz.core.trace import STEPS

LESSON = Lesson(
    "one", "One", "What?", {"n_heads": 3, "seed": 5}, (Slide("a"), Slide("b", change={"mask": "causal"})), "-"
)


def test_a_slide_changes_the_setting_of_its_lesson_and_a_seed_the_numbers() -> None:
    plain, masked = LESSON.slides
    assert LESSON.on(plain) == LESSON.config
    assert (LESSON.on(masked).mask, LESSON.on(masked).n_heads) == (("causal",), 3)
    assert (LESSON.on(masked, 7).seed, LESSON.on(masked, 7).mask) == (7, ("causal",))
    assert LESSON.on(masked, 0).seed == 0


def test_there_are_twenty_lessons_by_the_names_that_stand_in_links() -> None:
    assert len(LESSONS) == 20
    assert all(name == lesson.name and name.isidentifier() and name == name.lower() for name, lesson in LESSONS.items())
    assert len({lesson.title for lesson in LESSONS.values()}) == 20


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=list(LESSONS))
def test_slides_are_few_name_steps_and_hold_no_shouting(lesson: Lesson) -> None:
    assert 2 <= len(lesson.slides) <= 40
    for slide in lesson.slides:
        assert slide.steps
        assert set(slide.steps) <= set(STEPS)
        assert "!" not in slide.text
        assert slide.change or not slide.beside
