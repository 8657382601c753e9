"""The few lines beside the maps hold the run's own numbers, for every score and every normaliser."""

from __future__ import annotations

import numpy as np
import pytest

from attnviz import CellLine, Config, LineRow, run
from attnviz.arithmetic.cell import derive
from attnviz.arithmetic.short_derivation import fold, four_lines, mixture
from attnviz.engine.external.traces import of_scores, of_weights
from attnviz.engine.records.trace import Trace
from attnviz.engine.tables.normalisers import NORMALISERS
from attnviz.engine.tables.scores import SCORES
from attnviz.engine.tables.scores.row import of_line
from attnviz.pictures.answer.explanation import explanation
from attnviz.pictures.answer.explanation_parts import number
from tests.support import pairs
from tests.support.cases import for_each

RICH = {"mask": "causal", "bias": "alibi", "softcap": 1.5, "temperature": 0.7, "n_kv_heads": 2, "d_k": (3, 5), "d_v": 2}
WAYS = [(rich, *pair) for rich in ({}, RICH) for pair in pairs.each_with_some(SCORES, NORMALISERS)]
CELLS = ((0, 3, 2), (3, 6, 6), (1, 1, 4))


def found_in(trace: Trace, head: int, query: int, key: int):  # type: ignore[no-untyped-def]
    return four_lines(trace, derive(trace, 0, head, query, key))


@pytest.mark.slow
@for_each("settings, score, normaliser", WAYS)
def test_the_numbers_are_the_trace_s(settings: dict, score: str, normaliser: str) -> None:  # type: ignore[type-arg]
    trace = run(Config(**settings, score=score, normaliser=normaliser))
    layer = trace.layers[0]
    for head, query, key in CELLS:
        found = found_in(trace, head, query, key)
        at = (head, query, key)
        kv_head = head // trace.config.group_size
        assert found.score == layer["scores"].array[at]
        assert found.weight == layer["weights"].array[at]
        assert found.enters is not None
        assert found.enters * (1 if np.isinf(found.enters) else _temperature(trace)) == pytest.approx(
            layer["masked"].array[at], rel=1e-12
        )
        assert found.scores is not None
        assert np.array_equal(found.scores, layer["masked"].array[head, query])
        assert np.array_equal(found.weights, layer["weights"].array[head, query])
        assert found.weights[found.at] == found.weight
        width = trace.config.value_widths()[kv_head]
        assert np.array_equal(found.value, layer["values"].array[kv_head, key, :width])
        assert np.array_equal(found.output, layer["heads"].array[head, query, :width])
        assert found.added == pytest.approx(found.weight * layer["values"].array[kv_head, key, :width])
        assert found.lines["weight"].result == found.weight


def _temperature(trace: Trace) -> float:
    """What the score is divided by at the end, where the normaliser heeds it."""
    return 1.0 if trace.config.normaliser in ("hardmax", "linear") else trace.config.temperature


@for_each("score", SCORES)
def test_the_entries_come_to_what_stands_beside_them(score: str) -> None:
    trace = run(Config(score=score, d_k=9))
    found = found_in(trace, 1, 3, 2)
    assert found.terms is not None
    assert found.terms.values.sum() == pytest.approx(found.terms.total)
    products = score in ("scaled_dot", "dot", "general", "additive", "cosine", "location")
    if products:
        assert found.terms.left is not None
        assert found.terms.right is not None
        assert found.terms.left * found.terms.right == pytest.approx(found.terms.values)
    if score in ("gaussian", "negative_distance"):
        assert (found.terms.left - found.terms.right) ** 2 == pytest.approx(found.terms.values)


APART = CellLine("apart", "apart = abs(q - k)", "The differences", "Entry by entry, without signs.", brief="|q − k|")
LAST = {"-sum(apart)": -1.0, "0.5 * sum(apart)": 0.5, "sum(apart) / -d_k": -1 / 9, "sum(apart)": 1.0}
"""Last lines of a score that add up the entries of the line before, and what they multiply the sum by."""


