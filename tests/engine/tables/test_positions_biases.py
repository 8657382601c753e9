"""Positions and biases against the papers' formulas, written out in plain Python."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from attnviz import BIASES, POSITIONS, Config, alibi_slopes, rope, run, sinusoidal, t5_buckets
from tests.support.cases import for_each

WORDS = "a b c d e f g"


def numbers(*shape: int) -> np.ndarray:
    """Normal draws that are the same in every run."""
    return np.random.default_rng(shape).normal(size=shape)


# Sinusoids -----------------------------------------------------------------------------------------------------------


@for_each("layout", ["interleaved", "concat"])
@for_each("base", [1e4, 100.0])
@for_each("d", [1, 2, 3, 6, 7, 16])
def test_sinusoidal_is_the_papers_formula(d, base, layout):
    expected = np.empty((11, d))
    for position in range(11):
        angles = [position / base ** (2 * i / d) for i in range((d + 1) // 2)]
        waves = [math.sin(a) for a in angles], [math.cos(a) for a in angles][: d // 2]
        if layout == "concat":
            expected[position] = [*waves[0], *waves[1]]
        else:
            expected[position, 0::2], expected[position, 1::2] = waves
    np.testing.assert_allclose(sinusoidal(11, d, base=base, layout=layout), expected, rtol=1e-12, atol=1e-15)


def test_sinusoidal_by_hand():
    np.testing.assert_array_equal(sinusoidal(1, 5), [[0, 1, 0, 1, 0]])
    np.testing.assert_array_equal(sinusoidal(1, 5, layout="concat"), [[0, 0, 0, 1, 1]])
    second = [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)]
    np.testing.assert_allclose(sinusoidal(2, 4)[1], second, rtol=1e-15)


def test_sinusoidal_is_interleaved_unless_told():
    np.testing.assert_array_equal(sinusoidal(5, 6), sinusoidal(5, 6, layout="interleaved"))


def test_a_shift_of_sinusoids_is_one_rotation_for_all_positions():
    waves = sinusoidal(20, 8)
    shift = np.linalg.lstsq(waves[:-3], waves[3:], rcond=None)[0]
    np.testing.assert_allclose(waves[:-3] @ shift, waves[3:], atol=1e-9)


def test_layouts_that_do_not_exist():
    with pytest.raises(ValueError):
        sinusoidal(3, 4, layout="half")
    with pytest.raises(ValueError):
        rope(np.ones((3, 4)), np.arange(3), layout="concat")


# Rotary --------------------------------------------------------------------------------------------------------------


def rotated(x: list[float], position: float, base: float, layout: str) -> list[float]:
    """One even vector, pair by pair: (a, b) turns by position / base^(2i/d)."""
    d, out = len(x), list(x)
    for i in range(d // 2):
        first, second = (2 * i, 2 * i + 1) if layout == "interleaved" else (i, i + d // 2)
        angle = position / base ** (2 * i / d)
        out[first] = x[first] * math.cos(angle) - x[second] * math.sin(angle)
        out[second] = x[first] * math.sin(angle) + x[second] * math.cos(angle)
    return out


@for_each("layout", ["interleaved", "half"])
@for_each("base", [1e4, 10.0])
@for_each("d", [2, 4, 6, 16])
def test_rope_turns_pairs(d, base, layout):
    x, positions = numbers(5, d), np.array([0, 1, 2, 7, 100])
    expected = [rotated(row, p, base, layout) for row, p in zip(x.tolist(), positions.tolist(), strict=True)]
    np.testing.assert_allclose(rope(x, positions, base=base, layout=layout), expected, rtol=1e-12, atol=1e-13)


def test_rope_by_hand():
    x = np.array([[1.0, 0.0, 0.0, 2.0]])
    c, s, c2, s2 = math.cos(1), math.sin(1), math.cos(0.01), math.sin(0.01)
    np.testing.assert_allclose(rope(x, np.array([1])), [[c, s, -2 * s2, 2 * c2]], rtol=1e-15)
    np.testing.assert_allclose(rope(x, np.array([1]), layout="half"), [[c, -2 * s2, s, 2 * c2]], rtol=1e-15)


@for_each("layout", ["interleaved", "half"])
@for_each("d", [1, 3, 7])
def test_rope_leaves_the_last_column_of_an_odd_width(d, layout):
    x = numbers(5, d)
    turned = rope(x, np.arange(5), layout=layout)
    np.testing.assert_array_equal(turned[:, -1], x[:, -1])
    np.testing.assert_allclose((turned**2).sum(-1), (x**2).sum(-1), rtol=1e-12)
    if d > 1:
        assert (turned[1:, :-1] != x[1:, :-1]).all()


@for_each("layout", ["interleaved", "half"])
@for_each("d", [1, 2, 5, 6])
def test_rope_sees_only_how_far_apart_two_positions_are(d, layout):
    q, k = numbers(9, d), numbers(9, d) * 2 - 1
    at = np.arange(9)
    here = rope(q, at, layout=layout) @ rope(k, at, layout=layout).T
    there = rope(q, at + 1000, layout=layout) @ rope(k, at + 1000, layout=layout).T
    np.testing.assert_allclose(here, there, atol=1e-9)
    same = np.ones((9, d))
    bands = rope(same, at, layout=layout) @ rope(same, at, layout=layout).T
    for offset in range(-8, 9):
        np.testing.assert_allclose(np.diagonal(bands, offset), np.diagonal(bands, offset)[0], atol=1e-12)


def test_rope_at_position_zero_changes_nothing():
    np.testing.assert_array_equal(rope(numbers(4, 6), np.zeros(4)), numbers(4, 6))


def test_rope_takes_heads_and_batches():
    x = numbers(2, 3, 5, 6)
    at = np.array([4, 0, 2, 9, 1])
    turned = rope(x, at)
    for index in np.ndindex(2, 3):
        np.testing.assert_array_equal(turned[index], rope(x[index], at))


# ALiBi ---------------------------------------------------------------------------------------------------------------


def press(heads: int) -> list[float]:
    """Press et al.: the powers of 2^(-8/n); for other counts every second slope of twice as many follows."""
    whole = 2 ** int(math.log2(heads))
    slopes = [2 ** (-8 * (i + 1) / whole) for i in range(whole)]
    return slopes if whole == heads else slopes + press(2 * whole)[0::2][: heads - whole]


@for_each("heads", range(1, 33))
def test_alibi_slopes_are_those_of_press_et_al(heads):
    np.testing.assert_allclose(alibi_slopes(heads), press(heads), rtol=1e-15)


def test_alibi_slopes_by_hand():
    np.testing.assert_array_equal(alibi_slopes(8), [2.0**-i for i in range(1, 9)])
    np.testing.assert_array_equal(alibi_slopes(1), [2.0**-8])
    np.testing.assert_allclose(alibi_slopes(3), [2**-4, 2**-8, 2**-2], rtol=1e-15)
    np.testing.assert_allclose(alibi_slopes(6), [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3], rtol=1e-15)


def past(layer) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What a bias adds where the key is not after the query, and the two positions."""
    added = layer["masked"].array - layer["capped"].array
    i, j = np.tril_indices(added.shape[-1])
    return added[:, i, j], i, j


