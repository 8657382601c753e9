"""Every view of attention that was given: it shows the steps that there are, and says where the arithmetic begins."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from attnviz import Config, of_scores, of_vectors, of_weights
from attnviz.arithmetic.cell import derive
from attnviz.engine.external.traces import first_steps, forbidden
from attnviz.engine.records.trace import Trace
from attnviz.exports import tables
from attnviz.pictures import pipeline_strip, stages
from attnviz.text import captions, cell_sentence
from attnviz.text.cost_ledger import ledger
from attnviz.text.format.sentence_parts import plain
from attnviz.text.headline import headline
from attnviz.text.provenance import origin
from attnviz.text.query_sentences import query_weights, sentence
from tests.support.cases import for_each

RNG = np.random.default_rng(7)
A = RNG.dirichlet(np.ones(5), size=(2, 3, 5))
S = np.where(RNG.random((3, 5, 7)) > 0.3, RNG.normal(size=(3, 5, 7)), -np.inf)
Q, K, V = RNG.normal(size=(4, 5, 3)), RNG.normal(size=(2, 6, 3)), RNG.normal(size=(2, 6, 2))
SETTING = Config(mask=("causal", "window"), softcap=2.0, temperature=0.5, scale=0.7)
TRACES: dict[str, Callable[[], Trace]] = {
    "weights": lambda: of_weights(A, ["a", "b", "c", "d", "e"]),
    "float32": lambda: of_weights(A.astype(np.float32)),
    "negative": lambda: of_weights(A - 0.1),
    "scores": lambda: of_scores(S, config=SETTING),
    "vectors": lambda: of_vectors(Q, K, V, config=SETTING),
}
SHOWN = {"scores": ["scores", "weights"], "vectors": ["scores", "weights", "heads"]}
FIRST = {"scores": "scores", "vectors": "query"}


@for_each("name", TRACES)
def test_the_stages_that_exist_stand_side_by_side(name: str) -> None:
    trace = TRACES[name]()
    shown = stages.side_by_side(trace, 0)
    assert [stage.name for stage in shown] == SHOWN.get(name, ["weights"])
    for stage in shown:
        given = stage.name in first_steps(trace.layers[0])
        assert (stage.formula == "as given") == given
        assert np.array_equal(stage.array, trace.layers[0][stage.name].array, equal_nan=True)
        if stage.name != "heads":
            assert stage.masked is not None
            assert np.array_equal(stage.masked, forbidden(trace.layers[0]))
    assert shown[0].title == {"scores": "Scores", "vectors": "QKᵀ"}.get(name, "Weights")
    assert (shown[-1].phrase == stages.PHRASES["not_shares"]) == (name == "negative")


@pytest.mark.slow
@for_each("name", TRACES)
def test_every_cell_is_followed_from_what_was_given_and_comes_out_as_it_is(name: str) -> None:
    trace = TRACES[name]()
    for head, query, key in np.ndindex(trace.config.n_heads, 5, len(trace.key_tokens)):
        cell = derive(trace, 0, head, query, key)
        assert not cell.edited
        assert cell["weight"].result == trace.layers[0]["weights"].array[head, query, key]
        assert cell.vectors == ()
        assert bool(cell.score) == (name in SHOWN)
        assert bool(cell.output) == (name == "vectors")
    first = cell.lines[0]
    assert "s it was given" in first.sentence
    assert first.name == {"scores": "score", "vectors": "query"}.get(name, "weight")


@for_each("name", TRACES)
def test_flow_ledger_captions_and_tables_go_through(name: str) -> None:
    trace = TRACES[name]()
    entries = pipeline_strip.entries(trace, 0)
    assert {entry.name for entry in entries} == set(trace.layers[0])
    counted = ledger(trace, 0)
    assert counted.n_parameters == 0
    work = {row.name: row.n_multiply_adds for row in counted.rows if row.n_multiply_adds}
    n = 3 * 5 * 7
    vectors = {"scores": 4 * 5 * 6 * 3, "scaled": 120, "capped": 120, "heads": 4 * 5 * 6 * 2}
    assert work == {"scores": {"scaled": n, "capped": n}, "vectors": vectors}.get(name, {})
    for step in trace.layers[0].values():
        assert captions.stage(trace, 0, step.name)
        assert plain(captions.alt(trace, 0, step.name))
        assert len(tables.tidy(step, trace.query_tokens, trace.key_tokens)) == step.array.size
    rows = tables.row_statistics(trace, 0)
    assert ("Keys it may attend to" in rows) == (name in SHOWN)
    assert tables.head_statistics(trace, 0).shape[0] == trace.config.n_heads
    assert tables.column_sums(trace, 0).shape == (trace.config.n_heads, len(trace.key_tokens))
    assert (tables.rollout(trace, 0) is None) == (name in SHOWN)


@for_each("name", TRACES)
def test_words_say_shares_only_of_shares(name: str) -> None:
    trace = TRACES[name]()
    for query in range(5):
        text = plain(sentence(query_weights(trace, 0, 0), query))
        assert (" puts weight " in text) == (name == "negative")
        for key in range(len(trace.key_tokens)):
            text = plain(cell_sentence.cell_sentence(trace, 0, 0, query, key))
            assert ("the weight" in text) == (name == "negative")
            assert ("may not attend" in text) == bool(forbidden(trace.layers[0])[0, query, key])
    together = captions.stage(trace, 0, "weights")
    assert ("need not add" in together) == (name == "negative")


def test_a_cell_that_was_given_as_minus_infinity_says_so() -> None:
    head, query, key = np.argwhere(np.isneginf(S))[0]
    trace = of_scores(S, config=Config(softcap=2.0))
    text = plain(cell_sentence.cell_sentence(trace, 0, head, query, key))
    assert text.endswith("its score is minus infinity.")
    assert not derive(trace, 0, head, query, key).allowed


def test_the_origin_is_your_own() -> None:
    trace = of_weights(A)
    assert origin(trace).label == "Your own attention"
    assert headline(trace)[0] == "3 heads of self-attention over 5 tokens, 2 layers deep."
