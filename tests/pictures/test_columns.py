"""What stands side by side for each step, the way over it, and the sentence that opens the page."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from attnviz import Config, run
from attnviz.analysis.all_heads import all_kinds, all_weights
from attnviz.engine.records.trace import Trace
from attnviz.pictures import columns
from attnviz.pictures.step_path import way
from attnviz.text import opening_sentence, step_names
from attnviz.text.head_sentences import names, what_heads_do
from attnviz.ui.components.pickers import head_cards, head_mosaic
from tests.support.cases import for_each
from tests.support.small_models import model

SETTINGS = (
    Config(),
    Config(n_layers=2, residual=True, norm="pre", feed_forward="gelu", n_kv_heads=2),
    Config(second_sentence="le chat", score="additive", mask="causal"),
    Config(position="rope", softcap=2.0, bias="alibi", d_k=(4, 3, 2, 1)),
    Config(normaliser="sigmoid", n_heads=1, sentence="one"),
)


@for_each("config", SETTINGS)
def test_every_step_can_be_shown_and_is_among_what_is_shown_for_it(config: Config) -> None:
    trace = run(config)
    for layer in range(config.n_layers):
        for step in step_names.steps(trace, layer):
            names = columns.names(trace, layer, step)
            assert 0 < len(names) <= 3
            assert [stage.name for stage in columns.columns(trace, layer, step)] == list(names)


def test_the_opening_shows_scores_weights_and_outputs_and_weights_lead() -> None:
    scores, weights, outputs = columns.columns(run(Config()), 0)
    assert [stage.symbol for stage in (scores, weights, outputs)] == ["S", "A", "Z"]
    assert [stage.leads for stage in (scores, weights, outputs)] == [False, True, False]
    assert scores.apart
    assert weights.sums
    assert not columns.columns(run(Config()), 0, apart=False)[0].apart


def test_what_is_not_a_share_is_not_called_one() -> None:
    usual = columns.columns(run(Config()), 0)[1].phrase
    for config in (Config(normaliser="sigmoid"), Config(normalise_over="queries")):
        assert columns.columns(run(config), 0)[1].phrase != usual


def weighed(weights: np.ndarray, sentence: str) -> Trace:
    """A run whose weights are these, by editing every one of them."""
    heads, n, m = weights.shape
    edits = [(0, "weights", (h, i, j), float(weights[h, i, j])) for h, i, j in np.ndindex(heads, n, m)]
    return run(Config(sentence=sentence, n_heads=heads), edits=edits)


def test_a_head_is_said_to_do_what_most_of_its_weight_does() -> None:
    n = 5
    own, first, even = np.eye(n), np.zeros((n, n)), np.full((n, n), 1 / n)
    first[:, 1] = 1.0
    trace = weighed(np.stack([own, first, even]), "a b c d e")
    assert columns.roles(trace, 0) == ("mostly itself", "mostly “b”", "over 5.0 words")


def test_mostly_is_more_than_half() -> None:
    n = 5
    own, second = np.eye(n), np.zeros((n, n))
    second[:, 1] = 1.0
    mixed = [share * A + (1 - share) / n for share in (0.35, 0.6) for A in (own, second)]
    found = columns.roles(weighed(np.stack(mixed), "a b c d e"), 0)
    assert found == ("often itself", "often “b”", "mostly itself", "mostly “b”")


def test_a_head_has_one_name_on_the_stage_and_in_the_statistics() -> None:
    opening = Config(sentence="the king saw his queen while a dog chased our cat", embedding="meaning", d_model=64)
    made = replace(opening, initialiser="by_hand", patterns=("alike", "previous", "next", "first"))
    for config in (opening, made, replace(made, position="none"), replace(opening, initialiser="identity", n_layers=2)):
        trace = run(config)
        for layer in range(config.n_layers):
            roles = columns.roles(trace, layer)
            cards = json.loads(head_cards.packed(trace, layer, None))["cards"]
            assert {card["head"]: card["title"] for card in cards} == dict(enumerate(roles))
            tiles = json.loads(head_mosaic.packed(trace, None))["tiles"]
            assert [role for role, tile in zip(roles, tiles[layer * 4 :]) if f": {role}, " not in tile["about"]] == []
            said = [line for _, line in what_heads_do(trace, layer)]
            assert [role for role, line in zip(roles, said, strict=True) if f": {role}, " not in line] == []


def test_in_focus_a_stage_is_that_of_one_head_and_heads_that_share_keys_have_the_shared() -> None:
    trace = run(Config(n_heads=4, n_kv_heads=2))
    queries, keys, scores = columns.columns(trace, 0, "queries")
    for head in range(4):
        found = [columns.focused(stage, head, 4) for stage in (queries, keys, scores)]
        assert [stage.array.shape[0] for stage in found] == [1, 1, 1]
        np.testing.assert_array_equal(found[0].array[0], queries.array[head])
        np.testing.assert_array_equal(found[1].array[0], keys.array[head // 2])
        assert found[2].names == (f"head {head + 1}",)
    whole = columns.columns(trace, 0, "embedded")[0]
    assert columns.focused(whole, 3, 4) is whole


def test_the_most_telling_weight_is_large_but_not_all_there_is_and_between_different_words() -> None:
    n = 4
    sure, part, own = np.full((n, n), 0.02), np.full((n, n), 0.1), np.eye(n)
    sure[2, 0], part[3, 2] = 0.98, 0.8
    trace = weighed(np.stack([sure, part, own]), "a b c d")
    assert opening_sentence.telling(trace, 0) == (1, 3, 2)
    assert opening_sentence.telling(trace, 0, 0) == (0, 2, 0), "in one head, also what is sure"


def test_two_words_apart_that_take_most_from_each_other_tell_most() -> None:
    n = 5
    part, both = np.full((n, n), 0.1), np.full((n, n), 0.02)
    part[3, 2] = 0.9
    both[0, 3] = both[3, 0] = 0.99
    assert opening_sentence.telling(weighed(np.stack([part, both]), "a b c d e"), 0) == (1, 3, 0)


def test_a_word_that_takes_from_its_like_tells_less() -> None:
    part = np.full((1, 3, 3), 0.05)
    part[0, 2, 0], part[0, 1, 0] = 0.9, 0.5
    assert opening_sentence.telling(weighed(part, "the cat the"), 0)[1:] == (1, 0)


@for_each("config", SETTINGS)
def test_there_is_something_to_tell_of_every_run(config: Config) -> None:
    trace = run(config)
    head, query, key = opening_sentence.telling(trace, 0)
    assert 0 <= head < config.n_heads
    assert 0 <= query < len(trace.query_tokens)
    assert 0 <= key < len(trace.key_tokens)


def test_what_the_numbers_are_is_said_in_a_few_words() -> None:
    assert opening_sentence.describe_origin(run(Config())) == "random numbers, no meaning yet"
    assert opening_sentence.describe_origin(run(Config(initialiser="by_hand"))) == "made by hand"


@for_each("config", SETTINGS)
def test_the_way_leads_from_the_input_to_the_output_in_the_order_of_the_data(config: Config) -> None:
    trace = run(config)
    steps = [node.name for node in way(trace, 0, 0)]
    assert steps[0] == "embedded"
    assert {"queries", "keys", "scores", "weights", "values", "heads"} <= set(steps)
    nodes = way(trace, 0, config.n_heads - 1)
    assert all(columns.names(trace, 0, node.before[1]) for node in nodes if node.before[1])
    assert [node.picture.ndim for node in nodes] == [2] * len(nodes)


def test_the_way_shows_one_head_and_what_normalises() -> None:
    nodes = {node.name: node for node in way(run(Config(normaliser="sparsemax", d_k=3)), 0, 1)}
    assert nodes["queries"].shape == "7 × 3"
    assert nodes["weights"].before == ("sparsemax", "masked")
    assert (nodes["keys"].before[0], nodes["values"].before[0]) == ("·", "×")


def test_a_learned_head_is_named_by_its_words_as_in_the_mosaic() -> None:
    trace = model("bert")("the cat the cat")
    n = len(trace.query_tokens)
    A = np.full((4, n, n), 0.1 / (n - 1))
    A[:, range(n), [0, *range(n - 1)]] = 0.9  # previous token in the rows of words,
    A[:, [0, -1]] = np.eye(n)[[-1, 0]]  # and not in those of [CLS] and [SEP]
    trace = model("bert")("the cat the cat", edits=[(0, "weights", index, x) for index, x in np.ndenumerate(A)])
    kinds = all_kinds(trace, all_weights(trace)[:4])
    assert names(trace, 0, kinds) == ["previous token"] * 4 == list(columns.roles(trace, 0))
