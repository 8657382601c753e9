"""Equal rows of X give equal rows of every step, to the last bit, and nothing is decided by rounding."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from attnviz import NORMALISERS, SCORES, Config, attend, multi_head, run
from attnviz.engine.numerics.products import first_equals, product, spread
from attnviz.engine.records.trace import Trace
from tests.support.cases import for_each
from tests.support.sample_settings import repeated_words


def unequal(trace: Trace) -> list[str]:
    """Return the steps in which two equal tokens have other numbers."""
    first = {
        "query": [trace.query_tokens.index(token) for token in trace.query_tokens],
        "key": [trace.key_tokens.index(token) for token in trace.key_tokens],
    }
    found = []
    for layer, steps in enumerate([trace.around, *trace.layers]):
        for name, step in steps.items():
            for axis, size in enumerate(step.axes):
                of_position = size == "key" and step.axes[0] == "head" and SCORES[trace.config.score].by_position
                if size not in first or name == "allowed" or of_position:  # a column of a position, not of a key
                    continue
                if not np.array_equal(step.array, step.array.take(first[size], axis), equal_nan=True):
                    found.append(f"{name} {size} {layer}")
    return found


@pytest.mark.slow
def test_equal_words_have_equal_numbers_in_every_step():
    assert {number: difference for number in range(300) if (difference := unequal(run(repeated_words(number))))} == {}


@for_each("d", [1, 13, 16, 32])
@for_each("n", [5, 7, 17, 30])
def test_equal_rows_of_arrays_are_equal_in_every_step(n: int, d: int):
    numbers = np.random.default_rng(n)
    first = numbers.integers(0, n, size=n)
    x, w = numbers.normal(size=(n, d))[first], numbers.normal(size=(3, 4, d, 3))
    made = multi_head(x, w_q=w[0], w_k=w[1], w_v=w[2], w_o=numbers.normal(size=(12, 3)))
    alike = [first.tolist().index(index) for index in first]
    for name in ("queries", "keys", "values", "scores", "weights", "heads", "concat", "output"):
        rows = getattr(made, name)
        np.testing.assert_array_equal(rows, rows[..., alike, :])
    for name in ("scores", "weights"):
        columns = getattr(made, name)
        np.testing.assert_array_equal(columns, columns[..., alike])


def test_rows_that_the_mask_makes_different_are_equal_where_they_agree():
    numbers = np.random.default_rng(1)
    q, k, v = numbers.normal(size=(3, 7, 11))
    allowed = np.ones((7, 7), dtype=bool)
    allowed[0, 3:] = False  # the first of the equal queries looks elsewhere; the others agree
    made = attend(q[[0, 0, 1, 0, 2, 0, 3]], k, v, allowed=allowed)
    assert not np.array_equal(made.output[0], made.output[1])
    np.testing.assert_array_equal(made.output[[3, 5]], made.output[[1, 1]])


@pytest.mark.slow
def test_another_head_changes_no_bit_of_the_others_where_words_repeat():
    for number in range(60):
        config = repeated_words(number)
        if config.initialiser == "by_hand":
            continue
        group = config.group_size
        few = replace(config, n_layers=1, d_k=3, d_v=4, n_heads=group * 2, n_kv_heads=None)
        more = run(replace(few, n_heads=group * 3))
        for name, step in run(few).layers[0].items():
            if step.axes[0].endswith("head"):
                np.testing.assert_array_equal(step.array, more[name].array[: len(step.array)], err_msg=name)


def test_the_first_of_equal_rows_speaks_for_all():
    A = np.array([[[1.0, 2.0], [0.0, 3.0], [-0.0, 3.0]], [[1.0, 5.0], [1.0, 4.0], [1.0, 5.0]]])
    first = first_equals(A)
    assert first is not None
    assert first.tolist() == [[0, 1, 1], [0, 1, 0]]
    among = first_equals(A, np.array([0, 1, 0]))  # only those that may be
    assert among is not None
    assert among.tolist() == [[0, 1, 2], [0, 1, 0]]
    assert first_equals(A[:, :1]) is None
    assert first_equals(A[0, :2]) is None
    assert first_equals(np.full((2, 2), np.nan)) is None
    assert spread(np.arange(6.0).reshape(3, 2), np.array([0, 1, 0])).tolist() == [[0, 1], [2, 3], [0, 1]]
    np.testing.assert_array_equal(product(A, np.ones((2, 1)), first), A.sum(axis=-1, keepdims=True))


# Ties ----------------------------------------------------------------------------------------------------------------


def hardmax(row: list[float]) -> list[float]:
    """Return the weights of a row of scores."""
    return NORMALISERS["hardmax"].fn(np.array([row]), 1.0)[0].tolist()


@for_each(
    "row, weights",
    [
        ([1.0, 1.0 - 9e-10, 0.0], [0.5, 0.5, 0.0]),
        ([1.0, 1.0 - 2e-9, 0.0], [1.0, 0.0, 0.0]),
        ([1e3, 1e3 - 9e-7, 0.0], [0.5, 0.5, 0.0]),
        ([1e3, 1e3 - 9e-7, 999.0], [1.0, 0.0, 0.0]),  # it is the spread that counts, not the size
        ([1.0, 1.0 - 9e-10, 0.0, -math.inf], [0.5, 0.5, 0.0, 0.0]),
        ([1.0, 1.0 - 9e-10, 1.0 - 1e-8, -math.inf], [1.0, 0.0, 0.0, 0.0]),  # what is forbidden has no part in it
        ([0.3, 0.1 + 0.2], [0.5, 0.5]),  # where nothing differs but by rounding, that is the spread
        ([1e6, 1e6 - 1e-8, 1e6 - 1e-9], [1 / 3, 1 / 3, 1 / 3]),
        ([1e6, 1e6 - 1e-6, 1e6 - 1e-9], [0.5, 0.0, 0.5]),
        ([1.7e308, -1.7e308, 1.7e308], [0.5, 0.0, 0.5]),
        ([math.inf, 0.0, math.inf], [0.5, 0.0, 0.5]),
        ([7.0, -math.inf, 7.0], [0.5, 0.0, 0.5]),
        ([-math.inf, -math.inf], [0.0, 0.0]),
    ],
)
def test_hardmax_splits_what_is_equal_but_for_a_billionth_of_the_spread(row: list[float], weights: list[float]):
    with np.errstate(all="ignore"):
        assert hardmax(row) == weights


def test_hardmax_shares_equally_among_equal_words():
    widths = {"d_model": 16, "n_heads": 1, "d_k": 4}
    trace = run(
        Config(sentence="the a the", position="none", normaliser="hardmax", initialiser="normal", seed=8, **widths)
    )
    for row in trace["weights"].array[0]:
        assert row.tolist() in ([0.5, 0.0, 0.5], [0.0, 1.0, 0.0])


def test_the_same_word_head_reads_every_position_of_its_word():
    words = "a rose is a rose is a rose"
    trace = run(Config(sentence=words, initialiser="by_hand", normaliser="hardmax"))
    same = np.array([[one == other for other in words.split()] for one in words.split()])
    np.testing.assert_array_equal(trace["weights"].array[1], same / same.sum(axis=1, keepdims=True))


def test_a_typed_score_tells_equal_words_at_different_positions_apart():
    plain, placed = (
        run(Config(sentence="the cat the", position="none", n_heads=1, score="formula", score_formula=line))
        for line in ("sum(q*k)", "sum(q*k) - 5*i - 3*j")
    )
    i, j = np.indices((3, 3))
    np.testing.assert_allclose(placed["scores"].array[0], plain["scores"].array[0] - 5 * i - 3 * j, rtol=0, atol=1e-12)
