"""A lesson that somebody brings, gone through before it is shown: every slide, question and number in a text."""

from __future__ import annotations

import re
from collections.abc import Callable

from attnviz.classroom import open_questions, slides
from attnviz.classroom.measures import MEASURES
from attnviz.classroom.next_word.readings import READINGS, is_reading
from attnviz.classroom.question_kinds import resolve
from attnviz.engine.records.config import Config
from attnviz.engine.records.step_specs import STEPS
from attnviz.engine.run import run
from attnviz.engine.tables import embeddings
from attnviz.lessons.lesson import Lesson, Slide
from attnviz.lessons.nearest import nearest, with_cure
from attnviz.lessons.read_lesson import POSITIONS, read_lesson
from attnviz.settings.counting import ordinal
from attnviz.settings.faults import ConfigError, SeveralFaultsError, shorten
from attnviz.settings.language import Words

MOST_SLIDES = 40
FOREIGN = re.compile(r"!\[|\]\(|://")
"""Markdown that would draw a picture or a link in other places. Here none is drawn, however it is written; who writes
it is told so."""

WORDS = Words(
    {
        "foreign": "{where} holds {given!r}; links and pictures are not drawn in lessons",
        "slides": "{where} has {n} slides; choose 1 to {most}",
        "name": "{where}: there is no {given} here; a question may name head, query, key, line, step and what `at` "
        "says in braces",
        "steps": "steps names {given}; choose from {allowed}",
        "near": "there is no step {given}; did you mean “{near}”?",
        "layer": "layer is {given}; the setting has {n}",
        "measure": "there is no measure {given}; choose from {allowed}",
        "no_step": "none of its steps is there in this setting",
        "rows": "own_numbers has {given} rows of {widths} numbers; the sentence needs {n} of {d_model}",
        "refused": "the right answer is printed as {given}, which a tolerance of {tolerance:g} refuses; give a "
        "larger one",
    }
)


def opened(name: str, text: str, admit: Callable[[Config], None]) -> Lesson:
    """Return the lesson of a file that somebody brings.

    admit  raises ConfigError for a setting that is too large here

    Raises ConfigError, with the position, for all that the page could not show.
    """
    lesson_named = POSITIONS["lesson"].format(name=name)
    foreign = FOREIGN.search(text)
    if foreign:
        raise ConfigError(WORDS["foreign"].format(where=lesson_named, given=foreign[0]))
    lesson = read_lesson(name, text, admit)
    if not 1 <= len(lesson.slides) <= MOST_SLIDES:
        raise ConfigError(WORDS["slides"].format(where=lesson_named, n=len(lesson.slides), most=MOST_SLIDES))
    for n, slide in enumerate(lesson.slides, 1):
        where = POSITIONS["slide"].format(n=n, name=name)
        gone_through(lesson, slide, where)
    return lesson


def gone_through(lesson: Lesson, slide: Slide, where: str) -> None:
    """Raise ConfigError, with where it is, for a slide that cannot be shown."""
    try:
        _gone_through(lesson, slide)
    except SeveralFaultsError as error:
        raise SeveralFaultsError([f"{where}: {fault}" for fault in error.faults]) from None
    except KeyError as error:
        raise ConfigError(WORDS["name"].format(where=where, given=shorten(error.args[0]))) from None
    except (ValueError, IndexError, TypeError, AttributeError) as error:
        raise ConfigError(f"{where}: {error}") from None


def unknown_steps(steps: list[object], where: str) -> list[str]:
    """Return what is said of names that are no steps, each with the one that was probably meant, where there is one."""
    unknown = [each for each in steps if isinstance(each, str) and each not in STEPS and not is_reading(each)]
    near = {each: nearest(each, STEPS) for each in unknown}
    return [f"{where}: {WORDS['near'].format(given=shorten(each), near=name)}" for each, name in near.items() if name]


def _gone_through(lesson: Lesson, slide: Slide) -> None:
    """Raise an error for a slide that cannot be shown."""
    unknown = [step for step in slide.steps if step not in STEPS and not is_reading(step)]
    if unknown or not slide.steps:
        allowed = ", ".join((*STEPS, *READINGS))
        near = {each: nearest(each, STEPS) for each in unknown}
        if unknown and all(near.values()):
            said = (WORDS["near"].format(given=shorten(each), near=name) for each, name in near.items())
            raise SeveralFaultsError(list(said))
        raise ConfigError(WORDS["steps"].format(given=shorten(unknown), allowed=allowed))
    missing = [name for name in (slide.control.measures if slide.control else ()) if name not in MEASURES]
    if missing:
        said_of = WORDS["measure"].format(given=shorten(missing[0]), allowed=", ".join(MEASURES))
        raise ConfigError(with_cure(said_of, missing[0], MEASURES))
    _all_rows_given(lesson.on(slide))
    baseline, shown = run(lesson.config), run(lesson.on(slide))
    if slide.layer not in range(len(shown.layers)):
        raise ConfigError(WORDS["layer"].format(given=ordinal(slide.layer), n=len(shown.layers)))
    slides.fill_numbers(slide.text, shown)
    slides.fill_numbers(slide.notes, shown)
    if not any(slides.rows(slide, baseline, shown)):
        raise ConfigError(WORDS["no_step"])
    if slide.question:
        slides.fill_numbers(slide.question.why, shown)
        resolved = resolve(slide.question, shown, baseline)
        if resolved.refused:
            raise ConfigError(WORDS["refused"].format(given=resolved.refused, tolerance=resolved.tolerance))
        open_questions.pictures(slide, slide.question, resolved, baseline, shown)


def _all_rows_given(config: Config) -> None:
    """Raise ConfigError for numbers of one's own that are fewer or more than the words: those missing would be 0."""
    if config.embedding != "own":
        return
    trace = run(config)
    given = ((config.own_numbers, trace.query_tokens), (config.own_numbers_second, trace.key_tokens))
    for numbers, tokens in given if config.second_sentence else given[:1]:
        rows = embeddings.parse(numbers)
        widths = {len(row) for row in rows}
        if len(rows) != len(tokens) or widths != {config.d_model}:
            n, lengths = len(tokens), ", ".join(map(str, sorted(widths)[:4]))
            raise ConfigError(WORDS["rows"].format(given=len(rows), widths=lengths, n=n, d_model=config.d_model))
