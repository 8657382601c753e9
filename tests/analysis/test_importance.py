"""What a key is worth: the knock-out is a run without it, and the identity for softmax holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from attnviz import Config, Trace, gradients, run
from attnviz.analysis.importance import MEASURES, measure, rank_correlation
from attnviz.engine.cost import estimate as cost
from attnviz.ui.panels.importance import NEED
from tests.support.cases import for_each

BASE = Config(sentence="the cat sat on a mat", n_heads=2, seed=2)


def length_of(trace: Trace, U: np.ndarray) -> float:
    return float((U * trace["output"].array).sum())


@for_each(
    "changes, layer",
    [({}, 0), ({"n_layers": 2, "residual": True}, 0), ({"n_layers": 2, "norm": "pre"}, 1), ({"mask": "causal"}, 0)],
)
def test_the_knock_out_is_what_is_lost_without_the_key(changes: dict[str, object], layer: int) -> None:
    trace = run(replace(BASE, **changes))
    found = measure(trace, layer, (1, 3))
    Y = trace["output"].array
    U = Y / np.linalg.norm(Y, axis=-1, keepdims=True)
    r = list(found.positions).index((1, 3))
    slopes = gradients(trace, {(None, "output"): U}).layers[layer]
    for j in range(len(trace.key_tokens)):
        if np.isneginf(trace.layers[layer]["masked"].array[1, 3, j]):
            assert np.isnan([getattr(found, name)[r, j] for name in (*MEASURES, "knock_out")]).all()
            continue
        without = run(trace.config, edits=[(layer, "masked", (1, 3, j), -np.inf)])
        assert found.knock_out[r, j] == pytest.approx(length_of(trace, U) - length_of(without, U), abs=1e-12)
        assert found.by_score[r, j] == slopes["scores"].array[1, 3, j]
        assert found.by_weight[r, j] == slopes["weights"].array[1, 3, j]


def test_for_softmax_the_knock_out_follows_from_the_slope() -> None:
    for changes in ({}, {"temperature": 0.5, "mask": "causal"}, {"n_layers": 2, "residual": True}):
        trace = run(replace(BASE, **changes))
        found = measure(trace, len(trace.layers) - 1)
        assert found.exact is not None
        assert found.exact < 1e-12
    for changes in ({"norm": "post"}, {"normaliser": "sigmoid"}, {"feed_forward": "relu"}):
        assert measure(run(replace(BASE, **changes)), 0).exact is None
    assert measure(run(replace(BASE, n_layers=2)), 0).exact is None


@pytest.mark.slow
def test_the_slope_of_the_score_agrees_with_the_knock_out_and_the_weight_does_not() -> None:
    trace = run(
        Config(sentence="the cat sat on the warm mat by the door", n_layers=2, residual=True, norm="pre", seed=5)
    )
    found = measure(trace, 0).correlations()
    assert found["by_score"] > 0.9
    assert found["by_score"] > found["by_weight"] > found["weight"]


def test_rank_correlations_are_those_of_spearman() -> None:
    draws = np.random.default_rng(0)
    for _ in range(20):
        x, y = draws.integers(0, 5, size=(2, 9)).astype(float)
        assert rank_correlation(x, y) == pytest.approx(pd.DataFrame({"x": x, "y": y}).corr("spearman").loc["x", "y"])
    assert rank_correlation(np.ones(4), np.arange(4.0)) is None
    assert rank_correlation(np.arange(2.0), np.arange(2.0)) is None


@pytest.mark.slow
def test_work_is_bounded_by_looking_at_fewer_rows() -> None:
    words = " ".join(f"w{i}" for i in range(60))
    trace = run(Config(sentence=words, n_heads=4, n_layers=2))
    found = measure(trace, 0, (2, 7))
    assert found.positions[0] == (2, 7)
    assert 0 < len(found.positions) <= 400 // 60
    assert found.n_rows == 240


def test_a_large_setting_is_refused_before_it_is_computed() -> None:
    words = " ".join(f"w{i}" for i in range(64))
    large = Config(sentence=words, n_heads=16, d_model=512, d_k=64, d_v=64, n_layers=6, score="negative_distance")
    assert "allows 6 for" in cost.refusal(NEED, large, most=1e12)
    assert not cost.refusal(NEED, Config(sentence=words), most=1e12)


def test_hardmax_has_slopes_of_zero_and_so_no_correlation() -> None:
    assert measure(run(replace(BASE, normaliser="hardmax")), 0).correlations()["by_score"] is None
