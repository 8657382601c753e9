"""`attend` against the independent opinion, and against integers that can be checked in the head."""

from __future__ import annotations

import math
from functools import cache
from itertools import product

import numpy as np
import pytest

from attnviz import BIASES, MASKS, NORMALISERS, SCORES, Config, attend, run
from attnviz.engine.tables.scores import additive
from tests import reference
from tests.support.cases import for_each

CLOSE = {"rtol": 1e-12, "atol": 1e-12}
STEPS = reference.STEPS
N_QUERIES, N_KEYS, D_K, D_V = 5, 7, 6, 3


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    """Normal draws that are the same in every run."""
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def qkv(*heads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Queries, keys and values whose every size differs from every other."""
    return numbers(*heads, N_QUERIES, D_K), numbers(*heads, N_KEYS, D_K, seed=1), numbers(*heads, N_KEYS, D_V, seed=2)


def parameters(score: str, *heads: int) -> dict[str, np.ndarray] | None:
    """Matrices for the scores that have any; a row that is not listed runs on its own defaults."""
    shapes = {
        "general": {"W": (D_K, D_K)},
        "additive": {"W_q": (D_K, 4), "W_k": (D_K, 4), "v": (4,), "b": (4,)},
        "location": {"W": (D_K, N_KEYS)},
        "multiplicative_tanh": {"W": (D_K, D_K)},
        "qk_norm": {"u": (D_K,), "w": (D_K,)},
        "scaled_cosine": {"tau": ()},
    }.get(score)
    return shapes and {name: numbers(*heads, *shape, seed=3) for name, shape in shapes.items()}


def assert_same(ours, opinion, names=STEPS, **close):
    for name in names:
        np.testing.assert_allclose(getattr(ours, name), getattr(opinion, name), **{**CLOSE, **close}, err_msg=name)


def agree(q, k, v, **options):
    """The engine and the opinion, asked the same."""
    steps = attend(q, k, v, **options)
    assert_same(steps, reference.attend_heads(q, k, v, **options))
    return steps


# Every score x mask x bias x normaliser ------------------------------------------------------------------------------


@cache
def settled(mask: str, bias: str) -> tuple[np.ndarray, np.ndarray]:
    """Which of the 5 x 7 cells a mask allows and what a bias adds, for two heads, read off a run."""
    long = Config(
        sentence="a b c d e",
        second_sentence="f g h i",
        tokeniser="whitespace",
        pad_to=N_KEYS,
        n_heads=2,
        mask=mask,
        bias=bias,
        custom_cells=((0, 6), (1, 1), (1, 2), (3, 0), (4, 5)),
    )
    layer = run(long).layers[0]
    masked, capped = (layer[name].array[:, :N_QUERIES, :N_KEYS] for name in ("masked", "capped"))
    return masked != -np.inf, masked - capped


def test_the_opinion_knows_every_row():
    assert set(SCORES) == set(reference.SCORES), "a new score needs a loop in tests/reference.py"
    assert set(NORMALISERS) == set(reference.NORMALISERS), "a new normaliser needs a loop in tests/reference.py"


PLACES = tuple(product(MASKS, BIASES))
MEETINGS = [(score, name, (n + at) % 3) for n, score in enumerate(SCORES) for at, name in enumerate(NORMALISERS)]


@pytest.mark.slow
@for_each("score, normaliser, first", MEETINGS)
def test_every_combination_of_three(score, normaliser, first):
    """Score and normaliser with every third pair of mask and bias, so that any three of the four meet."""
    for mask, bias in PLACES[first::3]:
        options = {
            "score": score,
            "params": parameters(score, 2),
            "allowed": settled(mask, "none")[0],
            "bias": settled("none", bias)[1],
            "normaliser": normaliser,
            "softcap": 3.0,
            "temperature": 0.7,
        }
        agree(*qkv(2), **options)


def test_the_masks_and_biases_of_the_product_are_not_all_alike():
    assert len({settled(mask, "none")[0].tobytes() for mask in MASKS}) == len(MASKS)
    assert len({settled("none", bias)[1].round(9).tobytes() for bias in BIASES}) == len(BIASES)


# By hand -------------------------------------------------------------------------------------------------------------


def test_integers_by_hand():
    """q1 k1 = 1, q1 k2 = 2, q2 k1 = 2, q2 k2 = 0; doubled, biased, masked; then shares of 3 and of 4."""
    steps = attend(
        [[1, 0], [0, 2]],
        [[1, 1], [2, 0], [0, -1]],
        [[1, 10], [3, 30], [5, 50]],
        score="dot",
        scale=2,
        bias=[[1, 0, 0], [-1, 0, 1]],
        allowed=[[True, True, True], [True, True, False]],
        normaliser="linear",
    )
    assert steps.scores.tolist() == [[1, 2, 0], [2, 0, -2]]
    assert steps.scaled.tolist() == steps.capped.tolist() == [[2, 4, 0], [4, 0, -4]]
    assert steps.masked.tolist() == [[3, 4, 0], [3, 0, -math.inf]]
    np.testing.assert_allclose(steps.weights, [[3 / 7, 4 / 7, 0], [1, 0, 0]], rtol=1e-15)
    np.testing.assert_allclose(steps.output, [[15 / 7, 150 / 7], [1, 10]], rtol=1e-15)


def test_softmax_by_hand():
    """Scores log 3 and 0 after the scale 1/sqrt(4): weights 3/4 and 1/4."""
    steps = attend([[2, 0, 0, 0]], [[math.log(3), 9, 9, 9], [0, 9, 9, 9]], [[4.0], [8.0]])
    np.testing.assert_allclose(steps.scores, [[2 * math.log(3), 0]], rtol=1e-15)
    np.testing.assert_allclose(steps.scaled, [[math.log(3), 0]], rtol=1e-15)
    np.testing.assert_allclose(steps.weights, [[0.75, 0.25]], rtol=1e-15)
    np.testing.assert_allclose(steps.output, [[5.0]], rtol=1e-15)


def test_shapes_and_float64():
    q, k, v = qkv()
    steps = attend(q.astype(np.float32), k.astype(np.float32), v.astype(np.float16))
    assert [getattr(steps, name).shape for name in STEPS] == [(5, 7)] * 5 + [(5, 3)]
    assert {getattr(steps, name).dtype for name in STEPS} == {np.dtype(np.float64)}
    exact = reference.attend_heads(*(x.astype(t).astype(float) for x, t in zip((q, k, v), "ffe", strict=True)))
    assert_same(steps, exact)


def test_numbers_that_a_mask_hides_are_not_taken_for_numbers():
    hidden = np.ma.masked_array(np.eye(2), mask=[[False, True], [False, False]])
    with pytest.raises(ValueError, match="k has masked entries; fill them with numbers"):
        attend(np.eye(2), hidden, np.eye(2))
    assert attend(np.eye(2), np.ma.masked_array(np.eye(2)), np.eye(2)).weights.shape == (2, 2)


def test_what_is_given_is_not_written_to():
    given = [*qkv(2), np.tri(5, 7, dtype=bool), numbers(5, 7)]
    before = [x.copy() for x in given]
    attend(*given[:3], allowed=given[3], bias=given[4], softcap=2.0, scale=np.array([1.0, 2.0]), normaliser="entmax15")
    for x, was in zip(given, before, strict=True):
        np.testing.assert_array_equal(x, was)


# Scale, cap and temperature ------------------------------------------------------------------------------------------


@for_each("score", SCORES)
def test_the_scale_multiplies_whatever_the_score_returns(score):
    options = {"score": score, "params": parameters(score)}
    own = 1 / math.sqrt(D_K) if score == "scaled_dot" else 1.0
    for scale in (None, 0, 0.0, -1.5, 2, 1e-3):
        steps = agree(*qkv(), **options, scale=scale)
        np.testing.assert_allclose(steps.scaled, steps.scores * (own if scale is None else scale), rtol=1e-15)


def test_scaled_dot_and_dot_differ_in_the_scale_alone():
    scaled, plain = attend(*qkv()), attend(*qkv(), score="dot")
    np.testing.assert_array_equal(scaled.scores, plain.scores)
    np.testing.assert_array_equal(plain.scaled, plain.scores)
    np.testing.assert_allclose(scaled.scaled * math.sqrt(D_K), plain.scaled, rtol=1e-15)


def test_a_scale_of_zero_is_the_mean():
    steps = attend(*qkv(), scale=0)
    np.testing.assert_allclose(steps.weights, 1 / N_KEYS, rtol=1e-15)
    np.testing.assert_allclose(steps.output, np.tile(qkv()[2].mean(0), (5, 1)), **CLOSE)


@for_each("batch", [(), (2,), (2, 3)])
def test_one_scale_a_head(batch):
    scale = np.array([0.0, -2.0, 1.0, 0.5])
    q, k, v = numbers(*batch, 4, 5, 6), numbers(*batch, 4, 7, 6), numbers(*batch, 4, 7, 3)
    agree(q, k, v, scale=scale)


def test_a_scale_that_is_not_one_a_head():
    for wrong in ([1.0, 2.0], [[1.0], [2.0], [3.0]]):
        with pytest.raises(ValueError):
            attend(*qkv(3), scale=np.array(wrong))


@for_each("off", [None, 0, 0.0])
def test_no_cap_leaves_the_scores_as_they_are(off):
    steps = attend(*qkv(), softcap=off)
    np.testing.assert_array_equal(steps.capped, steps.scaled)


def test_the_cap_comes_after_the_scale_and_before_bias_and_mask():
    bias = np.full((5, 7), 100.0)
    steps = attend(*qkv(), scale=9.0, softcap=2.5, bias=bias, causal=True)
    np.testing.assert_allclose(steps.capped, 2.5 * np.tanh(steps.scores * 9.0 / 2.5), **CLOSE)
    allowed = np.tri(5, 7, dtype=bool)
    np.testing.assert_allclose(steps.masked[allowed], steps.capped[allowed] + 100, **CLOSE)
    assert (steps.masked[~allowed] == -np.inf).all()


def test_a_negative_cap():
    with pytest.raises(ValueError):
        attend(*qkv(), softcap=-1.0)


@for_each("normaliser", NORMALISERS)
def test_the_temperature_divides_what_is_masked(normaliser):
    options = {"normaliser": normaliser, "bias": numbers(5, 7), "causal": True}
    warm = agree(*qkv(), **options, temperature=2.5)
    np.testing.assert_array_equal(warm.masked, attend(*qkv(), **options).masked)


@for_each("temperature", [0, 0.0, -1.0, math.nan])
def test_a_temperature_that_is_not_above_zero(temperature):
    with pytest.raises(ValueError):
        attend(*qkv(), temperature=temperature)


# Heads and batches ---------------------------------------------------------------------------------------------------


@for_each("kv_heads", [1, 2, 3, 6])
def test_grouped_queries_are_interleaved(kv_heads):
    q, k, v = numbers(6, 5, 6), numbers(kv_heads, 7, 6), numbers(kv_heads, 7, 3)
    steps = agree(q, k, v)
    for h in range(6):
        group = h // (6 // kv_heads)
        assert_same(attend(q[h], k[group], v[group]), reference.Attention(*(getattr(steps, name)[h] for name in STEPS)))


@for_each("heads", [(4, 3), (3, 6), (5, 2)])
def test_heads_that_do_not_divide(heads):
    h, kv = heads
    with pytest.raises(ValueError, match="heads"):
        attend(numbers(h, 5, 6), numbers(kv, 7, 6), numbers(kv, 7, 3))


@pytest.mark.parametrize("batch", [(2,), (2, 3)])
def test_keys_and_values_may_lack_batch_axes(batch):
    q, k, v = numbers(*batch, 4, 5, 6), numbers(2, 7, 6), numbers(2, 7, 3)
    agree(q, k, v)
    full_k, full_v = np.broadcast_to(k, batch + k.shape), np.broadcast_to(v, batch + v.shape)
    assert_same(attend(q, full_k, full_v), reference.attend_heads(q, k, v))


@for_each("score", ["general", "additive", "location"])
def test_parameters_may_be_one_a_head(score):
    q, k, v = numbers(2, 4, 5, 6), numbers(2, 2, 7, 6), numbers(2, 2, 7, 3)
    for params in (parameters(score), parameters(score, 4)):
        agree(q, k, v, score=score, params=params)


def test_a_parameter_with_and_one_without_a_head_axis():
    params = {**parameters("additive"), "W_k": numbers(3, D_K, 4), "v": numbers(3, 4)}
    agree(*qkv(3), score="additive", params=params)


def test_additive_scores_of_a_few_heads_at_a_time_are_those_of_all_at_once(monkeypatch):
    q, k, v = numbers(5, 4, 3), numbers(5, 6, 3), numbers(5, 6, 2)
    q[3, 1, 0] = 900.0  # beyond the reach of exponentials, in one head
    params = {"W_q": numbers(3, 2), "W_k": numbers(5, 3, 2, seed=2), "v": numbers(2)}
    for queries, keys, values in ((q, k, v), (np.stack([q, -q]), k, v)):
        whole = attend(queries, keys, values, score="additive", params=params).scores
        for near in (1, 2 * params["v"].size * keys.shape[-2]):
            monkeypatch.setattr(additive, "NEAR", near)
            some = attend(queries, keys, values, score="additive", params=params).scores
            np.testing.assert_array_equal(some, whole)
        monkeypatch.undo()


@for_each("score", ["general", "additive", "location"])
def test_a_parameter_has_a_head_axis_of_queries_or_none(score):
    q, k, v = numbers(2, 4, 5, 6), numbers(2, 2, 7, 6), numbers(2, 2, 7, 3)
    for axes in ((2,), (3,), (2, 4)):
        with pytest.raises(ValueError):
            attend(q, k, v, score=score, params=parameters(score, *axes))


# The scores' own rules -----------------------------------------------------------------------------------------------


def test_missing_parameters_are_neutral():
    q, k, v = qkv()
    np.testing.assert_allclose(attend(q, k, v, score="general").scores, q @ k.T, **CLOSE)
    plain = np.tanh(q[:, None, :] + k[None, :, :]).sum(-1)
    np.testing.assert_allclose(attend(q, k, v, score="additive").scores, plain, **CLOSE)
    np.testing.assert_allclose(attend(q, k, v, score="additive", params={}).scores, plain, **CLOSE)
    for score in ("general", "additive"):
        agree(*qkv(3), score=score)
    for given in ("W_q", "W_k", "v", "b"):
        params = {given: numbers(*{"v": (D_K,), "b": (D_K,)}.get(given, (D_K, D_K)), seed=5)}
        agree(q, k, v, score="additive", params=params)


@for_each("score", ["general", "additive", "location"])
def test_queries_and_keys_of_different_width(score):
    q, k, v = numbers(5, 6), numbers(7, 4), numbers(7, 3)
    params = {
        "general": {"W": numbers(6, 4)},
        "additive": {"W_q": numbers(6, 3), "W_k": numbers(4, 3), "v": numbers(3), "b": numbers(3)},
        "location": {"W": numbers(6, 7)},
    }[score]
    agree(q, k, v, score=score, params=params)


@for_each("score", [name for name in SCORES if not SCORES[name].any_widths])
def test_every_other_score_needs_one_width(score):
    with pytest.raises(ValueError):
        attend(numbers(5, 6), numbers(7, 4), numbers(7, 3), score=score)


def test_location_looks_at_the_query_alone():
    q, k, v = qkv()
    options = {"score": "location", "params": parameters("location")}
    np.testing.assert_array_equal(attend(q, k, v, **options).scores, attend(q, k[::-1], v, **options).scores)


def test_cosine_is_the_dot_product_of_directions():
    q, k, v = qkv()
    unit = [x / np.linalg.norm(x, axis=-1, keepdims=True) for x in (q, k)]
    steps = attend(q * 17.0, k * 0.3, v, score="cosine", scale=10.0)
    np.testing.assert_allclose(steps.scores, unit[0] @ unit[1].T, **CLOSE)
    np.testing.assert_allclose(steps.scaled, 10 * steps.scores, **CLOSE)


def test_gaussian_is_half_the_negative_square_of_the_distance():
    near, far = (attend(*qkv(), score=score).scores for score in ("gaussian", "negative_distance"))
    np.testing.assert_allclose(near, -(far**2) / 2, **CLOSE)
    assert (far < 0).all()


# Masks and biases ----------------------------------------------------------------------------------------------------


@for_each("shape", [(), (7,), (1, 7), (5, 1), (5, 7), (1, 5, 7), (4, 1, 7), (4, 5, 7), (2, 1, 1, 7), (2, 4, 5, 7)])
def test_masks_and_biases_broadcast_from_the_right(shape):
    q, k, v = numbers(2, 4, 5, 6), numbers(2, 2, 7, 6), numbers(2, 2, 7, 3)
    allowed, bias = numbers(*shape, seed=6) > -0.5, numbers(*shape, seed=7)
    for options in ({"allowed": allowed}, {"bias": bias}, {"allowed": allowed, "bias": bias, "causal": True}):
        agree(q, k, v, **options)


@for_each("shape", [(6,), (7, 5), (4, 7), (1, 5, 7), (2, 5, 7)])
def test_masks_and_biases_add_no_axes(shape):
    for options in ({"allowed": np.ones(shape, bool)}, {"bias": np.zeros(shape)}):
        with pytest.raises(ValueError):
            attend(*qkv(), **options)


@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_a_bias_is_a_number_or_minus_infinity(bad):
    bias = np.zeros((5, 7))
    bias[3, 2] = bad
    with pytest.raises(ValueError):
        attend(*qkv(), bias=bias)


def test_a_bias_of_minus_infinity_is_a_mask():
    allowed = numbers(5, 7) > 0
    by_mask, by_bias = attend(*qkv(), allowed=allowed), attend(*qkv(), bias=np.where(allowed, 0.0, -np.inf))
    assert_same(by_mask, by_bias, rtol=0, atol=0)


@for_each("n_q, n_k", [(5, 7), (7, 5), (1, 4), (4, 1)])
def test_causal_is_top_left(n_q, n_k):
    masked = attend(numbers(n_q, 6), numbers(n_k, 6), numbers(n_k, 3), causal=True).masked
    assert [[x != -math.inf for x in row] for row in masked] == [[j <= i for j in range(n_k)] for i in range(n_q)]


def test_mask_bias_and_causal_all_have_to_allow():
    allowed, bias = numbers(5, 7) > -0.3, np.where(numbers(5, 7, seed=4) > -0.3, 0.5, -np.inf)
    options = {"allowed": allowed, "bias": bias, "causal": True}
    steps = agree(*qkv(), **options)
    np.testing.assert_array_equal(steps.masked != -np.inf, allowed & (bias > -np.inf) & np.tri(5, 7, dtype=bool))


@for_each("normaliser", NORMALISERS)
def test_what_is_forbidden_weighs_exactly_nothing(normaliser):
    allowed = numbers(3, 5, 7, seed=8) > 0
    weights = attend(*qkv(3), allowed=allowed, normaliser=normaliser).weights
    assert (weights[~allowed] == 0).all()
    assert (weights >= 0).all()


# Rows with nothing to read -------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("error")
@for_each("normaliser", NORMALISERS)
@for_each("by", ["mask", "bias", "both"])
def test_an_emptied_row_is_zero(by, normaliser):
    allowed = np.ones((2, 5, 7), bool)
    allowed[0, 1], allowed[1, 4, :3], allowed[1, 0] = False, False, False
    bias = np.zeros((5, 7))
    if by != "mask":
        bias[4] = bias[1, :3] = -np.inf
    options = {"allowed": None if by == "bias" else allowed, "bias": bias, "normaliser": normaliser}
    with np.errstate(all="raise"):
        steps = attend(*qkv(2), **options)
    emptied = (steps.masked == -np.inf).all(-1)
    assert emptied.sum() == {"mask": 2, "bias": 2, "both": 4}[by]
    assert (steps.weights[emptied] == 0).all()
    assert (steps.output[emptied] == 0).all()
    assert_same(steps, reference.attend_heads(*qkv(2), **options))


# Values that are no numbers ------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("error")
@for_each("normaliser", NORMALISERS)
@for_each("bad", [np.nan, np.inf, -np.inf])
def test_what_may_not_be_read_never_leaks(bad, normaliser):
    q, k, v = qkv(2)
    spoilt = v.copy()
    spoilt[:, 5, 1] = spoilt[1, 2, :] = bad
    allowed = np.ones((2, 5, 7), bool)
    allowed[:, :, 5] = allowed[1, :, 2] = False
    with np.errstate(all="raise"):
        dirty = attend(q, k, spoilt, allowed=allowed, normaliser=normaliser)
    assert_same(dirty, reference.attend_heads(q, k, v, allowed=allowed, normaliser=normaliser))


@for_each("normaliser", NORMALISERS)
@for_each("bad, other", [(np.nan, 0.0), (np.inf, 0.0), (-np.inf, 0.0), (np.inf, -np.inf), (np.inf, np.nan)])
def test_what_may_be_read_follows_ieee(bad, other, normaliser):
    """Forbidden is per cell: queries 0 and 1 may not read key 5, the others do, and so do not escape it."""
    q, k, v = qkv(2)
    v[:, 5, 1], v[1, 2, 1] = bad, other
    allowed = np.ones((5, 7), bool)
    allowed[:2, 5] = allowed[1, 2] = False
    with np.errstate(invalid="ignore"):
        steps = attend(q, k, v, allowed=allowed, normaliser=normaliser)
    opinion = reference.attend_heads(q, k, v, allowed=allowed, normaliser=normaliser)
    assert np.isfinite(steps.output[0, :2]).all()
    assert not np.isfinite(steps.output[:, 2:, 1]).all()
    assert_same(steps, opinion)


def test_a_key_that_is_no_number_is_harmless_where_it_is_forbidden():
    q, k, v = qkv()
    spoilt = k.copy()
    spoilt[3] = np.nan
    allowed = np.arange(7) != 3
    dirty, clean = (attend(q, keys, v, allowed=allowed) for keys in (spoilt, k))
    assert_same(dirty, clean, names=("masked", "weights", "output"))


# Properties ----------------------------------------------------------------------------------------------------------


@for_each("normaliser", NORMALISERS)
@for_each("score", SCORES)
def test_a_masked_key_is_as_good_as_a_deleted_one(score, normaliser):
    q, k, v = qkv(2)
    left = [0, 1, 3, 6]
    params = parameters(score, 2)
    masked = attend(q, k, v, score=score, params=params, normaliser=normaliser, allowed=np.isin(np.arange(7), left))
    if score == "location":
        params = {"W": params["W"][..., left]}
    deleted = attend(q, k[:, left], v[:, left], score=score, params=params, normaliser=normaliser)
    np.testing.assert_allclose(masked.weights[..., left], deleted.weights, **CLOSE)
    np.testing.assert_allclose(masked.output, deleted.output, **CLOSE)


@for_each("score", ["scaled_dot", "dot", "general", "location"])
def test_a_scale_moves_into_the_query(score):
    q, k, v = qkv()
    outside, inside = (
        attend(q * a, k, v, score=score, params=parameters(score), scale=b) for a, b in ((1, -0.37), (-0.37, 1))
    )
    assert_same(outside, inside, names=("scaled", "weights", "output"))


@for_each("score", SCORES)
def test_permuting_keys_with_their_values_changes_no_output(score):
    q, k, v = qkv()
    order = [3, 0, 6, 1, 5, 2, 4]
    params = parameters(score)
    there = attend(q, k, v, score=score, params=params)
    if score == "location":
        params = {"W": params["W"][:, order]}
    here = attend(q, k[order], v[order], score=score, params=params)
    np.testing.assert_allclose(here.weights, there.weights[:, order], **CLOSE)
    np.testing.assert_allclose(here.output, there.output, **CLOSE)


def test_one_query_at_a_time_gives_the_same_rows():
    q, k, v = qkv(2)
    together = attend(q, k, v)
    for i in range(N_QUERIES):
        alone = attend(q[:, i : i + 1], k, v)
        assert_same(alone, reference.Attention(*(getattr(together, name)[:, i : i + 1] for name in STEPS)))


# Mistakes ------------------------------------------------------------------------------------------------------------


@for_each(
    "q, k, v, options",
    [
        ((5, 6), (7, 6), (6, 3), {}),
        ((2, 5, 6), (2, 7, 6), (2, 6, 3), {}),
        ((5, 6), (7, 6), (7, 3), {"score": "scaled-dot"}),
        ((5, 6), (7, 6), (7, 3), {"normaliser": "soft"}),
        ((5, 6), (7, 6), (7, 3), {"score": "general", "params": {"W": np.ones((5, 6))}}),
        ((5, 6), (7, 6), (7, 3), {"score": "location", "params": {"W": np.ones((6, 5))}}),
        ((5, 6), (7, 6), (7, 3), {"score": "additive", "params": {"W_q": np.ones((6, 3)), "W_k": np.ones((6, 4))}}),
    ],
)
def test_mistakes_are_value_errors(q, k, v, options):
    with pytest.raises(ValueError):
        attend(numbers(*q), numbers(*k), numbers(*v), **options)
