"""Courses: lessons, or parts of them, in an order for a class that has so many minutes."""

from __future__ import annotations

from dataclasses import dataclass

from attnviz.lessons.catalogue import LESSONS
from attnviz.settings.rows import Entry, table


@dataclass(frozen=True)
class Part:
    """Slides of a lesson, one after the other, counted from 0; a negative last one is counted from the end.

    pause  minutes of a break after them
    """

    lesson: str
    first: int = 0
    last: int = -1
    pause: int = 0

    @property
    def slides(self) -> range:
        """The slides, as they are counted in the lesson."""
        return range(self.first, self.last % len(LESSONS[self.lesson].slides) + 1)

    @property
    def minutes(self) -> float:
        """The minutes that the slides take: their share of those of the lesson."""
        lesson = LESSONS[self.lesson]
        return lesson.minutes * len(self.slides) / len(lesson.slides)


@dataclass(frozen=True)
class Course(Entry):
    """A course; its note says on its first slide why anyone should care.

    minutes  that a class has for it;  parts  in their order, none of a lesson twice
    """

    minutes: int = 0
    parts: tuple[Part, ...] = ()

    @property
    def places(self) -> list[tuple[str, int]]:
        """The slides in their order: the name of the lesson, and the slide as it is counted there."""
        return [(part.lesson, slide) for part in self.parts for slide in part.slides]

    def nearest(self, lesson: str, slide: int) -> tuple[str, int]:
        """Return a place of the course: the given one, or else where it is entered from there.

        >>> COURSES["short"].nearest("next_word", 0), COURSES["short"].nearest("padding", 1)
        (('next_word', 3), ('two_meanings', 0))
        """
        part = next((part for part in self.parts if part.lesson == lesson), self.parts[0])
        is_here = part.lesson == lesson and slide in part.slides
        return (lesson, slide) if is_here else (part.lesson, part.first)

    def turned(self, lesson: str, slide: int, by: int) -> tuple[str, int]:
        """Return the place so many slides after or before one, at most the last or first."""
        at = self.places.index(self.nearest(lesson, slide)) + by
        return self.places[min(max(at, 0), len(self.places) - 1)]

    def gone(self, lesson: str, slide: int) -> float:
        """Return the minutes that have passed at the end of a slide, with the breaks before it."""
        minutes = 0.0
        for part in self.parts:
            if part.lesson == lesson:
                return minutes + part.minutes * (slide - part.first + 1) / len(part.slides)
            minutes += part.minutes + part.pause
        return minutes

    def pause(self, lesson: str, slide: int) -> int:
        """Return the minutes of the break after a slide; 0 where there is none."""
        return next((part.pause for part in self.parts if (part.lesson, part.slides[-1]) == (lesson, slide)), 0)


COURSES: dict[str, Course] = table(
    Course(
        "short",
        "20 minutes: what attention does",
        "Whatever writes, translates or answers questions today reads its text by attention: each word takes "
        "up a little of those that matter to it. Here you see that happen with real numbers, see a head learn "
        "it, and see the next word come out.",
        20,
        (
            Part("two_meanings", last=1),
            Part("how_a_head_learns"),
            Part("why_causal", last=1),
            Part("next_word", first=3),
        ),
    ),
    Course(
        "single",
        "45 minutes: from bits to a next word",
        "Whatever writes, translates or answers questions today reads its text by attention. It is arithmetic "
        "that fits on a sheet of paper: you do it once by hand, and then find it again in a trained model.",
        45,
        (
            Part("two_meanings"),
            Part("bits", last=4),
            Part("why_causal", pause=2),
            Part("how_a_head_learns"),
            Part("next_word"),
        ),
    ),
    Course(
        "double",
        "90 minutes: and which heads the answer depends on",
        "Whatever writes, translates or answers questions today reads its text by attention. You do its "
        "arithmetic by hand, find it in a trained model, and after a break prove which of its heads an answer "
        "depends on.",
        90,
        (
            Part("two_meanings"),
            Part("bits"),
            Part("why_root", last=4),
            Part("softmax_axis"),
            Part("why_causal", pause=5),
            Part("one_or_many"),
            Part("how_a_head_learns"),
            Part("next_word"),
            Part("indirect_object"),
        ),
    ),
)
