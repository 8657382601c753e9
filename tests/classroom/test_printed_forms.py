"""Orders, cells, masks and sliders on paper: nothing gives the answer away, and whoever marks has it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from attnviz import Config, run
from attnviz.classroom import question_codec
from attnviz.classroom.printed import course_handout, handout
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.courses import COURSES
from attnviz.lessons.lesson import Lesson
from attnviz.lessons.read_lesson import read_lesson
from attnviz.settings.language import set_language
from tests.support.cases import for_each

HEAD = """title = "t"
about = "a"
source = "s"
minutes = 5
goal = "g"
known = "k"
[setting]
sentence = "the cat sat down"
n_heads = 1
mask = "causal"
"""
SLIDE = '[[slides]]\ntext = "Look."\nsteps = {steps}\n'
QUESTION = '[slides.question]\nkind = "{kind}"\nat = {at}\nwhy = "w"\n'
WHOLE = SLIDE.format(steps='["scores", "masked", "weights"]')
BESIDE = SLIDE.format(steps='["weights"]') + "beside = true\n[slides.change]\ntemperature = 2.0\n"
AT = {
    "order": "{query = 4}",
    "cell": "{query = 4}",
    "mask": "{}",
    "slider": '{field = "temperature", to = 0.3, query = 4, key = 1}',
}


def lesson(kind: str, *more: str, at: str = "") -> Lesson:
    return read_lesson("t", "\n".join([HEAD, WHOLE, QUESTION.format(kind=kind, at=at or AT[kind]), *more]))


def tables(html: str, symbol: str = "") -> list[list[list[str]]]:
    """The cells of the tables of a handout, row by row; of those with a caption that begins so."""
    found = re.findall(r'<table class="matrix[^>]*>(.*?)</table>', html, re.DOTALL)
    chosen = [each for each in found if re.search(f"<caption>.*?{symbol}.*?</caption>", each)] if symbol else found
    return [
        [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", each)[1:]] for each in chosen
    ]


def grid(html: str) -> list[list[str]]:
    (found,) = re.findall(r'<table class="matrix mask[^>]*>(.*?)</table>', html, re.DOTALL)
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", found)[1:]]


@for_each("more", [(), (WHOLE,), (BESIDE,), (WHOLE, BESIDE)])
def test_a_mask_that_is_to_be_drawn_is_nowhere_on_the_handout(more: tuple[str, ...]) -> None:
    html = handout.html(lesson("mask", *more), solutions=False)
    assert "–" not in re.sub(r"<p.*?</p>", "", html, flags=re.DOTALL)
    assert not tables(html, "attention weights") or all(
        cell == "" for table in tables(html, "attention weights") for row in table for cell in row
    )
    assert "<svg" not in html
    assert grid(html) == [[""] * 4] * 4


def test_without_a_mask_to_draw_what_is_forbidden_is_printed() -> None:
    html = handout.html(lesson("cell", WHOLE, BESIDE), solutions=False)
    assert "<svg" in html
    assert "–" in "".join(cell for table in tables(html) for row in table for cell in row)


def test_whoever_marks_has_the_mask() -> None:
    drawn = [["", *["–"] * 3], ["", "", "–", "–"], ["", "", "", "–"], [""] * 4]
    for html in (handout.html(lesson("mask"), solutions=True), handout.key(lesson("mask"))):
        assert grid(html) == drawn
        assert "1: 1; 2: 1–2; 3: 1–3; 4: 1–4" in html


@for_each("more", [(), (WHOLE,)])
def test_a_row_that_is_to_be_put_in_order_is_nowhere_on_the_handout(more: tuple[str, ...]) -> None:
    one = lesson("order", *more)
    html = handout.html(one, solutions=False)
    assert all(table[3] == [""] * 4 for table in tables(html, "attention weights"))
    row = run(one.config)["weights"].array[0, 3]
    assert not any(f"{x:.4g}" in html for x in row)
    ranks = re.findall(r"<li><b>(\d)\.</b>", handout.html(one, solutions=True))
    assert [ranks.index(str(n)) for n in (1, 2, 3, 4)] == sorted(range(4), key=lambda key: -row[key])


@for_each("seed", range(12))
def test_the_row_in_which_a_cell_is_to_be_found_is_printed(seed: int) -> None:
    (weights,) = tables(handout.html(lesson("cell"), solutions=False, seed=seed), "attention weights")
    assert all(weights[3])


def test_the_stops_of_a_slider_are_printed_and_the_right_one_is_not_marked() -> None:
    html = handout.html(lesson("slider"), solutions=False)
    assert "<li>0.3</li>" in html
    assert "right" not in re.sub(r"<style.*?</style>|<p.*?</p>", "", html, flags=re.DOTALL)
    assert '<li class="right">0.3</li>' in handout.html(lesson("slider"), solutions=True)


def test_the_stops_of_a_slider_are_written_as_the_language_has_them() -> None:
    set_language("de")
    try:
        paper, key = handout.html(lesson("slider"), solutions=False), handout.key(lesson("slider"))
    finally:
        set_language("en")
    assert "<li>0,3</li>" in paper
    assert "0,3." in key
    assert not re.search(r"\d\.\d", re.sub(r"<style.*?</style>", "", paper + key, flags=re.DOTALL))


@pytest.mark.parametrize("kind", AT)
def test_the_handout_of_an_assignment_keeps_them_too(kind: str) -> None:
    config = Config(sentence="the cat sat down", n_heads=1, mask="causal")
    at: dict[str, Any] = {"query": 4, "key": 1, "to": 0.3}
    item = question_codec.item(kind, {name: at[name] for name in question_codec.KINDS[kind].positions if name in at})
    html = handout.html(config, solutions=False, questions=(item,))
    (weights,) = tables(html, "attention weights")
    assert weights[3][0] if kind == "cell" else kind == "slider" or not any(weights[3])
    if kind == "mask":
        assert not any(cell for row in weights for cell in row)
        assert not any(cell == "–" for table in tables(html) for row in table for cell in row)
        assert grid(html) == [[""] * 4] * 4


@pytest.mark.usefixtures("language_models")
def test_the_handout_of_a_course_has_its_slides_and_asks_for_a_name_once() -> None:
    course = COURSES["short"]
    html, key = course_handout.html("short", solutions=False), course_handout.key("short")
    slides = [LESSONS[name].slides[at] for name, at in course.places]
    assert html.count("<section>") == len(slides)
    asked = sum(slide.question is not None for slide in slides)
    assert html.count('<div class="question">') == key.count('<div class="key">') == asked
    assert html.count('<div class="who">') == 1
    titles = [html.index(f"<h1>{LESSONS[part.lesson].title}") for part in course.parts]
    assert titles == sorted(titles)
    assert html.count("<body>") == html.count("<style>") == 1


def test_the_handout_of_a_lesson_is_made_where_its_model_is() -> None:
    for lesson in LESSONS.values():
        models = {lesson.on(slide).model for slide in lesson.slides} - {""}
        assert bool(handout.setting(lesson).model) == bool(models), lesson.name
    assert handout.setting(*course_handout.lessons("single")).model
