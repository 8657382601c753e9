"""A number of a map of no scores and no weights is explained by what it is the sum of, in every step of every layer."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from attnviz import Config, run
from attnviz.arithmetic.products import offered
from attnviz.pictures.answer.number_answer import number_answer
from attnviz.text import step_names
from tests.support.sample_settings import repeated_words


def test_what_is_added_up_comes_to_the_number_of_the_run() -> None:
    dice = random.Random(30)  # noqa: S311 - nothing secret
    seen = set()
    for number in range(60):
        trace = run(replace(repeated_words(number), position=dice.choice(("none", "sinusoidal", "rope"))))
        layer = dice.randrange(len(trace.layers))
        for name, step in step_names.steps(trace, layer).items():
            if {"query", "key"}.isdisjoint(step.axes[:-1]):
                continue
            head = dice.randrange(len(step.array)) if step.array.ndim == 3 else 0
            row, column = (dice.randrange(size) for size in step.head(head).shape)
            of = head * (trace.config.group_size if step.axes[0] == "kv_head" else 1)
            found = number_answer(trace, layer, name, {"query": row, "key": row}, column, of)
            if name in offered(trace, layer):
                assert found is not None, name
            if found is None or "terms" not in found["lines"][0]:
                continue
            json.dumps(found, allow_nan=False)
            (line,) = found["lines"]
            seen.add(name)
            rows, folds = line["terms"]["rows"], line["terms"]["folds"]
            result = step.head(head)[row, column]
            for fold in folds:
                total = sum(rows[at][3] for at in fold["shown"]) + fold["value"]
                assert line["note"] or total == pytest.approx(result, rel=1e-4, abs=1e-5 * largest(rows)), (name, fold)
    assert seen >= {"embedded", "queries", "keys", "values", "output"}


def largest(rows: list[list[object]]) -> float:
    return max(abs(float(row[3] or 0)) for row in rows)  # type: ignore[arg-type]


def test_each_term_is_an_entry_of_the_row_times_one_of_the_column() -> None:
    trace = run(Config(n_kv_heads=2))
    x = trace.around["embedded"].array
    for name, matrix, head in (("queries", "w_q", 3), ("keys", "w_k", 1), ("values", "w_v", 1)):
        products = x[4] * trace[matrix].array[head][:, 1]
        found = number_answer(trace, 0, name, {"query": 4, "key": 4}, 1, 3)
        assert found is not None
        (line,) = found["lines"]
        assert len(line["terms"]["rows"]) < len(products)
        for entry, left, right, value, text in line["terms"]["rows"]:
            at = int(entry) - 1
            assert value == pytest.approx(products[at], rel=1e-5)
            numbers = (x[4, at], trace[matrix].array[head, at, 1], products[at])
            assert [each.replace("−", "-") for each in (left, right, text)] == [f"{each:.3f}" for each in numbers]


def test_the_bias_and_what_was_set_by_hand_are_said() -> None:
    config = Config(projection_bias=True)
    trace = run(config, edits=[(0, "b_q", (3, 2), 0.5)])
    found = number_answer(trace, 0, "queries", {"query": 1}, 2, 3)
    assert found is not None
    assert found["lines"][0]["note"] == "+ 0.500 for the bias"
    trace = run(config)
    edited = run(config, edits=[(0, "queries", (3, 1, 2), 9.0)])
    found = number_answer(edited, 0, "queries", {"query": 1}, 2, 3)
    assert found is not None
    assert f"the formula gives {trace['queries'].array[3, 1, 2]:.3f}" in found["lines"][0]["note"].replace("−", "-")


def test_what_is_drawn_or_given_is_the_sum_of_nothing() -> None:
    trace = run(Config())
    words = {"query": 0, "key": 0}
    for name, column in (("w_q", 0), ("token_embeddings", 0), ("queries", 99), ("no such step", 0)):
        assert number_answer(trace, 0, name, words, column, 0) is None
    assert number_answer(trace, 0, "keys", {"query": 0, "key": None}, 0, 0) is None
