"""A language is complete or not at all: every message that the code can say, and each as exact as the English."""

from __future__ import annotations

import io
import re
import string
from functools import cache
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from attnviz.lessons.catalogue import LESSONS
from attnviz.settings.language import CATALOGUES, LANGUAGES, WRITTEN, InContext, Words, set_language
from attnviz.text.format.number_format import DECIMAL_COMMA
from tools import messages, translations

OTHERS = [language for language in LANGUAGES if language != WRITTEN]
KEPT = {
    "formulas": r"\$[^$]+\$",
    "numbers of the run": r"\[\[[^\]]+\]\]",
    "code": r"`[^`]+`",
}


def names(text: str) -> set[str]:
    """What is filled into a message; braces of a formula count as none."""
    try:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}
    except ValueError:
        return set()


@cache
def catalogue(language: str) -> Catalog:
    return translations.read(language)


def path(language: str) -> str:
    return translations.path(language).relative_to(Path(__file__).parents[2]).as_posix()


def pairs(language: str) -> list[tuple[str, str]]:
    """Every English text of a catalogue with each of its translations; of a plural the form for many."""
    found = [(message.id, message.string) for message in catalogue(language) if message.id]
    plain = [(english, other) for english, other in found if isinstance(english, str)]
    return plain + [(english[-1], form) for english, forms in found if not isinstance(english, str) for form in forms]


def test_there_is_a_catalogue_for_every_language_and_no_other() -> None:
    assert sorted(path.name for path in CATALOGUES.iterdir()) == sorted(OTHERS)
    assert OTHERS


@pytest.mark.slow
def test_messages_of_every_kind_are_found() -> None:
    found = messages.messages()
    assert {
        "Scaled dot product",  # a row's label
        "Tokens at most",  # a field's label
        "Embedding and positions",  # a group
        "is {given}; choose {range}",  # said in a call
        "{query} gives {key} no weight.",  # in a table
        "mixes the heads",  # a step's meaning
        "Half the temperature",  # beside names
        "No looking ahead",  # a lesson's title
    } <= found
    assert "softcap" not in {text for text in messages.texts() if " " in text}
    assert any(not isinstance(message, str) for message in found)
    assert len(found) > 1500


@pytest.mark.slow
@pytest.mark.parametrize("language", OTHERS)
def test_every_message_is_there_and_none_that_nobody_says(language: str) -> None:
    extracted = {translations.msgid(message) for message in messages.messages()}
    there = {(message.id, message.context): message.string for message in catalogue(language) if message.id}
    lacking, unsaid = (sorted(map(str, some)) for some in (extracted - there.keys(), there.keys() - extracted))
    assert (lacking, unsaid) == ([], []), f"run `python -m tools.translations`, then fill in msgstr in {path(language)}"
    forms = {str(english): (other,) if isinstance(other, str) else other for english, other in there.items()}
    untranslated = [english for english, each in forms.items() if not all(form.strip() for form in each)]
    assert untranslated == [], f"fill in their msgstr in {path(language)}, then run `python -m tools.translations`"
    wanted = catalogue(language).num_plurals
    assert [english for english, each in forms.items() if len(each) not in (1, wanted)] == []


@pytest.mark.slow
@pytest.mark.parametrize("language", OTHERS)
def test_the_page_reads_what_the_translators_wrote(language: str) -> None:
    compiled = io.BytesIO()
    write_mo(compiled, translations.brought_up_to_date(catalogue(language)))
    kept = translations.path(language).with_suffix(".mo").read_bytes()
    same = kept == compiled.getvalue()  # not in the assertion, which would look for minutes for where they differ
    assert same, "run: python -m tools.translations"


@pytest.mark.parametrize("language", OTHERS)
def test_what_is_filled_in_is_the_same(language: str) -> None:
    assert {english for english, other in pairs(language) if names(english) != names(other)} == set()


@pytest.mark.parametrize("kind", KEPT)
@pytest.mark.parametrize("language", OTHERS)
def test_formulas_numbers_and_code_are_the_same(language: str, kind: str) -> None:
    def kept(text: str) -> list[str]:
        without_words = re.sub(r"\\text\{[^}]*\}", "", text)
        return sorted(re.findall(KEPT[kind], without_words))

    assert {english for english, other in pairs(language) if kept(english) != kept(other)} == set()


@pytest.mark.parametrize("language", OTHERS)
def test_a_sentence_ends_as_the_english_does(language: str) -> None:
    ends = (".", "?", "。", "？")
    wrong = {e for e, other in pairs(language) if e.rstrip().endswith(ends) != other.rstrip().endswith(ends)}
    assert wrong == set()


