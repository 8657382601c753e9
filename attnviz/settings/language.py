"""The words that a visitor reads, in the visitor's language.

Every sentence is written in English, where it is said. Another language is a gettext catalogue,
`attnviz/languages/<code>/LC_MESSAGES/attnviz.po`, whose messages have the same {names} and the same formulas; it is
read in its compiled form beside it. `python -m tools.translations` brings the catalogues up to date with the code and
compiles them. A message that a catalogue does not have stays English; the tests see to it that there is none.

Links, files of numbers and the code of programs are the same in every language, and so are the names of steps and axes;
comments, headings and names of sheets are said in it. Formulas are the same but for their words and the numbers in
pictures. Numbers in sentences and tables are written as the language writes them.
"""

from __future__ import annotations

import gettext
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, overload

LANGUAGES = {"en": "English", "de": "Deutsch", "es": "Español", "zh": "简体中文"}
"""The names of the languages, each in its own, by their codes (ISO 639-1)."""

NEW = ("es", "zh")
"""Languages whose sentences few have read yet; the page says so."""

TERRITORIES = {"en": "en_US", "de": "de_DE", "es": "es_ES", "zh": "zh_CN"}
"""The languages as `og:locale` names them."""

TAGS = {"zh": "zh-Hans"}
"""The languages whose names in HTML say more than their codes: in which letters they are written (BCP 47)."""

WRITTEN = "en"
"""The language in which the sentences stand in the code."""

SIGNS = {"zh": {".": "。", ", ": "、", "; ": "；", ": ": "：", " ": "", " %": "%", " (": "（", ")": "）"}}
"""The signs of languages that write others than English: what ends a sentence, stands in lists, parts sentences,
follows a share, and stands around what is said in brackets."""

CATALOGUES = Path(__file__).parent.parent / "languages"
DOMAIN = "attnviz"
_current: ContextVar[str] = ContextVar("language", default=WRITTEN)

Value = TypeVar("Value")
Record = TypeVar("Record")


def set_language(language: str) -> None:
    """Set the language of this thread, or of this context where there is one.

    Raises ValueError for an unknown language.
    """
    if language not in LANGUAGES:
        raise ValueError(f"there is no language called {language!r}; choose one of: {', '.join(LANGUAGES)}")
    _current.set(language)


def current_language() -> str:
    """Return the code of the current language."""
    return _current.get()


def tag(language: str) -> str:
    """Return the name of a language in HTML, by which a browser chooses letters, breaks lines and reads aloud.

    >>> tag("de"), tag("zh")
    ('de', 'zh-Hans')
    """
    return TAGS.get(language, language)


def nearest_language(locale: str | None) -> str:
    """Return the language nearest to a browser's, such as "de-AT"; English where there is none.

    >>> nearest_language("de-AT"), nearest_language("fr"), nearest_language(None)
    ('de', 'en', 'en')
    """
    code = (locale or "").replace("_", "-").split("-")[0].lower()
    return code if code in LANGUAGES else WRITTEN


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    """Return the compiled catalogue of a language other than English."""
    return gettext.translation(DOMAIN, CATALOGUES, [language])


def as_sentence(text: str) -> str:
    """Return words in the current language as a sentence of it: with a capital at its beginning and a full stop.

    >>> as_sentence("there is no such head")
    'There is no such head.'
    """
    return f"{text[:1].upper()}{text[1:]}{full_stop()}"


def sign(usual: str) -> str:
    """Return the sign that the current language writes for one of `SIGNS`; a space is what parts two sentences.

    >>> sign(", ")
    ', '
    """
    return SIGNS.get(_current.get(), {}).get(usual, usual)


def aside(*parts: str) -> str:
    """Return clauses of one sentence with the current language's commas between them; empty ones are left out.

    >>> aside("The difference", "orange where A is larger")
    'The difference, orange where A is larger'
    """
    return comma().join(filter(None, parts))


def comma() -> str:
    """Return what stands between clauses of one sentence in the current language; a list may have another sign.

    >>> comma()
    ', '
    """
    return sign("; ").replace(";", ",").replace("；", "，")


