"""A language is complete or not at all: every sentence that the code can say, and each as exact as the English."""

from __future__ import annotations

import json
import re
import string
from collections import Counter
from pathlib import Path

import pytest

from attnviz.core.language import LANGUAGES, WRITTEN
from tests import sentences

FILES = Path(__file__).parent.parent / "attnviz" / "languages"
OTHERS = [language for language in LANGUAGES if language != WRITTEN]
KEPT = {
    "formulas": r"\$[^$]+\$",
    "numbers of the run": r"\[\[[^\]]+\]\]",
    "code": r"`[^`]+`",
}


def names(sentence: str) -> set[str]:
    """What is filled into a sentence; braces of a formula count as none."""
    try:
        return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}
    except ValueError:
        return set()


def file(language: str) -> dict[str, str]:
    """The sentences of a language; a sentence that stands there twice is an error."""

    def once(pairs: list[tuple[str, str]]) -> dict[str, str]:
        twice = [sentence for sentence, n in Counter(name for name, _ in pairs).items() if n > 1]
        assert twice == []
        return dict(pairs)

    found: dict[str, str] = json.loads((FILES / f"{language}.json").read_text("utf-8"), object_pairs_hook=once)
    return found


@pytest.fixture(scope="module")
def said() -> frozenset[str]:
    return sentences.sentences()


def test_there_is_a_file_for_every_language_and_no_other() -> None:
    assert sorted(path.stem for path in FILES.glob("*.json")) == sorted(OTHERS)
    assert OTHERS


def test_sentences_of_every_kind_are_found(said: frozenset[str]) -> None:
    assert {
        "Scaled dot product",  # a row's label
        "Tokens at most",  # a field's label
        "Embedding and positions",  # a group
        "is {given}; choose {range}",  # said in a call
        "{query} takes nothing from {key}.",  # in a table
        "mixes the heads",  # a step's meaning
        "Half the temperature",  # beside names
        "No looking ahead",  # a lesson's title
    } <= said
    assert "softcap" not in {sentence for sentence in said if " " in sentence}
    assert len(said) > 1500


@pytest.mark.parametrize("language", OTHERS)
def test_every_sentence_is_there_and_none_that_nobody_says(language: str, said: frozenset[str]) -> None:
    there = file(language).keys()
    assert sorted(said - there) == []
    assert sorted(there - said) == []


@pytest.mark.parametrize("language", OTHERS)
def test_what_is_filled_in_is_the_same(language: str) -> None:
    wrong = {english for english, other in file(language).items() if names(english) != names(other)}
    assert wrong == set()


@pytest.mark.parametrize("kind", KEPT)
@pytest.mark.parametrize("language", OTHERS)
def test_formulas_numbers_and_code_are_the_same(language: str, kind: str) -> None:
    def kept(sentence: str) -> list[str]:
        without_words = re.sub(r"\\text\{[^}]*\}", "", sentence)
        return sorted(re.findall(KEPT[kind], without_words))

    wrong = {english for english, other in file(language).items() if kept(english) != kept(other)}
    assert wrong == set()


@pytest.mark.parametrize("language", OTHERS)
def test_a_sentence_ends_as_the_english_does(language: str) -> None:
    wrong = {
        english
        for english, other in file(language).items()
        if not other.strip() or english.rstrip().endswith((".", "?")) != other.rstrip().endswith((".", "?"))
    }
    assert wrong == set()


@pytest.mark.parametrize("language", OTHERS)
def test_thousands_are_not_parted_by_a_comma_that_would_be_read_as_a_point(language: str) -> None:
    assert {other for other in file(language).values() if re.search(r"\{[^}]*:,", other)} == set()
