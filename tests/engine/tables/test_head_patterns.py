"""Heads set by hand read what they were made for; where they cannot, the trace says so."""

from __future__ import annotations

import dataclasses
import itertools
import re
from dataclasses import replace

import numpy as np
import pytest

from attnviz import INITIALISERS, Config, ConfigError, Trace, run
from attnviz.engine import head_goals
from attnviz.engine.head_goals import HeadGoals, misses
from attnviz.engine.solved_head_notes import WHY
from attnviz.engine.tables.head_patterns import PATTERNS, LeastSquares, Match
from attnviz.engine.tables.positions import sinusoidal
from attnviz.settings import fields, tuple_kinds
from tests.support.cases import for_each

pytestmark = pytest.mark.filterwarnings("error")

SENTENCES = (
    "the cat sat on the warm mat",
    "a rose is a rose is a rose",
    "one two three four five",
    "to be or not to be that is",
    "no no no no no",
    "so so so so so so so so what",
)
ONE_LAYER = ("previous", "same_word", "first", "uniform", "next")
EMBEDDINGS = ("normal", "uniform", "spelling")


def by_hand(*patterns: str, **settings: object) -> Config:
    """A setting whose heads are solved for this very setting; see test_solved_once.py for the others."""
    heads = {"initialiser": "by_hand", "patterns": patterns, "n_heads": len(patterns), "solved_anew": True}
    return Config(**heads | settings)


def key_positions(name: str, queries: tuple[str, ...], words: tuple[str, ...], i: int) -> list[int]:
    """Where the query at i is to look, spelled out."""
    n, word = len(words), queries[i]
    return {
        "previous": [max(i - 1, 0)],
        "next": [min(i + 1, n - 1)],
        "first": [0],
        "same_word": [j for j in range(n) if words[j] == word],
        "alike": [j for j in range(n) if words[j] == word],
        "uniform": list(range(n)),
        "induction": [j for j in range(1, min(i + 1, n)) if words[j - 1] == word],
    }[name]


def right_mass(trace: Trace, head: int, name: str) -> float:
    """The least that any query puts on the keys that it is to read; on none of them more than its equal part counts."""
    A = trace["weights"].array[head]
    wanted = [key_positions(name, trace.query_tokens, trace.key_tokens, i) for i in range(len(A))]
    return min(sum(min(A[i, j], 1 / len(keys)) for j in keys) for i, keys in enumerate(wanted) if keys)


# What is promised -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@for_each("d_model", [16, 32, 64])
@for_each("embedding", EMBEDDINGS)
@for_each("sentence", SENTENCES)
@for_each("score", ["scaled_dot", "dot", "gaussian"])
def test_a_head_reads_what_it_was_made_for(score, sentence, embedding, d_model):
    for position, d_k in itertools.product(("sinusoidal", "random"), (2, 7)):
        settings = {"score": score, "embedding": embedding, "position": position, "d_model": d_model, "d_k": d_k}
        trace = run(by_hand(*ONE_LAYER, sentence=sentence, **settings))
        for head, name in enumerate(ONE_LAYER):
            assert right_mass(trace, head, name) >= 0.99, name
        assert trace.notes == ()


@for_each("d_model", [16, 32, 64])
@for_each("sentence", SENTENCES)
def test_one_hot_words_do_as_well_where_positions_are_vectors_of_their_own(sentence, d_model):
    settings = {"embedding": "one_hot", "position": "random", "d_model": d_model}
    trace = run(by_hand(*ONE_LAYER, sentence=sentence, **settings))
    assert min(right_mass(trace, head, name) for head, name in enumerate(ONE_LAYER)) >= 0.99


def test_as_many_tokens_as_columns_are_not_too_many():
    sentence = " ".join(f"w{i % 11}" for i in range(16))
    trace = run(by_hand(*ONE_LAYER, sentence=sentence, d_model=16, d_k=2))
    assert min(right_mass(trace, head, name) for head, name in enumerate(ONE_LAYER)) >= 0.99


def test_without_positions_words_still_find_themselves():
    trace = run(by_hand("same_word", "uniform", position="none"))
    assert right_mass(trace, 0, "same_word") >= 0.99
    assert trace.notes == ()


