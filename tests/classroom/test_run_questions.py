"""The kinds of practice as questions of lessons and assignments: order, cell, mask, slider."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnviz import Config, ConfigError, run
from attnviz.classroom import open_questions, question_codec, run_questions
from attnviz.classroom.marking import assignments, coded_answers, grading, lesson_assignment, moodle, question_list
from attnviz.classroom.marking.assignment_parts import PANELS
from attnviz.classroom.marking.assignments import Assignment
from attnviz.classroom.question_kinds import resolve
from attnviz.classroom.writing import check_lesson, draft
from attnviz.lessons.lesson import Question, Slide
from attnviz.lessons.read_lesson import read_lesson
from attnviz.text.format.sentence_parts import plain
from tests import reference
from tests.support.cases import for_each

SEEDS = range(25)
FORMS = ("order", "cell", "mask", "slider")


def setting(seed: int, **changes: Any) -> Config:
    usual: dict[str, Any] = {"sentence": "one two three four", "n_heads": 2, "seed": seed, "mask": "causal"}
    return Config(**{**usual, **changes})


def weights_of(config: Config, head: int) -> list[list[float]]:
    """The weights of a head by loops, from queries and keys."""
    trace = run(config)
    q, k, v = (trace[name].array[head] for name in ("queries", "keys", "values"))
    causal = [[j <= i for j in range(len(k))] for i in range(len(q))] if "causal" in config.mask else None
    more: dict[str, Any] = {} if config.scale is None else {"scale": config.scale}
    return reference.attend(q, k, v, allowed=causal, temperature=config.temperature, **more).weights


@for_each("seed", SEEDS)
def test_the_answers_are_those_of_weights_worked_out_another_way(seed: int) -> None:
    trace = run(setting(seed))
    A = weights_of(trace.config, 1)
    order = resolve(Question("order", at={"head": 2, "query": 4}), trace)
    assert order.in_order == tuple(sorted(range(4), key=lambda j: -A[3][j]))
    for at, cells in (
        ({"query": 3, "key": 2}, [(2, 1)]),
        ({"query": 3}, [(2, j) for j in range(4)]),
        ({"key": 2}, [(i, 1) for i in range(4)]),
        ({}, [(i, j) for i in range(4) for j in range(4)]),
    ):
        right = max(cells, key=lambda cell: A[cell[0]][cell[1]])
        cell = resolve(Question("cell", at={"head": 2, **at}), trace)
        chosen = {divmod(each, 4) for each in cell.right}
        assert right in chosen
        assert all(A[i][j] == pytest.approx(A[right[0]][right[1]], abs=1e-9) for i, j in chosen)
    mask = resolve(Question("mask"), trace)
    assert mask.right == {4 * i + j for i in range(4) for j in range(i + 1)}


@for_each("seed", SEEDS)
@for_each("field, to", [("temperature", 0.3), ("scale", 2.0)])
def test_a_slider_is_right_at_the_stops_where_the_weight_is_what_is_wanted(field: str, to: float, seed: int) -> None:
    trace = run(setting(seed))
    at = {"field": field, "to": to, "head": 2, "query": 4, "key": 1}
    slider = run_questions.slider_of(trace, at)
    weights = [weights_of(slider.moved(trace.config, stop), 1)[3][0] for stop in range(len(slider.stops))]
    wanted = round(weights[slider.stops.index(to)], 2)
    if abs(round(weights[slider.start], 2) - wanted) <= 0.02 + 1e-9:
        with pytest.raises(ValueError, match="stands already"):
            resolve(Question("slider", at=at), trace)
        return
    question = resolve(Question("slider", at=at), trace)
    assert f" is {wanted:.2f}, within ±0.02." in plain(question.words)
    assert question.right == {n for n, weight in enumerate(weights) if abs(round(weight, 2) - wanted) <= 0.02 + 1e-9}
    assert slider.start not in question.right
    assert weights[slider.start] == pytest.approx(trace["weights"].array[1, 3, 0], abs=1e-9)
    assert run_questions.weight_at(trace, at, 2) == pytest.approx(weights[2], abs=1e-9)


def test_the_words_name_what_is_asked() -> None:
    trace = run(setting(1, mask=("causal", "window"), reach=1))
    words = {
        "order": ({"query": 4}, "Head 1: put the keys in order of the weight that “four” gives them"),
        "cell": ({"query": 2, "key": 1}, "Head 1: which cell holds the weight that “two” gives “one”?"),
        "mask": ({}, "Draw the mask “Causal; Sliding window (Reach: 1)”."),
        "slider": ({"field": "scale", "to": 3.0, "query": 4, "key": 3}, "Set the scale, which multiplies every score,"),
    }
    for kind, (at, said) in words.items():
        assert plain(resolve(Question(kind, at=at), trace).words).startswith(said)
    assert "that “one” gets from any" in plain(resolve(Question("cell", at={"key": 1}), trace).words)
    assert "largest weight of all" in plain(resolve(Question("cell"), trace).words)


@for_each(
    "kind, at, changes, said",
    [
        ("order", {"query": 1}, {}, "fewer than two keys"),
        ("order", {"query": 13}, {"sentence": " ".join("abcdefghijklm")}, "13 keys are too many"),
        ("order", {"query": 4}, {"normaliser": "hardmax"}, "fewer than two keys"),
        ("order", {"query": 4}, {"edits": tuple((0, "scores", (0, 3, j), 1.0) for j in range(4))}, "the same weight"),
        ("cell", {}, {"sentence": " ".join("abcdefghijklm")}, "169 cells are too many"),
        ("mask", {}, {"mask": "custom"}, "single cells"),
        ("mask", {}, {"mask": "none"}, "forbids nothing"),
        ("slider", {"field": "colour", "to": 1.0, "query": 2, "key": 1}, {}, "choose from temperature, scale"),
        ("slider", {"field": "scale", "query": 2, "key": 1}, {}, "needs 'to'"),
        ("slider", {"field": "scale", "to": 2.0, "query": 1, "key": 1}, {}, "stands already"),
        ("slider", {"field": "scale", "to": 2.0, "query": 1, "key": 2}, {}, "forbids this cell"),
        ("slider", {"field": "scale", "to": 2.0, "query": 2, "key": 1}, {"n_layers": 2}, "one layer"),
    ],
)
def test_what_cannot_be_asked_says_why(kind: str, at: dict[str, Any], changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        resolve(Question(kind, at=at), run(setting(3, **changes)))


def items() -> tuple[question_codec.Item, ...]:
    chosen: dict[str, dict[str, Any]] = {
        "order": {"query": 4},
        "cell": {"query": 3, "key": 2},
        "mask": {},
        "slider": {"field": "temperature", "to": 0.2, "query": 4, "key": 1},
    }
    return tuple(question_codec.item(kind, chosen[kind]) for kind in FORMS)


def test_an_assignment_marks_them_from_the_code_of_a_student() -> None:
    task = Assignment(task_questions=items(), task_own=True)
    assert question_codec.decode(question_codec.encode(items())) == (items(), [])
    config = setting(7)
    digest = assignments.digest(config, task)
    asked = assignments.resolved_questions(task, run(assignments.of_student(config, task, "Ada")))
    right = [ask.in_order or (tuple(ask.right) if ask.form == "mask" else (min(ask.right),)) for ask in asked]  # type: ignore[union-attr]
    wrong: list[tuple[int, ...]] = [right[0][::-1], (right[1][0] + 1,), tuple(range(16)), (6,)]
    for answers, score in ((right, 4), (wrong, 0)):
        numbers = [coded_answers.encode(ask, answer) for ask, answer in zip(asked, answers)]  # type: ignore[arg-type]
        assert [coded_answers.decode(a, n) for a, n in zip(asked, numbers)] == [  # type: ignore[arg-type]
            tuple(sorted(answer)) if n == 2 else tuple(answer) for n, answer in enumerate(answers)
        ]
        (graded,) = grading.grade_all(config, task, [("Ada", grading.answer_code(digest, "Ada", numbers))])
        assert (graded.problem, graded.score, graded.out_of) == ("", score, 4)
    assert graded.mistakes[0] == "That is from the smallest to the largest."
    assert graded.mistakes[2] == "Allowed, but should be forbidden: 6 of the cells."
    assert all(graded.mistakes)
    assert graded.answers[1] == plain(asked[1].options[right[1][0] + 1])  # type: ignore[union-attr]
    assert assignments.n_runs(task) >= 11


@for_each("field, to", [("temperature", 0.2), ("scale", 3.0)])
def test_a_slider_that_nobody_moved_is_no_answer(field: str, to: float) -> None:
    item = question_codec.item("slider", {"field": field, "to": to, "query": 4, "key": 1})
    task, config = Assignment(task_questions=(item,)), setting(7)
    (ask,) = assignments.resolved_questions(task, run(config))
    assert not isinstance(ask, str)
    assert ask.start == run_questions.slider_of(run(config), dict(item[1])).start
    untouched = coded_answers.encode(ask, (ask.start,))  # type: ignore[arg-type]
    assert untouched == 0
    assert coded_answers.decode(ask, 1 + ask.start) is None  # type: ignore[operator]  # of a code that was made by hand
    code = grading.answer_code(assignments.digest(config, task), "Ada", [1 + ask.start])  # type: ignore[operator]
    (graded,) = grading.grade_all(config, task, [("Ada", code)])
    assert (graded.problem, graded.score, graded.answers, graded.mistakes) == ("", 0, ("",), ("",))


def test_a_code_that_is_no_order_is_refused() -> None:
    (ask,) = assignments.resolved_questions(Assignment(task_questions=items()[:1]), run(setting(7)))
    assert not isinstance(ask, str)
    for answer in (1 + 6, 1 + 5, 1 + 5**6, 1 + 5**4):  # twice the same; a digit of none; too long
        with pytest.raises(ConfigError, match="not one that the question offers"):
            coded_answers.decode(ask, answer)
    with pytest.raises(ConfigError):
        coded_answers.decode(assignments.resolved_questions(Assignment(task_questions=items()), run(setting(7)))[1], 18)  # type: ignore[arg-type]


def test_files_for_platforms_have_what_these_have_a_form_for() -> None:
    task, config = Assignment(task_questions=items()), setting(7)
    assert moodle.left_out(assignments.resolved_questions(task, run(config))) == (1, 3, 4)
    kinds = [each.get("type") for each in ET.fromstring(moodle.xml(config, task)).iter("question")]  # noqa: S314
    assert kinds == ["category", "multichoice"]
    frame = question_list.frame(config, task)
    assert frame["form"].tolist() == ["in order", "cell", "mask", "slider"]
    assert frame["answer"][0].count(" | ") == 3


LESSON = """
title = "t"
about = "a"
source = "s"
minutes = 5
goal = "g"
known = "k"
[setting]
sentence = "one two three four"
n_heads = 1
mask = "causal"
"""
SLIDES = """
[[slides]]
text = "Look."
steps = ["scores", "weights"]
[slides.question]
kind = "{kind}"
at = {at}
"""


def test_a_lesson_asks_them_and_becomes_an_assignment() -> None:
    ats = {"order": "{query = 4}", "cell": "{key = 2}", "mask": "{}"}
    ats["slider"] = '{field = "temperature", to = 5.0, query = 4, key = 2}'
    text = LESSON + "".join(SLIDES.format(kind=kind, at=at) for kind, at in ats.items())
    lesson = check_lesson.opened("own", text, lambda config: None)
    found = lesson_assignment.of_lesson(lesson)
    assert found is not None
    assert [kind for kind, _ in found[1].task_questions] == ["order", "mask", "slider"]  # a cell needs both positions
    written = draft.slide(lesson.config, lesson.config, {"text": "Look."}, ("weights",), lesson.slides[3].question)
    assert read_lesson("x", LESSON + written).slides[0].question == lesson.slides[3].question


def test_the_mask_is_not_drawn_before_it_is_answered() -> None:
    trace, asked = run(setting(1)), Question("mask")
    question = resolve(asked, trace)
    slide = Slide("", ("scores", "masked", "weights"), question=asked)
    shown = open_questions.pictures(slide, asked, question, trace, trace)
    assert shown == ()  # hatched, they would show the mask
    before = replace(slide, steps=("queries", *slide.steps))
    (queries,) = open_questions.pictures(before, asked, question, trace, trace)
    assert queries.name == "queries"
    assert queries.masked is None
    seen = Assignment(task_questions=items()[2:3], task_hidden=("scores", "heads", *PANELS))
    assert assignments.given_away(seen, [question]) == (1,)
    hidden = ("scores", "weights", *PANELS)
    assert assignments.given_away(replace(seen, task_hidden=hidden), [question]) == ()
    drawn = np.isin(np.arange(16), [*question.right]).reshape(4, 4)
    assert np.array_equal(drawn, np.tri(4, dtype=bool))


def test_every_kind_goes_to_the_platform_or_is_said_to_be_left_out() -> None:
    config = setting(7)
    for kind in question_codec.KINDS:
        item = next((each for each in items() if each[0] == kind), question_codec.item(kind, {"query": 2, "key": 1}))
        task = Assignment(task_questions=(item,))
        written = ET.fromstring(moodle.xml(config, task))  # noqa: S314
        exported = [each for each in written if each.get("type") != "category"]
        left_out = moodle.left_out(assignments.resolved_questions(task, run(config)))
        assert (len(exported), left_out) in ((1, ()), (0, (1,))), kind
        assert bool(left_out) == (kind in ("order", "mask", "slider"))
