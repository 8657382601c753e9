"""Every question of every lesson with many seeds, its answer against one that is found another way."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from attnviz import Trace, run
from attnviz.classroom import next_word_questions
from attnviz.classroom.question_kinds import resolve
from attnviz.engine.tables.tokenisers import PAD
from attnviz.lessons.lesson import Lesson, Question, Slide
from attnviz.text.format.sentence_parts import plain
from tests.classroom.test_question_kinds import looked_up
from tests.lessons.test_ask_first import QUESTIONS
from tests.support.cases import for_each

SEEDS = range(15)
FEW = range(2)
"""For a run of a million numbers, and for one that has to learn first."""

computed = lru_cache(60)(run)
"""A run, kept for the next questions of its lesson."""

NEAR = 1e-9


def holds(question: Question, trace: Trace) -> bool:
    """Whether what a question says of a run is so, by loops over its numbers."""
    says, head = question.at["says"], question.at.get("head", 1) - 1
    A, S, Q, K = (trace[name].array for name in ("weights", "scores", "queries", "keys"))
    n, m = A.shape[1:]
    match says:
        case "symmetric":
            return n == m and all(abs(S[head, i, j] - S[head, j, i]) <= NEAR for i in range(n) for j in range(m))
        case "rows_sum_to_one":
            return all(abs(sum(row) - 1) <= NEAR for row in A[head])
        case "columns_sum_to_one":
            return all(abs(sum(A[head, :, j]) - 1) <= NEAR for j in range(m))
        case "mostly_one_key":
            return sum(max(row) for row in A.reshape(-1, m)) / (len(A) * n) > 0.5
        case "padding_is_not_read":
            words = [i for i, token in enumerate(trace.query_tokens) if token != PAD]
            return not any(A[h, i, j] for h in range(len(A)) for i in words for j in range(m) if j not in words)
        case "heads_add_up":
            Z, W = trace["heads"].array, trace["w_o"].array
            blocks = [W[h * Z.shape[2] : (h + 1) * Z.shape[2]] for h in range(len(Z))]
            return np.allclose(sum(z @ w for z, w in zip(Z, blocks)), trace["output"].array, rtol=0, atol=NEAR)
        case "groups_agree":
            size = len(A) // len(K)
            return all(np.allclose(A[h], A[h - h % size], rtol=0, atol=NEAR) for h in range(len(A)))
        case "product_has_full_rank":
            return trace.config.d_k >= trace.config.d_model
        case "scores_within_v":
            return bool(np.abs(S).max() <= np.abs(trace["score_v"].array).sum(axis=-1).max() + NEAR)
        case "scores_follow_distance":
            tokens, seen = trace.query_tokens, dict[Any, float]()
            cells = itertools.product(range(len(S)), range(n), range(m))
            return all(
                abs(seen.setdefault((h, tokens[i], tokens[j], i - j), S[h, i, j]) - S[h, i, j]) <= NEAR
                for h, i, j in cells
            )
        case "values_within_limit":
            W = trace["w_v"].array
            return bool(np.abs(W).max() <= (6 / (W.shape[1] + W.shape[2])) ** 0.5)
        case "scores_of_queries":
            return np.allclose(np.einsum("hid,hjd->hij", Q, K), S, rtol=0, atol=NEAR)
        case "same":
            other = run(replace(trace.config, **question.at["change"]))
            return np.array_equal(trace[question.at["step"]].array, other[question.at["step"]].array)
    pytest.fail(f"{says} is not known here")


@pytest.mark.slow(seconds=12)
@for_each("lesson, slide", QUESTIONS)
def test_the_answer_is_right_with_every_seed(lesson: Lesson, slide: Slide) -> None:
    question = slide.question
    assert question is not None
    if question.kind in next_word_questions.QUESTIONS:
        return  # no seed changes a trained model: tests/classroom/test_next_word_questions.py
    config = lesson.on(slide)
    for seed in FEW if config.d_model > 128 or config.initialiser == "learned" else SEEDS:
        trace, own = computed(lesson.on(slide, seed)), computed(replace(lesson.config, seed=seed))
        found = resolve(question, trace, own)
        if question.kind == "true_or_false":
            assert found.right == {0 if holds(question, trace) else 1}, seed
        elif question.kind == "number":
            assert found.value == pytest.approx(entry_at(question, trace), abs=1e-12), seed
        else:
            judge(found, question, looked_up(question, trace, own))


def entry_at(question: Question, trace: Trace) -> float:
    """A number of a step, found by the names of its axes."""
    at, step = question.at, trace[question.at["step"]]
    index = [at.get(axis, at.get("head", 1) if "head" in axis else at.get("column")) - 1 for axis in step.axes]
    return float(step.array[tuple(index)])


def judge(found: Any, question: Question, expected: Any) -> None:
    """An answer against what was looked up: a shape in words, rows, a position or a number."""
    assert expected is not None
    if isinstance(expected, str):
        assert [plain(found.options[index]) for index in found.right] == [expected]
    elif isinstance(expected, set):
        assert found.right == expected or ("head" in question.at and found.right <= expected)
    elif question.kind == "highest_key":
        assert expected in found.right
    else:
        assert found.value == pytest.approx(expected, abs=1e-9)
