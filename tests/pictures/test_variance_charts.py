"""Charts over d_k and what one width has to say, with the numbers of the trial."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from attnviz import Config, run
from attnviz.analysis import variance_and_sharing
from attnviz.pictures import figures
from attnviz.pictures.charts import variance_charts
from attnviz.text.format.number_format import short
from tests.support.cases import for_each

CONFIG = Config(sentence="a b c d e", second_sentence="x y z", n_heads=2)


def sentences(config: Config, d_k: int = 9) -> str:
    trace = run(config)
    return " ".join(variance_charts.of_spread(trace, variance_and_sharing.spread(trace, 0, d_k)))


def test_the_numbers_of_one_width_are_said() -> None:
    found = variance_and_sharing.spread(run(CONFIG), 0, 9)
    words = sentences(CONFIG)
    assert f"At d_k = 9 the scores have standard deviation {found.scores['one']:.4g}" in words
    assert f"√d_k = 3 it is {found.scores['root']:.4g}, divided by d_k {found.scores['width']:.4g}." in words
    assert f"is {found.largest['one']:.4g} on average without division, {found.largest['root']:.4g} with" in words
    assert "equal shares would make it 0.333" in words


@for_each(
    "setting, d_k, words",
    [
        ({}, 1, "At d_k = 1 all three"),
        ({"second_sentence": "x"}, 9, "may attend to one key only"),
        ({"normaliser": "hardmax"}, 9, "Hardmax gives the same weights"),
        ({"temperature": 2.0}, 9, "divides once more: with √d_k by 6 in all"),
        ({"softcap": 5.0}, 9, "soft cap of the setting, 5,"),
        ({"bias": "alibi"}, 9, "is not divided"),
        ({"score": "additive"}, 9, "your setting uses: Additive (Bahdanau)"),
        ({"normalise_over": "queries"}, 9, "over the keys here"),
    ],
)
def test_what_bends_the_answer_is_said(setting: dict[str, Any], d_k: int, words: str) -> None:
    assert words in sentences(replace(CONFIG, **setting), d_k)
    assert words not in sentences(CONFIG)


def test_vectors_of_the_setting_say_what_their_entries_are() -> None:
    trace = run(CONFIG)
    words = variance_charts.of_entries(trace, variance_and_sharing.spread_by_width(trace, 0, "setting", (2, 5, 7)))
    for d_k in (2, 7):
        other = run(replace(CONFIG, d_k=d_k))
        q, k = (short(float(other[name].array.std())) for name in ("queries", "keys"))
        assert f"{q} and {k} at" in words[0]
    assert len(words) == 1
    for anew, said in ((False, "adds columns that hold little or nothing"), (True, "are the same at every d_k")):
        trace = run(replace(CONFIG, initialiser="by_hand", solved_anew=anew))
        spreads = variance_and_sharing.spread_by_width(trace, 0, "setting", (2, 5))
        assert said in variance_charts.of_entries(trace, spreads)[1]
        assert (spreads[0].scores["root"] == pytest.approx(spreads[1].scores["root"])) == anew
        assert (spreads[0].scores["one"] == pytest.approx(spreads[1].scores["one"])) != anew


def test_where_nothing_may_be_looked_at_nothing_is_said() -> None:
    shut = replace(CONFIG, mask="custom", custom_cells="")
    assert sentences(shut) == ""
    assert variance_charts.phrase(variance_and_sharing.spread(run(shut), 0, 9), "root") == ""
    found = variance_and_sharing.spread(run(CONFIG), 0, 9)
    assert variance_charts.phrase(found, "root") == f"largest weight {found.largest['root']:.4g} on average"


def test_the_charts_hold_the_numbers() -> None:
    found = variance_and_sharing.spread_by_width(run(CONFIG), 0, "unit", (1, 5, 64))
    chart, largest = variance_charts.spread_chart(found, 5, reference=True), variance_charts.largest_chart(found, 5)
    lines = {line["name"]: line for line in chart["data"]}
    assert list(lines) == ["÷ 1", "÷ √d_k", "÷ d_k", "√d_k"]
    assert lines["÷ √d_k"]["x"] == [1, 5, 64]
    assert lines["÷ √d_k"]["y"] == [each.scores["root"] for each in found]
    assert lines["÷ 1"]["y"] == [each.scores["one"] for each in found]
    assert lines["√d_k"]["y"] == [1.0, math.sqrt(64)]
    assert {line["name"]: line["y"] for line in largest["data"]}["÷ d_k"] == [each.largest["width"] for each in found]
    assert chart["layout"]["shapes"][0]["x0"] == 5
    assert all(each["name"] != "√d_k" for each in variance_charts.spread_chart(found, 5, reference=False)["data"])
    for each in (chart, largest):
        assert (
            figures.without_template(each).layout.template.data
            == figures.without_template({"data": []}).layout.template.data
        )
