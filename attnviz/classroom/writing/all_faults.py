"""Every fault of a lesson file at once, slide by slide, each with where it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from attnviz.classroom.question_kinds import PROBLEMS, QUESTIONS
from attnviz.classroom.writing import check_lesson
from attnviz.engine.records.config import Config
from attnviz.lessons import read_lesson
from attnviz.lessons.lesson import Lesson
from attnviz.lessons.nearest import with_cure
from attnviz.lessons.two_languages import in_language
from attnviz.settings.faults import ConfigError, SeveralFaultsError, shorten
from attnviz.settings.language import LANGUAGES, current_language

STUB = {"title": "-", "about": "-", "source": "-", "minutes": 1, "goal": "-", "known": "-", "setting": {}, "slides": []}
MOST_FAULTS = 30
"""Sentences that are read at once; by then one begins to mend."""


def gone_through(
    name: str, text: str, admitting: Callable[[], Callable[[Config], None]]
) -> tuple[Lesson | None, tuple[str, ...]]:
    """Return the lesson of a file, None if it has faults, and these, in the order of the file.

    admitting  returns what raises ConfigError for a setting that is too large here, with those it was asked before
    """
    try:
        lesson = check_lesson.opened(name, text, admitting())
    except ConfigError as error:
        found = _faults(name, text, admitting())
        return None, tuple(dict.fromkeys(found or _of(error)))[:MOST_FAULTS]
    return lesson, tuple(dict.fromkeys(_of_translations(name, text)))[:MOST_FAULTS]


def _of(error: ConfigError) -> list[str]:
    return list(error.faults) if isinstance(error, SeveralFaultsError) else [str(error)]


def _faults(name: str, text: str, admit: Callable[[Config], None]) -> list[str]:
    where = read_lesson.POSITIONS["lesson"].format(name=name)
    try:
        entries = in_language(read_lesson.parsed(text, where), current_language())
    except ConfigError as error:
        return _of(error)
    slides = entries.get("slides")
    setting: Any = entries.get("setting", {})
    of_setting = list(_of_setting(setting, read_lesson.POSITIONS["setting"].format(name=name)))
    found = [*_of_head(name, entries), *of_setting]
    if of_setting:
        setting = {}  # what is wrong with it has been said, and is not said of every slide again
    tables = [{**STUB, "setting": setting, "slides": [each]} for each in (slides if isinstance(slides, list) else ())]
    lessons, is_refused = list[Lesson | None](), False

    def counted(config: Config) -> None:
        nonlocal is_refused
        if is_refused:  # it is said once, of the slide that is too much
            return
        try:
            admit(config)
        except ConfigError:
            is_refused = True
            raise

    of_slides: list[list[str]] = []
    for n, table in enumerate(tables, 1):
        lesson, faults = _read(name, table, n, counted)
        lessons.append(lesson)
        of_slides.append(faults)
    for n, (lesson, faults) in enumerate(zip(lessons, of_slides), 1):
        if lesson is not None and not is_refused:  # nothing is computed of a lesson that is too large
            faults += _of_slide(name, lesson, n)
    return [*found, *(fault for faults in of_slides for fault in faults)]


def _read(name: str, table: dict[str, Any], n: int, admit: Callable[[Config], None]) -> tuple[Lesson | None, list[str]]:
    try:
        return read_lesson.lesson_of(name, table, admit, first=n), []
    except ConfigError as error:
        further = _of_parts(name, table["slides"][0], n) if isinstance(table["slides"][0], dict) else []
        return None, [*_of(error), *further]


def _of_parts(name: str, slide: dict[str, Any], n: int) -> list[str]:
    """Return the faults of each part of a slide by itself, as one that is read as a whole stops at the first."""
    where = read_lesson.POSITIONS["slide"].format(n=n, name=name)
    parts: list[dict[str, Any]] = [{key: slide[key]} for key in slide if key not in ("text", "change")]
    faults = list(_of_setting(slide.get("change", {}), where))
    question = slide.get("question")
    if isinstance(question, dict):
        faults += _of_kind(question.get("kind"), where)
        parts += [{"question": {"kind": "-", key: question[key]}} for key in question if key != "kind"]
    if isinstance(slide.get("steps"), list):
        faults += check_lesson.unknown_steps(slide["steps"], where)
    for part in parts:
        try:
            read_lesson.lesson_of(name, {**STUB, "slides": [{"text": "-", **part}]}, is_tried=False, first=n)
        except ConfigError as error:
            faults += _of(error)
    return faults


def _of_kind(kind: object, where: str) -> list[str]:
    if not isinstance(kind, str) or kind in QUESTIONS:
        return []
    said = PROBLEMS["kind"].format(given=shorten(kind), allowed=", ".join(QUESTIONS))
    return [f"{where}: {with_cure(said, kind, QUESTIONS)}"]


def _of_head(name: str, entries: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a lesson beside its setting and its slides."""
    try:
        read_lesson.lesson_of(name, {**entries, "setting": {}, "slides": []})
    except ConfigError as error:
        yield from _of(error)
    if type(minutes := entries.get("minutes")) is int:
        try:
            read_lesson.lesson_of(name, {**STUB, "minutes": minutes})
        except ConfigError as error:
            yield from _of(error)


def _of_setting(setting: Any, where: str) -> Iterator[str]:
    """Yield what is wrong with a setting, or with a change of one: every name, every value, or how they go together."""
    faults, values = list[str](), dict[str, Any]()
    for part in [{key: setting[key]} for key in setting] if isinstance(setting, dict) else [setting]:
        try:
            value = read_lesson.setting_of(part, where)
            Config(**value)
            values |= value
        except (ConfigError, TypeError) as error:
            said = _of(error) if isinstance(error, ConfigError) else [str(error)]
            faults += [fault if fault.startswith(where) else f"{where}: {fault}" for fault in said]
    if not faults:
        try:
            Config(**values)
        except (ConfigError, TypeError) as error:
            faults.append(f"{where}: {error}")
    yield from faults


def _of_slide(name: str, lesson: Lesson, n: int) -> Iterator[str]:
    try:
        where = read_lesson.POSITIONS["slide"].format(n=n, name=name)
        check_lesson.gone_through(lesson, lesson.slides[0], where)
    except ConfigError as error:
        yield from _of(error)


def _of_translations(name: str, text: str) -> Iterator[str]:
    """Yield what is wrong with a lesson in the other languages of its file; of one language nothing is run again."""
    tables = read_lesson.parsed(text, "")
    current = in_language(tables, current_language())
    for language in LANGUAGES:
        if in_language(tables, language) == current:
            continue
        try:
            lesson = read_lesson.read_lesson(name, text, is_tried=False, language=language)
            for n, slide in enumerate(lesson.slides, 1):
                check_lesson.gone_through(lesson, slide, read_lesson.POSITIONS["slide"].format(n=n, name=name))
        except ConfigError as error:
            yield from (f"{language}: {fault}" for fault in _of(error))
