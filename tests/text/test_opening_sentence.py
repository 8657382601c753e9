"""The weight that the page opens with is one that means something."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from unicodedata import bidirectional

import numpy as np

from attnviz import Config, Trace, run
from attnviz.engine.external.traces import of_weights
from attnviz.exports.bundle import joined
from attnviz.pictures.static import svg_sentence
from attnviz.text.opening_sentence import telling
from attnviz.text.query_sentences import query_weights
from attnviz.ui.components import sentence as components
from attnviz.ui.components.sentence import opening_sentence

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


def test_where_a_number_was_changed_by_hand_its_row_is_told_of_unless_another_head_is_asked_for() -> None:
    config = Config(sentence="the king saw his queen")
    for step, index in (("scores", (1, 3, 2)), ("weights", (0, 4, 1)), ("queries", (1, 2, 0))):
        trace = run(config, edits=[(0, step, index, 9.0)])
        weights = trace["weights"].array
        assert telling(trace, 0) == (*index[:2], int(weights[index[:2]].argmax()))
        assert telling(trace, 0, head=1 - index[0])[0] == 1 - index[0]
        assert telling(trace, 0, queries=[0, 1])[1] in (0, 1), "it is not in sight"


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


def drawn(trace: Trace, query: int) -> str:
    """The sentence of a saved picture, its words, shares and all."""
    elements = svg_sentence.sentence(trace, 0, 0, query, [""], 2000.0)
    return "|".join(text for each in elements for text in each.itertext())


def test_a_row_of_shares_is_written_in_percent_and_a_row_of_weights_is_not_whatever_the_others_are() -> None:
    trace = run(Config(sentence="a b c", n_heads=1), edits=[(0, "weights", (0, 1, 0), 3.0)])
    kinds = json.loads(opening_sentence.packed(trace, 0, opening_sentence.Opening(0, 0, [""])).partition(b"\0")[0])[
        "kinds"
    ]
    assert kinds == ["shares", "weights", "shares"] == [query_weights(trace, 0, 0).kind(i) for i in range(3)]
    for query, kind in enumerate(kinds):
        shares_below, said = re.findall(r"\|\d+ %", drawn(trace, query)), "attends to" in drawn(trace, query)
        assert (bool(shares_below), said) == (kind == "shares", kind == "shares")


def test_a_row_of_what_is_no_number_is_said_to_be_that() -> None:
    line = {
        "normaliser": "formula",
        "normaliser_formula": "x / (j - j)",
        "score": "formula",
        "score_formula": "i * (j - j)",
    }
    trace = run(Config(sentence="a b c", n_heads=1, **line))
    assert np.isnan(trace["weights"].array[0, 0]).all()
    assert "a has weights that are not finite numbers." in drawn(trace, 0)
    assert query_weights(trace, 0, 0).kind(0) == "no_numbers"


def test_what_stands_in_python_and_in_the_browser_is_the_same(node: str) -> None:
    folder = Path(components.__file__).parent
    script = joined(folder / "opening_sentence.js")
    there = {name: float(number) for name, number in re.findall(r"^const ([A-Z_]+) = ([\d.]+);", script, re.MULTILINE)}
    names = {*there} & {*vars(svg_sentence)}
    assert names == {"LEAST", "NAMED", "MOST_NAMED", "ALSO", "THICKEST", "CLEAR"}
    assert {name: getattr(svg_sentence, name) for name in names} == {name: there[name] for name in names}
    letters = [c for c in map(chr, range(0x1F000)) if c.isalpha() and not 0xD800 <= ord(c) < 0xE000]
    code = (
        joined(folder / "words.js")
        + f"console.log(JSON.stringify({json.dumps(letters)}.map((c) => readingDirection([c]))))"
    )
    made = subprocess.run([node, "-"], input=code, check=True, capture_output=True, encoding="utf-8")
    differ = [
        f"{ord(c):04x}" for c, way in zip(letters, json.loads(made.stdout), strict=True)
        if (way == "rtl") != svg_sentence.is_read_from_the_right([c])
    ]  # fmt: skip
    assert differ == []
    assert sum(bidirectional(c) in ("R", "AL") for c in letters) > 1000
