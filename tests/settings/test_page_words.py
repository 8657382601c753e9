"""One word for each thing on the page, in each language: the list in the glossary, held over all catalogues."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from tests.settings.test_translations import pairs
from tests.support.cases import for_each

FILE = Path(__file__).parents[2] / "GLOSSARY.md"
WORDS = FILE.read_text(encoding="utf-8").partition("# The words of the page")[2]
CODES = {"English": "en", "German": "de", "Spanish": "es", "Chinese": "zh"}
FRENCH = "mange du poisson"


def rows() -> list[list[str]]:
    """The rows of both lists: what is called, and its words in each language; a language, and what it never says."""
    lines = [line for line in WORDS.splitlines() if line.startswith("|") and not line.startswith("|--")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def listed(cell: str) -> list[str]:
    return [word.strip() for word in cell.split(",")]


[HEAD, *CALLED], NEVER = [row for row in rows() if len(row) > 2], dict(row for row in rows()[1:] if len(row) == 2)


@cache
def messages(language: str) -> tuple[str, ...]:
    code = CODES[language]
    texts = [english for english, _ in pairs("de")] if code == "en" else [other for _, other in pairs(code)]
    return tuple(text.replace(" | ", " ").replace(FRENCH, "") for text in texts)


def said(word: str, language: str, *, whole: bool = False) -> list[str]:
    """The messages with a word, which may go on at its end; a short one has to be whole."""
    if language == "Chinese":
        return [text for text in messages(language) if word in text]
    pattern = re.compile(rf"\b{re.escape(word)}{chr(92) + 'b' if whole or len(word) < 5 else ''}", re.IGNORECASE)
    return [text for text in messages(language) if pattern.search(text)]


def test_both_lists_are_of_all_languages() -> None:
    assert HEAD[1:] == [*CODES]
    assert {*NEVER} - {"never in"} == {*CODES}


@for_each("language", [*CODES])
def test_no_message_has_a_second_word_for_one_thing(language: str) -> None:
    assert {word: found[:3] for word in listed(NEVER[language]) if (found := said(word, language))} == {}


@for_each("row", CALLED)
def test_every_word_of_the_list_is_one_of_the_page(row: list[str]) -> None:
    for language, words in zip(HEAD[1:], row[1:]):
        for word in listed(words):
            stem = word.split()[0].removesuffix("en") if language == "German" else word.split()[0]
            assert said(stem, language) or any(stem.lower() in text.lower() for text in messages(language)), word


def test_a_second_word_would_be_found() -> None:
    assert len(CALLED) > 10
    assert said("beacht", "German")
    assert said("Sie", "German", whole=True)
    assert said("atiende", "Spanish")
    assert said("关注", "Chinese")
