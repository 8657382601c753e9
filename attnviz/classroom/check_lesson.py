"""A lesson that somebody brings, gone through before it is shown: every slide, question and number in a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from attnviz.classroom import open_questions, slides
from attnviz.classroom.measures import MEASURES
from attnviz.classroom.question_kinds import resolve
from attnviz.engine.records.config import Config
from attnviz.engine.records.step_specs import STEPS
from attnviz.engine.run import run
from attnviz.lessons.lesson import Lesson, Slide
from attnviz.lessons.read_lesson import read_lesson
from attnviz.settings.counting import ordinal
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words

MOST_SLIDES = 40
FOREIGN = re.compile(r"!\[|\]\(|://")
"""Markdown that would draw a picture or a link from elsewhere; markup is shown as it is written."""

WORDS = Words(
    {
        "refused": "the right answer is printed as {given}, which a tolerance of {tolerance:g} refuses; give a "
        "larger one",
    }
)


def opened(name: str, text: str, admit: Callable[[Config], None]) -> Lesson:
    """Return the lesson of a file that somebody brings.

    admit  raises ConfigError for a setting that is too large here

    Raises ConfigError, with the position, for all that the page could not show.
    """
    foreign = FOREIGN.search(text)
    if foreign:
        raise ConfigError(f"the lesson {name} holds {foreign[0]!r}; links and pictures are not drawn in lessons")
    lesson = read_lesson(name, text, admit)
    foreign = next((sign for each in _texts(asdict(lesson)) for sign in FOREIGN.finditer(each)), None)
    if foreign:  # written as \u0021[ it is not seen in the file
        raise ConfigError(f"the lesson {name} holds {foreign[0]!r}; links and pictures are not drawn in lessons")
    if not 1 <= len(lesson.slides) <= MOST_SLIDES:
        raise ConfigError(f"the lesson {name} has {len(lesson.slides)} slides; choose 1 to {MOST_SLIDES}")
    for n, slide in enumerate(lesson.slides, 1):
        try:
            _gone_through(lesson, slide)
        except KeyError as error:
            names = "head, query, key, line, step and what `at` says"
            raise ConfigError(
                f"slide {n} of the lesson {name}: there is no {error} here; a question may name {names} in braces"
            ) from None
        except (ValueError, IndexError, TypeError, AttributeError) as error:
            raise ConfigError(f"slide {n} of the lesson {name}: {error}") from None
    return lesson


def _texts(part: Any) -> Iterator[str]:
    """Yield every text of a record, whatever holds it."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, Mapping):
        yield from (text for each in part.values() for text in _texts(each))
    elif isinstance(part, (list, tuple)):
        yield from (text for each in part for text in _texts(each))


def _gone_through(lesson: Lesson, slide: Slide) -> None:
    """Raise an error for a slide that cannot be shown."""
    unknown = [step for step in slide.steps if step not in STEPS]
    if unknown or not slide.steps:
        raise ConfigError(f"steps names {unknown or 'nothing'}; choose from {', '.join(STEPS)}")
    if slide.layer not in range(lesson.on(slide).n_layers):
        raise ConfigError(f"layer is {ordinal(slide.layer)}; the setting has {lesson.on(slide).n_layers}")
    missing = [name for name in (slide.control.measures if slide.control else ()) if name not in MEASURES]
    if missing:
        raise ConfigError(f"there is no measure {missing[0]!r}; choose from {', '.join(MEASURES)}")
    baseline, shown = run(lesson.config), run(lesson.on(slide))
    slides.fill_numbers(slide.text, shown)
    slides.fill_numbers(slide.notes, shown)
    if not any(slides.rows(slide, baseline, shown)):
        raise ConfigError("none of its steps is there in this setting")
    if slide.question:
        slides.fill_numbers(slide.question.why, shown)
        resolved = resolve(slide.question, shown, baseline)
        if resolved.refused:
            raise ConfigError(WORDS["refused"].format(given=resolved.refused, tolerance=resolved.tolerance))
        open_questions.pictures(slide, slide.question, resolved, baseline, shown)
