"""The words that a visitor reads, in the visitor's language.

Every sentence is written in English, where it is said. Another language is one file of `attnviz/languages`, a JSON
object from each English sentence to its own, with the same {names} and the same formulas. A sentence that the file
does not have stays English; the tests see to it that there is none.

Numbers, links, files of numbers and programs are the same in every language, and formulas but for their words.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, overload

LANGUAGES = {"en": "English", "de": "Deutsch"}
"""The names of the languages, each in its own, by their codes (ISO 639-1)."""

WRITTEN = "en"
"""The language in which the sentences stand in the code."""

_FILES = Path(__file__).parent.parent / "languages"
_spoken: ContextVar[str] = ContextVar("language", default=WRITTEN)

Value = TypeVar("Value")
Record = TypeVar("Record")


def speak(language: str) -> None:
    """Say everything in this language from here on: in this thread, or in this context where there is one.

    Raises ValueError for a language that there is not.
    """
    if language not in LANGUAGES:
        raise ValueError(f"there is no language called {language!r}; choose one of: {', '.join(LANGUAGES)}")
    _spoken.set(language)


def spoken() -> str:
    """The code of the language that is spoken."""
    return _spoken.get()


def nearest(locale: str | None) -> str:
    """The language for what a browser asks for, such as "de-AT"; English where there is none.

    >>> nearest("de-AT"), nearest("fr"), nearest(None)
    ('de', 'en', 'en')
    """
    code = (locale or "").replace("_", "-").split("-")[0].lower()
    return code if code in LANGUAGES else WRITTEN


@cache
def sentences(language: str) -> Mapping[str, str]:
    """What the file of a language says for each English sentence."""
    if language == WRITTEN:
        return {}
    found: dict[str, str] = json.loads((_FILES / f"{language}.json").read_text(encoding="utf-8"))
    return found


def say(english: str, /, **values: Any) -> str:
    """A sentence in the language that is spoken, its {names} filled in if values are given.

    >>> say("{n} heads", n=4)
    '4 heads'
    """
    language = _spoken.get()
    sentence = english if language == WRITTEN else sentences(language).get(english, english)
    return sentence.format(**values) if values else sentence


@overload
def translated(value: str) -> str: ...
@overload
def translated(value: Value) -> Value: ...
def translated(value: Any) -> Any:
    """A sentence, or those of a tuple, a list or a table, in the language that is spoken; anything else as it is."""
    match value:
        case str():
            return say(value)
        case tuple() | list():
            return type(value)(map(translated, value))
        case dict():
            return Words(value)
        case _:
            return value


class Words(Mapping[str, Value]):
    """A table of sentences by name, each read in the language that is spoken at that moment.

    >>> words = Words({"heads": "{n} heads", "one": ("yes", "no")})
    >>> words["heads"].format(n=2), words["one"]
    ('2 heads', ('yes', 'no'))
    """

    def __init__(self, english: Mapping[str, Value]) -> None:
        self.english = dict(english)

    def __getitem__(self, name: str) -> Value:
        value = self.english[name]
        return value if _spoken.get() == WRITTEN and not isinstance(value, dict) else translated(value)

    def __iter__(self) -> Iterator[str]:
        return iter(self.english)

    def __len__(self) -> int:
        return len(self.english)

    def __repr__(self) -> str:
        return f"Words({self.english!r})"


class Said:
    """A field of a record that holds an English sentence and is read in the language that is spoken: see `said`."""

    def __init__(self, default: str | None = None) -> None:
        self.default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = f"_{name}"

    @overload
    def __get__(self, record: None, owner: type) -> str: ...
    @overload
    def __get__(self, record: object, owner: type) -> str: ...
    def __get__(self, record: object | None, owner: type) -> str:
        if record is not None:
            return say(record.__dict__[self.name])
        if self.default is None:
            raise AttributeError(self.name)
        return self.default

    def __set__(self, record: object, english: str) -> None:
        record.__dict__[self.name] = english


def said(*names: str) -> Callable[[type[Record]], type[Record]]:
    """A dataclass whose fields of these names hold English and are read in the language that is spoken.

    Stands above `@dataclass`; the fields stay strings with or without a default, in any order, as a type checker sees
    them.

    >>> from dataclasses import dataclass
    >>> @said("label")
    ... @dataclass(frozen=True)
    ... class Row:
    ...     label: str
    ...     name: str
    >>> Row("No mask", "none").label
    'No mask'
    """

    def dressed(record: type[Record]) -> type[Record]:
        for name in names:
            field = Said(record.__dict__.get(name))
            field.__set_name__(record, name)
            setattr(record, name, field)
        return record

    return dressed
