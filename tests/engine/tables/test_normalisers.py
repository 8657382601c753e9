"""What each normaliser is, seen through `attend` and against solvers of another kind."""

from __future__ import annotations

import math

import numpy as np
import pytest

from attnviz import NORMALISERS, attend
from tests import reference
from tests.support.cases import for_each

ROWS = np.random.default_rng(7).normal(size=(40, 9)) * np.geomspace(0.05, 30, 40)[:, None]
SHARES = ["softmax", "sparsemax", "entmax15", "hardmax", "linear", "formula"]


def weigh(rows, normaliser: str, **options) -> np.ndarray:
    """The weights that `attend` gives to rows of scores: each row queries keys that are the unit vectors."""
    rows = np.atleast_2d(np.asarray(rows, dtype=float))
    unit = np.eye(rows.shape[1])
    return attend(rows, unit, unit, score="dot", normaliser=normaliser, **options).weights


@for_each("normaliser", NORMALISERS)
def test_against_the_opinion(normaliser):
    expected = [reference.NORMALISERS[normaliser](row) for row in ROWS.tolist()]
    np.testing.assert_allclose(weigh(ROWS, normaliser), expected, rtol=1e-12, atol=1e-14)


@for_each("normaliser", SHARES)
def test_rows_of_shares_sum_to_one(normaliser):
    rows = np.abs(ROWS) if normaliser == "linear" else ROWS
    weights = weigh(rows, normaliser)
    np.testing.assert_allclose(weights.sum(-1), 1, rtol=0, atol=1e-14)
    assert (weights >= 0).all()


@pytest.mark.parametrize("normaliser", ["sigmoid", "quiet_softmax"])
def test_the_others_do_not(normaliser):
    assert (abs(weigh(ROWS, normaliser).sum(-1) - 1) > 1e-6).any()


@for_each("normaliser", NORMALISERS)
def test_larger_scores_never_weigh_less(normaliser):
    order = np.argsort(ROWS, axis=-1)
    assert (np.diff(np.take_along_axis(weigh(ROWS, normaliser), order, -1)) >= 0).all()


@for_each("normaliser", ["softmax", "sparsemax", "entmax15", "hardmax"])
def test_a_shift_of_all_scores_changes_nothing(normaliser):
    np.testing.assert_allclose(weigh(ROWS + 5, normaliser), weigh(ROWS, normaliser), rtol=1e-12, atol=1e-13)


@for_each("normaliser", NORMALISERS)
def test_permuting_scores_permutes_weights(normaliser):
    order = [4, 0, 8, 2, 6, 1, 7, 3, 5]
    expected = weigh(ROWS, normaliser)[:, order]
    np.testing.assert_allclose(weigh(ROWS[:, order], normaliser), expected, rtol=1e-12, atol=1e-14)


def projection_on_the_simplex(z: np.ndarray) -> np.ndarray:
    """The nearest point of the simplex, by trying every support and keeping the best: sparsemax by its definition."""
    best, nearest = math.inf, z
    for size in range(1, len(z) + 1):
        support = np.argsort(-z)[:size]
        p = np.zeros(len(z))
        p[support] = z[support] + (1 - z[support].sum()) / size
        if (p >= 0).all() and (gap := ((p - z) ** 2).sum()) < best:
            best, nearest = gap, p
    return nearest


def test_sparsemax_is_the_nearest_point_of_the_simplex():
    expected = [projection_on_the_simplex(row) for row in ROWS]
    np.testing.assert_allclose(weigh(ROWS, "sparsemax"), expected, atol=1e-13)


def test_entmax_maximises_what_defines_it():
    """p z + H(p) with the Tsallis entropy H = (1 - sum p^1.5) / 0.75 falls in every direction on the simplex."""

    def worth(p: np.ndarray, z: np.ndarray) -> np.ndarray:
        return (p * z).sum(-1) + (1 - (p**1.5).sum(-1)) / 0.75

    weights = weigh(ROWS, "entmax15")
    others = np.random.default_rng(3).dirichlet(np.ones(9), size=200)
    for step in (1e-3, 0.1, 1.0):
        moved = weights[:, None] + step * (others[None] - weights[:, None])
        assert (worth(weights, ROWS)[:, None] >= worth(moved, ROWS[:, None]) - 1e-12).all()


@pytest.mark.parametrize("normaliser", ["sparsemax", "entmax15"])
def test_sparse_ones_really_reach_zero_and_one(normaliser):
    weights = weigh([[0, 0, 10], [5, 5, 0], [0.1, 0, 0.05]], normaliser)
    assert weights[0].tolist() == [0, 0, 1]
    np.testing.assert_allclose(weights[1], [0.5, 0.5, 0], atol=1e-15)
    assert (weights[2] > 0).all()