def test_two_sentences_are_compared_word_by_word():
    trace = run(by_hand("same_word", "previous", sentence="the dog sat", second_sentence="a cat and the dog"))
    A = trace["weights"].array
    assert min(A[0, 0, 3], A[0, 1, 4]) >= 0.99
    assert min(A[1, 0, 0], A[1, 1, 0], A[1, 2, 1]) >= 0.99


def test_equal_words_share_alike():
    A = run(by_hand("same_word", sentence="a b a c a"))["weights"].array[0]
    np.testing.assert_allclose(A[0, [0, 2, 4]], A[0, 0], rtol=0, atol=1e-9)


@for_each("name", ["previous", "same_word", "first", "next"])
def test_the_sharper_the_more(name):
    masses = [right_mass(run(by_hand(name, sharpness=s)), 0, name) for s in (0.5, 2, 4, 6, 12)]
    assert masses == sorted(masses)
    assert masses[0] < 0.7
    assert masses[-1] > 0.9999


def test_sharpness_is_the_gap_in_score_to_the_next_best_key():
    for score in ("scaled_dot", "dot", "gaussian"):
        S = run(by_hand("previous", sharpness=3.5, score=score))["scaled"].array[0]
        best = np.sort(S, axis=-1)
        np.testing.assert_allclose(best[:, -1] - best[:, -2], 3.5, rtol=0, atol=1e-6)


def test_a_scale_of_ones_own_is_not_undone():
    config = by_hand("previous")
    for name, value in (("scale", 0.01), ("temperature", 50.0), ("mask", "causal"), ("normaliser", "sparsemax")):
        trace, other = run(config), run(dataclasses.replace(config, **{name: value}))
        for matrix in ("w_q", "w_k", "w_v", "w_o"):
            np.testing.assert_array_equal(trace[matrix].array, other[matrix].array)
    assert right_mass(run(dataclasses.replace(config, scale=0.01)), 0, "previous") < 0.5


def test_the_textbooks_rotation_would_not_have_worked():
    """W_K = I and W_Q = the rotation that moves a sinusoid on by one: words on top of it drown it."""
    config = by_hand("previous", d_k=16)
    P = sinusoidal(9, 16)
    rotation = np.linalg.lstsq(P[1:], P[:-1], rcond=None)[0]
    np.testing.assert_allclose(P[1:] @ rotation, P[:-1], atol=1e-9)
    given = {"w_q": [rotation], "w_k": [np.eye(16)]}
    assert right_mass(run(config, projections=given), 0, "previous") < 0.1
    assert right_mass(run(config), 0, "previous") >= 0.99


# Two layers -----------------------------------------------------------------------------------------------------------

TWO = {"n_layers": 2, "residual": True, "mask": "causal", "bos": True}
REPEATS = ("A B C D A B C", "a rose is a rose is", "x y x z x", "one two one two one two one", "p q r s t u v w p q")


@for_each("d_model", [16, 32, 64])
@for_each("embedding, position", [("normal", "sinusoidal"), ("one_hot", "random")])
@for_each("sentence", REPEATS)
@pytest.mark.slow
def test_after_a_b_a_the_second_a_finds_b(sentence, embedding, position, d_model):
    settings = {"embedding": embedding, "position": position, "d_model": d_model}
    for patterns in (("induction",), ("previous", "induction", "uniform")):
        trace = run(by_hand(*patterns, sentence=sentence, **settings, **TWO))
        assert right_mass(trace, patterns.index("induction"), "induction") > 0.9
        assert not any("should" in note for note in trace.notes)


GROUPS = {"n_heads": 4, "n_kv_heads": 2, "d_v": (3, 5), "d_k": (2, 6), "d_model": 32}


@for_each(
    "config, kv_head, head, start",
    [
        (by_hand("induction", sentence="A B C D A B C", **TWO), 0, 0, 0),
        (by_hand("next", "induction", sentence="A B C D A B C", d_v=3, **TWO), 1, 1, 3),
        (by_hand("uniform", "induction", sentence="A B C D A B C", **{**TWO, **GROUPS}), 1, 2, 6),
    ],
)
def test_the_second_layer_reads_only_what_the_first_layer_wrote(config, kv_head, head, start):
    """Without what the head of the first layer hands on, the keys of the second are nothing at all."""
    first, second = run(config).layers
    written = first["heads"].array[head][:, :2] @ first["w_o"].array[start : start + 2]
    W_Q, W_K, K = second["w_q"].array[head], second["w_k"].array[kv_head], second["keys"].array[kv_head]
    np.testing.assert_allclose(written @ W_K, K, atol=1e-6)
    np.testing.assert_allclose((first["added"].array - written) @ W_K, 0, atol=1e-6)
    np.testing.assert_allclose(written @ W_Q, 0, atol=1e-6)
    assert abs(K[1:]).max(axis=-1).min() > 1


