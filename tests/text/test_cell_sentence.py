"""Sentences say what the arrays hold, and keep the visitor's tokens apart from our words."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np

from attnviz import Config, run
from attnviz.engine.records.step_specs import STEPS
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.exports.bundle import joined
from attnviz.text import captions, provenance
from attnviz.text.captions import alt, stage
from attnviz.text.cell_sentence import cell_sentence, percent
from attnviz.text.format.number_format import short
from attnviz.text.format.sentence_parts import TEXT, TOKEN, fill, join_sentences, merge_parts, name_token, plain
from attnviz.text.provenance import origin
from attnviz.ui import components
from tests.support import small_models
from tests.support.cases import for_each

FOUR = Config(sentence="it cat mat dog", n_heads=1)


def weighted(*weights, config=FOUR):
    """A run whose first row of weights was set to these."""
    return run(config, edits=[(0, "weights", (0, 0, j), weight) for j, weight in enumerate(weights)])


# --- how a query attends to one key ----------------------------------------------------------------------------------


def test_percentages_never_hide_something_or_claim_all():
    assert [percent(x) for x in (0.0, 1e-9, 0.0099, 0.01, 0.5, 0.99, 0.9901, 1 - 1e-9, 1.0)] == [
        "0 %",
        "< 1 %",
        "< 1 %",
        "1 %",
        "50 %",
        "99 %",
        "> 99 %",
        "> 99 %",
        "100 %",
    ]


def test_one_weight_is_written_alike_in_python_and_in_the_browser(node: str):
    shares = [0.125, 0.625, 0.007, 0.992, 0.999995, 1 - 1e-9, 1 - 1e-15, 0.0, 1.0, *np.linspace(0, 1, 401)]
    numbers = [*shares, -0.00327, 0.0032724638229768522, 9.9999e-5, 99994.4, -999999.6, 12345678.9, 1e-11, 1e-43, 1e300]
    numbers += np.random.default_rng(0).lognormal(0, 4, 400).tolist()
    script = 'const document = { documentElement: { lang: "en" } };\n'
    for file, name in (("percent", "percent"), ("number_format", "fourDigits")):  # each with what it imports
        text = joined(Path(components.__file__).with_name(f"{file}.js"))
        script += f"const {name} = (() => {{ {text}\nreturn {name}; }})();\n"
    code = f"{script}\nconst numbers = {json.dumps(numbers)};"
    code += "console.log(JSON.stringify([numbers.map(percent), numbers.map(fourDigits)]))"
    made = subprocess.run([node, "-e", code], check=True, capture_output=True, encoding="utf-8")
    percents, texts = json.loads(made.stdout)
    assert percents[: len(shares)] == [percent(x) for x in shares]
    assert texts == [short(x) for x in numbers]
    assert (percent(0.125), percent(0.625)) == ("13 %", "63 %"), "halves go up, or eight equal words would be 8 × 12 %"


@for_each(
    "weights, key, message",
    [
        ((0.2, 0.6, 0.2, 0.0), 1, "“it” attends to “cat” (60 %), more than to any other key."),
        ((0.2, 0.6, 0.2, 0.0), 2, "“it” attends to “mat” (20 %)."),
        ((0.2, 0.6, 0.2, 0.0), 3, "“it” gives “dog” no weight."),
        ((0.4, 0.4, 0.2, 0.0), 1, "“it” attends to “cat” (40 %), as much as to 1 other and more than to the rest."),
        ((0.3, 0.3, 0.3, 0.1), 1, "“it” attends to “cat” (30 %), as much as to 2 others and more than to the rest."),
        ((0.25, 0.25, 0.25, 0.25), 1, "“it” attends to “cat” (25 %), as much as to every other key."),
        ((0.0, 1.0, 0.0, 0.0), 1, "“it” attends to “cat” (100 %), the only key with any weight."),
        ((0.9, 0.9, 0.0, 0.0), 1, "“it” gives “cat” the weight 0.9."),
    ],
)
def test_one_cell_is_read_out(weights, key, message):
    assert plain(cell_sentence(weighted(*weights), 0, 0, 0, key)) == message


def test_a_closed_cell_says_why():
    trace = run(Config(sentence="it cat mat", mask=("causal", "no_self")))
    assert plain(cell_sentence(trace, 0, 0, 0, 2)) == "“it” may not attend to “mat”: the mask “Causal” forbids it."
    assert plain(cell_sentence(trace, 0, 0, 1, 1)) == "“cat” may not attend to “cat”: the mask “Not itself” forbids it."
    edited = run(Config(sentence="it cat mat"), edits=[(0, "allowed", (0, 1), 0)])
    assert plain(cell_sentence(edited, 0, 0, 0, 1)).endswith("the mask was edited, the settings would allow it.")


def test_a_weight_that_was_edited_open_is_read_though_the_score_is_closed():
    trace = run(Config(sentence="it cat", mask="causal"), edits=[(0, "weights", (0, 0, 1), 0.5)])
    assert plain(cell_sentence(trace, 0, 0, 0, 1)) == "“it” gives “cat” the weight 0.5."


# --- tokens and words ------------------------------------------------------------------------------------------------

HOSTILE = "{query} **it** <b>x</b> [a](b) $x$ “it” constructor"


def test_parts_are_put_together():
    it, cat = ((TOKEN, "it"),), ((TOKEN, "cat"),)
    assert fill("{a} and {b}.", a=it, b="{a}") == ((TOKEN, "it"), (TEXT, " and {a}."))
    assert join_sentences([it]) == it
    assert join_sentences([it, cat]) == ((TOKEN, "it"), (TEXT, " and "), (TOKEN, "cat"))
    assert join_sentences([]) == ()
    assert merge_parts([(TEXT, "a"), (TEXT, ""), (TEXT, "b"), (TOKEN, "c"), (TOKEN, "d"), (TEXT, "")]) == (
        (TEXT, "ab"),
        (TOKEN, "c"),
        (TOKEN, "d"),
    )
    assert name_token(("it", "cat"), 0) == it


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


def test_the_largest_weight_is_named_with_its_position():
    trace = run(Config(sentence="it cat mat dog", n_heads=2, scale=0.0), edits=[(0, "weights", (1, 1, 2), 0.61)])
    assert plain(alt(trace, 0, "weights")) == (
        "Attention weights of 2 heads over 4 queries and 4 keys; largest 0.61 in head 2, query “cat”, key “mat”."
    )


def test_pictures_in_words_are_true():
    trace = run(Config(sentence="it cat mat dog", n_heads=1, mask="causal"))
    S = trace["masked"].array[0]
    i, j = np.unravel_index(np.argmax(S), S.shape)
    low = f"{S[np.isfinite(S)].min():.4g}".replace("-", "−")
    assert plain(alt(trace, 0, "masked")) == (
        f"Masked scores of 1 head over 4 queries and 4 keys; from {low} to {S.max():.4g}; largest {S.max():.4g}, "
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


EVERY_PARAMETER = "sum(tanh(q@U + k@A)*v) * g*alpha*beta*gamma*lam*tau + sum(u*q) + sum(w*k) + c@q"


def test_every_step_has_a_sentence_and_a_picture_in_words():
    traces = [run(RICH), run(Config(score="general", norm="post", feed_forward="relu", residual=True))]
    traces += [
        small_models.model(name)("a cat")
        for name in ("bert", "gpt2", "gemma2", "gemma3", "gpt_oss", "mixtral", "olmo2", "qwen3")
    ]
    traces += [
        run(Config(feed_forward="swiglu", projection_bias=True)),
        run(Config(score="formula", score_formula=EVERY_PARAMETER)),
        small_models.model("t5")("a cat", "a dog", part="both"),
    ]
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
    assert "distributing its weight" in stage(run(Config()), 0, "weights")
    assert stage(run(Config(normaliser="sigmoid")), 0, "weights").endswith("a row need not add to 1.")
    assert stage(run(Config(normalise_over="queries")), 0, "weights").startswith("The wrong way: 7 keys")
    assert (
        stage(run(Config(sentence="it")), 0, "scores")
        == "1 query against 1 key: one number for each pair in each head."
    )


# --- what the numbers are --------------------------------------------------------------------------------------------

OWN = {"embedding": "own", "own_numbers": "1 2\n3 4", "d_model": 2, "sentence": "it cat", "d_k": 2, "d_v": 2}
EYES = {name: [np.eye(2)] for name in ("w_q", "w_k", "w_v")} | {"w_o": np.eye(2)}


@for_each(
    "settings, given, name",
    [
        ({}, (), "random"),
        ({"initialiser": "orthogonal"}, (), "random"),
        ({"initialiser": "learned", "learn_steps": 3}, (), "learned"),
        ({"initialiser": "learned", "learn_steps": 3}, ("w_q",), "mixed_learned"),
        ({"initialiser": "learned", "learn_steps": 0}, (), "random"),
        ({"initialiser": "learned", "norm": "pre"}, (), "random"),
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
        "the pattern means nothing yet. 1 number was changed by hand, and all that follows uses it."
    )
    assert "2 numbers were changed by hand" in two.sentence


def test_every_origin_of_an_initialiser_is_known():
    assert {row.origin for row in INITIALISERS.values()} <= {"random", "set by hand", "learned"}
    assert all(sentence.endswith(".") for _, sentence in provenance.ORIGINS.values())


def test_solved_heads_are_said_to_be_made_for_this_sentence():
    found = provenance.origin(run(Config(initialiser="by_hand")))
    assert found.name == "solved"
    assert "made by hand for this sentence" in found.sentence


def test_where_a_larger_d_model_moves_no_weight_of_solved_heads_that_is_said():
    wide = Config(sentence="the king saw his queen", embedding="meaning", d_model=64, initialiser="by_hand")
    said = "A d_model beyond 64 changes the outputs and hardly a weight"
    runs = {d: run(replace(wide, d_model=d)) for d in (32, 64, 128)}
    assert {d: said in provenance.origin(trace).sentence for d, trace in runs.items()} == {
        32: False,
        64: True,
        128: True,
    }
    np.testing.assert_allclose(runs[64]["weights"].array, runs[128]["weights"].array, atol=1e-3)
    assert np.abs(runs[64]["output"].array - runs[128]["output"].array[:, :64]).max() > 0.1
    moves = ({"n_layers": 2}, {"position": "random"}, {"embedding": "normal"}, {"solved_anew": True})
    for other in moves:
        assert said not in provenance.origin(run(replace(wide, **other))).sentence