def test_sparsemax_by_hand():
    weights = weigh([[0, 3, 3.5], [1, 1.5, -9]], "sparsemax")
    np.testing.assert_allclose(weights, [[0, 0.25, 0.75], [0.25, 0.75, 0]], atol=1e-15)


def test_entmax_by_hand():
    weights = weigh([[1.2, 1.6, -5], [4, 4, 4]], "entmax15")
    np.testing.assert_allclose(weights, [[0.36, 0.64, 0], [1 / 3] * 3], atol=1e-15)


def test_hardmax_splits_ties_equally():
    rows = [[1, 3, 3, 0], [2, 2, 2, 2], [0, -1, -2, -3], [-4, -4, -9, -4]]
    third = 1 / 3
    expected = [[0, 0.5, 0.5, 0], [0.25] * 4, [1, 0, 0, 0], [third, third, 0, third]]
    np.testing.assert_array_equal(weigh(rows, "hardmax"), expected)


def test_hardmax_splits_among_what_is_allowed():
    weights = weigh([[5, 3, 3, 0]], "hardmax", allowed=np.array([False, True, True, True]))
    np.testing.assert_array_equal(weights, [[0, 0.5, 0.5, 0]])


def test_quiet_softmax_is_softmax_beside_a_silent_key():
    with_silence = weigh(np.hstack([ROWS, np.zeros((40, 1))]), "softmax")
    np.testing.assert_allclose(weigh(ROWS, "quiet_softmax"), with_silence[:, :-1], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(weigh([[0, math.log(2)]], "quiet_softmax"), [[0.25, 0.5]], rtol=1e-15)


def test_quiet_softmax_fades_to_nothing():
    np.testing.assert_allclose(weigh([[-1000, -1001], [1000, 1000]], "quiet_softmax"), [[0, 0], [0.5, 0.5]], atol=1e-15)


def test_sigmoid_looks_at_one_score_alone():
    weights = weigh([[0, math.log(3), -math.log(3), 1000, -1000]], "sigmoid")
    np.testing.assert_allclose(weights, [[0.5, 0.75, 0.25, 1, 0]], rtol=1e-15, atol=1e-300)


def test_linear_shares_what_is_above_zero():
    np.testing.assert_array_equal(weigh([[1, -5, 3], [0.25, 0.75, -1]], "linear"), [[0.25, 0, 0.75], [0.25, 0.75, 0]])


def test_linear_shares_scores_whose_sum_would_overflow():
    rows = np.array([[1.7e308, 1.7e308, 0.0], [1.7e308, 0.85e308, 0.85e308]])
    np.testing.assert_array_equal(NORMALISERS["linear"].fn(rows, 1.0), [[0.5, 0.5, 0.0], [0.5, 0.25, 0.25]])


def test_linear_with_nothing_above_zero_is_a_row_of_zeros():
    steps = attend([[-1.0], [0.0], [2.0]], [[1.0], [2.0]], [[3.0], [4.0]], score="dot", normaliser="linear")
    np.testing.assert_allclose(steps.weights, [[0, 0], [0, 0], [1 / 3, 2 / 3]], rtol=1e-15)
    np.testing.assert_allclose(steps.output, [[0], [0], [11 / 3]], rtol=1e-15)


@for_each("normaliser", NORMALISERS)
@for_each("temperature", [0.1, 1.0, 3.0])
def test_a_temperature_divides_the_scores(normaliser, temperature):
    np.testing.assert_allclose(
        weigh(ROWS, normaliser, temperature=temperature), weigh(ROWS / temperature, normaliser), rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize("normaliser", ["hardmax", "linear"])
def test_two_normalisers_do_not_feel_the_temperature(normaliser):
    np.testing.assert_allclose(weigh(ROWS, normaliser, temperature=7.0), weigh(ROWS, normaliser), rtol=1e-14)


@for_each("normaliser", ["softmax", "sparsemax", "entmax15"])
def test_cold_is_hardmax_and_hot_is_uniform(normaliser):
    tied = np.array([[1.0, 3.0, 3.0, 0.0]])
    np.testing.assert_allclose(weigh(tied, normaliser, temperature=1e-3), [[0, 0.5, 0.5, 0]], atol=1e-15)
    np.testing.assert_allclose(weigh(tied, normaliser, temperature=1e9), [[0.25] * 4], atol=1e-8)


@for_each("normaliser", NORMALISERS)
def test_forbidden_cells_are_exactly_zero_and_the_rest_is_as_if_they_were_not_there(normaliser):
    keep = np.array([True, False, True, True, False, True, True, False, True])
    masked = weigh(ROWS, normaliser, allowed=keep)
    assert (masked[:, ~keep] == 0).all()
    np.testing.assert_allclose(masked[:, keep], weigh(ROWS[:, keep], normaliser), rtol=1e-12, atol=1e-14)
