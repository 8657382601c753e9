"""The weight that the page opens with is one that means something."""

from __future__ import annotations

import numpy as np

from attnviz import Config, run
from attnviz.engine.external.traces import of_weights
from attnviz.text.opening_sentence import telling

INDUCTION = Config(
    sentence="A B C D A B C", bos=True, n_heads=1, initialiser="by_hand", patterns="induction", mask="causal",
    n_layers=2, residual=True,
)  # fmt: skip
"""A head whose first rows have nothing to find, as a note says."""


def test_a_row_that_a_note_calls_meaningless_is_not_what_tells_most() -> None:
    for anew in (False, True):
        for sentence in ("A B C D A B C", "one two one three two", "x y z w x"):
            trace = run(Config(**vars(INDUCTION) | {"sentence": sentence, "solved_anew": anew}))
            words = trace.query_tokens
            assert "its row means nothing" in trace.notes[0]
            _, query, key = telling(trace, 1)
            assert words[query] in words[:query], "the word has come before"
            assert words[key - 1] == words[query]
            assert trace["weights"].array[0, query, key] > 0.9
    second = Config(
        sentence="the cat sat", second_sentence="le cat dort", n_heads=1, initialiser="by_hand", patterns="same_word"
    )
    trace = run(second)
    assert any("their weights mean nothing" in note for note in trace.notes)
    assert telling(trace, 0) == (0, 1, 1)


def test_a_head_that_is_asked_for_is_the_one_that_is_told_of() -> None:
    plain = Config(sentence="the cat saw the", n_heads=2, initialiser="normal", seed=3)
    lines = {"normaliser": "formula", "normaliser_formula": "x * 3"}
    without_goal = {"initialiser": "by_hand", "patterns": ("induction", "first"), "sentence": "one word each"}
    for changed in ({}, lines, {"normaliser": "relu_over_n"}, without_goal):
        trace = run(Config(**vars(plain) | changed))
        assert [telling(trace, 0, head)[0] for head in range(2)] == [0, 1], changed


def test_of_heads_of_words_that_are_alike_it_tells_of_two_that_are() -> None:
    words = "the king saw his queen while a dog chased our cat"
    config = Config(
        sentence=words,
        embedding="meaning",
        d_model=64,
        initialiser="by_hand",
        patterns=("alike", "previous"),
        n_heads=2,
    )
    trace = run(config)
    head, query, key = telling(trace, 0)
    assert head == 0
    assert {trace.query_tokens[query], trace.key_tokens[key]} in ({"dog", "cat"}, {"king", "queen"})


def test_two_words_apart_that_take_most_from_each_other_tell_more_than_a_larger_weight() -> None:
    tokens = ["a", "b", "c", "d", "e"]
    larger = np.full((5, 5), 0.2)
    larger[0] = [0.2, 0.0, 0.0, 0.8, 0.0]
    assert telling(of_weights(larger, tokens), 0) == (0, 0, 3)

    def mutual(one: int, other: int, weight: float, third: int) -> tuple[int, int, int]:
        A = larger.copy()
        for word, to in ((one, other), (other, one)):
            A[word] = 0.0
            A[word, to], A[word, word], A[word, third] = weight, 0.9 - weight, 0.1
        return telling(of_weights(A, tokens), 0)

    assert mutual(1, 4, 0.5, third=2) in ((0, 1, 4), (0, 4, 1)), "it is said of one of the two"
    assert mutual(1, 4, 0.2, third=2) == (0, 0, 3), "too little of all that they take"
    assert mutual(1, 2, 0.5, third=4) == (0, 0, 3), "neighbours, as in many a pattern"
    sure = np.full((5, 5), 0.05)
    sure[1], sure[4] = [0, 0.03, 0, 0, 0.97], [0, 0.97, 0, 0, 0.03]
    sure[0] = [0.1, 0, 0.4, 0.4, 0.1]
    assert telling(of_weights(sure, tokens), 0) in ((0, 1, 4), (0, 4, 1)), "however sure they are"
