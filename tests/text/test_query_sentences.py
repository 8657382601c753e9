"""What each word reads from, and how it is said."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from attnviz import NORMALISERS, Config, run
from attnviz.engine.records.trace import Trace
from attnviz.text.format.sentence_parts import TOKEN, Sentence
from attnviz.text.query_sentences import MOST_NAMED, QueryWeights, query_weights, sentence, visible_token
from tests.support.cases import for_each


def text(message: Sentence) -> str:
    """A sentence without a mark on its tokens."""
    return "".join(words for _, words in message)


NAMES = ("it", "cat", "mat", "dog", "hat", "rat", "sun", "sea")


def described(
    weights: list[float],
    *,
    masked: tuple[int, ...] = (),
    shares: bool = True,
    is_self: bool = False,
    head: int | None = 0,
    n_heads: int = 4,
    tokens: tuple[str, ...] = NAMES,
) -> str:
    """The sentence of the first token about one row of weights."""
    hidden = np.isin(np.arange(len(weights)), masked)[None]
    words = tokens[: len(weights)]
    row, shared = np.array([weights]), np.array([shares])
    return text(sentence(QueryWeights(row, hidden, shared, words, words, is_self, head, n_heads), 0))


@for_each(
    "weights, expected",
    [
        ([0.0, 0.62, 0.2, 0.18], "it attends to cat (62 %), mat (20 %) and dog (18 %)."),
        (
            [0.0, 0.62, 0.2, 0.08, 0.06, 0.04],
            "it attends to cat (62 %), mat (20 %), dog (8 %) and 2 others (10 % in all).",
        ),
        ([0.0, 1.0, 0.0], "it attends to cat (100 %)."),
        ([0.3, 0.7], "it attends to cat (70 %) and it (30 %)."),
        ([0.125] * 8, "it attends to each of 8 words (13 %)."),
        ([0.25] * 4, "it attends to each of 4 words (25 %)."),
        ([0.4, 0.15, 0.15, 0.15, 0.15], "it attends to it (40 %) and each of 4 others (15 %)."),
        ([0.4, 0.16, 0.16, 0.16, 0.12], "it attends to it (40 %) and 4 others (60 % in all)."),
        ([0.22, 0.22, 0.22, 0.22, 0.12], "it attends to each of 4 words (22 %) and hat (12 %)."),
        ([0.2, 0.2, 0.2, 0.2, 0.12, 0.08], "it attends to each of 4 words (20 %) and 2 others (20 % in all)."),
        ([0.993, 0.002, 0.004, 0.001], "it attends to it (> 99 %) and 3 others (< 1 % in all)."),
        ([0.9999, 0.0001], "it attends to it (> 99 %) and cat (< 1 %)."),
        ([0.5, 0.5 - 1e-12, 1e-12], "it attends to it (50 %), cat (50 %) and mat (< 1 %)."),
    ],
)
def test_shares_are_said_in_per_cent(weights: list[float], expected: str) -> None:
    assert described(weights) == expected


def test_what_is_not_a_share_is_said_as_a_weight() -> None:
    assert described([0.9, 0.62, 0.31], shares=False) == "it puts weight 0.9 on it, 0.62 on cat and 0.31 on mat."
    assert described([0.9, 0.8, 0.7, 0.6, 0.5], shares=False) == (
        "it puts weight 0.9 on it, 0.8 on cat, 0.7 on mat and 1.1 in all on 2 others."
    )
    assert described([0.5] * 6, shares=False) == "it puts weight 0.5 on each of 6 words."
    assert described([2.0, -0.5], shares=False) == "it puts weight 2 on it and −0.5 on cat."


def test_rows_that_say_nothing_are_said_so() -> None:
    assert described([0.0, 0.0], masked=(0, 1)) == "it has nothing to attend to."
    assert described([0.0, 0.0], masked=(0,)) == "it attends to no word."
    assert described([np.nan, 1.0]) == "it has weights that are not finite numbers."
    assert described([np.nan, 1.0], masked=(0,)) == "it attends to cat (100 %)."


def test_a_word_that_reads_itself_attends_to_itself() -> None:
    assert described([0.7, 0.3], is_self=True) == "it attends to itself (70 %) and cat (30 %)."


def test_a_mean_is_called_one() -> None:
    assert described([1.0], head=None) == "On average over 4 heads, it attends to it (100 %)."
    assert described([0.0], masked=(0,), head=None) == "On average over 4 heads, it has nothing to attend to."
    assert described([1.0], head=None, n_heads=1) == "it attends to it (100 %)."


def test_tokens_are_never_taken_for_our_own_words() -> None:
    text = described([0.6, 0.4], tokens=("{query} {0}", "\\1 {takes}"))
    assert text == "{query} {0} attends to {query} {0} (60 %) and \\1 {takes} (40 %)."


def test_a_token_that_comes_twice_is_told_apart() -> None:
    twice = described([0.6, 0.3, 0.1], tokens=("a", "b", "a"))
    assert twice == "a (1) attends to a (1) (60 %), b (30 %) and a (3) (10 %)."


@pytest.mark.slow
def test_every_word_is_named_or_counted_and_no_tie_is_cut() -> None:
    rows = np.array(list(product((0.0, 0.1, 0.2, 0.3), repeat=6)))
    names, everywhere = NAMES[:6], np.zeros(rows.shape, bool)
    found = QueryWeights(rows, everywhere, everywhere[:, 0], tuple(map(str, range(len(rows)))), names, False, 0, 1)
    for query, weights in enumerate(rows.tolist()):
        texts = sentence(found, query)[1:]
        named = [names.index(words) for kind, words in texts if kind == TOKEN]
        counted = sum(int(word) for kind, words in texts if kind != TOKEN for word in words.split() if word.isdigit())
        assert len(named) + counted == sum(weight > 0 for weight in weights)
        assert len(named) <= MOST_NAMED + 1
        assert not {weights[key] for key in named} & {weights[key] for key in range(6) if key not in named}


@for_each(
    "token, expected",
    [
        ("cat", "cat"),
        ("", "(empty)"),
        ("  ", "··"),
        ("\t\n", "→↵"),
        ("\u00a0", "·"),
        ("\u200b\u00ad", "U+200B U+00AD"),
        ("a\u202eb\u2066", "ab"),
        ("a b\u00a0c", "a b c"),
        ("<b>", "<b>"),
        ("👩\u200d🍳", "👩\u200d🍳"),
    ],
)
def test_every_token_can_be_seen(token: str, expected: str) -> None:
    assert visible_token(token) == expected


def trace_of(**settings: Any) -> Trace:
    return run(Config(**{"sentence": "the cat sat on it", "n_heads": 3, **settings}))


def test_one_head_and_the_mean_are_the_weights_of_the_run() -> None:
    trace = trace_of(mask="causal", n_layers=2)
    for layer in (0, 1):
        weights = trace.layers[layer]["weights"].array
        for head in range(3):
            assert np.array_equal(query_weights(trace, layer, head).weights, weights[head])
        mean = query_weights(trace, layer)
        assert np.allclose(mean.weights, (weights[0] + weights[1] + weights[2]) / 3, rtol=1e-15)
        assert np.array_equal(mean.masked, np.triu(np.ones((5, 5), bool), 1))
        assert (mean.head, mean.n_heads, mean.is_self) == (None, 3, True)


def test_a_mean_is_masked_only_where_every_head_is() -> None:
    edits = [(0, "masked", (head, 1, 2), -np.inf) for head in (0, 2)]
    trace = run(Config(sentence="the cat sat", n_heads=3), edits=edits)
    assert query_weights(trace, 0, 0).masked[1, 2]
    assert not query_weights(trace, 0, 1).masked[1, 2]
    assert not query_weights(trace, 0).masked.any()


@for_each("name", NORMALISERS)
def test_rows_are_shares_where_the_normaliser_promises_it(name: str) -> None:
    found = query_weights(trace_of(normaliser=name, mask="causal"), 0, 0)
    if name == "linear":  # keeps its promise in the rows that have a positive score
        assert np.array_equal(found.shares, found.weights.any(axis=-1))
    else:
        assert found.shares.tolist() == [NORMALISERS[name].sums_to_one] * 5


@pytest.mark.parametrize("settings", [{"normaliser": "sigmoid"}, {"normalise_over": "queries"}])
def test_rows_that_add_to_one_by_chance_are_no_shares(settings: dict[str, Any]) -> None:
    found = query_weights(trace_of(sentence="a b", scale=0.0, **settings), 0, 0)
    assert found.weights.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert not found.shares.any()


def test_an_edited_row_is_no_share() -> None:
    edits = [(0, "weights", (0, 0, 0), 0.9), (0, "weights", (0, 1, 0), 1.5), (0, "weights", (0, 1, 1), -0.5)]
    trace = run(Config(sentence="a b", n_heads=1, mask="causal"), edits=edits)
    assert not query_weights(trace, 0, 0).shares.any()


def test_the_second_sentence_is_what_is_read() -> None:
    trace = trace_of(second_sentence="le chat", sentence="the cat sat")
    found = query_weights(trace, 0, 1)
    assert found.keys == ("le", "chat")
    assert (found.weights.shape, found.is_self) == ((3, 2), False)
    assert "itself" not in text(sentence(found, 0))


def test_a_row_with_nothing_allowed_has_nothing_to_look_at() -> None:
    trace = trace_of(mask="custom", custom_cells="2: 1")
    assert text(sentence(query_weights(trace, 0, 0), 0)) == "the has nothing to attend to."
    assert text(sentence(query_weights(trace, 0, 0), 1)).startswith("cat attends to the (100")


@for_each("layer, head", [(1, 0), (-1, 0), (0, 3), (0, -1)])
def test_what_the_run_does_not_have_is_refused(layer: int, head: int) -> None:
    with pytest.raises(ValueError, match="choose 0 to"):
        query_weights(trace_of(), layer, head)