@for_each("heads", [1, 3, 8])
def test_the_alibi_bias_falls_by_the_slope_of_its_head(heads):
    added, i, j = past(run(Config(sentence=WORDS, n_heads=heads, bias="alibi", mask="causal")).layers[0])
    np.testing.assert_allclose(added, alibi_slopes(heads)[:, None] * (j - i), atol=1e-12)


def test_the_linear_bias_falls_by_one_slope():
    added, i, j = past(run(Config(sentence=WORDS, n_heads=3, bias="linear", bias_slope=0.25, mask="causal")).layers[0])
    np.testing.assert_allclose(added, np.tile(0.25 * (j - i), (3, 1)), atol=1e-12)


def test_no_bias_adds_nothing():
    assert not past(run(Config(sentence=WORDS, bias="none")).layers[0])[0].any()


# T5 buckets ----------------------------------------------------------------------------------------------------------


def bucket(rel: int, bidirectional: bool, buckets: int, max_distance: int) -> int:
    """Near offsets get a bucket each, far ones share buckets that grow geometrically, with exact fractions."""
    later = 0
    if bidirectional:
        buckets //= 2
        later, rel = (buckets if rel > 0 else 0), -abs(rel)
    back, exact = max(-rel, 0), buckets // 2
    if back < exact:
        return later + back
    extra = 0  # the largest e with (back / exact)^(buckets - exact) >= (max_distance / exact)^e
    while extra < buckets - exact - 1 and Fraction(back, exact) ** (buckets - exact) >= Fraction(
        max_distance, exact
    ) ** (extra + 1):
        extra += 1
    return later + exact + extra


@for_each("bidirectional", [True, False])
@for_each("buckets, max_distance", [(32, 128), (32, 100), (8, 20), (4, 16), (6, 11), (64, 1000)])
def test_t5_buckets_are_those_of_the_paper(bidirectional, buckets, max_distance):
    rel = np.arange(-300, 301)
    expected = [bucket(r, bidirectional, buckets, max_distance) for r in rel.tolist()]
    got = t5_buckets(rel, bidirectional=bidirectional, buckets=buckets, max_distance=max_distance)
    np.testing.assert_array_equal(got, expected)