def test_each_group_and_each_width_has_its_own_two_halves():
    trace = run(by_hand("uniform", "induction", sentence="A B C D A B C", **{**TWO, **GROUPS}))
    assert min(right_mass(trace, head, "induction") for head in (2, 3)) > 0.9


def test_a_third_layer_finds_it_too():
    trace = run(by_hand("induction", sentence="A B C D A B C", d_model=32, **{**TWO, "n_layers": 3}))
    assert right_mass(trace, 0, "induction") > 0.9


def test_it_is_said_which_rows_have_nothing_to_find():
    notes = run(by_hand("induction", sentence="A B C D A B C", **TWO)).notes
    assert [re.findall(r"\d+", note) for note in notes] == [["2", "1", "5"]]
    assert "nothing to find" in notes[0]


def test_one_layer_holds_half_of_it():
    trace = run(by_hand("uniform", "induction"))
    assert right_mass(trace, 1, "previous") >= 0.99
    assert [note.split(":")[0] for note in trace.notes] == ["Head 2"]
    assert "needs a second" in trace.notes[0]


# Where it cannot work, it is said -------------------------------------------------------------------------------------

LONG = " ".join(f"w{i}" for i in range(20))
CANNOT = {
    "hidden": [by_hand("next", mask="causal"), by_hand("same_word", mask="no_self"), by_hand("first", mask="window")],
    "score": [by_hand("previous", score=score) for score in ("additive", "general", "location", "cosine")],
    "narrow": [by_hand("previous", d_k=1), by_hand("induction", d_v=1, sentence="A B C D E A B", **TWO)],
    "tied": [by_hand("previous", tied=True), by_hand("first", tied=True)],
    "cross": [by_hand("induction", second_sentence="the cat the dog", **TWO)],
    "norm": [by_hand("induction", sentence="A B C A B", norm=norm, **TWO) for norm in ("pre", "post")],
    "residual": [by_hand("induction", sentence="A B C A B", **{**TWO, "residual": False})],
    "causal": [by_hand("induction", sentence="A B C A D", **{**TWO, "mask": "none"})],
    "bos": [by_hand("induction", sentence="A B C A B", **{**TWO, "bos": False})],
    "turned": [by_hand("previous", position="rope")],
    "rows": [by_hand(name, sentence=LONG) for name in ("previous", "same_word", "first", "next")],
    "alike": [by_hand("previous", position="none"), by_hand("next", position="none")],
    "dependent": [
        by_hand("same_word", sentence="a b c", embedding="own", own_numbers="1 0; 1 0; 1 0", position="none", d_model=4)
    ],
    "changed": [
        by_hand("previous", temperature=9.0),
        by_hand("previous", scale=0.01),
        by_hand("previous", softcap=1.0),
        by_hand("first", bias="linear", bias_slope=40.0),
        by_hand("uniform", bias="linear"),
        by_hand("uniform", bias="linear", sentence=LONG),
        by_hand("same_word", normaliser="sigmoid"),
        by_hand("uniform", normaliser="linear"),
        by_hand("first", normalise_over="queries"),
    ],
    "edited": [
        by_hand("previous", edits=[(None, "embedded", (1, j), 9.0) for j in range(16)]),
        by_hand("first", edits=[(0, "scores", (0, 2, 1), 1e4)]),
    ],
    "blunt": [by_hand("previous", sharpness=1.0), by_hand("same_word", sharpness=0.0)],
}
NOTE = re.compile(
    r"(?:Layer 2, h|H)ead 1 should attend to .*; the least that goes there is (0\.\d\d), in row (\d+), “[^”]*”: (.*)\."
)


def test_every_reason_that_can_be_given_is_tried():
    assert CANNOT.keys() == WHY.keys()


