"""The pitfalls of attention in floating point, one named test each; every warning is an error here."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attnviz import MASKS, NORMALISERS, SCORES, Config, ConfigError, attend, run
from tests.support.cases import for_each

pytestmark = pytest.mark.filterwarnings("error")
UNBOUNDED = ["relu_over_n", "squared_relu_over_n"]
BOUNDED = [name for name in NORMALISERS if name not in UNBOUNDED]
SUMS_TO_ONE = ["softmax", "sparsemax", "entmax15", "hardmax"]


@pytest.fixture(autouse=True)
def every_flag_raises():
    with np.errstate(all="raise"):
        yield


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    """Normal draws that are the same in every run."""
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def on_scores(row, normaliser: str = "softmax", **options):
    """Attention of one query whose scores are exactly `row`, over values that number the keys."""
    row = np.asarray([row], dtype=float)
    eye = np.eye(row.shape[1])
    return attend(row, eye, np.arange(1.0, row.shape[1] + 1)[:, None], score="dot", normaliser=normaliser, **options)


def of_bias(row, normaliser: str = "softmax", **options):
    """Attention of one query whose scores are all zero and whose bias is `row`."""
    n = len(row)
    return attend(np.zeros((1, 2)), np.zeros((n, 2)), np.eye(n), bias=np.array([row]), normaliser=normaliser, **options)


# Large scores --------------------------------------------------------------------------------------------------------


def test_exp_of_large_scores_does_not_overflow():
    np.testing.assert_array_equal(on_scores([1000, 1000]).weights, [[0.5, 0.5]])
    np.testing.assert_array_equal(on_scores([-1000, -1000]).weights, [[0.5, 0.5]])
    np.testing.assert_array_equal(on_scores([1e308, -1e308]).weights, [[1, 0]])


@for_each("shift", [1.0, -1e3, 1e6, -1e6])
def test_a_constant_added_to_all_scores_changes_no_weight(shift):
    row = numbers(9)
    np.testing.assert_allclose(on_scores(row + shift).weights, on_scores(row).weights, rtol=0, atol=1e-9)


@for_each("normaliser", BOUNDED)
def test_scores_of_any_size_give_finite_weights(normaliser):
    huge, tiny = [[1e300, -1e300, 0], [-1e300, -1e300, -1e300]], [1e-300, 0, -1e-300]
    for row in (*huge, tiny, [700, 710, 720], [-700, -710, -720]):
        steps = on_scores(row, normaliser)
        assert np.isfinite(steps.weights).all()
        assert np.isfinite(steps.output).all()
        assert (steps.weights >= 0).all()
        assert (steps.weights <= 1).all(), "a normaliser whose weights may be above 1 stands in UNBOUNDED"


def test_two_huge_scores_that_are_one_number_tie():
    assert 1e17 + 1 == 1e17
    np.testing.assert_array_equal(on_scores([1e17, 1e17 + 1]).weights, [[0.5, 0.5]])
    np.testing.assert_array_equal(on_scores([1e17, 1e17 + 1], "hardmax").weights, [[0.5, 0.5]])


def test_additive_scores_saturate_and_do_not_overflow():
    q, k = np.full((1, 3), 1e300), np.array([[1e300] * 3, [-5e299] * 3, [-1e300] * 3])
    assert attend(q, k, np.ones((3, 1)), score="additive", scale=2.0).scaled.tolist() == [[6, 6, 0]]


@for_each("far", [0.0, 100.0, 149.0, 151.0, 353.0, 357.0, 1e5])
def test_additive_scores_keep_small_sums_of_large_numbers(far):
    """tanh(x + y) where x and y nearly cancel, however it is computed."""
    offsets = [-3.0, -0.25, 0.0, 2.0**-20, 0.5, 20.0]
    q, k = np.array([[far, 0.5], [-far, 1.0]]), np.array([[-far + o, o] for o in offsets])
    expected = [[math.tanh(x + a) + math.tanh(y + b) for a, b in k.tolist()] for x, y in q.tolist()]
    np.testing.assert_allclose(attend(q, k, k, score="additive").scores, expected, rtol=0, atol=1e-15)


# Rows with nothing allowed -------------------------------------------------------------------------------------------


@for_each("normaliser", NORMALISERS)
def test_a_fully_masked_row_is_zero_and_not_nan_nor_the_mean(normaliser):
    steps = attend(numbers(3, 4), numbers(5, 4), numbers(5, 2), allowed=np.zeros((3, 5), bool), normaliser=normaliser)
    assert (steps.masked == -np.inf).all()
    assert not steps.weights.any()
    assert not steps.output.any()


@for_each("normaliser", NORMALISERS)
def test_minus_infinity_minus_minus_infinity_is_never_formed(normaliser):
    steps = of_bias([-np.inf] * 4, normaliser)
    assert not steps.weights.any()
    assert not steps.output.any()


EMPTYING = {
    "no_self": {"sentence": "alone", "mask": "no_self"},
    "custom": {"sentence": "one two three", "mask": "custom", "custom_cells": ((0, 1), (2, 2))},
    "no_self and causal": {"sentence": "one two three", "mask": ("no_self", "causal")},
    "window": {"sentence": "one two three four five six", "second_sentence": "uno", "mask": "window", "reach": 1},
    "block": {"sentence": "one two three four", "second_sentence": "uno", "mask": "block", "block_size": 2},
}


@for_each("normaliser", ["softmax", "sparsemax", "linear"])
@for_each("settings", EMPTYING.values())
def test_each_mask_that_can_empty_a_row_is_reported(settings, normaliser):
    trace = run(Config(**settings, normaliser=normaliser))
    layer = trace.layers[0]
    emptied = (layer["masked"].array == -np.inf).all(-1)
    assert emptied.any()
    assert not layer["weights"].array[emptied].any()
    assert not layer["heads"].array[emptied].any()
    assert all(np.isfinite(layer[name].array).all() for name in ("scores", "weights", "heads", "concat", "output"))
    assert trace.notes, "a row that may read nothing is said"


@for_each("mask", MASKS)
def test_every_mask_leaves_finite_numbers(mask):
    for sentence, second in (("one", ""), ("one two three four five", ""), ("one two three", "uno dos tres cuatro")):
        layer = run(Config(sentence=sentence, second_sentence=second, mask=mask, pad_to=7)).layers[0]
        assert np.isfinite(layer["weights"].array).all()
        assert np.isfinite(layer["output"].array).all()
        sums = layer["weights"].array.sum(-1)
        assert (np.isclose(sums, 1, rtol=0, atol=1e-14) | (sums == 0)).all()


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
@pytest.mark.parametrize("normaliser", NORMALISERS)
def test_any_mask_over_finite_scores_gives_finite_output(normaliser, data):
    allowed = data.draw(arrays(bool, (3, 4)))
    scores = data.draw(arrays(float, (3, 4), elements=st.floats(-1e6, 1e6, allow_subnormal=False)))
    steps = attend(scores, np.eye(4), numbers(4, 2), score="dot", allowed=allowed, normaliser=normaliser)
    assert np.isfinite(steps.weights).all()
    assert np.isfinite(steps.output).all()
    assert not steps.weights[~allowed].any()
    sums = steps.weights.sum(-1)
    if normaliser in SUMS_TO_ONE:
        np.testing.assert_allclose(sums, allowed.any(-1).astype(float), rtol=0, atol=1e-9)


# Masks made of large numbers -----------------------------------------------------------------------------------------


def test_a_large_negative_number_is_not_a_mask():
    """Where all keys get -1e9 the true order shows through; forbidden keys are -inf here, and give nothing."""
    row, allowed = np.array([0.0, 1, 2, 3]), np.zeros((1, 4), bool)
    leaked = on_scores(row, bias=np.full((1, 4), -1e9))
    np.testing.assert_allclose(leaked.weights, [[0.0321, 0.0871, 0.2369, 0.6439]], atol=5e-5)
    masked = on_scores(row, allowed=allowed)
    assert (masked.masked == -np.inf).all()
    assert not masked.weights.any()


def test_a_large_negative_bias_beside_ordinary_ones_weighs_nothing():
    steps = on_scores([0.0, 1.0, 2.0], bias=np.array([[0.0, -1e9, np.finfo(float).min]]))
    np.testing.assert_array_equal(steps.weights, [[1, 0, 0]])
    assert np.isfinite(steps.masked).all(), "tiny is not the same as forbidden"


# Numbers that are none -----------------------------------------------------------------------------------------------


@for_each("normaliser", NORMALISERS)
@for_each("bad", [np.nan, np.inf, -np.inf])
def test_a_masked_value_that_is_no_number_does_not_leak(bad, normaliser):
    """0 * NaN is NaN: a weight of zero is not enough."""
    q, k, v = numbers(3, 4), numbers(5, 4), numbers(5, 2)
    spoilt = v.copy()
    spoilt[2] = bad
    allowed = np.arange(5) != 2
    clean, dirty = (attend(q, k, x, allowed=allowed, normaliser=normaliser) for x in (v, spoilt))
    np.testing.assert_array_equal(dirty.output, clean.output)
    by_bias = attend(q, k, spoilt, bias=np.where(allowed, 0.0, -np.inf), normaliser=normaliser)
    np.testing.assert_array_equal(by_bias.output, clean.output)


@for_each("normaliser", NORMALISERS)
def test_a_masked_key_that_is_nan_does_not_leak(normaliser):
    q, k, v = numbers(3, 4), numbers(5, 4), numbers(5, 2)
    spoilt = k.copy()
    spoilt[2] = np.nan
    allowed = np.arange(5) != 2
    clean, dirty = (attend(q, x, v, allowed=allowed, normaliser=normaliser) for x in (k, spoilt))
    np.testing.assert_array_equal(dirty.weights, clean.weights)
    np.testing.assert_array_equal(dirty.output, clean.output)


@for_each("normaliser", NORMALISERS)
def test_what_is_forbidden_is_zero_even_in_a_row_that_is_nan(normaliser):
    k = numbers(5, 4)
    k[2] = np.nan
    weights = attend(numbers(3, 4), k, numbers(5, 2), allowed=np.arange(5) < 3, normaliser=normaliser).weights
    assert not weights[:, 3:].any()


def test_a_value_that_is_nan_spoils_only_who_may_read_it():
    q, k, v = numbers(4, 4), numbers(4, 4), numbers(4, 2)
    v[2, 0] = np.nan
    output = attend(q, k, v, causal=True).output
    np.testing.assert_array_equal(np.isnan(output), [[False, False], [False, False], [True, False], [True, False]])


@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_a_bias_that_would_make_nan_is_refused(bad):
    with pytest.raises(ValueError):
        of_bias([bad, 0.0])


# Temperature, scale, cap ---------------------------------------------------------------------------------------------


@for_each("normaliser", BOUNDED)
@for_each("temperature", [1e-320, 1e-6, 0.01])
def test_the_smallest_temperatures_stay_finite(temperature, normaliser):
    steps = on_scores([1.0, 3.0, 3.0, -2.0], normaliser, temperature=temperature)
    assert np.isfinite(steps.weights).all()
    assert np.isfinite(steps.output).all()


@for_each("normaliser", SUMS_TO_ONE)
@for_each("temperature", [1e-320, 1e-6, 0.001])
def test_towards_zero_the_largest_takes_all_and_ties_share(temperature, normaliser):
    steps = on_scores([1.0, 3.0, 3.0, -2.0], normaliser, temperature=temperature)
    np.testing.assert_allclose(steps.weights, [[0, 0.5, 0.5, 0]], rtol=0, atol=1e-15)


@for_each("normaliser", ["softmax", "sparsemax", "entmax15"])
def test_towards_infinity_all_that_is_allowed_weighs_the_same(normaliser):
    steps = on_scores([1.0, 3.0, -7.0, 2.0], normaliser, temperature=1e300, allowed=[[True, True, True, False]])
    np.testing.assert_allclose(steps.weights, [[1 / 3, 1 / 3, 1 / 3, 0]], rtol=1e-15)


def test_a_temperature_of_zero_is_refused():
    with pytest.raises(ValueError):
        on_scores([1.0, 2.0], temperature=0)
    with pytest.raises(ConfigError):
        Config(temperature=0)


def test_a_scale_of_zero_is_uniform_and_a_negative_one_turns_the_order_round():
    row = [1.0, 3.0, 2.0]
    np.testing.assert_allclose(on_scores(row, scale=0).weights, [[1 / 3] * 3], rtol=1e-15)
    np.testing.assert_allclose(on_scores(row, scale=-1).weights, on_scores(np.negative(row)).weights, rtol=1e-15)


def test_a_cap_of_zero_is_off_and_a_tiny_one_is_nearly_uniform():
    row = [1.0, 300.0, -2.0]
    np.testing.assert_array_equal(on_scores(row, softcap=0).capped, [row])
    for cap in (1e-3, 1e-100):
        steps = on_scores(row, softcap=cap)
        assert (abs(steps.capped) <= cap).all()
        np.testing.assert_allclose(steps.weights, [[1 / 3] * 3], rtol=3e-3)


# Sizes ---------------------------------------------------------------------------------------------------------------


@for_each("normaliser", SUMS_TO_ONE)
@for_each("score", SCORES)
def test_one_token_of_one_dimension_takes_all(score, normaliser):
    params = {"W": np.ones((1, 1))} if score == "location" else None
    steps = attend([[2.0]], [[3.0]], [[5.0]], score=score, params=params, normaliser=normaliser)
    assert steps.weights.tolist() == [[1.0]]
    assert steps.output.tolist() == [[5.0]]


@for_each("score", SCORES)
def test_one_token_of_one_dimension_runs(score):
    trace = run(Config(sentence="so", d_model=1, n_heads=1, d_k=1, d_v=1, score=score))
    assert trace.layers[0]["weights"].array.tolist() == [[[1.0]]]
    assert trace["output"].array.shape == (1, 1)


@for_each("normaliser", NORMALISERS)
def test_nothing_to_read_and_nobody_to_read_it(normaliser):
    """Without keys every row has nothing allowed; without queries there are no rows."""
    no_keys = attend(numbers(3, 4), numbers(0, 4), numbers(0, 2), normaliser=normaliser)
    assert no_keys.weights.shape == (3, 0)
    assert no_keys.output.tolist() == [[0, 0]] * 3
    no_queries = attend(numbers(0, 4), numbers(5, 4), numbers(5, 2), normaliser=normaliser)
    assert no_queries.weights.shape == (0, 5)
    assert no_queries.output.shape == (0, 2)


@for_each("sentence", ["", "   ", "\n\t"])
def test_a_sentence_without_tokens_is_refused_in_words(sentence):
    with pytest.raises(ConfigError, match="sentence"):
        run(Config(sentence=sentence))


def test_heads_need_not_divide_the_model():
    for d_model in (1, 2, 5, 7, 16):
        for n_heads in (1, 2, 3, 5, 16):
            trace = run(Config(sentence="one two", d_model=d_model, n_heads=n_heads, d_k=3, d_v=2))
            assert trace.layers[0]["concat"].array.shape == (2, 2 * n_heads)


@for_each("n_heads", range(1, 13))
def test_key_value_heads_divide_the_heads(n_heads):
    for n_kv_heads in range(1, 13):
        if n_heads % n_kv_heads:
            with pytest.raises(ConfigError):
                Config(n_heads=n_heads, n_kv_heads=n_kv_heads)
            with pytest.raises(ValueError):
                attend(numbers(n_heads, 2, 3), numbers(n_kv_heads, 2, 3), numbers(n_kv_heads, 2, 3))
        else:
            Config(n_heads=n_heads, n_kv_heads=n_kv_heads)
            attend(numbers(n_heads, 2, 3), numbers(n_kv_heads, 2, 3), numbers(n_kv_heads, 2, 3))


def test_no_heads_at_all():
    for heads in (0, -1, 10**9, 2.5, math.nan):
        with pytest.raises(ConfigError):
            Config(n_heads=heads)


# Rounding ------------------------------------------------------------------------------------------------------------


@for_each("normaliser", SUMS_TO_ONE)
def test_rows_sum_to_one_within_rounding(normaliser):
    rows = numbers(1000, 33) * 5
    weights = attend(rows, np.eye(33), np.eye(33), score="dot", normaliser=normaliser).weights
    assert abs(weights.sum(-1) - 1).max() <= 33 * np.finfo(float).eps


def test_a_subnormal_weight_is_not_a_masked_one():
    steps = on_scores([0.0, -745.0, -746.0, 0.0], allowed=[[True, True, True, False]])
    assert steps.weights.tolist() == [[1.0, 5e-324, 0.0, 0.0]]
    assert [x == -math.inf for x in steps.masked[0]] == [False, False, False, True]


def test_scores_that_differ_by_the_rounding_of_their_sums_tie():
    assert 0.1 + 0.2 > 0.3
    np.testing.assert_array_equal(on_scores([0.1 + 0.2, 0.3], "hardmax").weights, [[0.5, 0.5]])
    np.testing.assert_array_equal(on_scores([0.3 + 1e-12, 0.3], "hardmax").weights, [[1, 0]])
    assert 0.1 + 0.2 - 0.3 > 0.2 - 0.3 + 0.1
    q, k = [[1.0, 1.0, 1.0]], [[0.1, 0.2, -0.3], [0.2, -0.3, 0.1], [1e-20, 0.0, 0.0]]
    for scale in (1.0, -1e9, 1e-9):  # they cancel to what is nothing beside their terms
        tied = attend(q, k, np.eye(3), score="dot", scale=scale, normaliser="hardmax").weights
        np.testing.assert_array_equal(tied, [[1 / 3, 1 / 3, 1 / 3]])
    small = attend(np.multiply(q, 1e-12), np.eye(3) * 1e-12 * [1, 2, 3], np.eye(3), score="dot", normaliser="hardmax")
    np.testing.assert_array_equal(small.weights, [[0, 0, 1]])  # small numbers are numbers


def test_blocks_of_queries_agree_with_the_whole():
    """Not bit for bit: a product of another shape adds up in another order."""
    q, k, v = numbers(64, 48), numbers(64, 48), numbers(64, 48)
    whole = attend(q, k, v).output
    for start in range(0, 64, 5):
        np.testing.assert_allclose(attend(q[start : start + 5], k, v).output, whole[start : start + 5], atol=1e-12)


# Lengths and distances -----------------------------------------------------------------------------------------------


def test_the_cosine_with_a_zero_vector_is_zero():
    zero, one = [0.0, 0.0], [3.0, 4.0]
    steps = attend([zero, one], [zero, one], np.eye(2), score="cosine")
    np.testing.assert_allclose(steps.scores, [[0, 0], [0, 1]], rtol=1e-15)


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_lengths_neither_overflow_nor_vanish(size):
    q, k = np.array([[size, size]]), np.array([[size, size], [-size, -size], [size, -size], [size, 0]])
    cosine = attend(q, k, np.eye(4), score="cosine").scores
    np.testing.assert_allclose(cosine, [[1, -1, 0, math.sqrt(0.5)]], rtol=1e-14, atol=1e-15)
    far = attend(q, k, np.eye(4), score="negative_distance").scores
    expected = [[0, -size * math.sqrt(8), -2 * size, -size]]
    np.testing.assert_allclose(far, expected, rtol=1e-14)


@pytest.mark.parametrize("score", ["negative_distance", "gaussian"])
def test_equal_vectors_are_no_distance_apart(score):
    """|q|^2 + |k|^2 - 2 q k rounds to something that is not zero, and may be below it."""
    x = numbers(40, 7) * 1e3
    assert (np.diagonal(attend(x, x, x, score=score).scores) == 0).all()


@pytest.mark.parametrize("score", ["negative_distance", "gaussian"])
def test_near_vectors_far_from_the_origin_keep_their_distance(score):
    q = np.array([[1e6, 1e6, 1e6]])
    k = q + np.array([[0.5, 0, 0], [0.25, 0.25, 0], [0, 0, 0.125]])
    squares = np.array([[0.25, 0.125, 0.015625]])
    expected = -squares / 2 if score == "gaussian" else -np.sqrt(squares)
    np.testing.assert_allclose(attend(q, k, k, score=score).scores, expected, rtol=1e-14)