def full_stop() -> str:
    """Return what ends a sentence in the current language.

    >>> full_stop()
    '.'
    """
    return sign(".")


def translate(english: str, /, **values: Any) -> str:
    """Return a sentence in the current language, its {names} filled in if values are given.

    >>> translate("{n} heads", n=4)
    '4 heads'
    """
    language = _current.get()
    sentence = english if language == WRITTEN or not english else catalogue(language).gettext(english)
    return sentence.format(**values) if values else sentence


@dataclass(frozen=True)
class Plural:
    """A sentence about a number, in the singular and in the plural of English.

    Each language has as many forms as its catalogue says, and its own rule for which number takes which.

    >>> heads = Plural("{n} head", "{n} heads")
    >>> heads.format(n=1), heads.format(n=4)
    ('1 head', '4 heads')
    """

    one: str
    many: str

    def format(self, *, n: int, **values: Any) -> str:
        """Return the sentence for the number n in the current language, its {names} filled in."""
        language = _current.get()
        if language == WRITTEN:
            sentence = self.one if n == 1 else self.many
        else:
            sentence = catalogue(language).ngettext(self.one, self.many, n)
        return sentence.format(n=n, **values)


@dataclass(frozen=True)
class InContext:
    """An English message that another language says in other words here than elsewhere: in a context of gettext.

    >>> Words({"lines": InContext("Lines", "drawn from word to word")})["lines"]
    'Lines'
    """

    english: str
    context: str

    def format(self) -> str:
        """Return the message in the current language."""
        language = _current.get()
        return self.english if language == WRITTEN else catalogue(language).pgettext(self.context, self.english)


@overload
def translate_all(value: str) -> str: ...
@overload
def translate_all(value: Value) -> Value: ...
def translate_all(value: Any) -> Any:
    """Return a sentence, or those of a tuple, a list or a table, in the current language.

    Anything else is returned as it is.
    """
    match value:
        case str():
            return translate(value)
        case InContext():
            return value.format()
        case tuple() | list():
            return type(value)(map(translate_all, value))
        case dict():
            return Words(value)
        case _:
            return value


class Words(Mapping[str, Value]):
    """A table of sentences by name, each read in the language current at that moment.

    >>> words = Words({"heads": "{n} heads", "one": ("yes", "no")})
    >>> words["heads"].format(n=2), words["one"]
    ('2 heads', ('yes', 'no'))
    """

    def __init__(self, english: Mapping[str, Value]) -> None:
        self.english = dict(english)

    def __getitem__(self, name: str) -> Value:
        value = self.english[name]
        is_said = _current.get() == WRITTEN and not isinstance(value, dict | InContext)
        return value if is_said else translate_all(value)

    def __iter__(self) -> Iterator[str]:
        return iter(self.english)

    def __len__(self) -> int:
        return len(self.english)

    def __repr__(self) -> str:
        return f"Words({self.english!r})"


class TranslatedField:
    """A field of a record that holds an English sentence and is read in the language that is spoken: see
    `translated_fields`."""

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
            return translate(record.__dict__[self.name])
        if self.default is None:
            raise AttributeError(self.name)
        return self.default

    def __set__(self, record: object, english: str) -> None:
        record.__dict__[self.name] = english


def translated_fields(*names: str) -> Callable[[type[Record]], type[Record]]:
    """Return a dataclass whose fields of these names hold English and are read in the language that is spoken.

    Stands above `@dataclass`; the fields stay strings with or without a default, in any order, as a type checker sees
    them.

    >>> from dataclasses import dataclass
    >>> @translated_fields("label")
    ... @dataclass(frozen=True)
    ... class Row:
    ...     label: str
    ...     name: str
    >>> Row("No mask", "none").label
    'No mask'
    """

    def dressed(record: type[Record]) -> type[Record]:
        for name in names:
            field = TranslatedField(record.__dict__.get(name))
            field.__set_name__(record, name)
            setattr(record, name, field)
        return record

    return dressed
