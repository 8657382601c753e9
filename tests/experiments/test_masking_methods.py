"""The lab's numbers against the engine, and what it says of each normaliser against its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from attnviz import NORMALISERS, Config, run
from attnviz.analysis.mask_forms import FILLS
from attnviz.experiments import masking_methods
from attnviz.experiments.masking_methods import COLUMNS, MaskingTrial, masking_trial
from tests.support.cases import for_each

SENTENCE, SECOND = "a b c d e", "k l m n o p q"
INFINITY, LARGE, ZERO, AFTER, RENORMALISED = range(5)


def trial(large: float = -1e9, empty_a_row: bool = False, head: int = 1, **settings: Any) -> MaskingTrial:
    config = {"sentence": SENTENCE, "second_sentence": SECOND, "n_heads": 3, "mask": "causal"} | settings
    return masking_trial(run(Config(**config)), 0, head, large=large, empty_a_row=empty_a_row)


def column(masking: MaskingTrial, name: str) -> list[Any]:
    return masking_methods.ways(masking)[COLUMNS[name]].tolist()


def test_the_first_way_is_the_run_and_leaks_nothing() -> None:
    found = trial()
    np.testing.assert_array_equal(found.weights[INFINITY], found.trace["weights"].array[1])
    assert masking_methods.leaked_weights(found)["−∞"].tolist() == [0] * 5
    np.testing.assert_allclose(masking_methods.sums(found)["−∞"], 1)


def test_leaks_and_sums_have_a_row_for_each_query() -> None:
    found = trial()
    forbidden = np.triu(np.ones((5, 7)), k=1).astype(bool)
    for table, part in (
        (masking_methods.leaked_weights(found), forbidden),
        (masking_methods.sums(found), np.ones((5, 7), bool)),
    ):
        assert list(table.index) == ["1 a", "2 b", "3 c", "4 d", "5 e"]
        for way, name in enumerate(found.names):
            expected = [sum(found.weights[way, i, j] for j in range(7) if part[i, j]) for i in range(5)]
            np.testing.assert_allclose(table[name], expected, atol=1e-15)
    assert (masking_methods.leaked_weights(found)["0 as a score"] > 0).all()


def test_zeros_afterwards_over_the_sum_are_minus_infinity_and_without_are_not() -> None:
    leaked, differs = column(trial(), "leaked"), column(trial(), "differs")
    assert differs[RENORMALISED] < 1e-15
    assert differs[AFTER] > 0.1
    assert [leak > 0 for leak in leaked] == [False, False, True, False, False]


def test_a_number_that_is_not_large_leaks() -> None:
    leaks = [column(trial(large=large), "leaked")[LARGE] for large in (-1.0, -10.0, -100.0, -1e4, -1e9)]
    assert leaks[0] > leaks[1] > leaks[2] > leaks[3] == leaks[4] == 0
    flat = [column(trial(large=large, temperature=100.0), "leaked")[LARGE] for large in (-100.0, -1e4)]
    assert flat[0] > 0.1
    assert 0 < flat[1] < 1e-40


def test_without_a_forbidden_cell_the_causal_mask_stands_in_and_that_is_said() -> None:
    found = trial(mask="none")
    np.testing.assert_array_equal(found.allowed, np.tri(5, 7, dtype=bool))
    assert masking_methods.SENTENCES["stands_in"] in found.notes
    assert masking_methods.SENTENCES["stands_in"] not in trial().notes
    np.testing.assert_allclose(found.weights[INFINITY], trial().weights[INFINITY], atol=1e-15)


def test_a_row_can_be_emptied_and_the_others_stay() -> None:
    found, whole = trial(empty_a_row=True), trial()
    assert not found.allowed[0].any()
    np.testing.assert_array_equal(found.weights[:, 1:], whole.weights[:, 1:])
    assert "“a”" in " ".join(found.notes)
    assert masking_methods.sums(found).iloc[0].tolist()[:4] == pytest.approx([0, 1, 1, 0])
    assert (
        np.isnan(masking_methods.leaked_weights(found).iloc[0, RENORMALISED])
        or masking_methods.sums(found).isna().iloc[0, RENORMALISED]
    )


def test_a_row_that_is_empty_already_is_the_one_shown() -> None:
    found = trial(mask="custom", custom_cells="1: 1-3, 3: 2 7, 4: 1, 5: 5", empty_a_row=True)
    assert found.allowed[0].any()
    np.testing.assert_array_equal(found.emptied, found.weights[:, 1])
    assert len(found.notes) == 1


@pytest.mark.parametrize("empty_a_row", [False, True])
def test_what_an_emptied_row_becomes_is_said_whether_or_not_there_is_one(empty_a_row: bool) -> None:
    assert column(trial(empty_a_row=empty_a_row), "empty") == [
        "zeros here; by the bare formula 0 / 0, NaN",
        "0.1429 for every key, all of them forbidden",
        "0.1429 for every key, all of them forbidden",
        "zeros",
        "NaN: 0 / 0",
    ]
    assert column(trial(normaliser="sigmoid"), "empty")[:3] == [
        "zeros",
        "zeros",
        "0.5 for every key, all of them forbidden",
    ]


def test_the_picture_holds_the_weights_and_greys_only_the_first() -> None:
    found = trial(head=2)
    stage = masking_methods.stage(found)
    assert stage.array is found.weights
    assert stage.array.shape == (5, 5, 7)
    assert stage.masked is not None
    np.testing.assert_array_equal(stage.masked[0], ~found.allowed)
    assert not stage.masked[1:].any()
    assert list(stage.names) == ["−∞", "−1e9", "0 as a score", "0 afterwards", "renormalised"]
    assert (list(stage.rows), list(stage.columns or ())) == (SENTENCE.split(), SECOND.split())


def test_the_large_number_names_its_picture() -> None:
    assert trial(large=-10.0).names[LARGE] == "−10"
    assert [trial(large=large).names[LARGE] for large in (-1.0, -1e4, -55.0)] == ["−1", "−10000", "−55"]


def same(trials: Sequence[MaskingTrial], one: int, other: int) -> bool:
    """Whether two ways agree for every head, in every row that has a sum."""
    A, B = (np.concatenate([each.weights[way] for each in trials]) for way in (one, other))
    rows = np.isfinite(A.sum(axis=-1)) & np.isfinite(B.sum(axis=-1))
    return bool(np.allclose(A[rows], B[rows], atol=1e-12))


SAME_AS_INFINITY = {  # what is said of each normaliser: which ways give the weights of minus infinity
    "softmax": {LARGE, RENORMALISED},
    "formula": {LARGE, RENORMALISED},
    "quiet_softmax": {LARGE},
    "sigmoid": {LARGE, AFTER},
    "sparsemax": {LARGE},
    "entmax15": {LARGE},
    "hardmax": {RENORMALISED},
    "linear": {LARGE, ZERO, RENORMALISED},
    "entmax": {LARGE},
    "relu_over_n": set(),
    "softmax_with_sink": {LARGE},
    "squared_relu_over_n": set(),
}


@for_each("normaliser", NORMALISERS)
def test_what_is_said_of_each_normaliser_is_so(normaliser: str) -> None:
    assert normaliser in SAME_AS_INFINITY, "say there which ways of masking give it the weights of minus infinity"
    found = [trial(normaliser=normaliser, head=head) for head in range(3)]
    assert found[0].notes == (NORMALISERS[normaliser].masked_as_0 or masking_methods.SENTENCES["any"],)
    agreeing = {way for way in (LARGE, ZERO, AFTER, RENORMALISED) if same(found, way, INFINITY)}
    assert agreeing == SAME_AS_INFINITY[normaliser]
    hidden = np.concatenate([each.weights[ZERO][~each.allowed] for each in found])
    if normaliser in ("sigmoid", "linear"):
        assert (hidden == (0.5 if normaliser == "sigmoid" else 0)).all()


def test_over_the_queries_other_words_are_said() -> None:
    assert trial(normalise_over="queries").notes == (masking_methods.SENTENCES["columns"],)


def test_the_ways_are_those_of_the_engine_and_the_table_of_libraries_names_its_sources() -> None:
    assert set(masking_methods.DONE) == set(FILLS)
    table = masking_methods.libraries()
    assert isinstance(table, pd.DataFrame)
    assert table["How this is known"].str.contains(r"^run, |^read, |^tested").all()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@for_each("formula", ["sqrt(sum(q*k))", "0/(i-j)", "exp(1000*i*j)"])
def test_scores_that_are_no_numbers_stop_no_trial(formula: str) -> None:
    trace = run(Config(sentence="the cat sat on the mat", score="formula", score_formula=formula))
    head, _ = masking_methods.leakiest(trace, 0)
    assert 0 <= head < trace.config.n_heads
    assert len(masking_methods.ways(masking_trial(trace, 0, head))) == len(FILLS)
