"""What is blank on a handout, and what its questions ask for, is printed nowhere else on it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from attnviz import Config, run
from attnviz.classroom import open_questions, question_codec
from attnviz.classroom.printed import handout, printed_tables
from attnviz.classroom.question_kinds import resolve
from attnviz.engine.records.step_specs import STEPS
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.lesson import Lesson
from tests.support.cases import for_each

NUMBER = re.compile(r"(?<![\w.,])\d+(?:\.\d+)?(?:e[−+-]?\d+)?(?![\w]|\.\d)")
CHAIN = ("scores", "scaled", "capped", "masked")


class Text(HTMLParser):
    """The numbers of a handout outside its tables of numbers, and what its questions say."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: list[str] = []
        self.questions = ""
        self.feed(re.sub(r'<table class="matrix.*?</table>|<style.*?</style>', "", html, flags=re.DOTALL))

    def handle_data(self, data: str) -> None:
        self.found += NUMBER.findall(data)


def digits(number: str) -> int:
    return len(re.sub(r"e.*|\.", "", number).lstrip("0"))


def order(step: str) -> int:
    return list(STEPS).index("scores" if step in CHAIN else step)


def told(number: float) -> str:
    return f"{number:.4g}".replace("-", "−").lstrip("−")


def handout_and_cells(
    monkeypatch: pytest.MonkeyPatch, source: Any, **options: Any
) -> tuple[str, list[tuple[str, str, bool]]]:
    """A handout with blanks, and its cells in tables: the step, the number without its sign, whether it is left out."""
    cells: list[tuple[str, str, bool]] = []
    current = ""
    matrix, cell = printed_tables.matrix, printed_tables._cell

    def of_step(paper: Any, trace: Any, layer: Any, step: Any, *more: Any) -> str:
        nonlocal current
        current = step.name
        return matrix(paper, trace, layer, step, *more)

    def noted(paper: Any, x: float, hole: bool, is_solvable: bool) -> str:
        cells.append((current, told(x), hole))
        return cell(paper, x, hole, is_solvable)

    with monkeypatch.context() as patch:
        patch.setattr(handout, "matrix", of_step)
        patch.setattr(printed_tables, "_cell", noted)
        html = handout.html(source, solutions=False, **options)
    n = sum(table.count("<td") for table in re.findall(r'<table class="matrix.*?</table>', html, re.DOTALL))
    return html, cells[len(cells) - n :]  # it is gone through more than once, and printed last


def leaks(html: str, cells: list[tuple[str, str, bool]], wanted: dict[str, int]) -> set[str]:
    """The numbers of three digits and more that are left out somewhere, and printed where they do not come first."""
    hidden = dict(wanted)
    for step, number, hole in cells:
        if hole and digits(number) >= 3:
            hidden[number] = min(order(step), hidden.get(number, order(step)))
    words = set(Text(html).found) & set(hidden)
    return words | {number for step, number, hole in cells if not hole and order(step) >= hidden.get(number, 1000)}


def asked_of(lesson: Lesson) -> dict[str, int]:
    own, found = run(lesson.config), {}
    for slide in lesson.slides:
        if slide.question:
            question = resolve(slide.question, run(lesson.on(slide)), own, worked=False)
            if question.form == "number" and digits(told(question.value)) >= 3:
                found[told(question.value)] = order(question.hides) if question.hides else 1000
    return found


@pytest.mark.slow
@for_each("name", LESSONS)
def test_nothing_that_is_left_out_of_a_handout_is_printed_elsewhere_on_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    html, cells = handout_and_cells(monkeypatch, LESSONS[name])
    assert leaks(html, cells, asked_of(LESSONS[name])) == set()
    questions = re.findall(r'<div class="question">.*?</div>', html, re.DOTALL)
    assert not any("____" in each for each in questions)


@pytest.mark.slow
@for_each("name", ["causal", "store", "why_minus_infinity", "softmax_axis", "translation"])
def test_a_row_that_a_question_asks_for_is_left_out_wherever_that_run_is_printed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson = LESSONS[name]
    _, cells = handout_and_cells(monkeypatch, lesson)
    printed = {number for step, number, hole in cells if step == "weights" and not hole}
    checked = 0
    for slide in lesson.slides:
        question = slide.question
        if question and question.kind in ("weight", "highest_key") and not open_questions.is_whole(question):
            at = question.at
            row = run(lesson.on(slide))["weights"].array[at.get("head", 1) - 1, at["query"] - 1]
            telling = {told(float(x)) for x in row if digits(told(float(x))) >= 3}
            assert not telling & printed
            checked += len(telling)
    assert checked or name == "softmax_axis"


@for_each("mask", ["none", "causal"])
@for_each("tied", [False, True])
def test_the_handout_of_an_assignment_prints_no_blank_elsewhere(
    tied: bool, mask: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Config(sentence="one two three four five", n_heads=2, d_k=3, tied=tied, mask=mask, score="dot")
    items = (question_codec.item("weight", {"head": 1, "query": 5, "key": 3}),)
    html, cells = handout_and_cells(monkeypatch, config, questions=items)
    assert leaks(html, cells, {}) == set()
    assert any(hole for _, _, hole in cells)


def test_a_number_that_is_printed_twice_is_found() -> None:
    cells = [("weights", "0.8818", True), ("weights", "0.8818", False), ("queries", "0.8818", False)]
    assert leaks("", cells, {}) == {"0.8818"}
    assert leaks("", cells[:1] + cells[2:], {}) == set()
    assert leaks("<p>It is 0.8818.</p>", cells[:1], {}) == {"0.8818"}
    assert leaks("<p>It is 8.299.</p>", [], {"8.299": 1000}) == {"8.299"}


@pytest.mark.slow
def test_what_is_to_be_read_off_a_picture_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    html, _ = handout_and_cells(monkeypatch, LESSONS["rows_and_columns"])
    first = html.split("<section>")[1]
    assert "elsewhere" not in first
    assert 'class="blank"' not in first


@pytest.mark.slow
def test_a_cell_that_a_text_names_is_no_blank() -> None:
    html = handout.html(LESSONS["bits"], solutions=False)
    fourth = html.split("<section>")[4]
    row = re.findall(r"<tr><th>five</th>(.*?)</tr>", fourth)[0]
    assert "20, 14, 12, 8 and 20" in fourth
    assert re.findall(r">(\d*)</td>", row) == ["20", "14", "12", "8", "20"]
    assert 'class="blank"' in fourth
