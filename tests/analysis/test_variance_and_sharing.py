"""What the experiments measure, against the engine and against sums that can be done by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.analysis import variance_and_sharing
from attnviz.analysis.variance_and_sharing import DIVISORS, VECTORS
from tests.support.cases import for_each

CONFIG = Config(sentence="one two three", n_heads=2, embedding="one_hot", position="none", initialiser="identity")
RANDOM = Config(sentence="a b c d e", n_heads=4, n_kv_heads=2, d_k=3, d_v=5)


def test_a_spread_that_can_be_done_by_hand() -> None:
    """One-hot words handed on unchanged: a score is 1 for the word itself and 0 for the two others."""
    found = variance_and_sharing.spread(run(CONFIG), 0, 4, "setting")
    deviation = math.sqrt(1 / 3 - 1 / 9)
    assert found.scores == pytest.approx({"one": deviation, "root": deviation / 2, "width": deviation / 4})
    largest = {name: math.exp(1 / by) / (math.exp(1 / by) + 2) for name, by in (("one", 1), ("root", 2), ("width", 4))}
    assert found.largest == pytest.approx(largest)
    assert found.equal == pytest.approx(1 / 3)


@for_each("name", DIVISORS)
@for_each("mask", ["none", "causal"])
def test_the_weights_of_the_setting_are_those_of_the_run(name: str, mask: str) -> None:
    config = replace(RANDOM, mask=mask, bias="alibi", softcap=2.5, temperature=0.7, normaliser="sparsemax", d_k=6)
    found = variance_and_sharing.spread(run(replace(config, d_k=(3, 2), score="additive")), 0, 6, "setting")
    expected = run(replace(config, score="dot", scale=1.0 / DIVISORS[name].fn(6)))
    np.testing.assert_allclose(found.weights[name], expected["weights"].array, rtol=1e-12)
    may = ~np.isneginf(expected["masked"].array)
    assert (found.masked == ~may).all()
    assert found.scores[name] == pytest.approx(expected["scaled"].array[may].std())
    assert found.largest[name] == pytest.approx(expected["weights"].array.max(axis=-1).mean())


def test_vectors_of_variance_one_have_it_and_keep_their_columns() -> None:
    trace = run(Config(sentence=" ".join(f"w{i}" for i in range(40)), second_sentence="x y z", n_heads=6, n_kv_heads=2))
    Q, K = VECTORS["unit"].fn(trace, 0, 32)
    assert Q.shape == (6, 40, 32)
    assert K.shape == (2, 3, 32)
    assert Q.std() == pytest.approx(1, abs=0.03)
    less = VECTORS["unit"].fn(trace, 0, 5)
    assert (less[0] == Q[..., :5]).all()
    assert (less[1] == K[..., :5]).all()


def test_the_spread_of_independent_entries_grows_as_the_root() -> None:
    trace = run(Config(sentence=" ".join(f"w{i}" for i in range(30)), n_heads=8, d_k=1))
    for found in variance_and_sharing.spread_by_width(trace, 0, "unit", (1, 9, 49)):
        assert found.scores["one"] == pytest.approx(math.sqrt(found.d_k), rel=0.1)
        assert found.scores["root"] == pytest.approx(found.scores["one"] / math.sqrt(found.d_k))
        assert found.scores["width"] == pytest.approx(found.scores["one"] / found.d_k)


def test_rows_that_may_look_at_nothing_do_not_count() -> None:
    trace = run(replace(CONFIG, mask="custom", custom_cells="2: 1-2"))
    found = variance_and_sharing.spread(trace, 0, 4, "setting")
    assert found.equal == 0.5
    assert found.largest["one"] == pytest.approx(math.e / (math.e + 1))
    assert found.scores["one"] == 0.5


def test_where_nothing_may_be_looked_at_nothing_is_measured() -> None:
    found = variance_and_sharing.spread(run(replace(CONFIG, mask="custom", custom_cells="")), 0, 2)
    assert math.isnan(found.equal)
    assert math.isnan(found.scores["root"])


def test_the_normaliser_runs_over_the_keys() -> None:
    found = variance_and_sharing.spread(run(replace(RANDOM, normalise_over="queries")), 0, 3)
    np.testing.assert_allclose(found.weights["root"].sum(axis=-1), 1)


def test_a_later_layer_is_measured_with_its_own_queries() -> None:
    config = replace(RANDOM, n_layers=2, residual=True)
    found = variance_and_sharing.spread(run(config), 1, 3, "setting")
    np.testing.assert_allclose(found.weights["root"], run(config).layers[1]["weights"].array, rtol=1e-12)


def test_what_is_cached_is_what_keys_and_values_hold() -> None:
    for config in (RANDOM, replace(RANDOM, n_kv_heads=1), replace(RANDOM, n_kv_heads=None, d_k=(4, 1, 2), d_v=7)):
        trace = run(config)
        held = sum(trace[name].head(h).size for name in ("keys", "values") for h in range(config.kv_heads))
        assert variance_and_sharing.cache_size(config) * len(trace.key_tokens) == held


def test_heads_are_alike_by_the_weight_they_share() -> None:
    A = np.array([[[1.0, 0, 0]], [[0.5, 0.5, 0]], [[0, 0, 1]], [[0, 0.25, 0.75]]])
    assert variance_and_sharing.shared_weight(A, 2) == pytest.approx((0.5 + 0.75) / 2)
    assert variance_and_sharing.shared_weight(A, 4) == pytest.approx((0.5 + 0 + 0 + 0 + 0.25 + 0.75) / 6)
    assert variance_and_sharing.shared_weight(3 * A, 2) == pytest.approx(variance_and_sharing.shared_weight(A, 2))
    assert math.isnan(variance_and_sharing.shared_weight(A, 1))
    assert variance_and_sharing.shared_weight(np.array([[[1.0, 0], [0, 0]], [[1, 0], [0, 0]]]), 2) == 1


def test_at_the_width_of_the_setting_the_weights_are_those_of_the_run() -> None:
    for normaliser in (
        {"normaliser": "formula", "normaliser_formula": "relu(x) / n"},
        {"normaliser": "entmax", "normaliser_knobs": {"entmax.alpha": 2.0}},
        {"normaliser": "softmax_with_sink", "normaliser_knobs": {"softmax_with_sink.sink": 3.0}},
    ):
        trace = run(Config(sentence="the cat sat", n_heads=2, d_k=4, **normaliser))
        found = variance_and_sharing.spread(trace, 0, 4, "setting")
        np.testing.assert_allclose(found.weights["root"], trace["weights"].array, rtol=1e-12, err_msg=str(normaliser))
