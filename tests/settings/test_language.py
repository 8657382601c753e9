"""The words that a visitor reads: each in the language that is spoken when it is read, and never frozen."""

from __future__ import annotations

import contextvars
import copy
import dataclasses
import gettext
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from attnviz import (
    PATTERNS,
    Config,
    run,
)
from attnviz.analysis.mask_forms import FILLS, FORMS
from attnviz.analysis.permutations import ORDERS
from attnviz.analysis.statistics import STATISTICS
from attnviz.analysis.variance_and_sharing import DIVISORS, VECTORS
from attnviz.engine.external.arrays import where
from attnviz.engine.external.traces import ExternalConfig, of_weights
from attnviz.engine.records.step_specs import AXES, STEPS
from attnviz.lessons.catalogue import LESSONS
from attnviz.settings import faults, fields, language
from attnviz.settings.language import (
    LANGUAGES,
    Plural,
    TranslatedField,
    Words,
    current_language,
    nearest_language,
    set_language,
    translate,
    translated_fields,
)
from tests.support.cases import for_each
from tests.support.languages import Marked, Table
from tests.support.tables import TABLES

GERMAN = {
    "{n} heads": "{n} Köpfe",
    "{n:,} of {most:,}": "von {most} sind es {n}",
    "mask": "Maske",
    "none {}": "keine {}",
}


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    yield
    set_language("en")


def use(monkeypatch: pytest.MonkeyPatch, german: Mapping[str, str]) -> None:
    """Make these the German sentences, and speak German."""
    monkeypatch.setattr(language, "catalogue", lambda code: Table(german))
    set_language("de")


def mark_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Speak a language that says everything between marks."""
    monkeypatch.setattr(language, "catalogue", lambda code: Marked())
    set_language("de")


def marked(*texts: str) -> bool:
    return all(text.startswith("⟦") and text.endswith("⟧") for text in texts if text)


def test_english_is_spoken_until_another_language_is() -> None:
    assert current_language() == "en"
    set_language("de")
    assert current_language() == "de"


@for_each("code", ["fr", "", "DE", "de-AT", "../de"])
def test_a_language_that_there_is_not_is_refused_and_the_old_one_stays(code: str) -> None:
    set_language("de")
    with pytest.raises(ValueError, match=r"there is no language called .*; choose one of: en, de"):
        set_language(code)
    assert current_language() == "de"


@for_each(
    "locale, code",
    [
        ("de", "de"),
        ("de-AT", "de"),
        ("de_CH", "de"),
        ("DE", "de"),
        ("en-GB", "en"),
        ("fr", "en"),
        ("", "en"),
        (None, "en"),
        ("deu", "en"),
        ("-de", "en"),
    ],
)
def test_the_nearest_language_of_a_browser(locale: str | None, code: str) -> None:
    assert nearest_language(locale) == code


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_language_is_the_nearest_to_itself(code: str) -> None:
    assert nearest_language(code) == code


def test_a_sentence_is_filled_in_only_if_there_is_something_to_fill_in() -> None:
    assert translate("{n:,} of {most:,}", n=1234, most=5678) == "1,234 of 5,678"
    assert translate(r"$\text{a}$ {} {n}") == r"$\text{a}$ {} {n}"
    assert translate("{english} {language}", english="a", language="{b}") == "a {b}"


def test_a_sentence_is_said_in_the_language_with_its_own_order_of_the_names(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, GERMAN)
    assert translate("{n:,} of {most:,}", n=1234, most=5678) == "von 5678 sind es 1234"
    assert (translate("mask"), translate("none {}")) == ("Maske", "keine {}")
    assert translate("{n} rows", n=3) == "3 rows"
    set_language("en")
    assert translate("mask") == "mask"


def test_a_language_is_read_from_its_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    catalogue = Catalog("de", charset="utf-8")
    for english, german in [*GERMAN.items(), (("{n} row", "{n} rows"), ("{n} Zeile", "{n} Zeilen"))]:
        catalogue.add(english, german)
    (tmp_path / "de" / "LC_MESSAGES").mkdir(parents=True)
    with (tmp_path / "de" / "LC_MESSAGES" / "attnviz.mo").open("wb") as file:
        write_mo(file, catalogue)
    monkeypatch.setattr(language, "CATALOGUES", tmp_path)
    monkeypatch.setattr(language, "catalogue", language.catalogue.__wrapped__)
    set_language("de")
    assert (translate("{n} heads", n=5), translate("")) == ("5 Köpfe", "")
    rows = Plural("{n} row", "{n} rows")
    assert [rows.format(n=n) for n in (0, 1, 2)] == ["0 Zeilen", "1 Zeile", "2 Zeilen"]


def test_a_plural_follows_the_rule_of_the_language(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Polish has three forms: for 1, for 2 to 4, and for 5 to 21."""
    catalogue = Catalog("pl", charset="utf-8")
    catalogue.add(("{n} head", "{n} heads"), ("{n} głowa", "{n} głowy", "{n} głów"))
    with (tmp_path / "pl.mo").open("wb") as file:
        write_mo(file, catalogue)
    with (tmp_path / "pl.mo").open("rb") as file:
        polish = gettext.GNUTranslations(file)
    monkeypatch.setattr(language, "catalogue", lambda code: polish)
    set_language("de")
    heads = Plural("{n} head", "{n} heads")
    assert [heads.format(n=n) for n in (1, 3, 5, 22)] == ["1 głowa", "3 głowy", "5 głów", "22 głowy"]
    set_language("en")
    assert [heads.format(n=n) for n in (0, 1, 2)] == ["0 heads", "1 head", "2 heads"]


