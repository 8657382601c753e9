"""A mask in a link: a short list of cells stays one, a long one becomes bits, and both come back letter by letter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import Config, run
from attnviz.engine.tables import mask_bits
from attnviz.engine.tables.masks import parse
from attnviz.settings import url_codec
from tests.support.cases import for_each

BOARD = np.indices((64, 64)).sum(axis=0) % 2 == 0
NOISE = np.random.default_rng(5).random((64, 64)) < 0.5


@for_each("mask", [BOARD, NOISE, NOISE[:, :63], ~np.eye(64, dtype=bool), np.tri(64, dtype=bool)])
def test_any_mask_of_64_tokens_fits_into_a_link(mask: np.ndarray) -> None:
    config = Config(sentence="a " * 64, mask=("custom",), custom_cells=mask_bits.compact(mask))
    link = url_codec.query_string(config)
    assert len(link) < 2_000
    (again,), problems = url_codec.open_link(link, Config)
    assert (again, problems) == (config, [])
    np.testing.assert_array_equal(run(again)["allowed"].array[:, : mask.shape[1]], mask)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 10**6), st.floats(0, 1))
def test_a_list_comes_back_letter_by_letter(n_rows: int, n_columns: int, seed: int, share: float) -> None:
    cells = mask_bits.compact(np.random.default_rng(seed).random((n_rows, n_columns)) < share)
    written = mask_bits.shorter(cells)
    assert mask_bits.whole(written) == cells
    assert mask_bits.shorter(cells) == mask_bits.shorter(mask_bits.whole(written))


@for_each(
    "cells",
    [
        "1: 1, 2: 1-2",
        "1: 1 2, 2: 1-2" + " 3" * 200,
        ", ".join(f"{i}: 1  2" for i in range(1, 65)),
        "one: two, " * 50,
        "1: " + "1-999 " * 3_000,
        "999: 999, " + ", ".join(f"{i}: {i}" for i in range(1, 40)),
    ],
)
def test_what_is_no_list_of_ours_stays_as_it_was_written(cells: str) -> None:
    assert mask_bits.shorter(cells) == cells


@for_each("text", ["bits", "bits.0.AA", "bits.1000.AA", "bits.9.AA", "bits.3.A", "bits.3._w", "bits.1.A!"])
def test_bits_that_are_none_are_said_to_be(text: str) -> None:
    assert mask_bits.whole(text) == text
    with pytest.raises(ValueError, match="allowed cells"):
        parse(text)


def test_hostile_bits_grow_no_further_than_the_field() -> None:
    (config,), problems = url_codec.decode({"custom_cells": "bits.990." + "q" * 300_000}, Config)
    assert len(config.custom_cells) <= 20_000
    assert len(problems) == 1
