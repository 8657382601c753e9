"""Ask, then explain: what stands above a question does not answer it, and what it follows from is on the screen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from attnviz import Trace, run
from attnviz.classroom import open_questions, slides
from attnviz.classroom.question_kinds import resolve
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.engine.records.step_specs import STEPS
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.lesson import Lesson, Question, Slide
from attnviz.pictures.stage_record import Stage
from attnviz.text import step_names
from attnviz.text.format.sentence_parts import plain
from tests.support.cases import for_each
from tests.support.stage_maps import placed

QUESTIONS = [
    pytest.param(lesson, slide, id=f"{lesson.name}-{position}")
    for lesson in LESSONS.values()
    for position, slide in enumerate(lesson.slides, 1)
    if slide.question
]
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
ORDINALS += ("ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth")
COUNTED = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
SETTLED = (
    r"no row|every (other )?row|no other|nothing else|stays?\b|keeps\b|do(es)? not (move|change)|as it was"
    r"|(are|is) the same|the same (numbers|rows?)"
)
"""What says of a change whose rows are asked for how far it reaches."""

PATTERNS: Mapping[str, str] = {
    "same": SETTLED,
    "symmetric": r"\bsymmetric|both directions|exactly as|scores word",
    "rows_sum_to_one": r"adds? (up )?to 1|sums? to 1|shares? of a whole",
    "columns_sum_to_one": r"adds? (up )?to 1|weights are (not )?symmetric|sum of its own",
    "mostly_one_key": r"half|all-or-nothing|nearly flat|\bwide spread|sharp",
    "padding_is_not_read": r"\bas if\b|without a mask|is the mistake|nobody",
    "heads_add_up": r"added|sum of|adds? them|\+",
    "groups_agree": r"not shared weights|rows differ|different questions",
    "product_has_full_rank": r"\brank\b",
    "scores_within_v": r"between −1 and 1|larger in size|bound",
    "values_within_limit": r"too wide|times as large|\bgrows\b|not within",
    "scores_of_queries": r"\bstale\b|new random|old ones|run again|not the products",
    "scores_follow_distance": r"only the difference|the same score|same distance",
}
"""By what is to be judged: words that judge it."""


def words_of(text: str) -> str:
    """A set-up as it is read: without numbers of the run, which have a test of their own, and without positions.

    What is quoted at length is the sentence of the run, and names no answer.
    """
    text = re.sub(r"“[^”]{20,}”", "", text)
    text = re.sub(r"\[\[.*?\]\]", "", text)
    return re.sub(r"\b(heads?|rows?|columns?|layer|Rows) \d+( (and|to) \d+)?", "", text)


def forbidden(found: ResolvedQuestion, question: Question, trace: Trace) -> Iterator[str]:
    """The patterns that would answer a question."""
    if found.form == "number":
        yield from (rf"(?<![\d.,])[−-]?{re.escape(each)}(?!\.?\d)" for each in numbers(found.value))
        if found.value in range(2, 11):
            yield rf"\b{COUNTED[int(found.value)]}\b"
        if found.value == 0:
            yield r"\bnothing|\bnone\b|\bzeros?\b"
        if abs(found.value - 1) < 1e-9:
            yield r"\bwhole of|shares? exactly|shares? its"
    elif question.kind == "highest_key":
        yield from at_key(found, question, trace)
    elif question.kind == "next_word":
        yield rf"(?<!“)\b{plain(found.options[min(found.right)]).strip('“”')}\b(?!”)"
    elif question.kind == "head_owed":
        yield rf"without (head )?{plain(found.options[min(found.right)]).removeprefix('head ')}"
    elif question.kind == "shape":
        *_, rows, columns = re.findall(r"\d+", plain(found.options[min(found.right)]))
        yield rf"\b{rows} (×|by) {columns}\b|a row for each|a column for each"
        yield r"\bsquare\b|as many rows as columns" if rows == columns else r"not square|no longer square"
        yield rf"\b{rows} rows\b.*\b{columns} columns\b"
    elif question.kind == "rows_changed":
        yield SETTLED
    else:
        yield PATTERNS[question.at["says"]]


def numbers(value: float) -> set[str]:
    """A number in the ways in which a text would round it."""
    size = abs(value)
    return {slides.format_number(size), *(f"{size:.{digits}g}" for digits in (2, 3, 4)), f"{size:.2f}"} - {"0.00"}


def at_key(found: ResolvedQuestion, question: Question, trace: Trace) -> Iterator[str]:
    """The word that is right, its position in the sentence, and its distance from the query."""
    query = question.at["query"] - 1
    for position in found.right:
        token = trace.key_tokens[position]
        if trace.key_tokens.count(token) == 1 and position != query and len(token) > 2:
            yield rf"\b{re.escape(token)}\b"
        yield rf"(in|is|for|reads|finds|takes|to) the {ORDINALS[position]}\b|the {ORDINALS[position]} (column|key)"
        if trace.query_tokens == trace.key_tokens and position == query - 1:
            yield r"\bword before|\bone before|previous word"
        if trace.query_tokens == trace.key_tokens and position == query:
            yield r"\bitself\b"


def answers(text: str, found: ResolvedQuestion, question: Question, trace: Trace) -> list[str]:
    """What in a text would answer a question."""
    return [
        each[0] for pattern in forbidden(found, question, trace) for each in re.finditer(pattern, words_of(text), re.I)
    ]


def resolved(lesson: Lesson, slide: Slide) -> tuple[ResolvedQuestion, Trace, Trace]:
    return _resolved(lesson.name, lesson.slides.index(slide))


@cache
def _resolved(name: str, at: int) -> tuple[ResolvedQuestion, Trace, Trace]:
    lesson, slide = LESSONS[name], LESSONS[name].slides[at]
    assert slide.question
    own, trace = run(lesson.config), run(lesson.on(slide))
    return resolve(slide.question, trace, own), own, trace


@for_each("lesson, slide", QUESTIONS)
@pytest.mark.slow
def test_what_stands_above_a_question_does_not_answer_it(lesson: Lesson, slide: Slide) -> None:
    assert slide.question
    found, _, trace = resolved(lesson, slide)
    assert answers(f"{lesson.about} {lesson.goal} {slide.text}", found, slide.question, trace) == []


@for_each("lesson, slide", QUESTIONS)
def test_no_explanation_is_said_before(lesson: Lesson, slide: Slide) -> None:
    def runs(text: str, n: int = 6) -> set[tuple[str, ...]]:
        words = re.findall(r"\w+", words_of(text).lower())
        return {tuple(words[at : at + n]) for at in range(len(words) - n + 1)}

    assert slide.question
    assert runs(slide.text) & runs(slide.question.why) == set()


OLD = [
    ("softmax_axis", 1, r"Softmax runs along the row, over the **keys**: so each row adds to 1"),
    ("rows_and_columns", 1, "In head 1 every word attends to the one before it: the 1 stands in the second column."),
    ("rows_and_columns", 2, "every word attends to the first, so all five give it their weight"),
    ("order", 1, "their rows change places with them, and nothing else happens. The verb's row there is the same"),
    ("why_both", 2, "it has rank 2 of 6"),
    ("why_both", 3, "word $i$ scores word $j$ exactly as $j$ scores $i$"),
    ("why_both", 6, "from the third on each finds itself"),
    ("padding", 5, "the words then read padding as without a mask"),
    ("must_divide", 2, "With the last head's values two wide in place of five, all weights are the same."),
    ("one_or_many", 1, "a row for each of the six numbers of a word"),
    ("self_cross_grouped", 1, "As many rows as columns, a matrix for each head."),
    ("self_cross_grouped", 4, "Two heads of a group ask different questions, so their rows differ."),
    ("why_root", 2, "it grows to 8.3"),
    ("why_minus_infinity", 5, "the row becomes uniform: 0.25 for each"),
    ("bits", 2, "You should count two of them."),
]


@for_each("name, position, text", OLD)
def test_a_sentence_that_answers_is_found(name: str, position: int, text: str) -> None:
    slide = LESSONS[name].slides[position - 1]
    assert slide.question
    found, _, trace = resolved(LESSONS[name], slide)
    assert answers(text, found, slide.question, trace)


def shown(lesson: Lesson, slide: Slide) -> tuple[Stage, ...]:
    assert slide.question
    found, own, trace = resolved(lesson, slide)
    return open_questions.pictures(slide, slide.question, found, own, trace)


@pytest.mark.slow
@for_each("lesson, slide", QUESTIONS)
def test_a_question_has_what_its_answer_follows_from_on_the_screen(lesson: Lesson, slide: Slide) -> None:
    assert slide.question
    found = resolved(lesson, slide)[0]
    names = {picture.name for picture in shown(lesson, slide)}
    assert names
    if open_questions.is_whole(slide.question):
        assert names == set(slide.steps)
    else:
        chain = {"scores", "scaled", "capped", "masked"}
        inputs = [name.replace(".", "-") for name in found.inputs]
        assert all(name in names or (name in chain and chain & names) for name in inputs)
    assert all(picture.alt == picture.title for picture in shown(lesson, slide))


@pytest.mark.slow
@for_each("lesson, slide", QUESTIONS)
def test_the_pictures_beside_an_open_question_would_be_the_same_with_any_other_answer(
    lesson: Lesson, slide: Slide
) -> None:
    """What is asked for is not among the numbers that are drawn: another number there draws the same picture."""
    assert slide.question
    found, _, trace = resolved(lesson, slide)
    if open_questions.is_whole(slide.question) or found.covered is None or found.hides not in slide.steps:
        drawn = {picture.name for picture in shown(lesson, slide)}
        late = [name for name in drawn - set(found.inputs) if found.hides and order(name) >= order(found.hides)]
        assert open_questions.is_whole(slide.question) or not late
        return
    drawn = {picture.name: picture for picture in shown(lesson, slide)}
    step = step_names.steps(trace, slide.layer)[found.hides]
    array = drawn[found.hides].array.reshape(step.shape)
    assert found.covered.any()
    assert np.isnan(array[found.covered & np.isfinite(step.array)]).sum() > 0
    np.testing.assert_array_equal(array[~found.covered], step.array[~found.covered])
    assert max(order(name) for name in drawn) <= order(found.hides)


def order(name: str) -> int:
    """The rank of a step; what is read off the run of a language model comes after all of them."""
    return list(STEPS).index(name) if name in STEPS else len(STEPS)


@pytest.mark.slow
@for_each("lesson, slide", QUESTIONS)
def test_no_row_of_weights_that_is_drawn_says_the_one_that_is_asked_for(lesson: Lesson, slide: Slide) -> None:
    assert slide.question
    found, _, trace = resolved(lesson, slide)
    if found.hides != "weights" or found.covered is None or open_questions.is_whole(slide.question):
        return
    A = trace.layers[slide.layer]["weights"].array
    rows = {tuple(row) for row in np.unique(found.covered, axis=-1).reshape(-1, 1) if row}
    assert rows
    values = A[found.covered].reshape(-1, A.shape[-1])
    seen = A[~found.covered].reshape(-1, A.shape[-1])
    for row in values:
        assert not (np.abs(seen - row) <= 1e-9).all(axis=-1).any()


def test_a_row_that_another_says_is_not_drawn_at_all() -> None:
    lesson = LESSONS["causal"]
    config = replace(lesson.config, embedding="one_hot", own_numbers="", sentence="a b a b", mask=("none",), edits=())
    trace = run(config)
    one = resolve(Question("weight", "", {"query": 1, "key": 1}), trace)
    assert one.covered is None
    turned = resolve(Question("weight", "", {"query": 1, "key": 1}), run(replace(config, sentence="a b c d")))
    assert turned.covered is None  # the other rows hold its numbers in another order
    other = resolve(Question("weight", "", {"query": 2, "key": 1}), run(lesson.config))
    assert other.covered is not None
    assert other.covered.sum() == 6


def test_a_score_that_stands_in_two_cells_is_covered_in_both() -> None:
    found, _, trace = resolved(LESSONS["tied"], LESSONS["tied"].slides[2])
    assert found.covered is not None
    assert found.covered.sum() == 1
    covered = resolve(Question("number", "", {"step": "scores", "query": 1, "key": 2}), trace).covered
    assert covered is not None
    assert np.argwhere(covered[0]).tolist() == [[0, 1], [1, 0]]


def test_a_change_that_is_asked_about_is_drawn_once_it_is_answered() -> None:
    checked: list[Any] = []
    for lesson in LESSONS.values():
        for slide in lesson.slides:
            if slide.question and "change" in slide.question.at and not slide.beside:
                own, trace = run(lesson.config), run(lesson.on(slide))
                rows = slides.rows(slide, own, trace)
                assert len(rows) == slides.n_rows(slide) == 2
                step = slide.question.at.get("step", "weights")
                other = run(replace(trace.config, **slide.question.at["change"]))[step].array
                np.testing.assert_array_equal(rows[1][1].array.reshape(other.shape), other)
                checked.append(rows[1][0].phrase)
    assert len(checked) >= 5
    assert set(checked) == {"before the change"}


PHONE = 358
"""Pixels for the pictures on a window of 390, where each stands below the other."""


@pytest.mark.slow
@for_each("lesson, slide", QUESTIONS)
def test_on_a_phone_a_picture_is_as_large_after_the_answer(lesson: Lesson, slide: Slide) -> None:
    """Where a change takes columns away, or adds them, the cells are no smaller for it."""
    _, own, trace = resolved(lesson, slide)
    before, after = shown(lesson, slide), slides.rows(slide, own, trace)[0]
    was, now = (
        {each.name: (each.array.shape, tiling) for each, tiling in zip(row, placed(row, PHONE, 500).tilings)}
        for row in (before, after)
    )
    for name in was.keys() & now.keys():
        (shape, one), (other, two) = was[name], now[name]
        if shape == other:
            assert (one.x, one.y) == (two.x, two.y)
        else:
            assert two.cell_w >= one.cell_w, name
            assert two.cell_h >= one.cell_h or two.rows > one.rows, name  # a word more takes room


def test_no_picture_has_the_shape_that_is_asked_for() -> None:
    """Its heading would say it, and so would that of an input."""
    told = []
    for lesson in LESSONS.values():
        own = run(lesson.config)
        for number, slide in enumerate(lesson.slides, 1):
            if slide.question is None or slide.question.kind != "shape":
                continue
            trace = run(lesson.on(slide))
            found = resolve(slide.question, trace, own)
            shape = trace.layers[slide.layer][slide.question.at["step"]].shape
            drawn = open_questions.pictures(slide, slide.question, found, own, trace)
            if any(picture.array.squeeze().shape == np.empty(shape).squeeze().shape for picture in drawn):
                told.append(f"{lesson.name} {number}")
    assert told == []
