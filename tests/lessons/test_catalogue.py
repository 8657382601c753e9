"""The form of a lesson, and the table of all lessons."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from attnviz import Config, ConfigError, run
from attnviz.classroom import slides
from attnviz.classroom.measures import MEASURES
from attnviz.classroom.next_word.readings import is_reading
from attnviz.classroom.predicates import PREDICATES
from attnviz.classroom.question_kinds import resolve
from attnviz.engine.records.step_specs import STEPS
from attnviz.lessons.catalogue import LESSONS, written
from attnviz.lessons.lesson import Lesson, Question, Slide
from attnviz.lessons.read_lesson import MAX_LESSON_CHARACTERS, read_lesson
from attnviz.settings.language import set_language
from tests.support.cases import for_each

LESSON = Lesson(
    "one", "One", "What?", {"n_heads": 3, "seed": 5}, (Slide("a"), Slide("b", change={"mask": "causal"})), "-"
)


def test_a_slide_changes_the_setting_of_its_lesson_and_a_seed_the_numbers() -> None:
    plain, masked = LESSON.slides
    assert LESSON.on(plain) == LESSON.config
    assert (LESSON.on(masked).mask, LESSON.on(masked).n_heads) == (("causal",), 3)
    assert (LESSON.on(masked, 7).seed, LESSON.on(masked, 7).mask) == (7, ("causal",))
    assert LESSON.on(masked, 0).seed == 0


def test_there_are_thirty_four_lessons_by_the_names_that_stand_in_links() -> None:
    assert len(LESSONS) == 34
    assert all(name == lesson.name and name.isidentifier() and name == name.lower() for name, lesson in LESSONS.items())
    assert len({lesson.title for lesson in LESSONS.values()}) == 34


def test_every_slide_of_the_library_can_be_shown() -> None:
    """They are tried out here and not when the page starts, which a first visitor waits for."""
    for name, lesson in LESSONS.items():
        assert read_lesson(name, written(name)) == lesson


@for_each("lesson", LESSONS.values())
def test_slides_are_few_name_steps_and_hold_no_shouting(lesson: Lesson) -> None:
    assert 2 <= len(lesson.slides) <= 40
    for slide in lesson.slides:
        assert slide.steps
        assert {step for step in slide.steps if not is_reading(step)} <= set(STEPS)
        assert "!" not in slide.text
        assert slide.change or slide.fault or not slide.beside


WRITTEN = (
    """
title = "One"
about = "What is
the answer?"
source = "-"
minutes = 3
goal = "Read."
known = "It can
be read."
further = {page = "experiments"}

[setting]
sentence = "a b"
d_k = [3, 2]
scale = "default"

[setting.edits]
"embedded.1.2" = 4
"w_q.1.1" = """
    + "'''\n1 2\n3 4'''"
    + """

[[slides]]
text = """
    + "'''\nTwo lines,\none paragraph.\n\n| a |\n|---|'''"
    + """
steps = ["scores"]
beside = true

[slides.change]
mask = ["causal", "no_self"]

