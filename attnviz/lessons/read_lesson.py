"""The reader of the files that lessons are written in.

A lesson is one TOML file of `attnviz/lessons/library`, in the order of the numbers before the names. It has a title,
a sentence about it, a source, the setting by the names of Config, and slides; each slide may have a change of the
setting and a question, with the fields of Lesson, Slide and Question. In the texts a line break is a space, but in
tables, and an empty line begins a paragraph. In a setting, "default" is what Config begins with, and `edits` maps a
position such as "scores.1.1.2.3" (step, layer, position, all counted from 1) to its number, or that of a matrix such as
"w_q.1.1" to its rows.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, replace
from typing import Any

from attnviz.engine.records import edits
from attnviz.engine.records.config import Config
from attnviz.lessons.faults import FAULTS
from attnviz.lessons.inert_markdown import inert
from attnviz.lessons.lesson import Lesson, Question, Slide
from attnviz.lessons.read_control import read_control
from attnviz.settings.counting import index_of, ordinal
from attnviz.settings.faults import ConfigError, shorten

DEFAULT = "default"
MAX_LESSON_CHARACTERS = 100_000
LARGEST_NUMBER = 2**63
MOST_KEY_PARTS = 16

_NAME = r"""(?:(?<![\w-])[\w-]{1,40}|"(?:[^"\\\n]|\\.){0,40}"|'[^'\n]{0,40}')"""
_LONG_KEY = re.compile(rf"(?:{_NAME}[ \t]*\.[ \t]*){{{MOST_KEY_PARTS}}}", re.ASCII)
"""Python's reader of TOML goes through a key once for each of its parts. Of longer names too few fit into a lesson to
matter."""

_DEFAULTS = {field.name: field.default for field in fields(Config)}
_KEYS: dict[str, dict[str, type]] = {
    "lesson": {
        "title": str,
        "about": str,
        "source": str,
        "minutes": int,
        "goal": str,
        "known": str,
        "further": dict,
        "setting": dict,
        "slides": list,
    },
    "slide": {
        "text": str,
        "steps": list,
        "change": dict,
        "beside": bool,
        "question": dict,
        "control": dict,
        "layer": int,
        "fault": str,
        "notes": str,
    },
    "question": {"kind": str, "ask": str, "at": dict, "why": str},
}
_NEEDED = {
    "lesson": ("title", "about", "source", "minutes", "goal", "known", "setting", "slides"),
    "slide": ("text",),
    "question": ("kind",),
}
MINUTES = range(1, 91)


def read_lesson(
    name: str, text: str, admit: Callable[[Config], None] = lambda config: None, *, is_tried: bool = True
) -> Lesson:
    """Return the lesson that the text of a TOML file holds.

    admit     raises ConfigError for a setting that is too large here; it is called before anything is computed
    is_tried  whether each slide is tried out; the tests have done that with the lessons of the library

    Raises ConfigError, with the position, for text that is no TOML, a key that is unknown, missing or of another type,
    and a setting that cannot be used.
    """
    entries = _checked(_loaded(name, text), "lesson", f"the lesson {name}")
    setting = _setting(entries["setting"], f"the setting of the lesson {name}")
    slides = [_slide(each, f"slide {n} of the lesson {name}") for n, each in enumerate(entries["slides"], 1)]
    if entries["minutes"] not in MINUTES:
        raise ConfigError(f"the lesson {name} takes {entries['minutes']} minutes; choose 1 to {MINUTES[-1]}")
    texts = {key: _flowing(entries[key]) for key in ("title", "about", "source", "goal", "known")}
    further = dict(entries.get("further", {}))
    lesson = Lesson(
        name=name, setting=setting, slides=tuple(slides), minutes=entries["minutes"], further=further, **texts
    )
    for n, slide in enumerate(lesson.slides if is_tried else (), 1):
        try:
            _tried_out(lesson, slide, admit)
        except ConfigError as error:
            raise ConfigError(f"slide {n} of the lesson {name}: {error}") from None
    return lesson


def _loaded(name: str, text: str) -> dict[str, Any]:
    """Return what a TOML file holds; raises ConfigError for text that is none, and for what would take long to read."""
    if len(text) > MAX_LESSON_CHARACTERS:
        raise ConfigError(f"the lesson {name} has {len(text):,} characters; at most {MAX_LESSON_CHARACTERS:,} fit")
    long_key = _LONG_KEY.search(text)
    if long_key:
        raise ConfigError(
            f"the lesson {name} has a key of more than {MOST_KEY_PARTS} names between points, "
            f"{shorten(long_key[0])}; no key of a lesson has so many"
        )
    try:
        entries = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"the lesson {name} is not written in TOML: {error}") from None
    parts: list[Any] = [entries]
    for part in parts:
        if isinstance(part, int) and abs(part) > LARGEST_NUMBER:
            raise ConfigError(f"the lesson {name} has a whole number that is too long; TOML has 64 bits for one")
        parts += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    return entries