def test_t5_buckets_by_hand():
    sizes = {"buckets": 32, "max_distance": 128}
    two_way = t5_buckets(np.array([0, -1, -7, -8, -127, -5000, 1, 7, 8, 5000]), bidirectional=True, **sizes)
    assert two_way.tolist() == [0, 1, 7, 8, 15, 15, 17, 23, 24, 31]
    one_way = t5_buckets(np.array([9, 1, 0, -1, -15, -16, -5000]), bidirectional=False, **sizes)
    assert one_way.tolist() == [0, 0, 0, 1, 15, 16, 31]


@for_each("bidirectional, buckets", [(True, 4), (False, 2), (False, 3)])
def test_the_fewest_buckets_that_are_legal(bidirectional, buckets):
    got = t5_buckets(np.arange(-50, 51), bidirectional=bidirectional, buckets=buckets, max_distance=20)
    assert set(got.tolist()) <= set(range(buckets))
    assert got.max() == buckets - 1


@for_each(
    "bidirectional, buckets",
    [(True, 3), (True, 5), (True, 2), (True, 0), (True, -4), (False, 1), (False, 0), (False, -2)],
)
def test_bucket_counts_that_make_no_sense(bidirectional, buckets):
    with pytest.raises(ValueError):
        t5_buckets(np.arange(-3, 4), bidirectional=bidirectional, buckets=buckets, max_distance=20)


@pytest.mark.parametrize("bidirectional", [True, False])
def test_the_t5_bias_is_one_number_a_bucket_and_head(bidirectional):
    config = Config(
        sentence=WORDS, n_heads=3, bias="t5", t5_n_buckets=6, t5_max_distance=70, t5_bidirectional=bidirectional
    )
    layer = run(config).layers[0]
    added = layer["masked"].array - layer["capped"].array
    at = np.arange(7)
    of = t5_buckets(at[None, :] - at[:, None], bidirectional=bidirectional, buckets=6, max_distance=70)
    means = np.stack([added[:, of == b].mean(-1) for b in np.unique(of)], -1)
    for b, mean in zip(np.unique(of), means.T, strict=True):
        np.testing.assert_allclose(added[:, of == b], np.tile(mean[:, None], (of == b).sum()), atol=1e-12)
    assert len(np.unique(means.round(9))) == means.size, "every bucket of every head has a number of its own"


# In a run ------------------------------------------------------------------------------------------------------------


def test_the_sinusoids_of_a_run_are_added_to_the_tokens():
    trace = run(Config(sentence=WORDS, position="sinusoidal", d_model=9))
    np.testing.assert_allclose(trace["positions"].array, sinusoidal(7, 9), rtol=0, atol=1e-15)
    np.testing.assert_allclose(
        trace["embedded"].array, trace["token_embeddings"].array + trace["positions"].array, rtol=0, atol=1e-15
    )


def test_random_positions_tell_equal_words_apart():
    same = "so so so so"
    without, given = (run(Config(sentence=same, position=name))["embedded"].array for name in ("none", "random"))
    assert (without == without[0]).all()
    assert len(np.unique(given, axis=0)) == 4


def test_random_positions_stay_when_the_sentence_grows():
    short, long = (run(Config(sentence=s, position="random"))["positions"].array for s in (WORDS[:5], WORDS))
    np.testing.assert_array_equal(short, long[:3])


@for_each("d_k", [1, 4, 5])
def test_rope_turns_what_the_score_sees(d_k):
    layer = run(Config(sentence=WORDS, position="rope", d_k=d_k, rope_base=50.0)).layers[0]
    for plain, turned in (("projected_queries", "queries"), ("projected_keys", "keys")):
        expected = rope(layer[plain].array, np.arange(7), base=50.0)
        np.testing.assert_allclose(layer[turned].array, expected, rtol=1e-12, atol=1e-13)
    q, k = layer["queries"].array, layer["keys"].array
    np.testing.assert_allclose(layer["scores"].array, q @ k.swapaxes(-1, -2), rtol=1e-12, atol=1e-12)


def test_rope_turns_a_narrow_head_by_its_own_width():
    layer = run(Config(sentence=WORDS, position="rope", n_heads=3, d_k=(6, 2, 3))).layers[0]
    for h, width in enumerate((6, 2, 3)):
        plain = layer["projected_queries"].array[h, :, :width]
        np.testing.assert_allclose(layer["queries"].array[h, :, :width], rope(plain, np.arange(7)), atol=1e-13)


@for_each("position", POSITIONS)
@for_each("bias", BIASES)
def test_every_row_runs_at_odd_and_unit_widths(position, bias):
    for d_model, d_k in ((1, 1), (5, 3)):
        trace = run(Config(sentence=WORDS, position=position, bias=bias, d_model=d_model, d_k=d_k, d_v=1))
        assert np.isfinite(trace["output"].array).all()
