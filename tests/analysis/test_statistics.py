"""Statistics of weights, against numbers worked by hand and against loops in plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

from attnviz.analysis import statistics
from attnviz.analysis.statistics import STATISTICS
from tests.support.cases import for_each

pytestmark = pytest.mark.filterwarnings("error")

# Rows: all on one key; halves; a row that adds to 2; a row of zeros.
BY_HAND = np.array([[[1, 0, 0, 0], [0.5, 0, 0.5, 0], [0.5, 0.5, 0.5, 0.5], [0, 0, 0, 0]]])
NAN = math.nan
EXPECTED = {
    "row_sum": [1, 1, 2, 0],
    "effective_keys": [1, 2, 4, 0],
    "entropy": [0, math.log(2), math.log(4), NAN],
    "largest": [1, 0.5, 0.5, 0],
    "mean_distance": [0, 1, (2 + 1 + 0 + 1) / 4, NAN],
    "share_on_self": [1, 0, 0.25, NAN],
    "share_on_previous": [NAN, 0.5, 0.25, NAN],
    "share_on_first": [1, 0.5, 0.25, NAN],
}


def weights(*shape: int, seed: int = 0) -> np.ndarray:
    """Positive weights whose rows do not add to one, a third of them zero."""
    rng = np.random.default_rng([seed, *shape])
    return rng.uniform(0.1, 1, shape) * (rng.uniform(size=shape) > 1 / 3)


@for_each("name", STATISTICS)
def test_by_hand(name):
    np.testing.assert_allclose(STATISTICS[name].fn(BY_HAND), [EXPECTED[name]], rtol=0, atol=1e-15)


def one_row(row: list[float], i: int) -> dict[str, float]:
    """Every statistic of a row with something in it, by its definition."""
    total = sum(row)
    p = [a / total for a in row]
    bits = -sum(x * math.log(x) for x in p if x > 0)
    return {
        "row_sum": total,
        "entropy": bits,
        "effective_keys": math.exp(bits),
        "largest": max(row),
        "mean_distance": sum(x * abs(i - j) for j, x in enumerate(p)),
        "share_on_self": p[i],
        "share_on_previous": p[i - 1] if i else NAN,
        "share_on_first": p[0],
    }


@for_each("name", STATISTICS)
def test_against_loops(name):
    A = weights(2, 3, 5, 5)
    A[..., 0] += 0.05  # no row of zeros
    expected = [[[one_row(row.tolist(), i)[name] for i, row in enumerate(head)] for head in batch] for batch in A]
    np.testing.assert_allclose(STATISTICS[name].fn(A), expected, rtol=0, atol=1e-14)


def test_sums_of_columns():
    A = weights(2, 3, 4)
    expected = [[sum(head[i][j] for i in range(3)) for j in range(4)] for head in A.tolist()]
    np.testing.assert_allclose(statistics.column_sums(A), expected, rtol=0, atol=1e-15)


def test_the_largest_weight_is_found_where_it_stands_and_the_first_of_equals_wins():
    A = np.array([[[0.1, 0.7, 0.2], [0.4, 0.2, 0.4], [0, 0, 0]]])
    assert statistics.largest_at(A).tolist() == [[1, 0, -1]]


def test_all_keys_alike_count_in_full_and_one_key_counts_once():
    for n in (1, 2, 7, 64):
        assert statistics.effective_keys(np.full((1, n), 1 / n))[0] == pytest.approx(n, rel=1e-14)
        assert statistics.effective_keys(np.eye(n)).tolist() == [1.0] * n


def test_a_negative_weight_has_no_entropy():
    assert np.isnan(statistics.entropy(np.array([[1.5, -0.5]]))).all()
    assert np.isnan(statistics.effective_keys(np.array([[1.0, -1.0]]))).all()


@for_each("name", [name for name, row in STATISTICS.items() if row.self_only])
def test_what_compares_positions_refuses_other_shapes(name):
    with pytest.raises(ValueError, match="3 queries and 4 keys"):
        STATISTICS[name].fn(weights(2, 3, 4))


def test_cross_attention_leaves_out_what_compares_positions():
    for shape in ((2, 3, 4), (2, 4, 4)):
        found = statistics.of_rows(weights(*shape) + 0.01, is_self=False)
        assert list(found) == list(STATISTICS)
        for name, values in found.items():
            assert values.shape == shape[:2]
            assert np.isnan(values).all() == STATISTICS[name].self_only


def test_the_mean_of_a_head_skips_what_is_not_defined():
    assert statistics.mean_over_rows(np.array([[NAN, 1.0, 2.0], [4.0, 4.0, 4.0]])).tolist() == [1.5, 4.0]
    assert np.isnan(statistics.mean_over_rows(np.array([NAN, NAN])))


def test_open_keys_counts_what_may_be_looked_at():
    may = np.tril(np.ones((3, 3), bool))
    assert statistics.open_keys(may, (2, 3, 3)).tolist() == [[1, 2, 3], [1, 2, 3]]
    assert statistics.open_keys(np.stack([may, ~may]), (2, 3, 3)).tolist() == [[1, 2, 3], [2, 1, 0]]


# Rollout -------------------------------------------------------------------------------------------------------------


def rolled_out(layers, residual):
    """Rollout as loops: every layer mixes what the layer before has mixed."""
    n = len(layers[0][0])
    reached = [[float(i == j) for j in range(n)] for i in range(n)]
    every = []
    for heads in layers:
        mixed = []
        for i in range(n):
            row = [sum(head[i][j] for head in heads) / len(heads) for j in range(n)]
            if residual:
                row = [0.5 * a + 0.5 * (i == j) for j, a in enumerate(row)]
            mixed.append([a / sum(row) for a in row])
        reached = [[sum(mixed[i][k] * reached[k][j] for k in range(n)) for j in range(n)] for i in range(n)]
        every.append(reached)
    return every


@pytest.mark.parametrize("residual", [True, False])
def test_rollout_against_loops(residual):
    layers = [weights(heads, 5, 5, seed=7) + 0.01 for heads in (2, 3, 1)]
    expected = rolled_out([layer.tolist() for layer in layers], residual)
    np.testing.assert_allclose(statistics.rollout(layers, residual=residual), expected, rtol=0, atol=1e-14)


def test_rollout_by_hand():
    to_first = np.array([[[1.0, 0.0], [1.0, 0.0]]])
    half = [[1, 0], [0.5, 0.5]]
    np.testing.assert_array_equal(statistics.rollout([to_first, to_first]), [half, [[1, 0], [0.75, 0.25]]])
    np.testing.assert_array_equal(statistics.rollout([to_first], residual=False), [to_first[0]])


def test_rollout_of_rows_that_look_at_nothing():
    nothing = np.zeros((2, 3, 3))
    np.testing.assert_array_equal(statistics.rollout([nothing, nothing]), [np.eye(3)] * 2)
    np.testing.assert_array_equal(statistics.rollout([nothing], residual=False), [np.zeros((3, 3))])


def test_rollout_refuses_cross_attention():
    with pytest.raises(ValueError, match="needs self-attention"):
        statistics.rollout([weights(2, 3, 4)])
