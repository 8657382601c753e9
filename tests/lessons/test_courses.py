"""Courses are gone through from the first slide to the last and back, within the minutes that a class has."""

from __future__ import annotations

import pytest

from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.courses import COURSES
from attnviz.ui.session.selection import COURSE_NAMES


def test_a_course_is_gone_through_forwards_and_back_and_ends_in_time() -> None:
    for course in COURSES.values():
        places, seen = course.places, [course.places[0]]
        while course.turned(*seen[-1], 1) != seen[-1]:
            seen.append(course.turned(*seen[-1], 1))
        assert seen == places
        assert len({part.lesson for part in course.parts}) == len(course.parts)
        for (lesson, slide), before in zip(places[1:], places, strict=False):
            assert LESSONS[lesson].slides[slide]
            assert course.turned(lesson, slide, -1) == before
        gone = [course.gone(*place) for place in places]
        assert gone == sorted(gone)
        assert 0.95 * course.minutes <= gone[-1] <= course.minutes
        assert course.turned(*places[0], -1) == places[0]


def test_time_and_breaks_add_up() -> None:
    course = COURSES["double"]
    of_lessons = sum(part.minutes for part in course.parts)
    assert course.gone(*course.places[-1]) == pytest.approx(of_lessons + 5)
    paused = [place for place in course.places if course.pause(*place)]
    assert paused == [("why_causal", len(LESSONS["why_causal"].slides) - 1)]
    assert set(COURSE_NAMES) == {"all", "practice", *COURSES}
