"""One mask in many forms, and the ways to hide a score: by hand, against the engine, and there and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attnviz import Config, run
from attnviz.analysis.mask_forms import FILLS, FORMS, combined, leaked, unmasked
from attnviz.engine.tables.mask_bits import compact
from attnviz.engine.tables.masks import custom
from attnviz.engine.tables.normalised_axes import NORMALISED_AXES
from attnviz.engine.tables.normalisers import NORMALISERS
from attnviz.engine.tables.normalisers.linear import linear
from attnviz.engine.tables.normalisers.softmax import softmax
from tests.support.cases import for_each

SENTENCE, SECOND = "a b c d e", "k l m n o p q"
MASKS = arrays(bool, array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9))


def may(picture: str) -> np.ndarray:
    return np.array([[mark == "x" for mark in row] for row in picture.split()])


def read_back(text: str, shape: tuple[int, ...]) -> np.ndarray:
    i, j = np.arange(shape[0])[:, None], np.arange(shape[1])[None]
    return custom(i, j, np.zeros((1, shape[1]), bool), custom_cells=text)


@pytest.mark.slow
@given(MASKS)
def test_the_list_of_cells_reads_back_as_the_mask(mask: np.ndarray) -> None:
    np.testing.assert_array_equal(read_back(compact(mask), mask.shape), mask)


@for_each(
    "picture, text",
    [
        ("x.x xxx ...", "1: 1 3, 2: 1-3"),
        (".xx.x", "1: 2-3 5"),
        ("... ...", ""),
        ("x", "1: 1"),
        ("..... xx.xx", "2: 1-2 4-5"),
    ],
)
def test_neighbouring_keys_are_written_as_a_range(picture: str, text: str) -> None:
    assert compact(may(picture)) == text


def test_a_full_triangle_of_64_tokens_fits_a_link_many_times_over() -> None:
    assert len(compact(np.tri(64, dtype=bool))) < 1000


def test_a_mask_without_any_cell_is_a_setting_too() -> None:
    trace = run(Config(sentence="a b c", mask="custom", custom_cells=compact(np.zeros((3, 3), bool))))
    assert not trace["allowed"].array.any()
    assert (trace["weights"].array == 0).all()


@for_each("names", [(), ("causal",), ("window", "causal"), ("padding", "no_self"), ("custom",)])
def test_masks_that_all_must_allow_are_those_of_a_run(names: tuple[str, ...]) -> None:
    config = Config(sentence="a b c", second_sentence=SECOND, pad_to=8, mask=names or "none", reach=1)
    trace = run(config)
    np.testing.assert_array_equal(
        combined(config, names, len(trace.query_tokens), trace.key_tokens), trace["allowed"].array
    )


def test_masks_of_which_any_may_allow_are_their_union() -> None:
    config = Config(block_size=2, reach=1)
    found = combined(config, ("block", "causal"), 3, "abcde", every=False)
    np.testing.assert_array_equal(found, may("xx... xx... xxxx."))
    np.testing.assert_array_equal(combined(config, (), 2, "abc", every=False), np.ones((2, 3), bool))


def test_each_form_by_hand() -> None:
    mask = may("xx. .x.")
    forms = {name: row.fn(mask) for name, row in FORMS.items()}
    np.testing.assert_array_equal(forms["allowed"], mask)
    np.testing.assert_array_equal(forms["sdpa"], mask)
    np.testing.assert_array_equal(forms["multi_head"], may("..x x.x"))
    np.testing.assert_array_equal(forms["additive"], [[0, 0, -np.inf], [-np.inf, 0, -np.inf]])
    assert forms["key_padding"] is None
    np.testing.assert_array_equal(FORMS["key_padding"].fn(may("xx. xx.")), [False, False, True])


BY_HAND = {  # shares of 3 and 1 where 4 is forbidden; linear is x over the sum of the positive
    "minus_infinity": [0.75, 0.25, 0],
    "large_number": [0.75, 0.25, 0],
    "zero_score": [0.75, 0.25, 0],
    "zero_after": [0.375, 0.125, 0],
    "renormalised": [0.75, 0.25, 0],
}
BY_HAND_SOFTMAX = {  # exponentials 1 and 2 where 5 is forbidden; the large number has the exponential 1/2
    "minus_infinity": [1 / 3, 2 / 3, 0],
    "large_number": [2 / 7, 4 / 7, 1 / 7],
    "zero_score": [1 / 4, 2 / 4, 1 / 4],
    "zero_after": [1 / 8, 2 / 8, 0],
    "renormalised": [1 / 3, 2 / 3, 0],
}


@for_each("name", FILLS)
def test_each_way_to_hide_a_score_by_hand(name: str) -> None:
    mask, fn = may("xx."), FILLS[name].fn
    np.testing.assert_allclose(fn(np.array([[3.0, 1.0, 4.0]]), mask, linear, -7.0), [BY_HAND[name]])
    A = fn(np.log([[1.0, 2.0, 5.0]]), mask, softmax, np.log(0.5))
    np.testing.assert_allclose(A, [BY_HAND_SOFTMAX[name]], rtol=1e-14)
    np.testing.assert_allclose(leaked(A, mask), [BY_HAND_SOFTMAX[name][2]], rtol=1e-14)


@for_each(
    "name, row",
    [
        ("minus_infinity", [0, 0, 0, 0]),
        ("large_number", [0.25, 0.25, 0.25, 0.25]),
        ("zero_score", [0.25, 0.25, 0.25, 0.25]),
        ("zero_after", [0, 0, 0, 0]),
        ("renormalised", [np.nan] * 4),
    ],
)
def test_a_row_with_nothing_allowed(name: str, row: list[float]) -> None:
    X = np.array([[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]])
    with np.errstate(all="raise"):
        A = FILLS[name].fn(X, may(".... xxxx"), softmax, -1e9)
    np.testing.assert_allclose(A[0], row)
    np.testing.assert_allclose(A[1], softmax(X[1]))


def test_a_zero_leaks_a_half_through_a_sigmoid() -> None:
    A = FILLS["zero_score"].fn(np.array([[-3.0, 2.0, 9.0]]), may("x.."), NORMALISERS["sigmoid"].fn, -1e9)
    assert leaked(A, may("x..")).tolist() == [1.0]


SETTINGS = [
    {"mask": ("causal", "window"), "score": "additive"},
    {"mask": "no_self", "bias": "alibi", "softcap": 2.0, "temperature": 0.5},
    {"mask": "causal", "second_sentence": SECOND, "d_k": (4, 3)},
]


@for_each("normaliser", NORMALISERS)
@for_each("side", NORMALISED_AXES)
@for_each("setting", SETTINGS)
def test_minus_infinity_gives_the_weights_of_the_run(setting: dict[str, object], side: str, normaliser: str) -> None:
    config = Config(**{"sentence": SENTENCE, "n_heads": 2, "normaliser": normaliser, "normalise_over": side} | setting)  # type: ignore[arg-type]
    trace = run(config)
    normalise = NORMALISERS[normaliser].fn
    A = FILLS["minus_infinity"].fn(
        unmasked(trace.layers[0]),
        trace["allowed"].array,
        lambda X: NORMALISED_AXES[side].fn(normalise, X, config.temperature),
        -1.0,
    )
    np.testing.assert_array_equal(A, trace["weights"].array)


def test_the_scores_before_the_mask_do_not_depend_on_it() -> None:
    masked, free = (run(Config(sentence=SENTENCE, mask=mask, bias="alibi", softcap=3.0)) for mask in ("causal", "none"))
    np.testing.assert_array_equal(unmasked(masked.layers[0]), free["masked"].array)
    assert np.isfinite(unmasked(masked.layers[0])).all()


@pytest.mark.slow
@given(st.integers(1, 5), st.integers(1, 6))
def test_what_leaks_and_what_is_allowed_are_the_whole_row(n_query: int, n_key: int) -> None:
    A = np.arange(2.0 * n_query * n_key).reshape(2, n_query, n_key)
    mask = (np.arange(n_query)[:, None] + np.arange(n_key)) % 3 > 0
    np.testing.assert_allclose(leaked(A, mask) + leaked(A, ~mask), A.sum(axis=-1))
