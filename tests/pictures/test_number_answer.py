"""A number of a map of no scores and no weights is explained by what it is the sum of, in every step of every layer."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from attnviz import Config, run
from attnviz.arithmetic.products import offered
from attnviz.engine.records.trace import Trace
from attnviz.pictures.answer.number_answer import OF_ATTENTION, number_answer
from attnviz.text import step_names
from tests.support.sample_settings import repeated_words
from tests.support.small_models import NAMES, given, model


def runs(dice: random.Random) -> Iterator[Trace]:
    """Settings at random, and a run of every small model."""
    for number in range(50):
        yield run(replace(repeated_words(number), position=dice.choice(("none", "sinusoidal", "rope"))))
    for name in NAMES:
        yield model(name)(given(name, "a rose is a rose"))


def value_of(text: str) -> float:
    return float(text.replace("−", "-").replace("~", "").replace("+ ", ""))


def added(line: dict[str, Any], fold: dict[str, Any]) -> float:
    """What the terms that are shown, the others and the bias come to."""
    bias = re.search(r"(\S*|\+ \S*) for the bias", line["note"])
    terms = sum(line["terms"]["rows"][at][3] for at in fold["shown"]) + fold["value"]
    return float(terms + (value_of(bias[1]) if bias else 0.0))


def test_what_is_added_up_comes_to_the_number_of_the_run() -> None:
    dice = random.Random(30)  # noqa: S311 - nothing secret
    seen = set()
    for trace in runs(dice):
        layer = dice.randrange(len(trace.layers))
        for name, step in step_names.steps(trace, layer).items():
            if {"query", "key"}.isdisjoint(step.axes[:-1]) or step.axes[-2:] in OF_ATTENTION:
                continue
            head = dice.randrange(len(step.array)) if step.array.ndim == 3 else 0
            row, column = (dice.randrange(size) for size in step.head(head).shape)
            of = head * (trace.config.group_size if step.axes[0] == "kv_head" else 1)
            words = {"query": None, "key": None} | {step.axes[-2]: row}
            found = number_answer(trace, layer, name, words, column, of)
            assert found is not None or (name not in offered(trace, layer) and name != "embedded"), name
            if found is None:
                continue
            json.dumps(found, allow_nan=False)
            (line,) = found["lines"]
            result = step.head(head)[row, column]
            near = pytest.approx(result, rel=2e-3, abs=6e-4)
            assert value_of(line["value"]) == near, (name, line)
            if "terms" not in line:
                continue
            seen.add(name)
            total = re.search(r"the sum is (\S+)", line["note"])
            largest = max(abs(row[3]) for row in line["terms"]["rows"])
            for fold in line["terms"]["folds"]:
                whole = value_of(total[1]) if total else result
                assert added(line, fold) == pytest.approx(whole, rel=2e-3, abs=1.1e-3 * max(1, largest)), (name, line)
    assert seen >= {"embedded", "queries", "keys", "values", "output", "added", "ff_hidden", "ff_added"}


def test_each_term_is_an_entry_of_the_row_times_one_of_the_column() -> None:
    trace = run(Config(n_kv_heads=2))
    x = trace.around["embedded"].array
    for name, matrix, head, said in (
        ("queries", "w_q", 3, "Query vectors, head 4: "),
        ("keys", "w_k", 1, "Key vectors, key/value head 2: "),
        ("values", "w_v", 1, "Value vectors, key/value head 2: "),
    ):
        products = x[4] * trace[matrix].array[head][:, 1]
        words = {"query": 4, "key": None} if name == "queries" else {"query": None, "key": 4}
        found = number_answer(trace, 0, name, words, 1, 3)
        assert found is not None
        assert found["sentence"].startswith(said)
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
    plain = run(config)
    for layer, name, place, was in (
        (0, "queries", (3, 1, 2), plain["queries"].array[3, 1, 2]),
        (None, "embedded", (1, 2), plain.around["embedded"].array[1, 2]),
    ):
        edited = run(config, edits=[(layer, name, place, 9.0)])
        found = number_answer(edited, 0, name, {"query": 1}, 2, 3)
        assert found is not None
        (line,) = found["lines"]
        assert line["value"] == "9.000"
        assert line["note"].replace("−", "-") == f"set by hand; the formula gives {was:.3f}"


def test_the_input_of_a_later_layer_is_what_the_one_before_passes_on() -> None:
    trace = run(Config(n_layers=2, residual=True))
    found = number_answer(trace, 1, "embedded", {"query": 1}, 2, 0)
    before = number_answer(trace, 0, "added", {"query": 1}, 2, 0)
    assert found is not None
    assert before is not None
    assert found["lines"] == before["lines"]
    assert found["sentence"] == "Input: what layer 1 passes on"
    rows = found["lines"][0]["terms"]["rows"]
    assert [row[3] for row in rows] == pytest.approx(
        [trace.around["embedded"].array[1, 2], trace.layers[0]["output"].array[1, 2]], rel=1e-5
    )


def test_what_is_drawn_or_given_is_the_sum_of_nothing_and_what_attention_makes_is_explained_elsewhere() -> None:
    trace = run(Config())
    words = {"query": 0, "key": 0}
    names = ("w_q", "token_embeddings", "no such step", "scores", "masked", "weights", "heads")
    for name, column in (*((name, 0) for name in names), ("queries", 99)):
        assert number_answer(trace, 0, name, words, column, 0) is None, name
    assert number_answer(trace, 0, "keys", {"query": 0, "key": None}, 0, 0) is None
