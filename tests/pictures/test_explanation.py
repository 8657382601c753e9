"""What stands beside the maps says the run's numbers in words, for every score and normaliser, and can be sent."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.arithmetic.cell import derive
from attnviz.engine.external.traces import of_weights
from attnviz.engine.records.trace import Trace
from attnviz.engine.tables.normalisers import NORMALISERS
from attnviz.engine.tables.scores import SCORES
from attnviz.pictures.answer import browser_facts
from attnviz.pictures.answer.explanation import explanation, most_telling
from attnviz.pictures.answer.explanation_parts import number
from attnviz.pictures.answer.motion import motion
from attnviz.settings.kept import Kept
from attnviz.settings.language import set_language
from tests.support.cases import for_each


def made(trace: Trace, head: int = 0, query: int = 3, at: int = 2, **what: Any) -> dict[str, Any]:
    found = explanation(trace, derive(trace, 0, head, query, at), **{"key": True, **what})
    return dict(json.loads(json.dumps(found, allow_nan=False)))


@pytest.mark.slow
@for_each("score, normaliser", list(itertools.product(SCORES, NORMALISERS)))
def test_a_cell_has_its_four_lines_whatever_the_score_and_the_normaliser(score: str, normaliser: str) -> None:
    trace = run(Config(score=score, normaliser=normaliser, mask="causal", softcap=3.0))
    match, scored, share, value = made(trace)["lines"]
    assert [line["name"] for line in (match, scored, share, value)] == ["match", "score", "share", "value"]
    assert scored["columns"]["values"][2] == pytest.approx(trace["masked"].array[0, 3, 2], rel=1e-5)
    assert scored["columns"]["values"][4:] == [None] * 3, "what is masked has no bar"
    assert share["shares"]["values"] == pytest.approx(trace["weights"].array[0, 3].tolist(), rel=1e-5)
    assert share["note"]
    assert "capped at ±3 = " in scored["note"]
    added = trace["weights"].array[0, 3, 2] * trace["values"].array[0, 2]
    assert [row[3] for row in value["terms"]["rows"]] == pytest.approx(added.tolist(), rel=1e-5)
    assert value["cells"]["values"] == pytest.approx(trace["heads"].array[0, 3].tolist(), rel=1e-5)


@for_each(
    "settings, message",
    [
        ({}, "e^{"),
        ({"temperature": 2.0}, ") ÷ 2} = "),
        ({"normaliser": "sigmoid"}, "1 ÷ (1 + e^{−("),
        ({"normaliser": "linear"}, "below 0 counts as 0"),
        ({"normaliser": "quiet_softmax"}, "with the 1"),
        ({"normaliser": "entmax15"}, "(u − τ)² = "),
        ({"normaliser": "sparsemax"}, "u − τ = "),
        ({"normaliser": "formula", "normaliser_formula": "exp(x) / sum(exp(x))"}, "exp(x) / sum(exp(x))"),
        ({"normaliser": "squared_relu_over_n"}, "over the number of keys; below 0 counts as 0"),
    ],
)
def test_the_share_is_explained_by_its_normaliser(settings: dict[str, Any], message: str) -> None:
    trace = run(Config(**settings))
    assert message in made(trace)["lines"][2]["note"]


def test_of_a_forbidden_cell_is_said_that_it_is_and_no_value_of_it_is_added() -> None:
    trace = run(Config(mask="no_self"))
    found = explanation(trace, derive(trace, 0, 0, 3, 3), key=True)
    assert [each for each in found["title"] if each[0] == "soft"] == [["soft", "does not attend to"]]
    assert "may not attend" in found["sentence"]
    assert [line["name"] for line in found["lines"]] == ["match", "score", "share"]
    assert [line["note"] for line in found["lines"][2:]] == [""], "said already"
    assert made(trace)["title"][1] == ["soft", "attends to"]


@for_each(
    "settings, title, note",
    [
        ({}, "÷ √4 = the scaled score", ""),
        ({"score": "dot"}, "the score", ""),
        ({"score": "cosine"}, "the score", "both lengths"),
        ({"score": "gaussian"}, "the score", "× −½"),
        ({"score": "negative_distance"}, "the score", "− its root"),
        ({"scale": 3.0}, "the scaled score", "× 3 = "),
        ({"bias": "alibi"}, "the adjusted score", "÷ √4 = "),
        ({"score": "formula", "score_formula": "2 * (q @ k)"}, "the score", "2 * (q @ k) = "),
        ({"score": "multiplicative_tanh"}, "the score", "tanh("),
    ],
)
def test_what_is_done_to_a_score_stands_beside_it(settings: dict[str, Any], title: str, note: str) -> None:
    line = made(run(Config(**settings)))["lines"][1]
    assert (line["title"], note in line["note"]) == (title, True)


@pytest.mark.slow
@for_each("settings", [{}, {"seed": 3, "d_k": 8}, {"initialiser": "by_hand"}, {"scale": 0.001}])
def test_numbers_that_stand_together_have_as_many_decimals_and_so_has_what_they_add_up_to(
    settings: dict[str, Any],
) -> None:
    trace = run(Config(**settings))
    for head, query, key in itertools.product(range(2), range(3), range(4)):
        for line in made(trace, head, query, key)["lines"]:
            terms = line.get("terms")
            columns = [*zip(*terms["rows"], strict=True)] if terms else []
            together = [columns[4] + ((line["value"],) if line["name"] == "match" else ())] if columns else []
            together += [columns[1], columns[2]] if columns else []
            together += [line["cells"]["texts"]] if "cells" in line else []
            for texts in together:
                decimals = {
                    len(text.partition("e")[0].partition(".")[2]) for text in texts if text not in ("0", "~0", "")
                }
                assert len(decimals) <= 1, texts


def test_a_row_is_explained_by_its_scores_and_shares() -> None:
    trace = run(Config(n_heads=2))
    found = made(trace, 1, 4, key=False)
    assert found["key"] is None
    assert [line["name"] for line in found["lines"]] == ["score", "share", "value"]
    assert found["lines"][0]["title"] == "its scaled scores with all words", "those of the maps are not divided yet"
    taken = found["lines"][1]
    assert taken["value"] == "100 %"
    assert [row[0] for row in taken["terms"]["rows"]] == list(trace.key_tokens)
    assert found["lines"][2]["cells"]["values"] == pytest.approx(trace["heads"].array[1, 4].tolist(), rel=1e-5)


def test_an_entry_of_an_output_is_explained_from_the_weights_side() -> None:
    trace = run(Config())
    taken, entries, total = made(trace, 1, 4, key=False, dimension=2)["lines"]
    assert "shares" in taken
    puts = trace["weights"].array[1, 4] * trace["values"].array[1, :, 2]
    assert [row[3] for row in entries["terms"]["rows"]] == pytest.approx(puts.tolist(), rel=1e-5)
    assert total["cells"]["at"] == 2
    assert total["value"] == f"{trace['heads'].array[1, 4, 2]:.3f}".replace("-", "−")


def test_of_sixty_four_words_little_is_sent() -> None:
    trace = run(Config(sentence="a b c d e f g h " * 8, d_k=64, d_v=64, d_model=64))
    found = explanation(trace, derive(trace, 0, 0, 5, 9), key=True)
    assert [len(each["shown"]) for each in found["lines"][0]["terms"]["folds"]] == [5, 3]
    assert len(json.dumps(found, ensure_ascii=False)) < 16_000


def test_weights_that_were_given_have_one_line() -> None:
    trace = of_weights([[0.25, 0.75], [1.0, 0.0]], ["a", "b"])
    assert [line["name"] for line in made(trace, 0, 0, 1)["lines"]] == ["share"]
    assert [line["name"] for line in made(trace, 0, 0, 1, key=False)["lines"]] == ["share"]


def test_a_row_is_derived_through_the_key_that_it_takes_most_from() -> None:
    trace = run(Config())
    assert most_telling(trace, 0, 2, 3) == int(np.argmax(trace["weights"].array[2, 3]))


def texts(found: Any) -> list[str]:
    """Every text in what is sent, of whatever depth."""
    if isinstance(found, str):
        return [found]
    parts = found.values() if isinstance(found, dict) else found if isinstance(found, (list, tuple)) else ()
    return [text for part in parts for text in texts(part)]


@for_each(
    "settings",
    [
        {},
        {"normalise_over": "queries"},
        {"temperature": 1.5, "softcap": 2.5, "bias": "alibi"},
        {"normaliser": "sparsemax"},
        {"scale": 1e-9},
    ],
)
def test_numbers_have_the_sign_of_the_language_between_their_digits(
    settings: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(lambda: set_language("en"))
    trace = run(Config(**settings))
    cell = derive(trace, 0, 0, 3, 2)
    for language, sign in (("de", ","), ("en", ".")):
        set_language(language)
        said = texts([explanation(trace, cell, key=True), explanation(trace, cell, key=False), motion(trace, cell)])
        between = {found for text in said for found in re.findall(r"(?<=\d)[.,](?=\d)", text)}
        assert between == {sign}


def test_of_a_score_that_was_set_by_hand_it_is_said_and_what_its_formula_gives() -> None:
    for score in ("dot", "negative_distance", "gaussian", "cosine", "additive"):
        config = Config(score=score)
        computed = float(run(config).layers[0]["scores"].array[1, 2, 0])
        for by_hand in (0.0, computed + 2):
            trace = run(config, edits=[(0, "scores", (1, 2, 0), by_hand)])
            found = {key: explanation(trace, derive(trace, 0, 1, 2, key), key=True)["lines"] for key in (0, 1)}
            said = [f"set by hand; the formula gives {number(computed)}" in line["note"] for line in found[0]]
            assert sum(said) == 1, score
            assert found[0][said.index(True)]["value"] == number(by_hand), score
            assert not any("by hand" in line["note"] for line in found[1]), score


def test_a_number_changed_by_hand_is_told_from_the_same_setting_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, edited = run(Config()), run(Config(), edits=[(0, "scaled", (0, 0, 0), 3.0)])
    for first, second in ((plain, edited), (edited, plain)):
        monkeypatch.setattr(browser_facts, "_kept", Kept[Any](most=8))
        found = {trace is edited: browser_facts.cells_of(trace, 0) for trace in (first, second)}
        assert found[True] is None
        assert found[False] is not None
