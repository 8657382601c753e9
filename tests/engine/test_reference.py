"""The independent opinion is itself held to numbers worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests import reference
from tests.support.cases import for_each

Q = [[1.0, 0.0], [0.0, 2.0]]
K = [[1.0, 1.0], [2.0, 0.0], [0.0, -1.0]]
V = [[1.0, 10.0], [3.0, 30.0], [5.0, 50.0]]
T = [math.tanh(x) for x in range(4)]


@for_each(
    "score, params, expected",
    [
        ("scaled_dot", {}, [[1, 2, 0], [2, 0, -2]]),
        ("dot", {}, [[1, 2, 0], [2, 0, -2]]),
        ("general", {"W": [[0.0, 1.0], [3.0, 0.0]]}, [[1, 0, -1], [6, 12, 0]]),
        ("additive", {}, [[T[2] + T[1], T[3], 0], [T[1] + T[3], T[2] + T[2], T[1]]]),
        ("cosine", {}, [[math.sqrt(0.5), 1, 0], [math.sqrt(0.5), 0, -1]]),
        ("gaussian", {}, [[-0.5, -0.5, -1], [-1, -4, -4.5]]),
        ("negative_distance", {}, [[-1, -1, -math.sqrt(2)], [-math.sqrt(2), -math.sqrt(8), -3]]),
        ("location", {"W": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]}, [[1, 2, 3], [8, 10, 12]]),
    ],
)
def test_scores_by_hand(score, params, expected):
    np.testing.assert_allclose(reference.attend(Q, K, V, score=score, params=params).scores, expected, rtol=1e-15)


@for_each(
    "normaliser, row, expected",
    [
        ("softmax", [0.0, math.log(3)], [0.25, 0.75]),
        ("softmax", [1000.0, 1000.0], [0.5, 0.5]),
        ("sparsemax", [0.0, 0.5], [0.25, 0.75]),  # t = -1/4
        ("sparsemax", [0.0, 3.0, 3.5], [0.0, 0.25, 0.75]),  # t = 11/4
        ("entmax15", [1.0, 1.0], [0.5, 0.5]),
        ("entmax15", [1.2, 1.6], [0.36, 0.64]),  # t = 0
        ("entmax15", [-5.0, 1.2, 1.6], [0.0, 0.36, 0.64]),
        ("sigmoid", [0.0, math.log(3), -math.log(3)], [0.5, 0.75, 0.25]),
        ("hardmax", [1.0, 3.0, 3.0, 0.0], [0.0, 0.5, 0.5, 0.0]),
        ("quiet_softmax", [0.0, math.log(2)], [0.25, 0.5]),
        ("linear", [1.0, -5.0, 3.0], [0.25, 0.0, 0.75]),
        ("linear", [-1.0, 0.0], [0.0, 0.0]),
    ],
)
def test_normalisers_by_hand(normaliser, row, expected):
    np.testing.assert_allclose(reference.NORMALISERS[normaliser](row), expected, atol=1e-15)


def test_attention_by_hand():
    bias = [[1, 0, 0], [0, 0, 0]]
    steps = reference.attend(Q, K, V, score="dot", scale=2, bias=bias, causal=True, normaliser="linear")
    assert steps.scores == [[1, 2, 0], [2, 0, -2]]
    assert steps.scaled == steps.capped == [[2, 4, 0], [4, 0, -4]]
    assert steps.masked == [[3, -math.inf, -math.inf], [4, 0, -math.inf]]
    assert steps.weights == [[1, 0, 0], [1, 0, 0]]
    assert steps.output == [[1, 10], [1, 10]]


def test_cap_and_temperature_by_hand():
    steps = reference.attend(Q, K, V, score="dot", softcap=2, normaliser="sigmoid", temperature=2)
    assert steps.capped[0] == [2 * math.tanh(0.5), 2 * math.tanh(1), 0]
    assert steps.weights[0][2] == 0.5
    assert steps.weights[0][1] == pytest.approx(1 / (1 + math.exp(-math.tanh(1))), rel=1e-15)


def test_nothing_forbidden_enters_a_sum():
    steps = reference.attend(Q, K, [[math.nan], [3.0], [math.inf]], score="dot", allowed=[[False, True, False]] * 2)
    assert steps.output == [[3.0], [3.0]]
    assert reference.attend(Q, K, V, allowed=[[False] * 3] * 2).output == [[0, 0], [0, 0]]


def test_heads_are_cut_and_stacked_in_order():
    q = np.arange(2 * 4 * 1 * 2, dtype=float).reshape(2, 4, 1, 2)
    k, v = np.ones((2, 3, 2)), np.arange(6, dtype=float).reshape(2, 3, 1)
    scale = np.array([1.0, 2.0, 3.0, 0.0])
    steps = reference.attend_heads(q, k, v, score="dot", scale=scale, causal=True)
    assert steps.scores.shape == (2, 4, 1, 3)
    assert steps.output.shape == (2, 4, 1, 1)
    assert steps.scores[1, 2, 0, 0] == 12 + 13
    assert steps.scaled[1, 2, 0, 0] == 75
    assert steps.scaled[1, 3, 0, 0] == 0
    assert steps.output[..., 0, 0].tolist() == [[0, 0, 3, 3], [0, 0, 3, 3]]  # heads 0, 1 read group 0; 2, 3 group 1


def test_project_and_concat_by_hand():
    assert reference.project([[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]], [0.5, -1.0]) == [[13.5, 15.0]]
    assert reference.concat([[[1.0], [2.0]], [[3.0, 4.0], [5.0, 6.0]]]) == [[1, 3, 4], [2, 5, 6]]
