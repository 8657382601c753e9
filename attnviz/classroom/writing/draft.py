"""A setting as the beginning of a lesson, or as one more slide, in the words of a lesson file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from attnviz.classroom.writing.all_faults import STUB
from attnviz.engine.records import edits
from attnviz.engine.records.config import Config
from attnviz.lessons import read_lesson
from attnviz.lessons.lesson import Question
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import WRITTEN, Words, current_language
from attnviz.settings.plain_text import clean

WORDS = Words(
    {
        "title": "A lesson of mine",
        "about": "What it is about.",
        "goal": "What one can do afterwards.",
        "known": "What one knows now.",
        "source": "the teacher",
    }
)
BARE = re.compile(r"[A-Za-z0-9_-]+")


def changes(config: Config, base: Config) -> dict[str, Any]:
    """Return what of a setting is otherwise than in another one, by the names of Config."""
    return {
        field.name: getattr(config, field.name)
        for field in fields(Config)
        if getattr(config, field.name) != getattr(base, field.name)
    }


def beginning(config: Config) -> str:
    """Return a lesson file without slides whose setting is this one."""
    head = "".join(map(_in_both, ("title", "about"))) + f"source = {_value(WORDS.english['source'])}\n"
    rest = "".join(map(_in_both, ("goal", "known")))
    whole = "".join(_settings("setting", changes(config, Config())))
    return f"{head}minutes = 5\n{rest}\n{whole or '[setting]' + chr(10)}"


def _in_both(name: str) -> str:
    """Return a text to begin with in the language of the code and, where that is another one, in that of the page."""
    current = current_language()
    other = f"{name}_{current} = {_value(WORDS[name])}\n" if current != WRITTEN else ""
    return f"{name} = {_value(WORDS.english[name])}\n{other}"


def slide(
    config: Config, base: Config, texts: Mapping[str, str], steps: Sequence[str], question: Question | None = None
) -> str:
    """Return a setting as a slide of a lesson in another setting.

    texts  `text` and `why`, and the same in other languages, such as `text_de`; empty ones are left out
    """
    parts = ["\n[[slides]]\n"]
    parts += [f"{key} = {_value(texts[key])}\n" for key in texts if key.startswith("text") and texts[key].strip()]
    parts += [f"steps = {_value(tuple(steps))}\n"]
    parts += _settings("slides.change", changes(config, base))
    if question is not None:
        parts.append(f'\n[slides.question]\nkind = "{question.kind}"\n')
        if question.is_typed or question.kind == "own_words" or "change" in question.at:
            parts.append(f"ask = {_value(question.ask)}\n")
        at = {name: value for name, value in question.at.items() if name != "prompt" and (name, value) != ("layer", 1)}
        parts.append(f"at = {_value(at)}\n")
        parts += [f"{key} = {_value(texts[key])}\n" for key in texts if key.startswith("why") and texts[key].strip()]
    return "".join(parts)


def base_of(text: str) -> Config | None:
    """Return the setting of a lesson file, None where it cannot be read."""
    try:
        setting = read_lesson.parsed(text, "").get("setting", {})
        return read_lesson.lesson_of("", {**STUB, "setting": setting}).config
    except (ConfigError, TypeError):
        return None


def has_no_slide(text: str) -> bool:
    """Return whether a lesson file that can be read has no slide yet."""
    try:
        return not read_lesson.parsed(text, "").get("slides")
    except ConfigError:
        return False


def _settings(table: str, values: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table of settings; changed numbers stand in one of their own, by their places."""
    plain = {name: value for name, value in values.items() if name != "edits"}
    if plain:
        yield f"\n[{table}]\n" if table != "setting" else f"[{table}]\n"
        yield from (f"{name} = {_value(value)}\n" for name, value in plain.items())
    if "edits" in values:
        yield f"\n[{table}.edits]\n"
        yield from (f'"{edits.position(edit)}" = {edit[3]!r}\n' for edit in values["edits"])


def _value(value: Any) -> str:
    """Return a value as TOML writes it.

    >>> _value(True), _value(0.5), _value(("causal", "window")), _value({"query": 1}), _value('a "b"')
    ('true', '0.5', '["causal", "window"]', '{query = 1}', '"a \\\\"b\\\\""')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items()) + "}"
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(_value, value)) + "]"
    text = clean(str(value), 99)
    if "\n" in text.strip() and "'''" not in text:
        return f"'''\n{text.strip()}'''"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else f'"{name}"'