def test_entries_come_to_their_sum_also_where_the_last_line_does_more_than_add(monkeypatch: pytest.MonkeyPatch) -> None:
    for last, by in LAST.items():
        score = CellLine("score", last, "The score", "What is made of their sum.", brief="made of the sum = {made}")
        row = LineRow(
            kind="score", name="manhattan", label="Manhattan", line=last.replace("apart", "abs(q - k)"), note="Near.",
            source="a test", plain="-|q - k|", lines=(APART, score),
        )  # fmt: skip
        monkeypatch.setitem(SCORES, "manhattan", of_line(row))
        trace = run(Config(score="manhattan", d_k=9))
        cell = derive(trace, 0, 1, 3, 2)
        found = four_lines(trace, cell)
        assert found.terms is not None
        assert found.terms.values.sum() == pytest.approx(found.terms.total)
        assert found.score == pytest.approx(by * found.terms.total)
        assert found.terms.brief == "|q − k|"
        assert np.array_equal(cell["score"].operands["apart"], found.terms.values)
        drawn = explanation(trace, cell, key=True)["lines"]
        assert drawn[0]["value"] == number(found.terms.total)
        assert drawn[1]["note"].startswith(f"made of the sum = {number(cell['score'].result)}")


def test_each_change_of_a_score_is_named_in_its_order() -> None:
    trace = run(Config(**RICH, scale=2.0))
    changes = found_in(trace, 0, 3, 2).changes
    assert [change.name for change in changes] == ["scale", "softcap", "bias", "temperature"]
    assert [change.by for change in changes][:2] == [2.0, 1.5]
    steps = trace.layers[0]
    assert [change.made for change in changes][:2] == [steps[name].array[0, 3, 2] for name in ("scaled", "capped")]
    forbidden = found_in(trace, 0, 2, 3)
    assert [change.name for change in forbidden.changes][3] == "mask"
    assert forbidden.enters == -np.inf
    assert forbidden.weight == 0


def test_an_edited_number_is_the_one_that_is_shown() -> None:
    trace = run(Config(), edits=[(0, "weights", (0, 3, 2), 0.75)])
    assert found_in(trace, 0, 3, 2).weight == 0.75
    trace = run(Config(), edits=[(0, "scores", (0, 3, 2), 4.5)])
    assert found_in(trace, 0, 3, 2).score == 4.5


@for_each("normaliser", NORMALISERS)
def test_an_output_is_the_sum_of_what_each_key_puts_into_it(normaliser: str) -> None:
    trace = run(Config(normaliser=normaliser, mask="causal"))
    mixed = mixture(trace, derive(trace, 0, 2, 4, 1))
    assert mixed is not None
    for dimension in range(4):
        terms = mixed.terms(dimension)
        assert terms.total == trace["heads"].array[2, 4, dimension]
        assert terms.values.sum() == pytest.approx(terms.total)
        assert np.array_equal(terms.left, trace["weights"].array[2, 4])
        assert np.array_equal(terms.right, trace["values"].array[2, :, dimension])


def test_normalised_the_wrong_way_the_column_stands_together() -> None:
    trace = run(Config(normalise_over="queries"))
    found = found_in(trace, 0, 3, 2)
    assert found.at == 3
    assert np.array_equal(found.weights, trace["weights"].array[0, :, 2])


def test_what_was_given_has_only_the_lines_that_there_are() -> None:
    weights = of_weights([[0.25, 0.75], [1.0, 0.0]], ["a", "b"])
    found = found_in(weights, 0, 0, 1)
    assert (found.weight, found.terms, found.score, found.output) == (0.75, None, None, None)
    assert mixture(weights, found.cell) is None
    scores = of_scores([[1.0, 2.0], [0.0, 1.0]], ["a", "b"])
    found = found_in(scores, 0, 0, 1)
    assert (found.terms, found.score) == (None, 2.0)


def test_of_many_entries_the_largest_are_shown_and_the_others_added_up() -> None:
    values = np.array([0.5, -7.0, 1.0, 3.0, -0.25, 2.0, 0.125])
    made = fold(values, 4)
    assert made.shown == (1, 3, 5)
    assert (made.hidden, made.rest) == (4, 0.5 + 1.0 - 0.25 + 0.125)
    assert fold(values, 7).shown == tuple(range(7))
