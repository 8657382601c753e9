"""`multi_head` against one loop a head: project, attend, lay end to end, project again."""

from __future__ import annotations

import math

import numpy as np
import pytest

from attnviz import MASKS, NORMALISERS, SCORES, attend, multi_head
from tests import reference
from tests.support.cases import for_each

CLOSE = {"rtol": 1e-12, "atol": 1e-12}
N_Q, N_KV, D_MODEL, D_MODEL_KV, D_K, D_V, D_OUT = 5, 7, 8, 9, 6, 3, 4


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    """Normal draws that are the same in every run."""
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def projections(heads: int, kv_heads: int, d_kv: int = D_MODEL_KV) -> dict[str, np.ndarray]:
    """Every matrix and every bias, no two widths alike."""
    return {
        "w_q": numbers(heads, D_MODEL, D_K, seed=1),
        "w_k": numbers(kv_heads, d_kv, D_K, seed=2),
        "w_v": numbers(kv_heads, d_kv, D_V, seed=3),
        "w_o": numbers(heads * D_V, D_OUT, seed=4),
        "b_q": numbers(heads, D_K, seed=5),
        "b_k": numbers(kv_heads, D_K, seed=6),
        "b_v": numbers(kv_heads, D_V, seed=7),
        "b_o": numbers(D_OUT, seed=8),
    }


def by_loop(x_q: np.ndarray, x_kv: np.ndarray, arguments: dict[str, np.ndarray], **options) -> dict[str, np.ndarray]:
    """The same in plain Python, one head after the other."""
    made = {}
    for name, x, letter in (("queries", x_q, "q"), ("keys", x_kv, "k"), ("values", x_kv, "v")):
        w, b = arguments["w_" + letter], arguments.get("b_" + letter)
        biases = [None] * len(w) if b is None else b.tolist()
        made[name] = np.array(
            [reference.project(x.tolist(), head.tolist(), bias) for head, bias in zip(w, biases, strict=True)]
        )
    steps = reference.attend_heads(made["queries"], made["keys"], made["values"], **options)
    made |= {name: getattr(steps, name) for name in reference.STEPS}
    made["heads"] = steps.output
    made["concat"] = np.array(reference.concat(steps.output.tolist()))
    made["output"] = made["concat"]
    if "w_o" in arguments:
        b_o = arguments["b_o"].tolist() if "b_o" in arguments else None
        made["output"] = np.array(reference.project(made["concat"].tolist(), arguments["w_o"].tolist(), b_o))
    return made


def assert_same(ours, opinion: dict[str, np.ndarray]) -> None:
    for name, expected in opinion.items():
        np.testing.assert_allclose(getattr(ours, name), expected, **CLOSE, err_msg=name)


@for_each("kv_heads", [1, 2, 4])
def test_cross_attention_against_the_loop(kv_heads):
    x_q, x_kv, given = numbers(N_Q, D_MODEL), numbers(N_KV, D_MODEL_KV), projections(4, kv_heads)
    ours = multi_head(x_q, x_kv, **given)
    assert_same(ours, by_loop(x_q, x_kv, given))
    assert ours.concat.shape == (N_Q, 4 * D_V)
    assert ours.output.shape == (N_Q, D_OUT)
    assert ours.keys.shape == (kv_heads, N_KV, D_K)
    assert ours.heads.shape == (4, N_Q, D_V)


@for_each("missing", ["b_q", "b_k", "b_v", "b_o", "w_o"])
def test_what_is_not_given_is_left_out(missing):
    x_q, x_kv, given = numbers(N_Q, D_MODEL), numbers(N_KV, D_MODEL_KV), projections(2, 2)
    del given[missing]
    if missing == "w_o":
        del given["b_o"]
    ours = multi_head(x_q, x_kv, **given)
    assert_same(ours, by_loop(x_q, x_kv, given))
    if missing == "w_o":
        np.testing.assert_array_equal(ours.output, ours.concat)


def test_self_attention_reads_itself():
    x, given = numbers(N_Q, D_MODEL), projections(2, 2, d_kv=D_MODEL)
    assert_same(multi_head(x, **given), by_loop(x, x, given))


@for_each("score", SCORES)
def test_every_score_and_option_reaches_the_heads(score):
    x_q, x_kv, given = numbers(N_Q, D_MODEL), numbers(N_KV, D_MODEL_KV), projections(4, 2)
    shapes = {
        "general": {"W": (4, D_K, D_K)},
        "additive": {"W_q": (4, D_K, 2), "W_k": (4, D_K, 2), "v": (4, 2), "b": (4, 2)},
        "location": {"W": (4, D_K, N_KV)},
    }.get(score, {})
    options = {
        "score": score,
        "params": {name: numbers(*shape, seed=9) for name, shape in shapes.items()},
        "allowed": numbers(N_Q, N_KV, seed=10) > -1,
        "bias": numbers(4, N_Q, N_KV, seed=11),
        "causal": True,
        "scale": np.array([1.0, 0.5, -1.0, 0.0]),
        "softcap": 2.0,
        "normaliser": "entmax15",
        "temperature": 0.8,
    }
    assert_same(multi_head(x_q, x_kv, **given, **options), by_loop(x_q, x_kv, given, **options))