def _tried_out(lesson: Lesson, slide: Slide, admit: Callable[[Config], None]) -> None:
    """Raise ConfigError for a setting that cannot be used, and for a move none of whose choices is as on the slide."""
    choices = [[choice] for move in (slide.control.moves if slide.control else ()) for choice in move.choices]
    for tried in ([], *choices):
        admit(lesson.without_fault(slide, tried=tried))
    if slide.question and "change" in slide.question.at:
        admit(replace(lesson.without_fault(slide), **slide.question.at["change"]))
    as_it_is = lesson.on(slide)
    for move in slide.control.moves if slide.control else ():
        settings = [lesson.on(slide, tried=[choice]) for choice in move.choices]
        if settings[0] != as_it_is and as_it_is not in settings:
            raise ConfigError(f"no choice of “{move.label}” is as on the slide")


def _checked(table: Any, kind: str, where: str) -> dict[str, Any]:
    """Return a table whose keys and types are those of its kind."""
    if not isinstance(table, dict):
        raise ConfigError(f"{where} is {shorten(table)}; write a table of {', '.join(_KEYS[kind])}")
    for key, value in table.items():
        if key not in _KEYS[kind]:
            raise ConfigError(f"{where} has a {shorten(key)}; there are {', '.join(_KEYS[kind])}")
        if type(value) is not _KEYS[kind][key]:
            raise ConfigError(f"{key} of {where} is {shorten(value)}, and has to be a TOML {_KEYS[kind][key].__name__}")
    for key in _NEEDED[kind]:
        if key not in table:
            raise ConfigError(f"{where} has no {key}")
    return table


def _slide(table: Any, where: str) -> Slide:
    entries = _checked(table, "slide", where)
    parts: dict[str, Any] = {key: entries[key] for key in ("beside", "fault") if key in entries}
    parts["layer"] = index_of(entries.get("layer", ordinal(0)))
    if parts.get("fault", "") not in {"", *FAULTS}:
        raise ConfigError(f"fault of {where} is {shorten(parts['fault'])}; there are {', '.join(FAULTS)}")
    if "steps" in entries:
        parts["steps"] = tuple(map(str, entries["steps"]))
    if "change" in entries:
        parts["change"] = _setting(entries["change"], where)
    if "question" in entries:
        parts["question"] = _question(entries["question"], f"the question on {where}")
    if "control" in entries:
        parts["control"] = read_control(entries["control"], f"the control on {where}", _setting)
    return Slide(_flowing(entries["text"]), notes=_flowing(entries.get("notes", "")), **parts)


def _question(table: Any, where: str) -> Question:
    entries = _checked(table, "question", where)
    at = dict(entries.get("at", {}))
    if "change" in at:
        at["change"] = _setting(at["change"], where)
    return Question(entries["kind"], _flowing(entries.get("ask", "")), at, _flowing(entries.get("why", "")))


def _setting(table: Any, where: str) -> dict[str, Any]:
    """Return the values of a setting as Config takes them: tuples for lists, edits for the positions they stand at."""
    if not isinstance(table, dict):
        raise ConfigError(f"{where} has {shorten(table)} for a setting; write a table")
    return {key: _value(key, value, where) for key, value in table.items()}


def _value(key: str, value: Any, where: str) -> Any:
    if key not in _DEFAULTS:
        raise ConfigError(f"{where} sets {shorten(key)}, which is no setting")
    if value == DEFAULT and _DEFAULTS[key] is not MISSING:
        return _DEFAULTS[key]
    if key == "edits":
        return tuple(_edits(value, where))
    return tuple(value) if isinstance(value, list) else value


def _edits(table: Any, where: str) -> Iterator[edits.Edit]:
    """Yield the edits of a table from positions to numbers, or to the rows of a matrix."""
    if not isinstance(table, Mapping):
        raise ConfigError(f"{where} has {shorten(table)} for edits; write a table from places to numbers")
    for position, value in table.items():
        cells = {position: str(value)}
        if isinstance(value, str):
            rows = [row.split() for row in value.strip().splitlines()]
            cells = {f"{position}.{i}.{j}": x for i, row in enumerate(rows, 1) for j, x in enumerate(row, 1)}
        for cell, number in cells.items():
            read, unread = edits.decode(f"{cell}~{number}")
            if unread or not read:
                raise ConfigError(f"{where} has an edit {cell} = {number}; give a place such as scores.1.1.2.3")
            yield from read


def _flowing(text: str) -> str:
    """Return a text whose paragraphs are one line each; tables keep their lines, and nothing leads elsewhere.

    >>> _flowing("One paragraph,\\ntwo lines.\\n\\n| a | b |\\n|---|---|")
    'One paragraph, two lines.\\n\\n| a | b |\\n|---|---|'
    """
    paragraphs = text.strip().split("\n\n")
    return inert("\n\n".join(each if each.startswith("|") else " ".join(each.split("\n")) for each in paragraphs))