def test_a_table_is_read_in_the_language_and_keeps_its_names(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"one": "mask", "two": ("mask", 7), "deep": {"mask": ["mask", None]}, "fn": len}
    words = Words(table)
    assert dict(words) == table
    use(monkeypatch, GERMAN)
    assert (list(words), len(words), words["one"]) == (["one", "two", "deep", "fn"], 4, "Maske")
    assert words["two"] == ("Maske", 7)
    assert dict(words["deep"]) == {"mask": ["Maske", None]}  # type: ignore[call-overload]
    assert (words["fn"], words.get("three", "mask")) == (len, "mask")
    assert words.english == table
    with pytest.raises(KeyError):
        words["mask"]


def test_a_table_in_a_table_follows_the_language_also_later(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = Words({"deep": {"one": "mask"}})["deep"]
    use(monkeypatch, GERMAN)
    assert inner["one"] == "Maske"


def test_a_table_keeps_what_it_was_made_of() -> None:
    table = {"one": "mask"}
    words = Words(table)
    table["one"] = "other"
    assert words["one"] == "mask"
    assert repr(words) == "Words({'one': 'mask'})"


@translated_fields("label", "note")
@dataclass(frozen=True)
class Row:
    name: str
    label: str
    position: int
    note: str = "mask"


@dataclass(frozen=True)
class Wide(Row):
    """A row with one more field."""

    more: int = 0


class Plain:
    """A record of its own making, with the descriptor as it is."""

    label = TranslatedField("mask")


def test_a_record_says_its_sentences_and_leaves_its_names_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    row, wide = Row("mask", "mask", 2), Wide("mask", "mask", 2, more=5)
    use(monkeypatch, GERMAN)
    assert (row.name, row.label, row.position, row.note) == ("mask", "Maske", 2, "Maske")
    assert (wide.label, wide.note, wide.more) == ("Maske", "Maske", 5)
    assert "label='Maske'" in repr(row)
    assert replace(row, position=3).label == "Maske"
    set_language("en")
    assert (row.label, row.note) == ("mask", "mask")


def test_a_record_keeps_english_when_it_is_made_or_copied_in_another_language(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, GERMAN)
    row = Row("one", "mask", 2)
    again = copy.deepcopy(row)
    set_language("en")
    assert row == again == Row("one", "mask", 2)
    assert hash(row) == hash(again)


def test_a_record_stays_a_frozen_dataclass_that_wants_its_fields() -> None:
    row = Row("one", "mask", 2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        row.label = "other"  # type: ignore[misc]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'label'"):
        Row("one", position=2)  # type: ignore[call-arg]
    assert [item.name for item in dataclasses.fields(Wide)] == ["name", "label", "position", "note", "more"]


def test_the_field_of_a_class_is_its_default_and_there_may_be_none() -> None:
    assert (Row.note, Plain.label) == ("mask", "mask")
    with pytest.raises(AttributeError):
        _ = Row.label


def test_threads_and_contexts_do_not_share_a_language() -> None:
    heard: list[str] = []

    def visit() -> None:
        heard.append(current_language())
        set_language("de")
        heard.append(current_language())

    thread = threading.Thread(target=visit)
    thread.start()
    thread.join()
    contextvars.Context().run(visit)
    assert heard == ["en", "de"] * 2
    assert current_language() == "en"


# what core says ------------------------------------------------------------------------------------------------------

MORE_TABLES = (FILLS, FORMS, ORDERS, STATISTICS, DIVISORS, VECTORS)


@pytest.fixture
def all_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    mark_all(monkeypatch)


@pytest.mark.usefixtures("all_marked")
def test_every_row_of_every_table_is_said() -> None:
    for row in (row for table in (*TABLES.values(), *MORE_TABLES) for row in table.values()):
        assert marked(row.label, row.note, row.plain), row.name
        assert not marked(row.name)
        assert not marked(row.formula)
    assert marked(*(row.goal for row in PATTERNS.values()))


@pytest.mark.usefixtures("all_marked")
def test_every_setting_is_said_and_what_none_of_it_means() -> None:
    for record in (Config, ExternalConfig):
        for item in fields.settings(record):
            assert marked(*(translate(item.metadata[word]) for word in ("label", "help", "group"))), item.name
            assert marked(getattr(item.metadata["kind"], "none", None) or "")


@pytest.mark.usefixtures("all_marked")
def test_every_lesson_is_said() -> None:
    for lesson in LESSONS.values():
        assert marked(lesson.title, lesson.about, *(slide.text for slide in lesson.slides))
        questions = [slide.question for slide in lesson.slides if slide.question]
        assert marked(*(word for question in questions for word in (question.ask, question.why)))
        assert not marked(lesson.config.sentence)


def test_a_step_that_was_recorded_in_one_language_can_be_read_in_another(monkeypatch: pytest.MonkeyPatch) -> None:
    before = run(Config(sentence="a b c"))
    mark_all(monkeypatch)
    trace = run(Config(sentence="a b c"))
    for name, step in trace.layers[0].items():
        assert step.meaning == before[name].meaning == f"⟦{STEPS[name].meaning}⟧"
        assert marked(*(AXES[axis] for axis in step.axes))
    set_language("en")
    assert trace["weights"].meaning == STEPS["weights"].meaning


NOTED = (
    Config(sentence="a b c", mask=("causal", "no_self")),
    Config(sentence="a b c", mask=("causal", "no_self"), n_layers=2),
    Config(sentence="a b c", mask=("dilated", "no_self"), reach=0, normaliser="linear", score="negative_distance"),
    Config(sentence="a b c", normaliser="linear", score="negative_distance"),
    Config(sentence="a b c", mask="custom", custom_cells="1: 1-3, 2: 1, 3: 5"),
    Config(sentence="a b c", max_tokens=2),
    Config(sentence="a b c", embedding="one_hot", d_model=2),
    Config(sentence="a b c", embedding="own"),
    Config(sentence="a b c", embedding="own", own_numbers="1 2; 3"),
    Config(sentence="a b c", initialiser="by_hand", d_model=2),
    Config(sentence="a b c", initialiser="by_hand", patterns=("induction",), n_heads=3),
    Config(sentence="a b c", edits=((0, "scores", (0, 0, 9), 1.0),)),
    Config(sentence="a b c", edits=tuple((0, "scores", (0, 0, at), 1.0) for at in range(5, 10))),
)


@pytest.mark.usefixtures("all_marked")
@for_each("config", NOTED)
def test_the_notes_of_a_run_are_said(config: Config) -> None:
    notes = run(config).notes
    assert notes
    assert marked(*notes)


@pytest.mark.usefixtures("all_marked")
def test_the_notes_of_given_weights_are_said() -> None:
    notes = of_weights(np.array([[[2.0, -1.0, 3.0], [-2.0, 1.0, 1.0]]])).notes
    assert len(notes) == 2
    assert all("⟦row 1⟧" in note and note.endswith("left as given.⟧") for note in notes)
    assert where((0, 2, 1, 4), (1, 3, 5, 7)) == "⟦head 3⟧, ⟦row 2⟧, ⟦column 5⟧"


NOUNS_FIRST = {
    "{where}rows {rows} have nothing to attend to: weights and output are zeros there.": "{where}Zeilen {rows}: Null.",
    "{where}row {rows} has nothing to attend to: weights and output are zeros there.": "{where}in Zeile {rows}: Null.",
    "layer {n}, ": "Schicht {n}, ",
}


def test_a_note_begins_with_a_capital_and_the_rest_keeps_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, NOUNS_FIRST)
    assert run(NOTED[0]).notes == ("In Zeile 1: Null.",)
    assert run(NOTED[1]).notes == ("Schicht 1, in Zeile 1: Null.", "Schicht 2, in Zeile 1: Null.")


@pytest.mark.usefixtures("all_marked")
@for_each(
    "name, value",
    [
        ("sentence", 3),
        ("n_heads", 99),
        ("bos", 2),
        ("score", "x"),
        ("mask", 3),
        ("d_k", (1,) * 20),
        ("edits", (3,)),
        ("patterns", ()),
        ("edits", 3),
        ("edits", ((0, "scores", (0,), float("nan")),)),
    ],
)
def test_a_setting_that_cannot_be_used_says_why(name: str, value: object) -> None:
    with pytest.raises(faults.ConfigError) as error:
        Config(**{name: value})  # type: ignore[arg-type]
    assert marked(str(error.value).removeprefix(f"{name} "))


@pytest.mark.usefixtures("all_marked")
@for_each(
    "name, text",
    [
        ("sentence", "a" * 10_001),
        ("n_heads", "99"),
        ("mask", "causal.x"),
        ("mask", "causal.a.b.c.d"),
        ("patterns", ".".join(["first", "next"] * 9)),
        ("d_k", ".".join("3" * 17)),
        ("edits", "scores.one~2"),
    ],
)
def test_a_link_that_was_mended_says_how(name: str, text: str) -> None:
    kinds = {item.name: item.metadata["kind"] for item in fields.settings(Config)}
    assert marked(kinds[name].read(text)[1])


def test_in_english_nothing_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "catalogue", lambda code: pytest.fail("looked up"))
    assert translate("mask") == Words({"one": "mask"})["one"] == Row("one", "mask", 2).label == "mask"


def test_a_language_has_its_own_signs_between_sentences_and_in_lists() -> None:
    said = {}
    for code in language.LANGUAGES:
        set_language(code)
        said[code] = language.as_sentence("x") + language.sign(" ") + language.sign(", ").join("ab")
    set_language("en")
    assert said == {"en": "X. a, b", "de": "X. a, b", "es": "X. a, b", "zh": "X。a、b"}
