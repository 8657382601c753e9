"""Typed formulas in everything that can be seen and taken along."""

from __future__ import annotations

import numpy as np
import pytest

from attnviz import Config, ConfigError, run
from attnviz.arithmetic.cell import derive
from attnviz.exports import archive, tables
from attnviz.exports.formats import FORMATS, ExportTarget, export
from attnviz.pictures import pipeline_strip, stages
from attnviz.text import captions, cost_ledger, edit_table
from tests.support import scripts
from tests.support.cases import for_each
from tests.text.test_cell_sentence import EVERY_PARAMETER

TRACES = {
    "parameters": Config(score="formula", score_formula=EVERY_PARAMETER),
    "ragged": Config(score="formula", score_formula=EVERY_PARAMETER, d_k=(3, 2, 4, 1), projection_bias=True),
    "rest": Config(
        normaliser="formula",
        normaliser_formula="relu(x) / n",
        mask=("causal", "formula"),
        bias="formula",
        second_sentence="a dog",
    ),
}
TYPED = [name for name in scripts.SETTINGS if name.startswith("typed_")]


@pytest.mark.parametrize("name", TRACES)
def test_every_view_can_be_drawn(name: str) -> None:
    trace = run(TRACES[name])
    assert {entry.name for entry in pipeline_strip.entries(trace, 0)} >= {"scores", "weights"}
    assert cost_ledger.ledger(trace, 0).n_parameters > 0
    for step in trace.layers[0].values():
        assert captions.alt(trace, 0, step.name)
        assert len(tables.tidy(step, trace.query_tokens, trace.key_tokens)) > 0
        assert tables.matrix(step, trace.query_tokens, trace.key_tokens) is not None
        assert stages.stage(trace, step, "a", "b", "c").array is not None
    assert edit_table.editable(trace, 0)


@pytest.mark.slow
@for_each("form", [name for name in FORMATS if "png" not in name])
@for_each("name", TRACES)
def test_every_file_can_be_written(name: str, form: str) -> None:
    trace = run(TRACES[name])
    for step in ("scores", "score_g", "score_vector_u"):
        if step in trace.layers[0]:
            assert export(form, trace, ExportTarget(layer=0, step=step))


@for_each("name", TYPED)
def test_what_is_saved_is_read_back(name: str) -> None:
    trace = run(scripts.config(name))
    again = archive.read(archive.npz(trace))
    assert again.config == trace.config
    for one, other in zip(trace.layers, again.layers):
        assert {step: each.formula for step, each in one.items()} == {
            step: each.formula for step, each in other.items()
        }
        np.testing.assert_array_equal(one["weights"].array, other["weights"].array)


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (i % 9 > 0)) for i, n in enumerate(TYPED)])
def test_every_cell_comes_out_at_its_number(name: str) -> None:
    trace = run(scripts.config(name))
    edits = {edit[1:3] for edit in trace.edits}
    layer = len(trace.layers) - 1
    for h, i, j in np.ndindex(trace["scores"].shape):
        if ("scores", (h, i, j)) in edits:
            continue
        found = derive(trace, layer, h, i, j)
        assert not found.edited, (h, i, j)
        assert found["score"].result == trace["scores"].array[h, i, j]
        assert found["weight"].result == trace["weights"].array[h, i, j]
        assert all(line.title and line.sentence.endswith(".") for line in found.lines)


def test_an_edited_score_is_said_to_be_edited() -> None:
    trace = run(scripts.config("typed_tanh"), edits=[(0, "scores", (1, 2, 0), 7.0), (0, "weights", (0, 1, 1), 0.5)])
    assert derive(trace, 0, 1, 2, 0).edited == ("score",)
    assert derive(trace, 0, 0, 1, 1).edited == ("weight",)


@for_each(
    "line, cost",
    [
        ("sum(q*k)", lambda n, m, d, a: n * m * d),
        ("q @ W @ k", lambda n, m, d, a: n * d * d + n * m * d),
        ("sum(v * tanh(q@W + k@U))", lambda n, m, d, a: (n + m) * d * a + n * m * a),
        ("sum((q - k)**2)", lambda n, m, d, a: n * m * d),
    ],
)
def test_multiply_adds_count_every_product(line: str, cost) -> None:
    config = Config(
        sentence="a b c", second_sentence="x y", n_heads=2, d_k=3, d_a=4, score="formula", score_formula=line
    )
    rows = {row.name: row for row in cost_ledger.ledger(run(config), 0).rows}
    assert rows["scores"].n_multiply_adds == 2 * cost(3, 2, 3, 4)


@for_each("line", ["sum(tahn(q*k))", "q*k", "sum(q*k", "W"])
def test_a_fault_of_the_line_stops_the_run_with_its_position(line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        run(Config(score="formula", score_formula=line))
    assert caught.value.until > caught.value.at


def test_a_bias_without_a_number_says_where() -> None:
    with pytest.raises(ConfigError, match="the bias is inf at query 1 and key 1; 7 of 49"):
        run(Config(bias="formula", bias_formula="1 / abs(i - j)", n_heads=1))


def test_work_is_known_beforehand() -> None:
    long = " ".join(f"w{n}" for n in range(64))
    config = Config(sentence=long, n_heads=16, d_k=64, score="formula", score_formula="sum(sin(q*k) * cos(q-k) % 2)")
    with pytest.raises(ConfigError, match=r"16 heads, 64 × 64 tokens and width 64 would take about \d+ million steps"):
        run(config)
