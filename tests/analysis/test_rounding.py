"""What is printed as 0 is rounding alone; a small number that is one stays."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.analysis import rounding
from attnviz.classroom.printed import handout
from attnviz.classroom.question_kinds import resolve
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.lesson import Question
from attnviz.text.format.sentence_parts import plain
from tests.support.cases import for_each


@pytest.fixture(autouse=True)
def offered(language_models: None) -> None:
    """Have the models that lessons ask for."""


STEPS = ("queries", "keys", "values", "scores", "scaled", "masked", "heads")


@for_each("name", ["why_causal", "why_both", "rows_and_columns", "not_explanation", "one_head_or_two"])
def test_what_rounding_left_in_a_lesson_is_0_and_every_other_number_stays(name: str) -> None:
    """Heads set by hand cancel on purpose: what is not 0 in them is 1 or more, or else rounding."""
    lesson, n = LESSONS[name], 0
    for slide in lesson.slides:
        trace = run(lesson.on(slide))
        for step in STEPS:
            array, cleared = trace[step].array, rounding.cleared(trace, 0, trace[step])
            is_rounding = (cleared == 0) & (array != 0)
            assert (cleared[~is_rounding] == array[~is_rounding]).all()
            assert np.abs(array[is_rounding]).max(initial=0) < 1e-10
            assert np.abs(cleared[cleared != 0]).min(initial=1) > 1e-10 or step == "heads"
            n += int(is_rounding.sum())
    assert n > 0


def test_a_small_number_stays_if_nothing_larger_was_summed_or_if_it_was_typed() -> None:
    own = {"embedding": "own", "position": "none", "d_model": 2, "d_k": 2, "d_v": 2, "n_heads": 1}
    small = run(Config(sentence="a b", own_numbers="1e-15 0; 0 1", initialiser="identity", score="dot", **own))
    for step in STEPS:
        np.testing.assert_array_equal(rounding.cleared(small, 0, small[step]), small[step].array)
    assert small["scores"].array[0, 0, 0] == pytest.approx(1e-30)
    typed = run(Config(sentence="a b", d_k=2, n_heads=1, edits=((0, "scores", (0, 0, 1), 1e-17),)))
    for step in ("scores", "scaled"):
        assert rounding.cleared(typed, 0, typed[step])[0, 0, 1] == typed[step].array[0, 0, 1] != 0
    assert rounding.bound(typed, 0, "weights") is None


@for_each("score", ["dot", "scaled_dot"])
def test_no_number_is_further_from_that_of_exact_arithmetic_than_its_bound(score: str) -> None:
    for seed in range(3):
        trace = run(Config(sentence="a b c", n_heads=2, n_kv_heads=1, d_model=5, d_k=4, seed=seed, score=score))
        X, W_Q, W_K = (trace[name].array for name in ("embedded", "w_q", "w_k"))
        for h, i, j in np.ndindex(2, 3, 3):
            q, k = (
                [sum(Fraction(x) * Fraction(w) for x, w in zip(row, column)) for column in W.T]
                for row, W in ((X[i], W_Q[h]), (X[j], W_K[0]))
            )
            off = abs(float(sum(a * b for a, b in zip(q, k)) - Fraction(trace["scores"].array[h, i, j])))
            assert off <= rounding.bound(trace, 0, "scores")[h, i, j] < 1e-11  # type: ignore[index]


def test_paper_prints_0_for_what_cancels_and_small_weights_as_they_are() -> None:
    for solutions in (False, True):
        text = handout.html(LESSONS["why_causal"], solutions=solutions)
        for table in re.findall(r"<table.*?</table>", text, re.DOTALL):
            assert "weights" in table or not re.search(r"e−1\d<", table), table[:200]
    assert "e−11<" in handout.html(LESSONS["why_root"], solutions=True)  # a weight of 5e-11


def test_a_solution_and_a_sum_say_0_for_what_cancels() -> None:
    lesson = LESSONS["why_causal"]
    trace = run(lesson.on(lesson.slides[0]))
    S, bound = trace["scores"].array, rounding.bound(trace, 0, "scores")
    assert bound is not None
    h, i, j = (int(at) for at in np.argwhere((np.abs(S) <= bound) & (S != 0))[0])
    at = {"step": "scores", "head": h + 1, "query": i + 1, "key": j + 1}
    found = resolve(Question("number", at=at), trace)
    assert found.value == S[h, i, j] != 0  # the number itself is not touched
    assert plain(found.solution[0]) == "It is 0."
    assert all(each.value == 0 or abs(each.value) > 1e-9 for each in found.mistakes)
    total = rounding.total(trace, 0, trace["scores"], (0, slice(None), slice(None)))
    assert total == pytest.approx(S[0].sum(), abs=1e-9)
