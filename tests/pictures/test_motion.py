"""What is played of a cell are the lines of its full arithmetic, for every score and normaliser."""

from __future__ import annotations

import base64
import itertools
import json
from typing import Any

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.arithmetic.cell import derive
from attnviz.engine.external.traces import of_weights
from attnviz.engine.records.trace import Trace
from attnviz.engine.tables.normalisers import NORMALISERS
from attnviz.engine.tables.scores import SCORES
from attnviz.pictures.answer.motion import motion
from tests.support.cases import for_each


def made(trace: Trace, head: int = 0, query: int = 3, key: int = 2) -> dict[str, Any]:
    found = motion(trace, derive(trace, 0, head, query, key))
    return dict(json.loads(json.dumps(found, allow_nan=False)))


def titles(kind: str, **settings: Any) -> list[str]:
    return [frame["title"] for frame in made(run(Config(**settings)))["frames"] if frame["kind"] == kind]


PAIRS = [(score, "softmax") for score in SCORES] + [("scaled_dot", normaliser) for normaliser in NORMALISERS]


@for_each("score, normaliser", PAIRS)
def test_a_cell_goes_from_its_rows_to_its_output(score: str, normaliser: str) -> None:
    trace = run(Config(score=score, normaliser=normaliser))
    frames = made(trace)["frames"]
    kinds = [frame["kind"] for frame in frames]
    assert kinds[:2] == ["rows", "meet"]
    assert {*kinds[2 : kinds.index("row")]} == {"entries", "sum"}
    assert [kind for kind, _ in itertools.groupby(kinds[kinds.index("row") :]) if kind != "shares"] == [
        "row",
        "mix",
        "output",
    ]
    sums = [frame for frame in frames if frame["kind"] == "sum"]
    rows = [frame for frame in frames if frame["kind"] == "row"]
    assert sums[-1]["value"] == pytest.approx(trace["masked"].array[0, 3, 2], rel=1e-5)
    assert rows[0]["values"] == pytest.approx(trace["masked"].array[0, 3].tolist(), rel=1e-5)
    assert rows[-1]["values"] == pytest.approx(trace["weights"].array[0, 3].tolist(), rel=1e-5)
    assert frames[-1]["values"] == pytest.approx(trace["heads"].array[0, 3].tolist(), rel=1e-5)
    assert all(frame["title"] and frame["sentence"] for frame in frames)


def test_each_function_has_frames_of_its_own() -> None:
    assert titles("entries") == ["The products"]
    assert titles("entries", score="additive") == ["The hidden units", "The tanh", "The products"]
    assert titles("entries", score="gaussian") == ["The differences", "The squares"]
    assert titles("sum", score="cosine") == ["The dot product", "The score"]
    earlier = [frame.get("was") for frame in made(run(Config(score="cosine", scale=2.0)))["frames"]]
    assert [text for text in earlier if text] == ["−4.772", "−0.515"], "each number is made of the one before"
    assert titles("row") == ["Among the others", "Below the largest", "The exponentials", "The weight"]
    assert titles("row", normaliser="sparsemax") == ["Among the others", "Below the largest", "The weight"]
    assert titles("sum", score="formula", score_formula="2 * (q @ k) + norm(q)") == [
        "Added up",
        "The length",
        "The score",
    ]
    typed = {"normaliser": "formula", "normaliser_formula": "exp(x) / sum(exp(x))"}
    assert titles("row", **typed) == ["Among the others", "Along the row", "The weight"]


def test_a_threshold_and_a_largest_are_levels_of_their_row() -> None:
    trace = run(Config(normaliser="sparsemax"))
    cell = derive(trace, 0, 0, 3, 2)
    first, second, _ = (frame for frame in made(trace)["frames"] if frame["kind"] == "row")
    assert first["level"] == pytest.approx(float(cell["largest"].result), rel=1e-5)
    assert second["level"] == pytest.approx(float(cell["threshold"].result), rel=1e-5)


def test_the_maps_hold_every_number_as_a_colour() -> None:
    trace = run(Config())
    for name, step in (("q", "queries"), ("k", "keys"), ("v", "values")):
        found = made(trace, 1)["maps"][name]
        cells = np.frombuffer(base64.b64decode(found["cells"]), np.uint8).reshape(found["rows"], found["columns"])
        assert (cells.astype(float) - 128) / 127 * found["end"] == pytest.approx(
            trace[step].array[1], abs=found["end"] / 250
        )
    assert [made(trace, 1)["maps"][name]["at"] for name in "qkv"] == [3, 2, 2]


def test_what_is_masked_has_no_bar_and_what_was_given_begins_there() -> None:
    frames = made(run(Config(mask="causal")), 0, 3, 5)["frames"]
    assert [frame["text"] for frame in frames if frame["kind"] == "sum"][-1] == "−∞"
    assert next(frame for frame in frames if frame["kind"] == "row")["values"][4:] == [None] * 3
    weights = of_weights([[0.25, 0.75], [1.0, 0.0]], ["a", "b"])
    assert motion(weights, derive(weights, 0, 0, 0, 1)) is None or made(weights, 0, 0, 1)["maps"] == {}


def test_normalised_over_the_queries_the_column_is_played_and_then_the_row() -> None:
    trace = run(Config(normalise_over="queries"))
    frames = made(trace)["frames"]
    assert [frame["values"] for frame in frames if frame["kind"] == "row"][-1] == pytest.approx(
        trace["weights"].array[0, :, 2].tolist(), rel=1e-5
    )
    assert frames[-2]["values"] == pytest.approx(trace["weights"].array[0, 3].tolist(), rel=1e-5)


def test_of_sixty_four_words_and_entries_a_cell_stays_small() -> None:
    trace = run(Config(sentence="a b c d e f g h " * 8, d_k=64, d_v=64, d_model=64))
    assert len(json.dumps(made(trace, 0, 5, 9), ensure_ascii=False)) < 34_000
