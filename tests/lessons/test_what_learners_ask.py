"""The lessons on what learners ask most: what a slide says in numbers, or of a picture, is so."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import attnviz
from attnviz import Config, Trace, run
from attnviz.analysis.circuits.interventions import knock_out
from attnviz.classroom.next_word import readings
from attnviz.classroom.question_kinds import resolve
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.lesson import Lesson
from attnviz.models import boxed
from tests.support.cases import for_each

NAMES = ["why_causal", "next_word", "kv_cache", "why_sines", "one_head_or_two", "n_squared", "two_meanings"]
NAMES += ["induction", "indirect_object", "agreement", "looks_and_matters"]
ASKED = [LESSONS[name] for name in NAMES]


def shown(name: str, number: int, **changes: object) -> Trace:
    """The run of a slide, counted from 1, with more changed."""
    lesson = LESSONS[name]
    return run(replace(lesson.on(lesson.slides[number - 1]), **changes))  # type: ignore[arg-type]


def rows(one: Trace, other: Trace, step: str) -> list[int]:
    """The rows that differ, counted from 1."""
    left, right = (each[step].array.reshape(-1, *each[step].shape[-2:]) for each in (one, other))
    return (np.flatnonzero(np.abs(left - right).max(axis=(0, 2)) > 1e-9) + 1).tolist()


def answer(name: str, number: int) -> object:
    """What is right on a slide: the number, or the options, counted from 1."""
    lesson = LESSONS[name]
    slide = lesson.slides[number - 1]
    assert slide.question
    found = resolve(slide.question, run(lesson.on(slide)), run(lesson.config))
    return found.value if found.form == "number" else {option + 1 for option in found.right}


@for_each("lesson", ASKED)
def test_a_lesson_begins_with_a_reason_asks_and_runs_without_a_warning(lesson: Lesson) -> None:
    assert lesson.title.endswith("?")
    assert lesson.source
    assert 3 <= len(lesson.slides) <= 7
    assert sum(slide.question is not None for slide in lesson.slides) >= 3
    assert len(lesson.slides[0].text.split()) >= 30
    for number, slide in enumerate(lesson.slides, 1):
        trace = run(lesson.on(slide))
        notes = [each for each in trace.notes if "by hand" not in each and "attend to" not in each]
        assert notes == [], number
        steps = {step for step in slide.steps if not readings.is_reading(step)}
        assert steps <= {*trace.around, *trace.layers[slide.layer]}


def test_why_causal() -> None:
    ahead = shown("why_causal", 1)["weights"].array[0]
    assert (ahead[:-1].argmax(axis=1) == [1, 2, 3]).all(), "at each word the head attends to the next"
    masked, free = ("red cat box king", "red cat box queen"), {}
    for number in (2, 3):
        free[number] = rows(shown("why_causal", number), shown("why_causal", number, sentence=masked[1]), "output")
    assert free == {2: [4], 3: [1, 2, 3, 4]}
    assert answer("why_causal", 4) == 3
    trained = shown("why_causal", 5)
    assert (trained.query_tokens[3:5], trained.query_tokens[14:16]) == (("and", "david"), ("to", "mary"))
    foreseen = readings.reading(trained, "foreseen").array[:, 0]
    assert foreseen[3] < 0.1, "whom they met cannot be known"
    assert foreseen[14] > 0.99, "who gets the key can"


def test_next_word() -> None:
    for number in (1, 2, 3):
        trace = shown("next_word", number)
        X, Y = trace["embedded"].array, trace.layers[0]["output"].array
        np.testing.assert_allclose(trace.layers[0]["added"].array, X + Y, atol=1e-12)
    X = shown("next_word", 2)["embedded"].array
    normed = shown("next_word", 2).layers[0]["normed"].array
    np.testing.assert_allclose(normed, X / np.sqrt((X**2).mean(axis=1, keepdims=True)), rtol=1e-4)
    np.testing.assert_allclose((normed**2).mean(axis=1), 1, rtol=1e-4)
    usual = run(Config(sentence="a", d_model=8, n_heads=2, d_k=4, d_v=4, feed_forward="relu", d_ff=32)).layers[0]
    block, all_of_it = (sum(usual[name].array.size for name in names) for names in
                        (("w_1", "w_2"), ("w_1", "w_2", "w_q", "w_k", "w_v", "w_o")))  # fmt: skip
    assert block * 3 == all_of_it * 2
    june = shown("next_word", 4)
    assert "july" not in june.query_tokens
    assert answer("next_word", 4) == {2}
    assert readings.share(june, "july") > 0.99
    one, half = answer("next_word", 5), answer("next_word", 6)
    assert half == pytest.approx(float(one) ** 2)  # type: ignore[arg-type]


def test_kv_cache() -> None:
    own, longer = run(LESSONS["kv_cache"].config), shown("kv_cache", 1)
    for step in ("keys", "values", "weights", "heads"):
        np.testing.assert_array_equal(longer[step].array[:, :4, : own[step].shape[2]], own[step].array)
    assert (answer("kv_cache", 1), answer("kv_cache", 2), answer("kv_cache", 3)) == ({5}, {5}, {1, 2, 3, 4, 5})
    assert longer["weights"].array[:, 4].shape == (2, 5), "one query against five keys"
    above = run(replace(longer.config, mask="none", n_layers=2)), run(replace(own.config, mask="none", n_layers=2))
    two = [each.layers[1]["keys"].array[:, :4] for each in above]
    assert np.abs(two[0] - two[1]).max() > 1e-3, "in the layer above keys would change too"
    assert longer["keys"].array.size == longer["values"].array.size == answer("kv_cache", 4) == 40


def test_why_sines() -> None:
    P = shown("why_sines", 1)["positions"].array
    p = np.arange(6)
    np.testing.assert_allclose(P, np.stack([np.sin(p), np.cos(p), np.sin(p / 100), np.cos(p / 100)], axis=1))
    assert answer("why_sines", 1) == pytest.approx(np.sin(2))
    S = shown("why_sines", 2)["scores"].array[0]
    for apart in range(6):
        assert np.ptp(np.diagonal(S, apart)) < 1e-12
        assert S[0, apart] == pytest.approx(np.cos(apart) + np.cos(apart / 100))
    counted = shown("why_sines", 3)
    assert (counted["weights"].array[0, 1:].argmax(axis=1) == 5).all(), "each word looks at the end"
    assert (np.diff(counted["weights"].array[0, :, 5]) > 0).all()
    turned, plain = shown("why_sines", 4), shown("why_sines", 4, position="none")
    assert rows(turned, plain, "values") == []
    assert rows(turned, plain, "queries") != []
    lengths = [np.linalg.norm(trace["queries"].array, axis=-1) for trace in (turned, plain)]
    np.testing.assert_allclose(*lengths)


def test_one_head_or_two() -> None:
    name = "one_head_or_two"
    A = shown(name, 1)["weights"].array[0]
    np.testing.assert_allclose(A, [[0, 1, 0], [0.5, 0, 0.5], [0, 1, 0]])
    assert answer(name, 1) == set()
    one, swapped = shown(name, 2), shown(name, 2, sentence="man bites dog")
    assert rows(one, swapped, "heads") == [1, 2, 3]
    nearest = one["weights"].array[:, 1].argmax(axis=1)
    assert nearest.tolist() == [0, 2], "head 1 the previous token, head 2 the next"
    V = swapped["values"].array
    assert np.abs(swapped["heads"].array[0, 1] - V[0, 0]).max() < 0.1 * np.abs(V[0]).max()
    third = shown(name, 3)
    assert not third["weights"].array[0, 0].any(), "the first word attends to nobody"
    assert rows(third, shown(name, 3, sentence="cat bites man"), "heads") == [2]
    assert rows(third, shown(name, 3, sentence="dog bites cat"), "heads") == []


def test_n_squared() -> None:
    own = run(LESSONS["n_squared"].config)
    assert own["scores"].shape == own["keys"].shape == (2, 4, 4)
    assert (answer("n_squared", 1), answer("n_squared", 2)) == (4 * 32, 2 * 32)
    assert shown("n_squared", 3)["allowed"].array.sum(axis=1).tolist() == [1, 2, 3, 3, 3, 3, 3, 3]
    assert 300**2 == 90_000
    replaced = "zero two three four five six seven eight"
    for layers, reached in ((1, 3), (2, 5), (3, 7)):
        pair = (shown("n_squared", 4, n_layers=layers, **more) for more in ({}, {"sentence": replaced}))
        assert rows(*pair, "output") == list(range(1, reached + 1))


def test_two_meanings() -> None:
    bats = [shown("two_meanings", number) for number in (2, 3)]
    for trace, at, read in ((bats[0], 1, "flew"), (bats[1], 6, "ball")):
        assert trace.query_tokens[at] == "bat"
        row = trace["weights"].array[0, at]
        assert (trace.key_tokens[row.argmax()], row[at]) == (read, 0)
        assert row.max() > 0.5, "mostly that"
    E = [trace["token_embeddings"].array for trace in bats]
    np.testing.assert_array_equal(E[0][1], E[1][6])
    first, slept = shown("two_meanings", 4), shown("two_meanings", 4, sentence="the bat slept at night")
    assert rows(first, slept, "token_embeddings") == [3]
    assert rows(first, slept, "heads") == [1, 2, 3, 4, 5]


def end(trace: Trace, layer: int, head: int) -> tuple[str, int, float]:
    """Where a head attends from the last word: the word, its place and its weight; all counted from 1."""
    row = trace.layers[layer - 1]["weights"].array[head - 1, -1]
    return trace.key_tokens[row.argmax()], int(row.argmax()) + 1, float(row.max())


def test_induction() -> None:
    first, other = shown("induction", 1), shown("induction", 5)
    for trace, again, after in ((first, 2, 3), (other, 2, 3)):
        assert end(trace, 2, 4)[1] == again
        assert end(trace, 3, 4)[1] == end(trace, 3, 3)[1] == after
        assert trace.query_tokens[again - 1] == trace.query_tokens[-1]
    off, own = (readings.reading(first, f"{name}.cup.king").array for name in ("without", "own_part"))
    assert off[1, 3] < off[2, 3] < 0, "at least as much as the one that copies"
    assert sorted(off[off < 0.75 * off.min()]) == sorted((off[1, 3], off[0, 0], off[1, 1], off[2, 3])), (
        "two others nearly"
    )
    assert own[2, 3] > 5 * own[2, 2]
    lost = knock_out(first, [(1, 3)]).layers[2]["weights"].array[3, -1, 2]
    assert lost < 0.5 < end(first, 3, 4)[2], "without it 3.4 does not know where to look"


def test_indirect_object() -> None:
    trace, swapped = shown("indirect_object", 1), shown("indirect_object", 6)
    assert len(LESSONS["indirect_object"].slides) == 7
    assert (end(trace, 3, 4)[0], end(trace, 2, 2)[:2]) == ("mary", ("david", 11))
    assert trace.query_tokens.index("david") + 1 == 5
    by_layer = readings.reading(trace, "by_layer.mary.david").array
    assert by_layer.shape == (2, 4)
    assert by_layer[0, 2] >= by_layer[1, 2], "neither had more"
    off = readings.reading(trace, "without.mary.david").array
    lead = readings.apart(trace, "mary", "david")
    assert lead + off[1, 1] < 0, "the lead has turned round"
    assert readings.apart(knock_out(trace, [(1, 1)]), "mary", "david") == pytest.approx(lead + off[1, 1])
    assert off[2, 3] < 0
    assert (end(trace, 2, 1)[:2], end(trace, 3, 2)[:2]) == (("the", 8), (",", 10))
    assert min(end(trace, 2, 1)[2], end(trace, 3, 2)[2]) > end(trace, 3, 4)[2], "a darker cell"
    assert max(abs(off[1, 0]), abs(off[2, 1])) < 0.1 * lead
    assert (end(swapped, 2, 2)[:2], end(swapped, 3, 4)[:2]) == (("mary", 11), ("david", 5))
    by_word = readings.reading(trace, "from_word.mary.david").array
    own = readings.reading(trace, "own_part.mary.david").array
    assert by_word[1, 10] > 3
    assert by_word[2, 2] > 3 > 0 > by_word[2, 4]
    assert own[1, 1] + own[2, 3] > 0.9 * lead, "two of twelve heads"


def test_agreement() -> None:
    pens, pen, hat = (shown("agreement", number) for number in (1, 3, 4))
    assert end(pens, 2, 3)[0] == "pens"
    assert (pens.query_tokens[-1], pen.query_tokens[-1]) == ("shelf", "shelves")
    assert round(100 * boxed.measured("small")["agreement"].share) == 98
    off = readings.reading(hat, "without.is.are").array
    assert -off.min() < 0.5 * readings.apart(hat, "is", "are"), "no head is worth even half of the lead"
    assert np.unravel_index(off.argmin(), off.shape) != (1, 2)
    assert off[0, 0] > 0, "without 1.1 it grows"
    lead = readings.apart(hat, "is", "are")
    assert readings.reading(hat, "own_part.is.are").array.sum() < 0.5 * lead, "most of the lead is no head's"
    assert hat.query_tokens[-1] == "doors"
    assert readings.reading(hat, "by_layer.is.are").array[0, 0] > 0.7, "before the first layer, doors alone"


def test_looks_and_matters() -> None:
    trace, plain, full = (shown("looks_and_matters", number) for number in (1, 4, 5))
    one, two = (trace.layers[i]["weights"].array[h, -1] for i, h in ((1, 2), (2, 1)))
    assert np.abs(one - two).max() < 0.005, "no map tells the two apart"
    assert end(trace, 3, 2)[0] == "pens"
    off = readings.reading(trace, "without.are.is").array
    lead = readings.apart(trace, "are", "is")
    assert sorted(np.abs(off).ravel() < 0.25 * lead) == [False, *[True] * 11]
    assert min(end(trace, layer, head)[2] for layer in (1, 2, 3) for head in range(1, 5)) > 0.98
    off = readings.reading(plain, "without.are.is").array
    assert np.unravel_index(off.argmin(), off.shape) == (1, 0), "2.1"
    assert (end(plain, 2, 1)[0], end(plain, 1, 2)[0]) == ("near", "shelf"), "the second attends to its own word"
    ends = readings.reading(plain, "ends").array
    assert plain.query_tokens[2] == "pens"
    assert ends[:, 2].argmax() == 11, "3.4 looks at it most"
    assert off[2, 3] > 0.35 * off.min(), "and little is lost without it"
    assert (off < 0.4 * off.min()).sum() >= 3, "no single head has the answer"
    assert [*np.argsort(off, axis=None)[1:3]] == [1, 8], "1.2 and 3.1 come next"
    assert max(end(plain, layer, head)[2] for layer in (1, 2, 3) for head in range(1, 5)) > 0.98
    assert min(end(plain, layer, head)[2] for layer in (1, 2, 3) for head in range(1, 5)) < 0.6, "less tidy"
    small, other = (
        json.loads((Path(attnviz.__file__).parent / "boxed" / name / "card.json").read_text("utf-8"))
        for name in ("small", "plain")
    )
    penalties = {"spread", "outputs"}
    assert {key for key in small["sizes"] if small["sizes"][key] != other["sizes"][key]} == penalties
    assert [other["sizes"][key] for key in sorted(penalties)] == [0, 0]
    assert all(small[key] == other[key] for key in ("corpus", "seed", "steps"))
    off = readings.reading(full, "without.are.is").array
    order: Sequence[int] = np.argsort(off, axis=None).tolist()
    assert list(order[:2]) == [1, 3], "1.2, and next 1.4"
    assert -(off[0, 1] + off[0, 3]) > readings.apart(full, "are", "is"), "more than there was"
