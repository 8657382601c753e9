"""Slopes of every step of a run: by definition what an edit does to the result."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnviz import NORMALISERS, SCORES, Config, ConfigError, Gradients, gradients, of_weights, run
from attnviz.engine.cost import estimate as cost
from attnviz.engine.cost import sizes as run_sizes
from attnviz.engine.plan import chosen
from attnviz.engine.records import typed_rows
from attnviz.engine.records.trace import Trace
from attnviz.engine.tables import blocks, normalisers, positions, scores
from tests.support import pairs, slopes
from tests.support.cases import for_each
from tests.support.needs import NEEDS

NEAR = 1e-6
SMALL = Config(
    sentence="the cat sat on", n_heads=2, d_model=5, d_k=(3, 2), d_v=(2, 3), d_a=3, mask="causal", bias="alibi", seed=4
)
KNOBS: dict[str, dict[str, Any]] = {
    "plain": {"mask": "none", "bias": "none"},
    "cross": {"second_sentence": "le chat noir", "mask": "window"},
    "rope": {"position": "rope"},
    "random positions": {"position": "random", "bias": "t5"},
    "soft cap": {"softcap": 1.5, "scale": 0.7},
    "temperature": {"temperature": 0.5},
    "wrong axis": {"normalise_over": "queries"},
    "shared keys": {"n_heads": 4, "n_kv_heads": 2},
    "one key head": {"n_heads": 3, "n_kv_heads": 1, "d_k": 3},
    "tied": {"tied": True, "projection_bias": True},
    "tied and shared": {"tied": True, "n_heads": 4, "n_kv_heads": 2, "projection_bias": True},
    "no W_O": {"output_projection": False},
    "biases": {"projection_bias": True, "initialiser": "normal"},
    "additive with biases": {"projection_bias": True, "initialiser": "linear", "score": "additive"},
    "two layers": {"n_layers": 2},
    "residual": {"n_layers": 2, "residual": True},
    "norm before": {"n_layers": 2, "norm": "pre", "residual": True, "feed_forward": "gelu"},
    "norm before, no residual": {"n_layers": 2, "norm": "pre", "feed_forward": "relu", "projection_bias": True},
    "norm after": {"n_layers": 2, "norm": "post", "residual": True, "feed_forward": "relu"},
    "norm after, no residual": {"n_layers": 2, "norm": "post", "feed_forward": "gelu"},
    "rms and gates": {"norm": "rms", "residual": True, "feed_forward": "swiglu", "projection_bias": True},
    "other gates": {"norm": "rms", "feed_forward": "geglu"},
    "GELU by tanh": {"feed_forward": "gelu_tanh"},
    "six layers": {"n_layers": 6, "residual": True, "norm": "pre"},
    "set by hand": {"initialiser": "by_hand", "d_model": 16, "n_layers": 2},
    "padding": {"pad_to": 6, "mask": ("padding", "causal")},
    "emptied rows": {"mask": "custom", "custom_cells": "1: 2, 3: 1-2"},
    "typed bias": {"bias": "formula"},
    "typed score of many parts": {"score": "formula", "score_formula": "sum(exp(-abs(q - k)) * v) * g"},
    "typed score with columns": {"score": "formula", "score_formula": "sum(q * W[:, j]) + b[j] + sum(k * u)"},
    "typed score with a matrix": {"score": "formula", "score_formula": "sum(tanh(q @ A + k @ U))"},
}


@pytest.mark.slow
@for_each("score, normaliser", pairs.each_with_some(SCORES, NORMALISERS))
def test_every_score_and_normaliser_has_the_slopes_of_what_if(score: str, normaliser: str) -> None:
    trace = run(replace(SMALL, score=score, normaliser=normaliser))
    of = slopes.output_slopes(trace)
    off, where = slopes.furthest(trace, of, gradients(trace, of))
    assert off <= NEAR, where


@pytest.mark.slow
@for_each("knob", KNOBS)
def test_every_knob_has_the_slopes_of_what_if(knob: str) -> None:
    trace = run(replace(SMALL, **KNOBS[knob]))
    of = slopes.output_slopes(trace)
    off, where = slopes.furthest(trace, of, gradients(trace, of))
    assert off <= NEAR, where


@pytest.mark.slow
@for_each("number", [0, 1, 2, 3, 4, 5, 6, 8, 10, 11])  # 7 and 9 have numbers where a slope bends
def test_settings_with_anything_on_have_the_slopes_of_what_if(number: int) -> None:
    initialiser = ("glorot", "linear", "normal")[number % 3]  # zeros and ones put a ReLU on its kink
    trace = run(replace(slopes.anything(number, layers=2), initialiser=initialiser))
    of = slopes.output_slopes(trace)
    off, where = slopes.furthest(trace, of, gradients(trace, of))
    assert off <= NEAR, (where, trace.config)


def test_single_cells_have_the_slopes_of_what_if() -> None:
    trace = run(replace(SMALL, n_layers=2, residual=True, norm="pre"))
    of = slopes.output_slopes(trace)
    found, draws = gradients(trace, of), np.random.default_rng(8)
    for layer, name, step in slopes.steps_of(trace):
        if cells := slopes.indices(step):
            at = cells[draws.integers(len(cells))]
            wanted = slopes.what_if(trace, of, layer, name, {at: 1.0})
            assert slopes.slope_of(found, layer, name)[at] == pytest.approx(wanted, rel=NEAR, abs=NEAR), (layer, name)


@for_each("result", [(0, "weights"), (1, "scores"), (None, "embedded"), (0, "heads"), (1, "keys")])
@pytest.mark.slow
def test_a_result_may_be_any_step(result: tuple[int | None, str]) -> None:
    trace = run(replace(SMALL, n_layers=2, mask="none"))
    step = (trace.around if result[0] is None else trace.layers[result[0]])[result[1]]
    of = {result: np.random.default_rng(1).normal(size=step.shape)}
    found = gradients(trace, of)
    off, where = slopes.furthest(trace, of, found)
    assert off <= NEAR, where
    padded = step.array == 0 if step.true_widths else np.zeros(step.shape, dtype=bool)
    assert np.array_equal(slopes.slope_of(found, *result), np.where(padded, 0.0, of[result]))
    assert not found["output"].array.any()


def test_edits_hand_nothing_back_and_have_a_slope() -> None:
    config = replace(SMALL, edits=((0, "weights", (0, 2, 1), 0.25), (0, "capped", (1, 3, 2), -np.inf)))
    trace = run(config)
    of = slopes.output_slopes(trace)
    found = gradients(trace, of)
    off, where = slopes.furthest(trace, of, found)
    assert off <= NEAR, where
    assert found["weights"].array[0, 2, 1] != 0
    assert found["scores"].array[1, 3, 2] == 0


@for_each(
    "edits",
    [
        [(0, "weights", (0, 1, 0), 0.3)],
        [(0, "masked", (0, 0, 3), 0.3)],
        [(0, "ff_hidden", (1, 2), 0.3), (0, "normed", (1, 2), 0.3), (0, "added_normed", (1, 0), 1.0)],
        [(0, "w_q", (1, 2, 0), 0.3), (0, "w_k", (0, 1, 0), 0.3)],
        [(0, "values", (0, 3, 0), -np.inf)],
        [(0, "bias", (0, 3, 1), -np.inf), (0, "scaled", (0, 2, 1), -np.inf)],
    ],
)
@for_each("norm", ["pre", "post"])
@pytest.mark.slow
def test_edits_anywhere(edits: list[Any], norm: str) -> None:
    config = replace(
        SMALL,
        tied=True,
        norm=norm,
        residual=True,
        feed_forward="relu",
        normaliser="sparsemax",
        softcap=3.0,
        edits=edits,
    )
    trace = run(config)
    of = slopes.output_slopes(trace)
    found = gradients(trace, of)
    assert all(np.isfinite(step.array).all() for step in (*found.around.values(), *found.layers[0].values()))
    if np.isfinite(trace["output"].array).all():
        off, where = slopes.furthest(trace, of, found)
        assert off <= NEAR, where


def test_a_value_that_is_infinite_and_forbidden_leaves_the_others_their_slopes() -> None:
    config = replace(SMALL, n_heads=1, d_k=3, d_v=2)
    trace, bad = (run(replace(config, edits=edits)) for edits in ((), ((0, "values", (0, 3, 0), -np.inf),)))
    G = np.zeros(trace["output"].shape)
    G[:3] = np.random.default_rng(2).normal(size=G[:3].shape)
    one, other = (gradients(each, {(0, "output"): G})["scores"].array[0, :3] for each in (trace, bad))
    assert np.array_equal(one, other)
    assert one.any()


def test_what_was_given_is_not_tied() -> None:
    draws = np.random.default_rng(3)
    w_k = draws.normal(size=(2, 5, 3))
    config = replace(SMALL, tied=True, n_layers=2, d_k=3)
    trace = run(config, [{"w_k": w_k}, {}])
    of = slopes.output_slopes(trace)
    found, free = gradients(trace, of), gradients(run(replace(config, tied=False), [{"w_k": w_k}, {}]), of)
    assert trace.given_in == (frozenset({"w_k"}), frozenset())
    X, Q = trace["embedded"].array, found.layers[0]["queries"].array
    assert np.allclose(found.layers[0]["w_q"].array, X.T @ Q, rtol=0, atol=1e-12)
    assert not np.allclose(found.layers[1]["w_q"].array, free.layers[1]["w_q"].array)


def test_kinks_have_slope_0() -> None:
    same = replace(SMALL, tied=True, position="none", sentence="a a a", mask="none", bias="none")
    for score in ("negative_distance", "cosine"):
        config = replace(same, score=score, embedding="own", own_numbers="0 0 0 0 0")
        trace = run(config)
        found = gradients(trace, {(0, "scores"): np.ones(trace["scores"].shape)})
        assert not found["queries"].array.any()
    trace = run(replace(SMALL, normaliser="hardmax"))
    assert not gradients(trace, slopes.output_slopes(trace))["masked"].array.any()


def test_forbidden_cells_have_no_slope_upstream_of_the_mask() -> None:
    trace = run(SMALL)
    found = gradients(trace, slopes.output_slopes(trace))
    forbidden = ~trace["allowed"].array
    for name in ("masked", "capped", "scaled", "scores", "bias"):
        assert not found[name].array[:, forbidden].any()
    assert found["weights"].array[:, forbidden].all()


def test_nothing_reads_the_second_copy_of_the_embedding() -> None:
    trace = run(SMALL)
    assert not gradients(trace, slopes.output_slopes(trace))["embedded_kv"].array.any()


def test_slopes_have_the_names_axes_and_padding_of_the_run() -> None:
    trace = run(replace(SMALL, n_layers=2))
    found = gradients(trace, slopes.output_slopes(trace))
    assert isinstance(found, Gradients)
    assert list(found.around) == list(trace.around)
    for mine, theirs in zip(found.layers, trace.layers):
        assert list(mine) == list(theirs)
        for name, step in theirs.items():
            assert (mine[name].shape, mine[name].axes) == (step.shape, step.axes)
            assert mine[name].kind == "signed"
            assert not mine[name].array.flags.writeable
    padding = np.s_[1, :, 2]  # the second head has two columns of keys
    assert found["keys"].array[0].any()
    assert not found["keys"].array[padding].any()
    assert not found["w_k"].array[1, :, 2].any()
    assert found["output"].array is not None


def test_softmax_slopes_of_a_row_add_to_zero_and_give_the_knock_out_exactly() -> None:
    """Without the key j, L changes by (dL/d masked_ij) / (1 - a_ij), if L is linear in the row."""
    trace = run(Config(sentence="one two three four", n_heads=2))
    G = np.random.default_rng(0).normal(size=trace["output"].shape)
    found = gradients(trace, {(0, "output"): G})
    assert abs(found["masked"].array.sum(axis=-1)).max() < 1e-14
    before, A = (G * trace["output"].array).sum(), trace["weights"].array
    for at in ((0, 1, 2), (1, 3, 0), (0, 0, 0)):
        after = (G * run(trace.config, edits=[(0, "masked", at, -np.inf)])["output"].array).sum()
        assert before - after == pytest.approx(found["masked"].array[at] / (1 - A[at]), abs=1e-12)


@for_each("table", [SCORES, NORMALISERS, blocks.NORMS, blocks.FEED_FORWARDS, positions.POSITIONS])
def test_every_row_that_a_run_computes_with_has_its_way_back(table: dict[str, Any]) -> None:
    idle = {"none", "sinusoidal", "random"}
    missing = [name for name, row in table.items() if row.back is None and name not in idle]
    assert not missing, f"give each of {missing} a `back` as those beside it have"


@for_each("name", [name for name, row in SCORES.items() if row.line])
def test_the_way_back_of_a_score_is_that_of_its_line(name: str) -> None:
    from attnviz import score as typed_score

    row, draws = SCORES[name], np.random.default_rng(9)
    typed = typed_score("line", row.line)
    Q, K, G = draws.normal(size=(2, 4, 3)), draws.normal(size=(2, 5, 3)), draws.normal(size=(2, 4, 5))
    sizes = {"d_q": 3, "d_k": 3, "d_a": 2, "key": 5}
    own = {p: draws.normal(size=(2, *(sizes[axis] for axis in axes))) for p, axes in row.parameters.items()}
    mine, its = row.back(G, row.fn(Q, K, **own), Q, K, **own), typed.back(G, row.fn(Q, K, **own), Q, K, **own)
    factor = row.scale(3)  # the line of the scaled product holds its scale
    for one, other in zip((*mine[:2], *mine[2].values()), (*its[:2], *(its[2][p] for p in mine[2]))):
        assert np.allclose(factor * one, other, rtol=0, atol=1e-12)


@pytest.mark.slow
@for_each(
    "where, table, name, knob",
    [
        (typed_rows, "SCORES", "scaled_dot", "plain"),
        (typed_rows, "SCORES", "additive", "additive with biases"),
        (typed_rows, "NORMALISERS", "softmax", "plain"),
        (chosen, "NORMS", "pre", "norm before"),
        (chosen, "FEED_FORWARDS", "gelu", "norm before"),
        (chosen, "POSITIONS", "rope", "rope"),
    ],
)
def test_a_wrong_sign_is_seen(where: Any, table: str, name: str, knob: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = getattr(where, table)
    back: Callable[..., Any] = rows[name].back

    def wrong(*args: Any, **settings: Any) -> Any:
        made = back(*args, **settings)
        return (-made[0], *made[1:]) if isinstance(made, tuple) else -made

    monkeypatch.setitem(rows, name, replace(rows[name], back=wrong))
    trace = run(replace(SMALL, **KNOBS[knob]))
    of = slopes.output_slopes(trace)
    assert slopes.furthest(trace, of, gradients(trace, of))[0] > 1e-3


def peak_of(trace: Trace, of: Any) -> int:
    """The most bytes that the slopes take while they are computed."""
    tracemalloc.start()
    try:
        gradients(trace, of)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_additive_slopes_never_hold_a_number_for_every_query_key_and_hidden_unit() -> None:
    n, d_a, heads = 64, 32, 8
    config = Config(sentence=" ".join(f"w{i}" for i in range(n)), n_heads=heads, d_a=d_a, score="additive")
    trace = run(config)
    of = slopes.output_slopes(trace)
    peak = peak_of(trace, of)
    assert peak < 8 * heads * n * n * d_a / 3
    numbers = sum(step.array.size for _, _, step in slopes.steps_of(trace))
    assert peak < 3 * 8 * numbers


@for_each("score", ["scaled_dot", "additive", "formula"])
def test_the_estimate_covers_the_way_back(score: str) -> None:
    sentence = " ".join(f"w{i}" for i in range(40))
    typed = "sum(exp(-abs(q - k)) * v) * g + sum(tanh(q @ W) * k)"
    config = Config(sentence=sentence, n_heads=8, score=score, d_a=64, score_formula=typed, feed_forward="geglu")
    trace = run(config)
    of = slopes.output_slopes(trace)
    peak = peak_of(trace, of)
    assert peak <= cost.estimate(NEEDS["explore/backward"], config).n_bytes - 8 * run_sizes.sizes(config).numbers


@for_each("size", [1.0, 1e3, 1e150, 1e-160])
@for_each("score", ["cosine", "negative_distance", "additive"])
def test_sizes_that_square_beyond_range_give_finite_slopes(score: str, size: float) -> None:
    Q, K = size * np.random.default_rng(0).normal(size=(2, 1, 3, 4))
    row, own = SCORES[score], {}
    if score == "additive":
        own = {"W_q": np.eye(4)[None], "W_k": np.eye(4)[None], "v": np.ones((1, 4))}
    dQ, dK, _ = row.back(np.ones((1, 3, 3)), row.fn(Q, K, **own), Q, K, **own)
    assert np.isfinite(dQ).all()
    assert np.isfinite(dK).all()


@for_each(
    "of, message",
    [
        ({(0, "attention"): 1.0}, "L names 'attention', which is not a step there; choose one of: w_q"),
        ({(3, "scores"): 1.0}, "L names layer 3; the layers are 0 to 0"),
        ({(-1, "scores"): 1.0}, "L names layer -1"),
        ({(None, "scores"): 1.0}, "L names 'scores', which is not a step there; choose one of: token_embeddings"),
        ({(0, "scores"): np.ones((2, 4))}, r"L in scores has shape \(2, 4\); give \(2, 4, 4\)"),
        ({(0, "scores"): np.full((2, 4, 4), np.nan)}, "L in scores holds NaN or infinity"),
        ({(0, "scores"): "much"}, "L in scores is not an array of numbers"),
        ({"scores": np.ones((2, 4, 4))}, "L names 'scores'; give"),
        ({("0", "scores"): 1.0}, "L names"),
        ("scores", "L is 'scores'; give"),
    ],
)
def test_what_is_no_result_is_said_in_one_sentence(of: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        gradients(run(SMALL), of)


def test_what_is_no_run_is_said_in_one_sentence() -> None:
    with pytest.raises(ConfigError, match="gradients takes what run returned"):
        gradients(SMALL, {})  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="uploaded"):
        gradients(of_weights(np.eye(2), ["a", "b"]), {})


def test_modules_are_those_of_the_tables() -> None:
    assert typed_rows.SCORES is scores.SCORES
    assert typed_rows.NORMALISERS is normalisers.NORMALISERS
