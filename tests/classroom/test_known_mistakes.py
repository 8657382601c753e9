"""A wrong number is told from the step that went wrong, computed here in another way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.classroom.context.hints import HINTS, HOW
from attnviz.classroom.question_kinds import resolve
from attnviz.classroom.resolved_question import Mistake, ResolvedQuestion
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.lesson import Question
from tests.support.cases import for_each

CONFIG = Config(sentence="one two three four five", n_heads=2, d_k=3, d_v=2, d_model=6, mask="causal", seed=2)
TRACE = run(CONFIG)
Q, K, V = (TRACE[name].array[1] for name in ("queries", "keys", "values"))
S = np.array([[sum(a * b for a, b in zip(q, k)) for k in K] for q in Q])
E = np.exp(S / np.sqrt(3)) * np.tri(5)
A = E / E.sum(axis=1, keepdims=True)


def question(kind: str, **at: Any) -> ResolvedQuestion:
    return resolve(Question(kind, "", {"head": 2, **at}), TRACE)


def hint(resolved: ResolvedQuestion, answer: float | tuple[int, ...]) -> str:
    message = resolved.feedback(answer)
    assert message.startswith("Not quite. ")
    return message.removeprefix("Not quite. ")


WEIGHT = question("weight", query=4, key=2)
UNSCALED = np.exp(S) * np.tri(5)
WRONG_WEIGHTS = {
    "scale": (UNSCALED / UNSCALED.sum(axis=1, keepdims=True))[3, 1],
    "columns": (E / E.sum(axis=0))[3, 1],
    "mask": (np.exp(S / np.sqrt(3)) / np.exp(S / np.sqrt(3)).sum(axis=1, keepdims=True))[3, 1],
    "no_softmax": S[3, 1] / np.sqrt(3),
    "no_sum": np.exp(S[3, 1] / np.sqrt(3)),
}


@for_each("name", WRONG_WEIGHTS)
def test_a_wrong_weight_says_which_step_went_wrong(name: str) -> None:
    assert WEIGHT.value == pytest.approx(A[3, 1])
    assert hint(WEIGHT, float(WRONG_WEIGHTS[name])) == HINTS[name]


def test_row_for_column_and_a_sign_are_told() -> None:
    score = question("number", step="scores", query=4, key=2)
    assert hint(score, S[1, 3]) == HINTS["transposed"]
    assert hint(score, -S[3, 1]) == HINTS["sign"]
    assert hint(score, S[3, 1] / np.sqrt(3)) == HINTS["scaled_already"]
    scaled = question("number", step="scaled", query=4, key=2)
    assert hint(scaled, S[3, 1]) == HINTS["scale"]
    assert hint(scaled, S[3, 1] / 3) == HINTS["by_width"]


def test_outputs_sums_and_sizes_have_their_own() -> None:
    output = question("number", step="heads", query=3, column=1)
    assert hint(output, V[:, 0].mean()) == HINTS["unweighted"]
    assert hint(output, A[:, 2] @ V[:, 0]) == HINTS["columns_of_weights"]
    column = question("sum", key=2)
    assert hint(column, 1.0) == HINTS["crossed"]
    assert hint(column, A[:, 1].mean()) == HINTS["mean"]
    size = question("size", step="scores")
    assert hint(size, 25.0) == HINTS["one_head"]
    assert hint(size, 10.0) == HINTS["sides"]


def test_any_other_wrong_number_is_told_how_to_begin_and_not_where_it_lies() -> None:
    for given in (17.3, -17.3):
        assert hint(WEIGHT, given) == HOW["weights"]
    assert ResolvedQuestion("number", value=1.0).feedback(2.0) == "Not quite."


def test_a_mistake_that_leads_to_the_right_number_is_none() -> None:
    found = ResolvedQuestion(
        "number", value=0.5, tolerance=0.05, mistakes=(Mistake("scale", 0.54), Mistake("sign", 0.7))
    )
    assert found.feedback(0.54) == "Right."
    assert found.feedback(0.56) == "Not quite."
    assert hint(found, 0.7) == HINTS["sign"]


@pytest.mark.slow
def test_for_any_seed_no_mistake_is_what_is_right() -> None:
    for seed in range(40):
        trace = run(Config(sentence="a b c d", second_sentence="x y z", n_heads=2, n_kv_heads=1, seed=seed))
        for step, axis in (("weights", "key"), ("scores", "key"), ("heads", "column"), ("queries", "column")):
            found = resolve(Question("number", "", {"step": step, "query": 2, axis: 3}), trace)
            assert found.feedback(found.value) == "Right."
            for each in found.mistakes:
                assert each.name in HINTS
                assert found.is_right(each.value) == (found.feedback(each.value) == "Right.")


def test_a_mask_that_was_left_out_is_told_from_a_softmax_down_the_column() -> None:
    padding = LESSONS["padding"]
    found = resolve(padding.slides[1].question, run(padding.on(padding.slides[1])), run(padding.config))
    assert found.feedback(0.2) == f"Not quite. {HINTS['mask']}"


@for_each("name", LESSONS)
@pytest.mark.slow
def test_every_wrong_answer_gets_a_hint(name: str) -> None:
    lesson = LESSONS[name]
    own = run(lesson.config)
    for slide in (slide for slide in lesson.slides if slide.question):
        found = resolve(slide.question, run(lesson.on(slide)), own)
        options = frozenset(range(len(found.options)))
        given = found.value + 99 if found.form == "number" else options - found.right if found.right else options
        assert len(found.feedback(given)) > len("Not quite. "), slide.text