@for_each("why, config", [(why, config) for why, cases in CANNOT.items() for config in cases])
def test_a_head_that_cannot_is_named_with_its_least_and_the_reason(why, config):
    trace = run(config)
    matches = [NOTE.fullmatch(note) for note in trace.notes if "should attend to" in note]
    assert len(matches) == 1
    share, row, reason = matches[0].groups()
    assert reason.startswith(WHY[why].partition("{")[0])
    A, i = trace["weights"].array[0], int(row) - 1
    keys = key_positions(config.patterns[0], trace.query_tokens, trace.key_tokens, i)
    keys = [j for j in keys if trace["allowed"].array[i, j]]
    kept = sum(min(A[i, j], 1 / len(keys)) for j in keys) / max(A[i].sum(), 1)
    assert 0 <= kept - float(share) < 0.01
    assert kept < 0.9


def test_a_row_is_named_by_its_word():
    (note,) = run(by_hand("previous", position="none", sentence="the cat sat the")).notes
    assert ", in row 4, “the”: " in note or ", in row 2, “cat”: " in note


def test_edits_that_the_weights_do_not_follow_from_are_not_blamed():
    (note,) = run(by_hand("previous", sharpness=1.0, edits=[(0, "values", (0, 1, 1), 9.0)])).notes
    assert note.endswith(": a higher sharpness helps.")


@pytest.mark.slow
def test_the_heads_that_miss_are_those_that_are_said_to():
    for config in [case for cases in CANNOT.values() for case in cases] + [by_hand("previous", "first", "same_word")]:
        trace = run(config)
        layers = [misses(trace, layer) for layer in range(config.n_layers)]
        assert bool(any(layers)) == any("should attend to" in note for note in trace.notes)
    assert misses(run(by_hand("previous", "uniform", "previous", "next", "previous", d_k=1)), 0) == {0, 2, 3, 4}


def test_heads_that_miss_alike_are_named_together():
    config = by_hand("previous", "uniform", "previous", "next", "previous", d_k=1)
    assert [note.partition(" should")[0] for note in run(config).notes] == ["Heads 1, 3, 4 and 5"]


def test_a_head_of_two_columns_beside_one_of_one_does_its_work():
    config = by_hand("previous", "previous", d_k=(1, 2))
    assert [note.partition(" should")[0] for note in run(config).notes] == ["Head 1"]


@pytest.mark.slow
def test_a_share_just_under_the_limit_is_not_rounded_up_to_it():
    for sharpness in np.arange(2.5, 3.5, 0.005):
        for note in run(by_hand("previous", sharpness=float(sharpness), sentence="a b c")).notes:
            assert "0.90" not in note


def test_what_only_fills_up_is_asked_nothing():
    assert run(by_hand(*ONE_LAYER[:4], pad_to=10, mask="padding")).notes == ()


def test_of_matrices_that_were_given_nothing_is_said():
    config = by_hand("previous", d_k=1)
    assert run(config, projections={"w_q": [np.ones((16, 1))]}).notes == ()
    assert run(config, projections={"w_k": [np.ones((16, 1))]}).notes == ()
    assert run(config, projections={"w_v": [np.ones((16, 4))]}).notes == run(config).notes != ()


def test_an_edit_that_spoils_a_head_is_said():
    assert run(by_hand("previous"), edits=[(0, "w_q", (0, i, 0), 0.0) for i in range(16)]).notes


@for_each("value", [0.0, 1e-300, 1e200, 1e308, -1e308])
def test_numbers_of_any_size_are_no_error(value):
    edits = [(None, "embedded", (i, 3), value) for i in range(3)]
    trace = run(by_hand(*ONE_LAYER, **{"n_layers": 2, "residual": True}), edits=edits)
    assert np.isfinite(trace.layers[0]["w_q"].array).all()


@pytest.mark.slow
@for_each("settings", [{"d_model": 1}, {"sentence": "one"}, {"n_heads": 16}, {"sentence": "a", "bos": True}])
@for_each("score", ["scaled_dot", "location"])
def test_no_setting_is_an_error(settings, score):
    for layers in (1, 3):
        for d in (1, (1, 2, 3)):
            trace = run(by_hand(*PATTERNS, score=score, d_k=d, d_v=d, n_layers=layers, **{"n_heads": 6} | settings))
            assert np.isfinite(trace["output"].array).all()


