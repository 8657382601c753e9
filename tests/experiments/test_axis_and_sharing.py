"""The sums of both sides, and what sharing comes to: the words hold the numbers of the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnviz import Config, Trace, run
from attnviz.engine.tables.normalised_axes import NORMALISED_AXES
from attnviz.experiments import axis_and_sharing
from attnviz.pictures import stages
from tests.support.cases import for_each

CONFIG = Config(sentence="a b c d e", second_sentence="x y z", n_heads=2)


def sides(config: Config) -> dict[str, Trace]:
    return {side: run(replace(config, normalise_over=side)) for side in NORMALISED_AXES}


def variants(config: Config, numbers: Sequence[int]) -> list[Trace]:
    return [run(replace(config, n_kv_heads=n)) for n in numbers]


def test_rows_add_to_one_on_one_side_and_columns_on_the_other() -> None:
    each = sides(CONFIG)
    A = {side: trace["weights"].array[1] for side, trace in each.items()}
    shown = {}
    for side, trace in each.items():
        drawn = axis_and_sharing.with_sums(stages.stage(trace, trace["weights"], "x"), 1)
        assert (list(drawn.rows), list(drawn.columns)) == ([*"abcde", "Σ"], [*"xyz", "Σ"])
        assert drawn.scale.high == 1.0
        shown[side] = drawn.array[0]
        np.testing.assert_array_equal(shown[side][:5, :3], A[side])
        np.testing.assert_allclose(shown[side][:5, 3], [sum(A[side][i, j] for j in range(3)) for i in range(5)])
        np.testing.assert_allclose(shown[side][5, :3], [sum(A[side][i, j] for i in range(5)) for j in range(3)])
    np.testing.assert_allclose(shown["keys"][:5, 3], 1)
    np.testing.assert_allclose(shown["queries"][5, :3], 1)
    assert shown["keys"][5, 3] == pytest.approx(5)
    assert shown["queries"][5, 3] == pytest.approx(3)


def test_margins_are_never_masked() -> None:
    trace = run(Config(sentence="a b c", n_heads=1, mask="causal"))
    drawn = axis_and_sharing.with_sums(stages.stage(trace, trace["weights"], "x"), 0)
    assert drawn.masked is not None
    np.testing.assert_array_equal(drawn.masked[0], np.pad(~np.tri(3, dtype=bool), ((0, 1), (0, 1))))


def test_the_sums_are_said() -> None:
    each = sides(CONFIG)
    over_keys, over_queries = axis_and_sharing.axis_sentences(each, 0)
    columns, rows = each["keys"]["weights"].array.sum(axis=1), each["queries"]["weights"].array.sum(axis=2)
    assert over_keys == (
        f"Softmax over the keys: rows add to 1, columns to {columns.min():.4g} to {columns.max():.4g}."
    )
    assert over_queries == f"Over the queries: columns add to 1, rows to {rows.min():.4g} to {rows.max():.4g}."


@for_each(
    "setting, words",
    [
        ({"sentence": "a", "second_sentence": "x"}, "there is one cell"),
        ({"sentence": "a"}, "With one query"),
        ({"second_sentence": "x"}, "With one key"),
        ({"normaliser": "sigmoid"}, "takes each cell by itself"),
        ({"scale": 0.0, "second_sentence": ""}, "the largest is exactly 0"),
        ({"mask": "causal", "second_sentence": ""}, "Only one cell is left in 1 column:"),
        ({"mask": "causal"}, "Masked cells have a weight of exactly 0"),
        ({"mask": "padding", "pad_to": 7, "second_sentence": ""}, "No query may attend to 2 columns:"),
    ],
)
def test_what_is_particular_is_said(setting: dict[str, Any], words: str) -> None:
    assert words in " ".join(axis_and_sharing.axis_sentences(sides(replace(CONFIG, **setting)), 0))


def test_an_ordinary_setting_has_nothing_particular() -> None:
    assert len(axis_and_sharing.axis_sentences(sides(CONFIG), 0)) == 2


def test_a_later_layer_says_that_its_inputs_differ() -> None:
    each = sides(replace(CONFIG, n_layers=2))
    assert "In layer 2 the two sides" in axis_and_sharing.axis_sentences(each, 1)[-1]
    assert len(axis_and_sharing.axis_sentences(each, 0)) == 2


def test_sharing_in_numbers() -> None:
    config = Config(sentence="a b c", n_heads=6, d_model=5, d_k=3, d_v=2, output_projection=False)
    each = variants(config, (6, 2, 1))
    found = axis_and_sharing.shared(each, 0)
    assert [row.cache for row in found] == [30, 10, 5]
    assert [row.parameters for row in found] == [5 * 18 + 5 * 5 * n for n in (6, 2, 1)]
    assert np.isnan(found[0].alike)
    own, all_one = (each[at]["weights"].array for at in (0, 2))
    pairs = [(g, h) for g in range(6) for h in range(g)]
    for A, value in ((own, found[2].apart), (all_one, found[2].alike)):
        assert value == pytest.approx(np.mean([np.minimum(A[g], A[h]).sum(axis=-1) for g, h in pairs]))
    table = axis_and_sharing.sharing_table(found)
    assert table.iloc[1, :5].tolist() == [2, 10, 20, 40, 140]
    assert table.iloc[0, 5] == "–"
    text = " ".join(axis_and_sharing.sharing_sentences(each, 0))
    assert "30 numbers" in text
    assert "60 and 10 bytes in float16, a factor of 6" in text
    assert "the queries are the same throughout" in text
    assert "do not become equal" in text


@for_each(
    "setting, words",
    [
        ({"initialiser": "by_hand"}, "set by hand, once for each key/value head"),
        ({"tied": True}, "share their queries"),
        ({"d_k": (4, 3, 2, 1)}, "queries of another width"),
        ({}, "the queries are the same throughout"),
    ],
)
def test_it_is_said_where_queries_change_as_well(setting: dict[str, Any], words: str) -> None:
    assert words in " ".join(axis_and_sharing.sharing_sentences(variants(Config(n_heads=4, **setting), (4, 2, 1)), 0))


def test_a_later_layer_reads_other_inputs() -> None:
    assert (
        "queries of this layer change"
        in axis_and_sharing.sharing_sentences(variants(Config(n_layers=2), (4, 1)), 1)[-1]
    )


def test_one_head_has_nothing_to_share() -> None:
    assert axis_and_sharing.sharing_sentences(variants(Config(n_heads=1, d_k=3, d_v=4), (1,)), 0) == [
        "With one head there is nothing to share: 7 numbers for every token and layer."
    ]


def test_equal_maps_are_called_equal() -> None:
    text = " ".join(axis_and_sharing.sharing_sentences(variants(Config(n_heads=2, tied=True), (2, 1)), 0))
    assert "maps of a group are equal" in text
    assert "100 % of their weight" in text