@for_each("normaliser", NORMALISERS)
def test_every_normaliser_reaches_the_heads(normaliser):
    x, given = numbers(N_Q, D_MODEL), projections(3, 1, d_kv=D_MODEL)
    assert_same(multi_head(x, **given, normaliser=normaliser), by_loop(x, x, given, normaliser=normaliser))


def test_by_hand():
    """Two heads that pick a coordinate each, hardmax, and a W_O that adds them."""
    x = [[1, 0], [0, 2], [3, 0]]
    pick = np.array([[[1.0], [0.0]], [[0.0], [1.0]]])
    ours = multi_head(x, w_q=pick, w_k=pick, w_v=10 * pick, w_o=[[1], [1]], score="dot", normaliser="hardmax")
    assert ours.queries[:, :, 0].tolist() == [[1, 0, 3], [0, 2, 0]]
    assert ours.scores.tolist() == [[[1, 0, 3], [0, 0, 0], [3, 0, 9]], [[0, 0, 0], [0, 4, 0], [0, 0, 0]]]
    third = 20 / 3
    np.testing.assert_allclose(ours.concat, [[30, third], [40 / 3, 20], [30, third]], rtol=1e-15)
    np.testing.assert_allclose(ours.output, [[30 + third], [40 / 3 + 20], [30 + third]], rtol=1e-15)


def test_one_head_is_attention():
    x, given = numbers(N_Q, D_MODEL), projections(1, 1, d_kv=D_MODEL)
    w = {name: given[name] for name in ("w_q", "w_k", "w_v")}
    ours = multi_head(x, **w)
    one = attend(x @ w["w_q"][0], x @ w["w_k"][0], x @ w["w_v"][0])
    np.testing.assert_allclose(ours.output, one.output, **CLOSE)


def test_batches_run_side_by_side():
    x_q, x_kv, given = numbers(2, 3, N_Q, D_MODEL), numbers(2, 3, N_KV, D_MODEL_KV), projections(4, 2)
    ours = multi_head(x_q, x_kv, **given)
    assert ours.output.shape == (2, 3, N_Q, D_OUT)
    for index in np.ndindex(2, 3):
        alone = by_loop(x_q[index], x_kv[index], given)
        for name, expected in alone.items():
            np.testing.assert_allclose(getattr(ours, name)[index], expected, **CLOSE, err_msg=name)


@for_each("d_k", [1, 2, 5, 6, 16, 33])
@for_each("grouped", [1, 3])
def test_another_head_leaves_the_others_bit_for_bit(d_k, grouped):
    """A fused product would not: the sums of one column depend on how many columns there are."""
    x, most = numbers(11, 24), 12
    full = {
        "w_q": numbers(most, 24, d_k, seed=1),
        "w_k": numbers(most // grouped, 24, d_k, seed=2),
        "w_v": numbers(most // grouped, 24, 7, seed=3),
    }
    every = multi_head(x, **full)
    for heads in range(grouped, most, grouped):
        fewer = {name: w[: heads if name == "w_q" else heads // grouped] for name, w in full.items()}
        some = multi_head(x, **fewer)
        for name in ("queries", "scores", "scaled", "masked", "weights", "heads"):
            np.testing.assert_array_equal(getattr(some, name), getattr(every, name)[:heads], err_msg=name)
        np.testing.assert_array_equal(some.concat, every.concat[:, : heads * 7])


def test_causal_is_the_mask_of_that_name():
    assert "causal" in MASKS
    x, given = numbers(N_Q, D_MODEL), projections(2, 2, d_kv=D_MODEL)
    by_flag = multi_head(x, **given, causal=True)
    by_mask = multi_head(x, **given, allowed=np.tri(N_Q, dtype=bool))
    by_bias = multi_head(x, **given, bias=np.where(np.tri(N_Q) > 0, 0, -math.inf))
    for other in (by_mask, by_bias):
        np.testing.assert_array_equal(by_flag.output, other.output)


@for_each(
    "wrong",
    [
        {"w_q": np.ones((2, D_MODEL + 1, D_K))},
        {"w_k": np.ones((2, D_MODEL + 1, D_K))},
        {"w_v": np.ones((2, D_MODEL + 1, D_V))},
        {"w_q": np.ones((3, D_MODEL, D_K)), "b_q": None},
        {"w_q": np.ones((2, D_MODEL, D_K + 1)), "b_q": None},
        {"w_v": np.ones((1, D_MODEL, D_V)), "b_v": None},
        {"w_o": np.ones((2 * D_V + 1, D_OUT))},
    ],
)
def test_shapes_that_do_not_fit_are_value_errors(wrong):
    given = {**projections(2, 2, d_kv=D_MODEL), **wrong}
    with pytest.raises(ValueError):
        multi_head(numbers(N_Q, D_MODEL), **given)