# Words that are alike -------------------------------------------------------------------------------------------------

PAIRS = "the king and the queen saw a dog and a cat"


def cosines(E: np.ndarray, E_kv: np.ndarray) -> np.ndarray:
    """The cosine of the angle between each row and each row, one pair at a time."""
    return np.array([[q @ k / np.linalg.norm(q) / np.linalg.norm(k) for k in E_kv] for q in E])


@for_each("score", ["scaled_dot", "dot"])
@for_each("embedding", ["meaning", "normal", "spelling"])
@for_each("settings", [{}, {"tied": True}, {"position": "none"}, {"position": "random"}])
def test_scores_of_like_words_are_the_cosines_of_their_vectors(score, embedding, settings):
    trace = run(by_hand("alike", sentence=PAIRS, embedding=embedding, d_model=64, d_k=16, score=score, **settings))
    E = trace["token_embeddings"].array
    np.testing.assert_allclose(trace["scaled"].array[0], 12.0 * cosines(E, E), atol=1e-8)
    assert trace.notes == ()


def test_queries_of_one_sentence_find_like_words_in_another():
    trace = run(
        by_hand("alike", sentence="a king", second_sentence="the queen ate", embedding="meaning", d_model=64, d_k=8)
    )
    E, E_kv = trace["token_embeddings"].array, trace["token_embeddings_kv"].array
    np.testing.assert_allclose(trace["scaled"].array[0], 12.0 * cosines(E, E_kv), atol=1e-8)


@for_each("d_k", [8, 16, 64])
@for_each("layers", [1, 2])
def test_king_reads_queen_and_dog_reads_cat(d_k, layers):
    settings = {"sentence": PAIRS, "embedding": "meaning", "d_model": 64, "d_k": d_k, "mask": "no_self"}
    trace = run(by_hand("alike", **settings, n_layers=layers, residual=True))
    words = trace.query_tokens
    A = trace.layers[-1]["weights"].array[0]
    for one, other in (("king", "queen"), ("queen", "king"), ("dog", "cat"), ("cat", "dog")):
        assert A[words.index(one), words.index(other)] > 0.9
    assert trace.notes == ()


def test_goals_that_are_missed_for_one_reason_are_one_note():
    three = by_hand("previous", "next", "first", position="none")
    trace = run(three)
    (note,) = trace.notes
    assert note.startswith(
        "Heads 1, 2 and 3 should attend to the previous token, the next token and the first token, in this order; the "
    )
    share, head, row = re.search(r"is (0\.\d\d), in head (\d) row (\d)", note).groups()
    wanted = {1: lambda i: max(i - 1, 0), 2: lambda i: min(i + 1, len(trace.key_tokens) - 1), 3: lambda i: 0}
    shares = {
        (h, i): trace["weights"].array[h - 1, i, of(i)]
        for h, of in wanted.items()
        for i in range(len(trace.key_tokens))
    }
    assert np.floor(100 * min(shares.values()) + 1e-7) / 100 == float(share)
    assert shares[int(head), int(row) - 1] == pytest.approx(min(shares.values()))
    assert len(run(by_hand("previous", "next", position="none", mask=("causal",))).notes) == 2  # for two reasons


def test_likeness_that_the_rows_cannot_hold_is_said():
    trace = run(by_hand("alike", sentence=PAIRS, embedding="meaning", d_model=4, position="sinusoidal"))
    assert trace.notes == (
        "Head 1 should attend to words with similar vectors, and does so only nearly: there are more tokens than the 4 "
        "that this embedding size can tell apart for certain.",
    )


@for_each("name", ["previous", "first", "next"])
def test_a_first_or_last_token_that_may_not_read_itself_is_no_fault(name):
    assert run(by_hand(name, mask="no_self")).notes == ()


def test_a_word_that_may_not_read_itself_and_stands_nowhere_else_is_said():
    assert "the mask hides it" in run(by_hand("same_word", mask="no_self")).notes[0]


# What else is promised ------------------------------------------------------------------------------------------------