[slides.question]
kind = "rows_changed"
at = {step = "weights", change = {mask = "none"}}
"""
)
WRITTEN = WRITTEN.replace("What is\nthe", "What is the").replace("can\nbe", "can be")


def test_a_file_is_read_into_the_lesson_that_it_writes() -> None:
    lesson = read_lesson("one", WRITTEN)
    assert (lesson.name, lesson.title, lesson.about) == ("one", "One", "What is the answer?")
    assert (lesson.minutes, lesson.goal, lesson.known) == (3, "Read.", "It can be read.")
    assert lesson.further == {"page": "experiments"}
    cells = [((0, 0, 0), 1.0), ((0, 0, 1), 2.0), ((0, 1, 0), 3.0), ((0, 1, 1), 4.0)]
    edits = ((None, "embedded", (0, 1), 4.0), *((0, "w_q", where, number) for where, number in cells))
    assert lesson.config == Config(sentence="a b", d_k=(3, 2), edits=edits)
    question = Question("rows_changed", at={"step": "weights", "change": {"mask": "none"}})
    assert lesson.slides == (
        Slide(
            "Two lines, one paragraph.\n\n| a |\n|---|",
            ("scores",),
            {"mask": ("causal", "no_self")},
            beside=True,
            question=question,
        ),
    )


@for_each(
    "old, new, says",
    [
        ("[[slides]]", "[slides", "not written in TOML"),
        ('title = "One"\n', "", "the lesson one has no title"),
        ('source = "-"', 'source = "-"\nhours = 3', "the lesson one has a 'hours'; there are title, about"),
        ("minutes = 3", "minutes = 0", "the lesson one takes 0 minutes; choose 1 to 90"),
        ("minutes = 3", "minutes = 3.5", "minutes of the lesson one is 3.5, and has to be a whole number"),
        ('goal = "Read."\n', "", "the lesson one has no goal"),
        ('title = "One"', "title = 1", "title of the lesson one is 1, and has to be a text in quotes"),
        ("d_k", "width", "the setting of the lesson one sets 'width', which is no setting"),
        ("d_k = [3, 2]", "d_k = [300, 2]", "slide 1 of the lesson one: d_k"),
        ('"embedded.1.2" = 4', '"embedded.x" = 4', "an edit embedded.x = 4; give a place such as"),
        ("3 4", "3 four", "an edit w_q.1.1.2.2 = four"),
        ("beside = true", "besides = true", "slide 1 of the lesson one has a 'besides'"),
        ("beside = true", 'beside = "yes"', "beside of slide 1 of the lesson one is 'yes'"),
        ('kind = "rows_changed"\n', "", "the question on slide 1 of the lesson one has no kind"),
        ('change = {mask = "none"}', 'change = "none"', "is 'none', and has to be a table"),
        (
            '{step = "weights", ',
            '{tolerance = "0.01", ',
            "on slide 1 of the lesson one is '0.01', and has to be a number",
        ),
        ('{step = "weights", ', "{tolerance = -1, ", "is -1; choose 0 or more"),
        ('{step = "weights", ', "{tolerance = nan, ", "is nan; choose 0 or more"),
        ('{step = "weights", ', "{tolerence = 1.0, ", "has a 'tolerence'; there are query, key, head, column"),
        ('{step = "weights", ', "{head = true, ", "head of `at` of the question on slide 1 of the lesson one is True"),
        ('steps = ["scores"]', "steps = [1]", "steps of slide 1 of the lesson one are [1], and have to be names"),
        ("minutes = 3", "minutes = “3”", "not written in TOML: look at line 5, column 11; texts stand between"),
        ('title = "One"', f'title = "{"a" * MAX_LESSON_CHARACTERS}"', "characters; at most 100,000 fit"),
        ("d_k = [3, 2]", "d_k = " + "[" * 20_000, "not written in TOML"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_position(old: str, new: str, says: str) -> None:
    assert old in WRITTEN
    with pytest.raises(ConfigError) as caught:
        read_lesson("one", WRITTEN.replace(old, new))
    assert says in str(caught.value)


def test_what_is_wrong_is_said_in_the_language_of_the_page() -> None:
    set_language("de")
    try:
        for old, new, says in (
            ('{step = "weights", ', '{tolerance = "0.01", ', "tolerance ist '0.01'; nötig ist eine Zahl"),
            ("minutes = 3", "minutes = 4,0", "die Lektion one ist kein TOML: siehe Zeile 5, Spalte 12"),
        ):
            with pytest.raises(ConfigError, match=re.escape(says)):
                read_lesson("one", WRITTEN.replace(old, new))
    finally:
        set_language("en")


def test_the_guide_shows_a_lesson_that_can_be_read() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "writing-a-lesson.md").read_text("utf-8")
    lesson = read_lesson("first_word", guide.split("```toml\n")[1].split("```")[0])
    assert [slide.question.kind for slide in lesson.slides if slide.question] == ["weight"]


@pytest.mark.slow
def test_no_question_refuses_a_number_that_is_printed() -> None:
    """Nor the sum of the numbers of a line, each of them as pictures print it, with these numbers or with others."""
    for name, lesson in LESSONS.items():
        for number, slide in enumerate(lesson.slides, 1):
            reseeded = slide.question and slides.can_be_reseeded(lesson, slide)
            for seed in (None, 1, 2, 3) if reseeded else (None,):
                if slide.question is None:
                    continue
                baseline = lesson.config if seed is None else replace(lesson.config, seed=seed)
                found = resolve(slide.question, run(lesson.on(slide, seed)), run(baseline))
                assert found.refused == "", (name, number, seed)
                if slide.question.kind == "sum":
                    (line,) = found.lines
                    printed = sum(round(float(x), 2) for x in np.ravel(line.operands["numbers"]))
                    assert found.is_right(printed), (name, number, seed)


@for_each("name", LESSONS)
def test_every_slide_has_notes_for_the_speaker(name: str) -> None:
    for number, slide in enumerate(LESSONS[name].slides, 1):
        words = slide.notes.split()
        assert 8 <= len(words) <= 60, number
        assert slide.notes not in slide.text


def test_the_guide_lists_every_name_that_a_lesson_may_use() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "writing-a-lesson.md").read_text("utf-8")
    names = {"settings": [item.name for item in fields(Config)], "steps": [*STEPS]}
    for name, there in (names | {"measures": [*MEASURES], "says": [*PREDICATES]}).items():
        part = guide.partition(f"<!-- {name} -->")[2].partition(f"<!-- /{name} -->")[0].rpartition(": ")[2]
        wanted = " ".join(f"`{each}`" for each in there)
        assert re.findall(r"`([a-z0-9_]+)`", part) == there, f"put these into the guide: {wanted}"
