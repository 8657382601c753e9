"""The reader of the files that lessons are written in.

A lesson is one TOML file of `attnviz/lessons/library`, in the order of the numbers before the names. It has a title,
a sentence about it, a source, the setting by the names of Config, and slides; each slide may have a change of the
setting and a question, with the fields of Lesson, Slide and Question. In the texts a line break is a space, but in
tables, and an empty line begins a paragraph. In a setting, "default" is what Config begins with, and `edits` maps a
position such as "scores.1.1.2.3" (step, layer, position, all counted from 1) to its number, or that of a matrix such as
"w_q.1.1" to its rows.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, replace
from typing import Any

from attnviz.engine.records import edits
from attnviz.engine.records.config import Config
from attnviz.engine.records.step_specs import STEPS
from attnviz.lessons.checked_table import checked
from attnviz.lessons.faults import FAULTS
from attnviz.lessons.inert_markdown import inert
from attnviz.lessons.lesson import Lesson, Question, Slide
from attnviz.lessons.nearest import with_cure
from attnviz.lessons.read_control import read_control
from attnviz.lessons.two_languages import in_language
from attnviz.settings.counting import index_of, ordinal
from attnviz.settings.faults import ConfigError, SeveralFaultsError, shorten
from attnviz.settings.language import Words, current_language

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
    "at": {
        **dict.fromkeys(("query", "key", "head", "column", "layer", "d_k"), int),
        **dict.fromkeys(sorted({axis for step in STEPS.values() for axis in step.axes}), int),
        **dict.fromkeys(("step", "says", "divisor", "prompt", "field"), str),
        **dict.fromkeys(("tolerance", "temperature", "to"), float),
        "words": list,
        "change": dict,
        **dict.fromkeys(("read", "before"), bool),
    },
}
_NEEDED = {
    "lesson": ("title", "about", "source", "minutes", "goal", "known", "setting", "slides"),
    "slide": ("text",),
    "question": ("kind",),
}
MINUTES = range(1, 91)

POSITIONS = Words(
    {
        "lesson": "the lesson {name}",
        "setting": "the setting of the lesson {name}",
        "slide": "slide {n} of the lesson {name}",
        "question": "the question on {where}",
        "at": "`at` of the question on {where}",
        "control": "the control on {where}",
    }
)
WORDS = Words(
    {
        "long": "{where} has {n:,} characters; at most {most:,} fit",
        "key": "{where} has a key of more than {most} names separated by dots, {given}; no key of a lesson has so many",
        "large": "{where} has a whole number that is too long; TOML has 64 bits for one",
        "toml": "{where} is not written in TOML: look at line {line}, column {column}; texts stand between straight "
        "quotes, numbers have a decimal point, and every key has a line of its own",
        "minutes": "{where} takes {given} minutes; choose 1 to {most}",
        "as_on_slide": "no choice of “{label}” is as on the slide",
        "fault": "fault of {where} is {given}; there are {allowed}",
        "steps": "steps of {where} are {given}, and have to be names",
        "tolerance": "tolerance of {where} is {given}; choose 0 or more",
        "setting": "{where} has {given} for a setting; write a table",
        "no_setting": "{where} sets {given}, which is no setting",
        "edits": "{where} has {given} for edits; write a table from places to numbers",
        "edit": "{where} has an edit {given}; give a place such as scores.1.1.2.3",
    }
)
SLIPS = {"curly": "[“”„‘’]", "comma": r"=\s*-?\d+,\d", "backslash": r'"[^"]*\\[^"]*"'}
CURES = Words(
    {
        "curly": 'Here, replace “ and ” by "',
        "comma": "Here, write the number with a decimal point, such as 0.5",
        "backslash": "Here, put the text between ''' and ''', where a backslash stays what it is",
    }
)
"""What is said of a slip that is often made, by its name in `SLIPS`."""
_AT = re.compile(r"line (\d+), column (\d+)")


def read_lesson(
    name: str,
    text: str,
    admit: Callable[[Config], None] = lambda config: None,
    *,
    is_tried: bool = True,
    language: str = "",
) -> Lesson:
    """Return the lesson that the text of a TOML file holds.

    language  of its texts, where the file has several; empty for that of the page
    admit     raises ConfigError for a setting that is too large here; it is called before anything is computed
    is_tried  whether each slide is tried out; the tests have done that with the lessons of the library

    Raises ConfigError, with the position, for text that is no TOML, a key that is unknown, missing or of another type,
    and a setting that cannot be used.
    """
    entries = in_language(parsed(text, POSITIONS["lesson"].format(name=name)), language or current_language())
    return lesson_of(name, entries, admit, is_tried=is_tried)


def lesson_of(
    name: str,
    table: Any,
    admit: Callable[[Config], None] = lambda config: None,
    *,
    is_tried: bool = True,
    first: int = 1,
) -> Lesson:
    """Return the lesson of the tables of a file, whose slides are counted from the `first`; raises as `read_lesson`."""
    where = POSITIONS["lesson"].format(name=name)
    entries = checked(table, _KEYS["lesson"], where, _NEEDED["lesson"])
    setting = setting_of(entries["setting"], POSITIONS["setting"].format(name=name))
    numbered = enumerate(entries["slides"], first)
    slides = [_slide(each, POSITIONS["slide"].format(n=n, name=name)) for n, each in numbered]
    if entries["minutes"] not in MINUTES:
        raise ConfigError(WORDS["minutes"].format(where=where, given=shorten(entries["minutes"]), most=MINUTES[-1]))
    texts = {key: _flowing(entries[key]) for key in ("title", "about", "source", "goal", "known")}
    further = dict(entries.get("further", {}))
    lesson = Lesson(
        name=name, setting=setting, slides=tuple(slides), minutes=entries["minutes"], further=further, **texts
    )
    for n, slide in enumerate(lesson.slides if is_tried else (), first):
        try:
            _tried_out(lesson, slide, admit)
        except ConfigError as error:
            raise ConfigError(f"{POSITIONS['slide'].format(n=n, name=name)}: {error}") from None
    return lesson


def parsed(text: str, where: str) -> dict[str, Any]:
    """Return what a TOML file holds.

    Raises ConfigError, with the line and the column, for what is no TOML, and for what would take long to read.
    """
    if len(text) > MAX_LESSON_CHARACTERS:
        raise ConfigError(WORDS["long"].format(where=where, n=len(text), most=MAX_LESSON_CHARACTERS))
    long_key = _LONG_KEY.search(text)
    if long_key:
        raise ConfigError(WORDS["key"].format(where=where, most=MOST_KEY_PARTS, given=shorten(long_key[0])))
    try:
        entries = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        lines = text.splitlines() or [""]
        at = _AT.search(str(error))
        line, column = at.groups() if at else (len(lines), len(lines[-1]))
        said = WORDS["toml"].format(where=where, line=line, column=column)
        raise ConfigError(said + _cure(lines[min(int(line), len(lines)) - 1])) from None
    parts: list[Any] = [entries]
    for part in parts:
        if isinstance(part, int) and abs(part) > LARGEST_NUMBER:
            raise ConfigError(WORDS["large"].format(where=where))
        parts += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    return entries


def _cure(line: str) -> str:
    """Return how a line that cannot be read is probably mended, behind a blank; nothing where that is not known."""
    found = next((name for name, pattern in SLIPS.items() if re.search(pattern, line)), "")
    return f". {CURES[found]}" if found else ""


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
            raise ConfigError(WORDS["as_on_slide"].format(label=move.label))


def _slide(table: Any, where: str) -> Slide:
    entries = checked(table, _KEYS["slide"], where, _NEEDED["slide"])
    parts: dict[str, Any] = {key: entries[key] for key in ("beside", "fault") if key in entries}
    parts["layer"] = index_of(entries.get("layer", ordinal(0)))
    if parts.get("fault", "") not in {"", *FAULTS}:
        given, allowed = shorten(parts["fault"]), ", ".join(FAULTS)
        raise ConfigError(WORDS["fault"].format(where=where, given=given, allowed=allowed))
    if "steps" in entries:
        if not all(isinstance(step, str) for step in entries["steps"]):
            raise ConfigError(WORDS["steps"].format(where=where, given=shorten(entries["steps"])))
        parts["steps"] = tuple(entries["steps"])
    if "change" in entries:
        parts["change"] = setting_of(entries["change"], where)
    if "question" in entries:
        parts["question"] = _question(entries["question"], where)
    if "control" in entries:
        parts["control"] = read_control(entries["control"], POSITIONS["control"].format(where=where), setting_of)
    return Slide(_flowing(entries["text"]), notes=_flowing(entries.get("notes", "")), **parts)


def _question(table: Any, where: str) -> Question:
    position = POSITIONS["question"].format(where=where)
    entries = checked(table, _KEYS["question"], position, _NEEDED["question"])
    position = POSITIONS["at"].format(where=where)
    at = dict(checked(entries.get("at", {}), _KEYS["at"], position))
    if not 0 <= at.get("tolerance", 0) < math.inf:
        raise ConfigError(WORDS["tolerance"].format(where=position, given=at["tolerance"]))
    if "change" in at:
        at["change"] = setting_of(at["change"], where)
    return Question(entries["kind"], _flowing(entries.get("ask", "")), at, _flowing(entries.get("why", "")))


def setting_of(table: Any, where: str) -> dict[str, Any]:
    """Return the values of a setting as Config takes them: tuples for lists, edits for the positions they stand at."""
    if not isinstance(table, dict):
        raise ConfigError(WORDS["setting"].format(where=where, given=shorten(table)))
    unknown = [key for key in table if key not in _DEFAULTS]
    if unknown:
        said = {key: WORDS["no_setting"].format(where=where, given=shorten(key)) for key in unknown}
        raise SeveralFaultsError([with_cure(words, key, _DEFAULTS) for key, words in said.items()])
    return {key: _value(key, value, where) for key, value in table.items()}


def _value(key: str, value: Any, where: str) -> Any:
    if value == DEFAULT and _DEFAULTS[key] is not MISSING:
        return _DEFAULTS[key]
    if key == "edits":
        return tuple(_edits(value, where))
    return tuple(value) if isinstance(value, list) else value


def _edits(table: Any, where: str) -> Iterator[edits.Edit]:
    """Yield the edits of a table from positions to numbers, or to the rows of a matrix."""
    if not isinstance(table, Mapping):
        raise ConfigError(WORDS["edits"].format(where=where, given=shorten(table)))
    for position, value in table.items():
        cells = {position: str(value)}
        if isinstance(value, str):
            rows = [row.split() for row in value.strip().splitlines()]
            cells = {f"{position}.{i}.{j}": x for i, row in enumerate(rows, 1) for j, x in enumerate(row, 1)}
        for cell, number in cells.items():
            read, unread = edits.decode(f"{cell}~{number}")
            if unread or not read:
                raise ConfigError(WORDS["edit"].format(where=where, given=f"{cell[:40]} = {number[:40]}"))
            yield from read


def _flowing(text: str) -> str:
    """Return a text whose paragraphs are one line each; tables keep their lines, and nothing leads elsewhere.

    >>> _flowing("One paragraph,\\ntwo lines.\\n\\n| a | b |\\n|---|---|")
    'One paragraph, two lines.\\n\\n| a | b |\\n|---|---|'
    """
    paragraphs = text.strip().split("\n\n")
    return inert("\n\n".join(each if each.startswith("|") else " ".join(each.split("\n")) for each in paragraphs))