@for_each("n", [1, 2, 3, 7])
def test_another_head_leaves_the_others_as_they_were(n):
    few, many = (run(by_hand(*PATTERNS, "first", n_heads=k, d_k=(5, 2, 3))) for k in (n, n + 1))
    for name in ("w_q", "w_k", "w_v", "queries", "keys", "values", "scores", "weights", "heads"):
        np.testing.assert_array_equal(many[name].array[:n], few[name].array)
    np.testing.assert_array_equal(many["w_o"].array[: 4 * n], few["w_o"].array)


def test_in_the_first_layer_d_k_is_how_many_columns_there_are():
    setting = {"n_heads": 4, "patterns": ("alike", "previous", "same_word", "induction")}
    wide = run(Config(initialiser="by_hand", d_k=8, **setting))
    for d_k in (1, 2, 3, 4):
        narrow = run(Config(initialiser="by_hand", d_k=d_k, **setting))
        for name in ("w_q", "w_k"):
            np.testing.assert_array_equal(narrow[name].array, wide[name].array[:, :, :d_k])
    anew = run(Config(initialiser="by_hand", d_k=4, solved_anew=True, **setting))
    assert (anew["w_q"].array != wide["w_q"].array[:, :, :4]).any()


def test_values_and_outputs_are_glorot_as_they_were():
    hand, glorot = run(by_hand(*ONE_LAYER)), run(Config(n_heads=5))
    for name in ("w_v", "w_o"):
        np.testing.assert_array_equal(hand[name].array, glorot[name].array)


def test_patterns_and_sharpness_change_nothing_under_another_initialiser():
    plain, other = run(Config()), run(Config(patterns="next", sharpness=1.0))
    for name in plain.layers[0]:
        np.testing.assert_array_equal(plain[name].array, other[name].array)
    assert other.notes == ()
    assert not {"patterns", "sharpness"} & set(fields.relevant_fields(Config()))
    assert {"patterns", "sharpness"} <= set(fields.relevant_fields(by_hand("next")))


def test_heads_that_share_keys_share_their_pattern():
    trace = run(by_hand("previous", "first", n_heads=6, n_kv_heads=2))
    for head in range(6):
        assert right_mass(trace, head, "previous" if head < 3 else "first") >= 0.99
    assert trace.notes == ()


def test_tied_matrices_are_one_and_find_the_same_word():
    trace = run(by_hand("same_word", n_heads=4, n_kv_heads=2, tied=True))
    np.testing.assert_array_equal(trace["w_q"].array[::2], trace["w_k"].array)
    assert min(right_mass(trace, head, "same_word") for head in range(4)) >= 0.99


def test_only_this_initialiser_is_solved():
    assert [row.name for row in INITIALISERS.values() if row.solved] == ["by_hand"]
    assert INITIALISERS["by_hand"].origin == "set by hand"


# The table and its field ----------------------------------------------------------------------------------------------


@for_each("row", PATTERNS.values())
def test_a_row_says_all_that_a_reader_wants_to_know(row):
    assert row.label[0].isupper()
    assert row.formula
    assert row.note.endswith(".")
    assert row.source
    assert row.goal
    assert row.before in ("", *PATTERNS)


def test_names_stand_in_links_for_ever():
    assert {"previous", "same_word", "first", "uniform", "next", "induction", "alike"} <= set(PATTERNS)


def test_the_wanted_keys_of_every_pattern():
    words = ("a", "b", "a", "a", "c")
    for row in PATTERNS.values():
        wanted = row.wanted(row.fn(words, words))
        assert [np.flatnonzero(keys).tolist() for keys in wanted] == [
            key_positions(row.name, words, words, i) for i in range(5)
        ]


def test_rows_that_are_no_numbers_are_solved_by_nothing():
    for wrong in (np.inf, np.nan):
        assert LeastSquares(np.array([[wrong, 1.0], [0.0, 1.0]]))(np.eye(2)).tolist() == [[0, 0], [0, 0]]


def test_no_radius_where_all_are_one():
    assert Match((0, 0), (0, 0), 1).radius(6.0, 1.0) == 0.0


KIND = tuple_kinds.Listed(PATTERNS, 3, lambda values: 2)


@for_each(
    "text, value, problem",
    [
        ("first", ("first",), None),
        ("first.next.first", ("first", "next", "first"), None),
        ("first, next", ("first", "next"), None),
        ("next.first.first", ("next", "first"), None),
        ("first.last.next", ("first", "next"), "names 'last', which does not exist; ignored"),
        ("next.next.next.first", ("next",), "listed 4 names; the first 3 are kept"),
    ],
)
def test_a_list_of_rows_is_read_in_order(text, value, problem):
    assert KIND.read(text) == (value, problem)
    assert KIND.read(KIND.write(value)) == (value, None)


