"""The rows of the tables, typed: a line gives what the engine gives."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from attnviz import BIASES, MASKS, NORMALISERS, SCORES, Config, attend, run, score
from attnviz.formula.evaluation import arrays
from attnviz.formula.evaluation.functions import (
    bias_table,
    mask_table,
    normaliser_function,
    score_function,
    sums_to_one,
)
from attnviz.formula.evaluation.numbers import scores
from attnviz.formula.reader import parse
from tests.support.cases import for_each

HEADS, N, M, D, HIDDEN = 3, 5, 7, 6, 4
SIZES = {"d_q": D, "d_k": D, "d_a": HIDDEN, "key": M}


def drawn(name: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    draws = np.random.default_rng(seed)
    row = SCORES[name]
    own = {each: draws.normal(size=(HEADS, *(SIZES[axis] for axis in axes))) for each, axes in row.parameters.items()}
    return draws.normal(size=(HEADS, N, D)), draws.normal(size=(HEADS, M, D)), own


LINES = [name for name, row in SCORES.items() if row.line]


@for_each("size", [1.0, 1e3, 1e150, 1e-160])
@for_each("name", LINES)
def test_a_score_that_is_typed_is_that_of_the_engine(name: str, size: float) -> None:
    row, formula = SCORES[name], parse(SCORES[name].line)
    Q, K, own = drawn(name)
    assert {each: formula.axes_of(each) for each in formula.parameters} == dict(row.parameters)
    with np.errstate(all="ignore"):
        wanted = row.fn(size * Q, size * K, **own) * row.scale(D)
    made = scores(formula, arrays.of_score(formula, size * Q, size * K, own))
    assert (np.isfinite(made) == np.isfinite(wanted)).all()
    inside = np.isfinite(wanted)
    np.testing.assert_allclose(
        made[inside], wanted[inside], rtol=1e-12, atol=1e-12 * np.abs(wanted[inside]).max(initial=0)
    )


@for_each("name", LINES)
def test_it_may_differ_in_width_where_the_row_says_so(name: str) -> None:
    formula = parse(SCORES[name].line)
    assert formula.any_widths == SCORES[name].any_widths


@for_each("size, T", [(1.0, 1.0), (1.0, 0.7), (1000.0, 0.01), (1e300, 1.0)])
@for_each("name", [name for name, row in NORMALISERS.items() if row.line])
def test_a_normaliser_that_is_typed_is_that_of_the_engine(name: str, size: float, T: float) -> None:
    draws = np.random.default_rng(1)
    X = size * draws.normal(size=(HEADS, N, M))
    X[draws.random(X.shape) < 0.4] = -np.inf
    X[0, 0] = -np.inf
    X[0, 1] = size * 0.5
    row = NORMALISERS[name]
    formula = row.typed or parse(row.line, "normaliser")
    with np.errstate(all="ignore"):
        wanted = row.fn(X, T)
        made = normaliser_function(formula)(X, T)
    np.testing.assert_allclose(made, wanted, rtol=0, atol=1e-12)
    assert sums_to_one(formula) == (row.sums_to_one and name != "linear")


KNOBS = {"reach": 3.0, "dilation": 2.0, "block_size": 4.0, "prefix_length": 3.0, "n_global": 2.0, "bias_slope": 0.5}


@for_each("name", [name for name, row in MASKS.items() if row.line])
def test_a_mask_that_is_typed_is_that_of_the_engine(name: str) -> None:
    words = tuple(["a", "<pad>", "b"] * 4)
    i, j = np.arange(12)[:, None], np.arange(12)[None]
    pad = np.array([[word == "<pad>" for word in words]])
    settings = {knob: int(KNOBS[knob]) for knob in MASKS[name].uses}
    formula = parse(MASKS[name].line, "mask", {knob: KNOBS[knob] for knob in MASKS[name].uses})
    assert (mask_table(formula, words, words, (12, 12)) == MASKS[name].fn(i, j, pad, **settings)).all()


def test_a_bias_that_is_typed_is_that_of_the_engine() -> None:
    linear = parse(BIASES["linear"].line, "bias", {"bias_slope": 0.5})
    np.testing.assert_array_equal(bias_table(linear, 1, 5, 7), BIASES["linear"].fn(1, 5, 7, bias_slope=0.5))
    alibi = parse("-abs(i-j) * 2**(-8*h/n_heads)", "bias")
    np.testing.assert_allclose(bias_table(alibi, 8, 5, 7), BIASES["alibi"].fn(8, 5, 7), rtol=1e-15)


SETTINGS = [
    {},
    {"d_k": (4, 3, 2, 5)},
    {"n_kv_heads": 2},
    {"n_kv_heads": 2, "d_k": (3, 2), "projection_bias": True, "initialiser": "linear"},
    {"second_sentence": "a dog ran", "projection_bias": True},
    {"n_layers": 2, "position": "rope", "mask": "causal"},
]


@for_each("settings", SETTINGS)
@for_each("name", LINES)
def test_a_run_of_what_is_typed_is_the_run_of_the_row(name: str, settings: dict[str, object]) -> None:
    if re.search(r"\bb\b", SCORES[name].line):  # the row has it where projections have biases, the line always
        settings = {**settings, "projection_bias": True}
    row = run(Config(score=name, **settings))
    typed = run(Config(score="formula", score_formula=SCORES[name].line, **settings))
    for one, other in zip(row.layers, typed.layers):
        own = {step for step in one if step.startswith("score_")}
        more = {step for step in other if step.startswith("score_")} - own
        assert all(step == "score_b" and not other[step].array.any() for step in more), "a typed bias is there, at 0"
        for step in own:
            np.testing.assert_array_equal(one[step].array, other[step].array)
        for step in ("scaled", "weights", "output"):
            np.testing.assert_allclose(other[step].array, one[step].array, rtol=1e-9, atol=1e-12)
            if not SCORES[name].unscaled:  # whose scale is a step of its own
                np.testing.assert_array_equal(other[step].array, one[step].array)


def test_an_edit_reaches_what_follows() -> None:
    config = Config(score="formula", score_formula="sum(tanh(q*k)) * g", n_heads=2)
    trace = run(config, edits=[(0, "score_g", (1, 0), 3.0), (0, "queries", (0, 2, 1), 5.0)])
    Q, K = trace["queries"].array, trace["keys"].array
    wanted = np.tanh(Q[:, :, None] * K[:, None]).sum(axis=-1) * np.array([1.0, 3.0])[:, None, None]
    np.testing.assert_allclose(trace["scores"].array, wanted, rtol=1e-13)


def test_masks_are_joined_and_forbidden_keys_take_no_part() -> None:
    trace = run(
        Config(
            sentence="the cat sat on the mat",
            mask=("causal", "formula"),
            mask_formula='token[j] != "the" or i == j',
            normaliser="formula",
            normaliser_formula="relu(x) / n + mean(x) * 0 + max(x) * 0",
        )
    )
    words = trace.key_tokens
    may = [[j <= i and (words[j] != "the" or i == j) for j in range(6)] for i in range(6)]
    assert trace["allowed"].array.tolist() == may
    S = trace["capped"].array
    wanted = np.where(may, np.maximum(S, 0.0), 0.0) / np.sum(may, axis=-1)[:, None]
    np.testing.assert_allclose(trace["weights"].array, wanted, rtol=1e-13)


def test_a_score_of_your_own_goes_into_attend_and_config() -> None:
    mine = score("mine", lambda q, k: np.abs(q - k).sum())
    Q, K, V = (np.random.default_rng(2).normal(size=(2, 3, 4)) for _ in range(3))
    wanted = np.abs(Q[:, :, None] - K[:, None]).sum(axis=-1)
    np.testing.assert_allclose(attend(Q, K, V, score=mine).scores, wanted, rtol=1e-13)
    np.testing.assert_allclose(attend(Q[None], K[None], V[None], score=mine).scores[0], wanted, rtol=1e-13)
    np.testing.assert_allclose(attend(Q[0], K[0], V[0], score=mine).scores, wanted[0], rtol=1e-13)
    config = Config(score=mine)
    assert (config.score, config.score_formula) == ("formula", "sum(abs(q - k))")
    assert replace(config) == config


def test_what_is_not_given_is_the_plainest() -> None:
    fn = score_function(parse("sum(tanh(q@W + k@U + b) * v) * g"))
    Q, K = np.random.default_rng(3).normal(size=(2, 4, 3))[:, :, :], np.random.default_rng(4).normal(size=(2, 5, 3))
    np.testing.assert_allclose(fn(Q, K), np.tanh(Q[:, :, None] + K[:, None]).sum(axis=-1), rtol=1e-13)


def test_lines_behind_each_other_are_one_setting() -> None:
    assert Config(score_formula="t = q*k\nsum(t)").score_formula == "t = q*k; sum(t)"
