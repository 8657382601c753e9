"""Each fault of the lesson against the same fault made in plain NumPy, and the right run beside it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from attnviz import Config, ConfigError, Trace, run
from attnviz.classroom.context.hints import HINTS, HOW
from attnviz.classroom.question_kinds import resolve
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.faults import FAULTS, with_fault
from attnviz.lessons.predicates import PREDICATES
from attnviz.lessons.read_lesson import read_lesson
from tests.support.cases import for_each

LESSON = LESSONS["find_the_bug"]
SEEDS = range(20)


def faulty(fault: str, seed: int = 0) -> tuple[Trace, Trace]:
    """The run of the slide with this fault and the same without it."""
    slide = next(slide for slide in LESSON.slides if slide.fault == fault)
    right = replace(LESSON.config, **slide.change, seed=seed)
    return run(LESSON.on(slide, seed)), run(right)


def softmax(S: np.ndarray, axis: int = -1) -> np.ndarray:
    E = np.exp(S - S.max(axis=axis, keepdims=True))
    return E / E.sum(axis=axis, keepdims=True)


def test_every_fault_is_in_the_lesson_and_leaves_the_shapes() -> None:
    assert {slide.fault for slide in LESSON.slides} - {""} == set(FAULTS)
    for fault in FAULTS:
        wrong, right = faulty(fault)
        assert {name: step.shape for name, step in wrong.layers[0].items()} == {
            name: step.shape for name, step in right.layers[0].items()
        }
        assert wrong.notes == ()


@for_each("seed", SEEDS)
def test_heads_that_are_reshaped_as_they_lie_mix_words_and_leak(seed: int) -> None:
    wrong, right = faulty("joined", seed)
    Z = right["heads"].array
    np.testing.assert_array_equal(wrong["concat"].array, Z.reshape(3, 4))
    np.testing.assert_allclose(wrong["concat"].array[0], [*Z[0, 0], *Z[0, 1]], rtol=0, atol=0)
    np.testing.assert_array_equal(Z.swapaxes(0, 1).reshape(3, 4), right["concat"].array)
    question = LESSON.slides[1].question
    assert question is not None
    assert resolve(question, wrong).value == Z[0, 1, 0]


def test_the_number_that_the_slide_prints_is_right_and_a_wrong_one_is_told_how_the_program_counts() -> None:
    slide = LESSON.slides[1]
    assert slide.question is not None
    found = resolve(slide.question, run(LESSON.on(slide)))
    right_way = run(LESSON.config)["heads"].array[1, 0, 0]
    assert found.is_right(round(found.value, 2))
    assert found.feedback(right_way).endswith(HINTS["side_by_side"])
    assert found.feedback(7.0).endswith(HOW["reshaped"])
    joined = resolve(slide.question, run(LESSON.config))
    assert (joined.value, joined.how) == (right_way, "concat")
    assert joined.feedback(found.value).endswith(HINTS["as_they_lie"])


def test_the_first_word_hears_of_the_second_only_where_heads_are_joined_wrongly() -> None:
    other = {"sentence": "the dog sat"}
    wrong = [run(with_fault(replace(LESSON.config, **change), "joined"))["concat"].array[0] for change in ({}, other)]
    right = [run(replace(LESSON.config, **change))["concat"].array[0] for change in ({}, other)]
    assert np.abs(wrong[0] - wrong[1]).max() > 0.01
    np.testing.assert_array_equal(*right)


@for_each("seed", SEEDS)
def test_a_mask_of_ones_and_zeros_that_is_added_hides_nothing(seed: int) -> None:
    wrong, right = faulty("mask_added", seed)
    expected = softmax(right["scaled"].array + np.tri(3))
    np.testing.assert_allclose(wrong["weights"].array, expected, atol=1e-12)
    np.testing.assert_allclose(wrong["weights"].array.sum(axis=-1), 1)
    assert (wrong["weights"].array > 0).all()
    assert not right["weights"].array[0, 0, 1:].any()


@for_each("seed", SEEDS)
def test_one_limit_for_all_matrices_is_too_wide_for_the_values(seed: int) -> None:
    wrong, right = faulty("one_limit", seed)
    np.testing.assert_allclose(wrong["w_v"].array, np.sqrt(2) * right["w_v"].array)
    np.testing.assert_allclose(wrong["values"].array, np.sqrt(2) * right["values"].array)
    assert np.abs(right["w_v"].array).max() <= np.sqrt(6 / 12) < np.abs(wrong["w_v"].array).max() <= 1
    says = PREDICATES["values_within_limit"]
    assert (says(wrong), says(right)) == (False, True)
    assert f"{np.sqrt(6 / 12):.4f}" == "0.7071"


@for_each("seed", SEEDS)
def test_stale_scores_are_those_of_other_queries(seed: int) -> None:
    wrong, right = faulty("stale", seed)
    np.testing.assert_array_equal(wrong["queries"].array, right["queries"].array)
    np.testing.assert_array_equal(wrong["scores"].array, run(replace(right.config, seed=seed + 1))["scores"].array)
    says = PREDICATES["scores_of_queries"]
    assert (says(wrong), says(right)) == (False, True)
    grouped = run(Config(n_heads=4, n_kv_heads=2, sentence="a b c"))
    assert says(grouped)


def test_the_slip_is_seen_in_one_sum() -> None:
    wrong, right = faulty("digit")
    assert (np.abs(wrong["weights"].array - right["weights"].array) > 1e-9).sum() == 1
    assert wrong["weights"].array[0].sum(axis=1) == pytest.approx([1, 1.1, 1])


def test_over_the_wrong_axis_the_row_that_is_asked_for_is_far_from_one() -> None:
    slide = LESSON.slides[4]
    assert slide.question is not None
    trace = run(LESSON.on(slide))
    A = softmax(trace["scaled"].array, axis=1)
    np.testing.assert_allclose(trace["weights"].array, A)
    at = slide.question.at
    found = resolve(slide.question, trace)
    assert found.value == pytest.approx(A[at["head"] - 1, at["query"] - 1].sum())
    assert not found.is_right(1.0)


def test_a_fault_that_there_is_not_is_refused_with_its_position() -> None:
    head = 'title = "a"\nabout = "b"\nsource = "c"\nminutes = 1\ngoal = "e"\nknown = "f"\n'
    text = head + '[setting]\nsentence = "a b"\n[[slides]]\ntext = "d"\nfault = "typo"\n'
    with pytest.raises(ConfigError, match="fault of slide 1 of the lesson x is 'typo'; there are joined, mask_added"):
        read_lesson("x", text)