@for_each("text", ["", "...", "last", "First"])
def test_a_list_of_no_rows_is_unreadable(text):
    with pytest.raises(ValueError) as error:
        KIND.read(text)
    assert str(error.value) == text


@pytest.mark.parametrize(("given", "value"), [("next", ("next",)), (["first", "next"], ("first", "next"))])
def test_a_list_of_rows_is_a_name_or_several(given, value):
    assert KIND.check(given) == value


def test_what_only_repeats_the_last_is_left_out():
    assert Config(patterns=("next", "first", "first")) == Config(patterns=("next", "first"))
    assert Config(patterns=("next", "first"), n_heads=4).head_patterns() == ("next", "first", "first", "first")


@for_each("given", [(), ("first",) * 4, 3, None, ("first", "last"), ("first", 3)])
def test_no_other_list_of_rows_is_taken(given):
    with pytest.raises(ConfigError, match=r"give a name or a tuple of 1 to 3 names|choose one of: previous"):
        KIND.check(given)


def test_as_many_rows_are_drawn_as_there_are_key_heads():
    kind = next(item for item in fields.settings(Config) if item.name == "patterns").metadata["kind"]
    assert kind.each({"n_heads": 6, "n_kv_heads": None}) == 6
    assert kind.each({"n_heads": 6, "n_kv_heads": 2}) == 2


def test_a_word_that_the_other_sentence_does_not_have_is_said() -> None:
    trace = run(
        Config(sentence="the cat", second_sentence="le chat mange", initialiser="by_hand", patterns="same_word")
    )
    assert any("where there is none to attend to (rows: 2)" in note for note in trace.notes)
    alike = run(Config(sentence="the cat", second_sentence="the cat sat", initialiser="by_hand", patterns="same_word"))
    assert not any("none to attend to" in note for note in alike.notes)


@for_each("sharpness", [2.0, 2.5, 3.0])
def test_a_head_is_said_to_miss_where_it_puts_less_than_nine_tenths(sharpness):
    trace = run(by_hand("previous", sentence="a b c d e f", d_model=24, sharpness=sharpness))
    least = min(trace["weights"].array[0, i, max(i - 1, 0)] for i in range(6))
    assert 0.75 < least < 0.95
    assert any("should attend to the previous token" in note for note in trace.notes) == (least < 0.9)
    assert head_goals.ENOUGH == 0.9


def test_a_note_names_the_first_of_rows_that_miss_alike():
    """The last bits of the shares decide nothing: neither the row nor the number."""
    trace = run(by_hand("previous", "first", sentence="a b c d"))
    words = ("a", "b", "c", "d")
    made = HeadGoals(trace.config, words, words, deep=False)
    A = trace["weights"].array.copy()
    A[:] = np.eye(4)
    for row, share in ((1, 0.5), (2, 0.5 - 1e-12), (3, 0.5 - 1e-13)):
        A[0, row] = 0.0
        A[0, row, row - 1], A[0, row, row] = share, 1 - share
    A[1] = [[1, 0, 0, 0]] * 4
    layer = {"weights": replace(trace["weights"], array=A), "allowed": trace["allowed"]}
    (note,) = made.unmet_goals(layer, "")
    assert "0.50, in row 2" in note
    A[0, 1:] = [[0.9 - 1e-13, 0.1, 0, 0], [0, 0.9, 0.1, 0], [0, 0, 1, 0]]
    assert made.unmet_goals(layer, "") == []


def test_a_head_for_similar_meaning_misses_nothing():
    config = by_hand("alike", "previous", "next", "first", sentence="the king saw a queen", embedding="meaning")
    trace = run(replace(config, d_model=64, d_k=8, mask=("no_self",)))
    assert misses(trace, 0) == frozenset()


def test_goals_that_several_heads_miss_are_named_once_with_their_heads():
    (note,) = run(by_hand("previous", "previous", "first", position="none")).notes
    assert note.startswith("Heads 1, 2 and 3 should attend to the previous token (1, 2) and the first token (3); the ")
