"""Two orders of the same words: the pictures and the sentences hold the difference between the runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from attnviz import Config
from attnviz.analysis.permutations import Reordered, reordered, without_position_effects
from attnviz.experiments import permutation
from attnviz.text.format.sentence_parts import plain
from tests.support.cases import for_each

CONFIG = Config(sentence="the cat saw the dog", n_heads=2, d_model=6)
BACK = (4, 3, 2, 1, 0)


def found(new: tuple[int, ...] = BACK, **setting: Any) -> Reordered:
    each = reordered(replace(CONFIG, **setting), new)
    assert each is not None
    return each


def test_three_maps_on_one_scale_before_after_and_the_difference() -> None:
    each = found()
    stage = permutation.stage("on", each)
    before, after = each.before["output"].array, each.after["output"].array
    np.testing.assert_array_equal(stage.array, [before, after[::-1], after[::-1] - before])
    assert stage.names == ("before", "after, by word", "difference")
    assert stage.true_widths == (6, 6, 6)
    assert tuple(stage.rows) == each.before.query_tokens
    assert stage.phrase == "5 of 5 output rows change"


def test_rows_that_move_along_are_said_to() -> None:
    each = found(position="none")
    words = plain(permutation.order_sentences("off", each))
    assert words.startswith("Without positions: all 5 output rows move along with their words")
    largest = each.differences.max()
    assert ("exactly 0" if largest == 0 else f"{largest:.2g}, which is rounding") in words
    assert permutation.stage("off", each).phrase == "every output row moves along with its word"


def test_the_row_that_changes_most_is_named() -> None:
    each = found()
    at = int(each.differences.argmax())
    token = each.before.query_tokens[at]
    words = plain(permutation.order_sentences("on", each))
    assert words.startswith("With positions (Sinusoidal): 5 of 5 output rows change, that of ")
    assert f"“{token}”" in words
    assert words.endswith(f"by up to {each.differences[at]:.4g}.")


def test_rows_that_stay_the_same_are_named() -> None:
    """With a second sentence every query answers for itself: the middle word keeps its position, and its output."""
    words = plain(permutation.order_sentences("on", found(second_sentence="x y z")))
    assert "4 of 5 output rows change" in words
    assert words.endswith("The rows of “saw” stay the same.")


@for_each(
    "setting, new, words",
    [
        ({}, (0, 1, 2, 3, 4), ["The order is the same as before, so nothing can change."]),
        ({}, (3, 1, 2, 0, 4), ["The sentence reads as before: only equal words have changed places."]),
        ({"sentence": "one"}, (0,), ["One word has only one order."]),
        ({}, BACK, []),
    ],
)
def test_an_order_that_is_none_is_said_to_be_none(
    setting: dict[str, Any], new: tuple[int, ...], words: list[str]
) -> None:
    assert permutation.unchanged_order(found(new, **setting)) == words


def test_a_mask_that_compares_positions_is_blamed_and_cleared_from_the_run() -> None:
    config = replace(CONFIG, position="none", mask=("causal", "padding"), score="location")
    assert permutation.placed(config) == ("mask (Causal)", "location-based score")
    assert permutation.position_sentences(config, None).endswith("mask (Causal) and location-based score.")
    config = replace(config, score="dot")
    assert found(position="none", mask="causal").changed.any()
    words = permutation.position_sentences(config, reordered(without_position_effects(config), BACK))
    assert "all rows would move along (largest difference" in words
    assert "5 of 5 rows would still change" in permutation.position_sentences(config, found())


def test_what_was_held_fixed_is_said() -> None:
    assert permutation.notes(CONFIG) == []
    text = permutation.notes(replace(CONFIG, second_sentence="x", embedding="one_hot", initialiser="by_hand"))
    assert [words.split()[0] for words in text] == ["Only", "One-hot", "Heads"]
    assert "moved along" in permutation.notes(replace(CONFIG, embedding="own"))[0]