@pytest.mark.parametrize("language", [code for code in OTHERS if code in DECIMAL_COMMA])
def test_thousands_are_not_parted_by_a_comma_that_would_be_read_as_a_point(language: str) -> None:
    assert {other for _, other in pairs(language) if re.search(r"\{[^}]*:,", other)} == set()


def test_one_english_word_is_two_in_another_language_where_its_context_says_so() -> None:
    of, drawn = InContext("Lines", "of arithmetic"), InContext("Lines", "drawn from word to word")
    words = Words({"of": of, "drawn": drawn})
    assert (words["of"], words["drawn"]) == ("Lines", "Lines")
    set_language("de")
    try:
        assert (words["of"], words["drawn"]) == ("Zeilen", "Linien")
    finally:
        set_language("en")


FORMAL = re.compile(
    r"[a-zäöüß]en Sie\b"  # Fragen Sie, können Sie
    r"|(?<=[a-zäöüß,;–] )(?:Sie|Ihr|Ihre|Ihnen|Ihren|Ihrem|Ihrer|Ihres)\b"  # within a sentence a capital is an address
    r"|\bIhre? (?:Antwort|Einstellung|Zahl|Name|Browser|Seite|Link|Satz|Datei)\b"
)
"""German that says Sie; at the beginning of a sentence Sie may be they, and Ihre theirs."""


def to_learners(language: str) -> list[str]:
    """The texts of a catalogue without those for whoever teaches or hosts: notes on slides, variables of a server."""
    notes = {slide.notes for lesson in LESSONS.values() for slide in lesson.slides}
    return [other for english, other in pairs(language) if english not in notes and "{variable}" not in english]


def test_a_learner_is_addressed_as_du_and_whoever_teaches_as_sie() -> None:
    set_language(WRITTEN)
    assert [text for text in to_learners("de") if FORMAL.search(text)] == []
    assert any(re.search(r"\b(?:du|dein\w*)\b", text) for text in to_learners("de"))
    notes = {slide.notes for lesson in LESSONS.values() for slide in lesson.slides if slide.notes}
    said = [other for english, other in pairs("de") if english in notes]
    assert sum(bool(FORMAL.search(text)) for text in said) > len(said) / 2
    assert [text for text in said if re.search(r"\b(?:du|dein\w*)\b", text)] == []
    for text in ("Danach können Sie: {goal}", "Das liegt an Ihrer Einstellung.", "Ihre Antwort: {said}"):
        assert FORMAL.search(text)
    assert not FORMAL.search("Ihre Summe ist 1. Sie folgt aus den Scores.")


OUTSIDE_OF_TEXT = re.compile(r"\$[^$]*\$|`[^`]*`|\{[^}]*\}|\[\[.*?\]\]|“[^“”]*”|„[^„“]*“|arXiv:\S+")
HEAD = re.compile(r"[1-9]\.[1-9]")
NAMES_WITH_POINTS = ("Entmax 1.5", "entmax 1.5", "PyTorch 2.13")
"""Names, in which a point parts no digits of a number."""
TYPED = re.compile(r"\bpoint\b|looks like 2|commas and 0\.5|finite number|JSON|Commas and|such as sum")
"""English of sentences on how a number is typed, which is the same in every language."""


def with_points(english: str, other: str) -> list[str]:
    """The numbers with a point in a translation, but for names, heads, code and what is to be typed."""
    if TYPED.search(english):
        return []
    for name in NAMES_WITH_POINTS:
        other = other.replace(name, "")
    found = re.findall(r"(?<![\w.])\d*\.\d+(?!\.?\w)", OUTSIDE_OF_TEXT.sub(" ", other))
    return [number for number in found if not HEAD.fullmatch(number)]


@pytest.mark.parametrize("language", [code for code in OTHERS if code in DECIMAL_COMMA])
def test_no_sentence_of_a_language_with_a_decimal_comma_has_a_number_with_a_point(language: str) -> None:
    assert {other: found for english, other in pairs(language) if (found := with_points(english, other))} == {}
    assert with_points("a", "Kopf 2.3 gibt 0.25, wie `0.5` und $0.5$") == ["0.25"]


@pytest.mark.parametrize("sign", [",", ";", ":", "?"])
def test_chinese_has_its_own_signs_between_its_characters(sign: str) -> None:
    mark, han = re.escape(sign), "[\u4e00-\u9fff]"
    pattern = re.compile(f"{han}{mark}|{mark} ?{han}")
    texts = {other: OUTSIDE_OF_TEXT.sub(" x ", other) for _, other in pairs("zh")}
    assert {other for other, text in texts.items() if pattern.search(text)} == set()
