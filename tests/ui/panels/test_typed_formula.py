"""Your own formula on the page: the field, what it says below, and the examples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from streamlit.testing.v1 import AppTest

from attnviz import Config, run
from attnviz.formula.reader import parse
from attnviz.settings.language import set_language, translate
from attnviz.ui.panels.typed_formula import EXAMPLES, FIELDS, LABELS
from tests.support.cases import for_each

APP = Path(__file__).parents[3] / "app.py"


def opened(**query: str) -> AppTest:
    at = AppTest.from_file(APP, default_timeout=60)
    for name, value in {"v": "1", **query}.items():
        at.query_params[name] = value
    at.run()
    assert not at.exception
    return at


def below(at: AppTest) -> str:
    return "\n".join([*(each.value for each in at.sidebar.caption), *(each.value for each in at.sidebar.code)])


@for_each("kind", FIELDS)
def test_each_table_has_five_examples_that_run(kind: str) -> None:
    assert len(EXAMPLES[kind]) == 5
    for name, line in EXAMPLES[kind].items():
        assert LABELS[name]
        parse(line, kind)
        chosen = {kind: "formula", f"{kind}_formula": line}
        assert np.isfinite(run(Config(**chosen))["output"].array).all(), line


def test_choosing_it_shows_one_field_and_what_it_means() -> None:
    at = opened(sentence="a b c", score="dot")
    assert not [each for each in at.sidebar.text_input if each.key == "score_formula"]
    at.sidebar.selectbox(key="score").select("formula").run()
    assert not at.exception
    at.sidebar.text_input(key="score_formula").input("g * (q @ W @ k) / 2").run()
    assert not at.exception
    text = below(at)
    assert r"s_{ij}" in "".join(each.value for each in at.sidebar.markdown)
    assert "W is 4 × 4: it takes a vector of 4 numbers and gives one of 4." in text
    assert "g is one number for each head" in text
    assert "multiply-adds" in text
    assert at.query_params["score_formula"] == "g * (q @ W @ k) / 2"


def test_a_fault_is_marked_under_its_position_and_the_pictures_stay() -> None:
    at = opened(score="formula", score_formula="sum(q*k)")
    at.sidebar.text_input(key="score_formula").input("sum(tahn(q*k))").run()
    assert not at.exception
    assert "sum(tahn(q*k))\n    ^^^^" in below(at)
    assert "did you mean tanh?" in below(at)
    at.sidebar.text_input(key="score_formula").input("sum(tanh(q*k))").run()
    assert "^^^^" not in below(at)
    assert at.query_params["score_formula"] == "sum(tanh(q*k))"


def test_it_says_what_it_is_the_same_as() -> None:
    assert "In general this is the same as Scaled dot product." in below(
        opened(score="formula", score_formula="q @ k / sqrt(d_k)")
    )
    assert "Gaussian" in below(opened(score="formula", score_formula="q @ k - norm(k)**2 / 2"))


def test_it_says_where_the_first_number_is_none() -> None:
    text = below(opened(score="formula", score_formula="log(sum(q*k))", sentence="a b c"))
    assert "^" in text
    assert "is nan, made from" in text


def test_an_example_is_taken_by_one_press() -> None:
    at = opened(mask="formula")
    at.sidebar.button_group(key="example-mask").set_value("near").run()
    assert not at.exception
    assert at.sidebar.text_input(key="mask_formula").value == EXAMPLES["mask"]["near"]
    assert at.query_params["mask_formula"] == EXAMPLES["mask"]["near"]


def test_it_is_said_in_german() -> None:
    try:
        at = opened(score="formula", score_formula="q @ W @ k", lang="de")
        assert "Aus einem Vektor von 4 Zahlen wird einer von 4." in below(at)
        set_language("de")
        assert all(translate(each) for each in LABELS.english.values())
    finally:
        set_language("en")


def test_a_link_whose_line_cannot_be_read_shows_where_below_the_field() -> None:
    assert "^" in below(opened(score="formula", score_formula="sum(q*k) norm(q)"))


def test_lines_that_are_nobody_s_row_open_with_every_panel() -> None:
    """A row of W and not a column, a bias that was typed, and weights that are no shares."""
    signed = {"normaliser": "formula", "normaliser_formula": "x - mean(x)", "panel": "statistics"}
    at = opened(sentence="dog queen dog dog on", score="formula", score_formula="sum(q*W[j]) + sum(k*b)", **signed)
    text = below(at)
    assert "W is 5 × 4: one row of 4 numbers for each key." in text
    assert "b is a bias: it starts at 0, or as the projections draw their biases." in text
