"""The same words in another order: the right tokens move, and nothing else does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.analysis import permutations
from attnviz.analysis.permutations import ORDERS
from attnviz.engine import inputs
from tests.support.cases import for_each

CONFIG = Config(sentence="the cat saw the dog", n_heads=3, d_model=6, position="none")
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "by_hand": {"initialiser": "by_hand"},
    "one_hot": {"embedding": "one_hot"},
    "own": {"embedding": "own", "own_numbers": "1 2 3; 4 5; 6"},
    "padded": {"mask": "padding", "pad_to": 8, "bos": True, "eos": True},
    "layers": {"n_layers": 2, "residual": True, "norm": "pre", "feed_forward": "gelu"},
    "ragged": {"d_k": (4, 3, 2), "d_v": (5, 1)},
    "pieces": {"tokeniser": "pieces", "piece_length": 2},
    "characters": {"tokeniser": "characters"},
    "cut": {"max_tokens": 4, "bos": True},
    "not_itself": {"mask": "no_self"},
    "edited": {"edits": ((0, "scores", (1, 2, 0), 4.0), (None, "token_embeddings", (1, 3), 9.0))},
    "sparsemax": {"normaliser": "sparsemax", "score": "additive"},
}


@for_each("name", SETTINGS)
@for_each("order", ORDERS)
def test_without_positions_rows_move_along(name: str, order: str) -> None:
    config = replace(CONFIG, **SETTINGS[name])
    n = len(permutations.words(config))
    found = permutations.reordered(config, ORDERS[order].fn(n, seed=3, positions=(1, n - 1)))
    assert found is not None
    assert found.order != tuple(range(len(found.order)))
    assert found.after.query_tokens == tuple(found.before.query_tokens[at] for at in found.order)
    assert found.differences.max() < 1e-12
    assert not found.changed.any()
    output = found.after["output"].array
    assert np.abs(output - found.before["output"].array).max() > 1e-3
    for new, old in enumerate(found.order):
        np.testing.assert_allclose(output[new], found.before["output"].array[old], atol=1e-12)


@for_each("setting", [{"position": "sinusoidal"}, {"position": "rope"}, {"mask": "causal"}, {"bias": "t5"}])
def test_what_compares_positions_changes_rows(setting: dict[str, Any]) -> None:
    config = replace(CONFIG, **setting)
    found = permutations.reordered(config, (4, 3, 2, 1, 0))
    assert found is not None
    assert found.changed.any()
    plain = run(replace(config, sentence="dog the saw cat the"))["output"].array
    np.testing.assert_array_equal(found.matched, plain[::-1])
    np.testing.assert_array_equal(found.differences, np.abs(plain[::-1] - run(config)["output"].array).max(axis=1))


def test_a_bias_that_is_the_same_both_ways_survives_a_reversal() -> None:
    config = replace(CONFIG, bias="alibi")
    reverse, swap = (permutations.reordered(config, order) for order in ((4, 3, 2, 1, 0), (0, 4, 2, 3, 1)))
    assert reverse is not None
    assert swap is not None
    assert not reverse.changed.any()
    assert swap.changed.all()


def test_the_second_sentence_stays() -> None:
    found = permutations.reordered(replace(CONFIG, second_sentence="dog the x", embedding="one_hot"), (2, 0, 1, 3, 4))
    assert found is not None
    assert found.after.query_tokens == ("saw", "the", "cat", "the", "dog")
    assert found.after.key_tokens == ("dog", "the", "x")
    np.testing.assert_array_equal(found.after["keys"].array, found.before["keys"].array)
    assert not found.changed.any()


def test_heads_set_by_hand_are_not_solved_again() -> None:
    config = Config(sentence="a b c d e", initialiser="by_hand")
    found = permutations.reordered(config, (4, 3, 2, 1, 0))
    assert found is not None
    for name in ("w_q", "w_k", "w_v", "w_o"):
        np.testing.assert_array_equal(found.after[name].array, found.before[name].array)


def test_pieces_of_a_word_stay_together() -> None:
    config = Config(sentence="cats sleep", tokeniser="pieces", piece_length=3, bos=True)
    assert permutations.words(config) == ((1, 2), (3, 4))
    assert permutations.order_of_tokens(config, (1, 0)) == (0, 3, 4, 1, 2)
    moved = permutations.in_order(config, (1, 0))
    assert moved is not None
    assert inputs.tokens(moved)[0] == ("<bos>", "sle", "##ep", "cat", "##s")


def test_signs_that_join_what_follows_are_refused() -> None:
    config = Config(sentence="\U0001f1eb\u200c\U0001f1f7", tokeniser="characters")
    assert len(permutations.words(config)) == 2
    assert permutations.in_order(config, (0, 1)) is not None
    assert permutations.in_order(replace(config, sentence="\u0301e"), (1, 0)) is None
    assert permutations.reordered(replace(config, sentence="\u0301e"), (1, 0)) is None


@pytest.mark.slow
def test_a_sentence_that_would_be_too_long_is_refused() -> None:
    assert permutations.in_order(Config(sentence="x" * 9_999 + ","), (1, 0)) is None


def test_a_changed_position_stays_where_it_is() -> None:
    edits = ((None, "positions", (0, 1), 2.0), (None, "embedded", (0, 1), 5.0), (0, "w_q", (0, 1, 1), 3.0))
    moved = permutations.in_order(replace(CONFIG, edits=edits), (1, 0, 2, 3, 4))
    assert moved is not None
    assert {edit[1]: edit[2] for edit in moved.edits} == {"positions": (0, 1), "embedded": (1, 1), "w_q": (0, 1, 1)}


def test_what_compares_positions_can_be_taken_away() -> None:
    config = replace(CONFIG, mask=("causal", "padding", "no_self"), bias="t5")
    assert permutations.without_position_effects(config).mask == ("padding", "no_self")
    assert permutations.without_position_effects(config).bias == "none"
    assert permutations.without_position_effects(replace(config, second_sentence="x y")).mask == ("padding",)
    assert permutations.without_position_effects(replace(config, mask="window")).mask == ("none",)
