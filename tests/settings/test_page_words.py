"""One word for each thing on the page, in each language: the list in the glossary, held over all catalogues."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from tests.settings.test_translations import pairs
from tests.support.cases import for_each

FILE = Path(__file__).parents[2] / "GLOSSARY.md"
WORDS = FILE.read_text(encoding="utf-8").partition("# The words of the page")[2]
FRENCH = "mange du poisson"


def rows() -> list[list[str]]:
    """The rows of the list: what is called, its words in both languages, and those that neither uses."""
    lines = [line for line in WORDS.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@cache
def messages(language: str) -> tuple[str, ...]:
    texts = (english if language == "English" else german for english, german in pairs("de"))
    return tuple(text.replace(" | ", " ").replace(FRENCH, "") for text in texts)


def said(word: str, language: str, *, whole: bool = False) -> list[str]:
    """The messages with a word, which may go on at its end; a short one has to be whole."""
    pattern = re.compile(rf"\b{re.escape(word)}{chr(92) + 'b' if whole or len(word) < 5 else ''}", re.IGNORECASE)
    return [text for text in messages(language) if pattern.search(text)]


@for_each("row", rows())
def test_no_message_has_a_second_word_for_one_thing(row: list[str]) -> None:
    for language, never in zip(("English", "German"), row[3:]):
        for word in filter(None, map(str.strip, never.split(","))):
            assert said(word, language) == [], f"say {row[1:3]} for {row[0]}, never {word!r}"


@for_each("row", rows())
def test_every_word_of_the_list_is_one_of_the_page(row: list[str]) -> None:
    for language, words in zip(("English", "German"), row[1:3]):
        for word in map(str.strip, words.split(",")):
            stem = word.split()[0].removesuffix("en") if language == "German" else word.split()[0]
            assert said(stem, language) or any(stem.lower() in text.lower() for text in messages(language)), word


def test_a_second_word_would_be_found() -> None:
    assert len(rows()) > 10
    assert said("beacht", "German")
    assert said("Sie", "German", whole=True)
