"""Sentences say what the arrays hold, and keep the visitor's tokens apart from our words."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.core.projections import INITIALISERS
from attnviz.core.trace import STEPS
from attnviz.views import captions, origins
from attnviz.views.captions import alt, stage
from attnviz.views.origins import origin
from attnviz.views.sentences import TEXT, TOKEN, filled, joined, merged, naming, plain
from attnviz.views.words import looking, percent

FOUR = Config(sentence="it cat mat dog", n_heads=1)


def weighted(*weights, config=FOUR):
    """A run whose first row of weights was set to these."""
    return run(config, edits=[(0, "weights", (0, 0, j), weight) for j, weight in enumerate(weights)])


# --- what a query takes from one key ----------------------------------------------------------------------------------


def test_percentages_never_hide_something_or_claim_all():
    assert [percent(x) for x in (0.0, 1e-9, 0.0099, 0.01, 0.5, 0.99, 0.9901, 1 - 1e-9, 1.0)] == [
        "0 %",
        "less than 1 %",
        "less than 1 %",
        "1 %",
        "50 %",
        "99 %",
        "more than 99 %",
        "more than 99 %",
        "100 %",
    ]


@pytest.mark.parametrize(
    ("weights", "key", "said"),
    [
        ((0.2, 0.6, 0.2, 0.0), 1, "“it” takes 60 % from “cat”, more than from any other key."),
        ((0.2, 0.6, 0.2, 0.0), 2, "“it” takes 20 % from “mat”."),
        ((0.2, 0.6, 0.2, 0.0), 3, "“it” takes nothing from “dog”."),
        ((0.4, 0.4, 0.2, 0.0), 1, "“it” takes 40 % from “cat”, as much as from 1 other and more than from the rest."),
        ((0.3, 0.3, 0.3, 0.1), 1, "“it” takes 30 % from “cat”, as much as from 2 others and more than from the rest."),
        ((0.25, 0.25, 0.25, 0.25), 1, "“it” takes 25 % from “cat”, as much as from every other key."),
        ((0.0, 1.0, 0.0, 0.0), 1, "“it” takes 100 % from “cat”, the only key with any weight."),
        ((0.9, 0.9, 0.0, 0.0), 1, "“it” gives “cat” the weight 0.9."),
    ],
)
def test_one_cell_is_read_out(weights, key, said):
    assert plain(looking(weighted(*weights), 0, 0, 0, key)) == said


def test_a_closed_cell_says_why():
    trace = run(Config(sentence="it cat mat", mask=("causal", "no_self")))
    assert plain(looking(trace, 0, 0, 0, 2)) == "“it” may not look at “mat”: the mask “Causal” forbids it."
    assert plain(looking(trace, 0, 0, 1, 1)) == "“cat” may not look at “cat”: the mask “Not itself” forbids it."
    edited = run(Config(sentence="it cat mat"), edits=[(0, "allowed", (0, 1), 0)])
    assert plain(looking(edited, 0, 0, 0, 1)).endswith("the mask was edited, the settings would allow it.")


def test_a_weight_that_was_edited_open_is_read_though_the_score_is_closed():
    trace = run(Config(sentence="it cat", mask="causal"), edits=[(0, "weights", (0, 0, 1), 0.5)])
    assert plain(looking(trace, 0, 0, 0, 1)) == "“it” gives “cat” the weight 0.5."


# --- tokens and words ------------------------------------------------------------------------------------------------

HOSTILE = "{query} **it** <b>x</b> [a](b) $x$ “it” constructor"


def test_parts_are_put_together():
    it, cat = ((TOKEN, "it"),), ((TOKEN, "cat"),)
    assert filled("{a} and {b}.", a=it, b="{a}") == ((TOKEN, "it"), (TEXT, " and {a}."))
    assert joined([it]) == it
    assert joined([it, cat]) == ((TOKEN, "it"), (TEXT, " and "), (TOKEN, "cat"))
    assert joined([]) == ()
    assert merged([(TEXT, "a"), (TEXT, ""), (TEXT, "b"), (TOKEN, "c"), (TOKEN, "d"), (TEXT, "")]) == (
        (TEXT, "ab"),
        (TOKEN, "c"),
        (TOKEN, "d"),
    )
    assert naming(("it", "cat"), 0) == it


# --- a stage ---------------------------------------------------------------------------------------------------------

RICH = Config(
    n_kv_heads=2,
    d_k=(3, 5),
    d_v=(2, 1),
    position="rope",
    second_sentence="one two",
    score="additive",
    projection_bias=True,
    bias="alibi",
    norm="pre",
    residual=True,
    feed_forward="relu",
    n_layers=2,
)


def test_the_largest_weight_is_named_with_its_place():
    trace = run(Config(sentence="it cat mat dog", n_heads=2, scale=0.0), edits=[(0, "weights", (1, 1, 2), 0.61)])
    assert plain(alt(trace, 0, "weights")) == (
        "Attention weights of 2 heads over 4 queries and 4 keys; largest 0.61 in head 2, query “cat”, key “mat”."
    )


def test_pictures_in_words_are_true():
    trace = run(Config(sentence="it cat mat dog", n_heads=1, mask="causal"))
    S = trace["masked"].array[0]
    i, j = np.unravel_index(np.argmax(S), S.shape)
    low = f"{S[np.isfinite(S)].min():.3g}".replace("-", "−")
    assert plain(alt(trace, 0, "masked")) == (
        f"Masked scores of 1 head over 4 queries and 4 keys; from {low} to {S.max():.3g}; largest {S.max():.3g}, "
        f"query “{trace.query_tokens[i]}”, key “{trace.key_tokens[j]}”; 6 of 16 cells are closed."
    )
    assert plain(alt(trace, 0, "allowed")) == "Mask over 4 queries and 4 keys; 10 of 16 cells are open."


def test_padding_columns_are_no_part_of_a_picture():
    edits = [(0, "queries", (h, i, d), -5.0 - d) for h in range(2) for i in range(2) for d in range((3, 1)[h])]
    trace = run(Config(sentence="it cat", n_heads=2, d_k=(3, 1)), edits=edits)
    assert plain(alt(trace, 0, "queries")) == (
        "Query vectors of 2 heads: 2 queries of up to 3 numbers, as heads differ; "
        "from −7 to −5; largest −5 in head 1, query “it”."
    )  # and not 0, with which the second head is filled up


def test_every_step_has_a_sentence_and_a_picture_in_words():
    traces = [run(RICH), run(Config(score="general", norm="post", feed_forward="relu", residual=True))]
    seen = set()
    for trace in traces:
        for layer, steps in enumerate(trace.layers):
            for name in (*trace.around, *steps):
                seen.add(name)
                assert re.fullmatch(r"[^{}]+\.", stage(trace, layer, name))
                assert re.fullmatch(r"[^{}]+\.", plain(alt(trace, layer, name)))
    assert seen == captions.NAMES.keys() == STEPS.keys()
    assert captions.STAGES.keys() <= STEPS.keys() | {"weights_alone", "weights_wrong_way"}


def test_a_picture_without_a_finite_number_says_so():
    trace = run(Config(sentence="it cat", n_heads=1, mask=("causal", "no_self", "block"), block_size=1))
    assert (
        plain(alt(trace, 0, "masked"))
        == "Masked scores of 1 head over 2 queries and 2 keys; no number in it is finite."
    )


def test_the_weights_are_called_what_they_are():
    assert "sharing itself out" in stage(run(Config()), 0, "weights")
    assert stage(run(Config(normaliser="sigmoid")), 0, "weights").endswith("a row need not add to 1.")
    assert stage(run(Config(normalise_over="queries")), 0, "weights").startswith("The wrong way: 7 keys")
    assert (
        stage(run(Config(sentence="it")), 0, "scores")
        == "1 query against 1 key: one number for each pair in each head."
    )


# --- what the numbers are --------------------------------------------------------------------------------------------

OWN = {"embedding": "own", "own_numbers": "1 2\n3 4", "d_model": 2, "sentence": "it cat", "d_k": 2, "d_v": 2}
EYES = {name: [np.eye(2)] for name in ("w_q", "w_k", "w_v")} | {"w_o": np.eye(2)}


@pytest.mark.parametrize(
    ("settings", "given", "name"),
    [
        ({}, (), "random"),
        ({"initialiser": "orthogonal"}, (), "random"),
        ({"initialiser": "identity"}, (), "hand_random"),
        ({"initialiser": "identity", "embedding": "one_hot"}, (), "hand"),
        ({"initialiser": "identity", "embedding": "one_hot", "position": "random"}, (), "hand_random"),
        ({"initialiser": "identity", "embedding": "one_hot", "bias": "t5"}, (), "hand_random"),
        (OWN, (), "random_own"),
        (OWN | {"initialiser": "identity"}, (), "own"),
        (OWN | {"initialiser": "identity", "position": "random"}, (), "hand_random"),
        (OWN, ("w_q", "w_k"), "mixed"),
        (OWN, tuple(EYES), "own"),
        (OWN | {"score": "general"}, tuple(EYES), "mixed"),
        (OWN | {"score": "general", "initialiser": "identity"}, tuple(EYES), "own"),
        (OWN | {"initialiser": "linear", "projection_bias": True}, tuple(EYES), "mixed"),
        (OWN | {"projection_bias": True}, tuple(EYES), "own"),
        ({"embedding": "one_hot"}, tuple(EYES), "own"),
        ({"initialiser": "identity"}, ("w_q",), "own_random"),
        ({}, tuple(EYES), "own_random"),
    ],
)
def test_the_badge_says_what_the_numbers_are(settings, given, name):
    trace = run(Config(**{"n_heads": 1} | settings))
    assert origin(replace(trace, given=frozenset(given))).name == name


def test_random_weights_are_called_random():
    found = origin(run(Config()))
    assert (found.label, found.edited) == ("Random projections", False)
    assert found.sentence == "Random projections: the pattern means nothing yet."


def test_edits_are_counted_in_the_badge():
    edits = (0, "scores", (0, 0, 0), 1.0), (0, "scores", (0, 0, 1), 1.0)
    one, two = origin(run(Config(edits=edits[:1]))), origin(run(Config(edits=edits)))
    assert one.edited
    assert one.label == "Random projections, edited"
    assert one.sentence.endswith(
        "the pattern means nothing yet. One number was changed by hand, and all that follows uses it."
    )
    assert "2 numbers were changed by hand" in two.sentence


def test_every_origin_of_an_initialiser_is_known():
    assert {row.origin for row in INITIALISERS.values()} <= {"random", "set by hand"}
    assert all(sentence.endswith(".") for _, sentence in origins.ORIGINS.values())


def test_solved_heads_are_said_to_be_made_for_this_sentence():
    found = origins.origin(run(Config(initialiser="by_hand")))
    assert found.name == "solved"
    assert "made by hand for this sentence" in found.sentence
