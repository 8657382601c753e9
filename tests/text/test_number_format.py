"""Numbers as they are read: four significant digits, never wider for being small."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.analysis.head_kinds import HeadKind
from attnviz.settings import language
from attnviz.settings.language import set_language
from attnviz.text.format.number_format import (
    JOINER,
    grouped,
    head_name,
    localised,
    localised_latex,
    short,
    with_head_names,
)
from attnviz.text.head_sentences import lines, title
from tests.support.cases import for_each


@given(st.floats(-1e300, 1e300))
def test_a_number_is_short_and_four_digits_of_it_are_right(x: float) -> None:
    text = short(x)
    assert len(text) <= 11
    if text == "~0":
        assert 0 < abs(x) < 1e-12
    else:
        assert float(text.replace("−", "-")) == pytest.approx(x, rel=5.1e-4, abs=0)
        assert not text.endswith(".")
        assert "." not in text or not text.partition("e")[0].endswith("0")


@pytest.mark.parametrize("x", [0.0, -0.0])
def test_only_zero_is_written_as_zero(x: float) -> None:
    assert short(x) == "0"
    assert short(5e-324) == "~0"
    assert short(-1e-13) == "~0"


def test_what_is_one_but_for_rounding_is_written_as_one() -> None:
    assert {short(x) for x in (1.0, 1 - 1e-15, np.float32(0.9999999))} == {"1"}


def test_there_is_a_dash_for_none() -> None:
    assert [short(x) for x in (None, math.nan, np.nan)] == ["–", "–", "–"]


@for_each(
    "text, german",
    [
        ("It is 0.4897.", "It is 0,4897."),
        ("0, 0.9951, 3.716e−10, ~0", "0; 0,9951; 3,716e−10; ~0"),
        ("0, 1, 0 and 2 × 3", "0, 1, 0 and 2 × 3"),
        ("$a = 0.5$ and `x / 0.5` and −0.5", "$a = 0{,}5$ and `x / 0.5` and −0,5"),
        ("$(0.5, 1.25)_{2,1}$ in 2.3.2", "$(0{,}5; 1{,}25)_{2,1}$ in 2.3.2"),
        ("section 3.2.1 of arXiv:1706.03762", "section 3.2.1 of arXiv:1706.03762"),
        ("5,068 and 5.069", "5,068 and 5,069"),
        ("| 5.068 | 3.091 |", "| 5,068 | 3,091 |"),
    ],
)
def test_a_text_has_the_decimal_sign_of_its_language(text: str, german: str) -> None:
    assert localised(text) == text
    assert grouped(262_144) == "262,144"
    set_language("de")
    try:
        assert localised(text) == german
        assert grouped(262_144) == "262\u202f144"
    finally:
        set_language("en")


def test_what_a_head_is_called_has_the_decimal_sign_of_its_language() -> None:
    spread = HeadKind(0, "spread", 0.2, 2, 6.31)
    set_language("de")
    try:
        said = title(spread, "sat"), lines(spread, "sat", 7)[1]
    finally:
        set_language("en")
    assert said == ("über 6,3 Wörter", "eine Zeile verteilt sich auf 6,3 von 7 Wörtern")


def test_the_name_of_a_head_keeps_its_point_in_german() -> None:
    text = "Suche Kopf 2.4, ohne 1.4 sind es −10.06 und [[without.are.is.2.1]]; 5.1 ist keiner, 0.5 eine Zahl."
    set_language("de")
    said = localised(with_head_names(text, layers=3, heads=4)) + localised(f" Kopf {head_name(1, 2)}: −0.5")
    set_language("en")
    assert JOINER in said
    assert said.replace(JOINER, "") == (
        "Suche Kopf 2.4, ohne 1.4 sind es −10,06 und [[without.are.is.2.1]]; 5,1 ist keiner, 0,5 eine Zahl."
        " Kopf 2.3: −0,5"
    )
    assert with_head_names(text, layers=3, heads=4) == text


def test_whole_numbers_in_brackets_have_semicolons_where_a_comma_is_that_of_a_number() -> None:
    said = {}
    for code in language.LANGUAGES:
        set_language(code)
        said[code] = localised_latex(r"q = (2, 2, 0),\; s_{1,2},\; f(2, 3)")
    set_language("en")
    assert said["en"] == said["zh"] == r"q = (2, 2, 0),\; s_{1,2},\; f(2, 3)"
    assert said["de"] == said["es"] == r"q = (2; 2; 0),\; s_{1,2},\; f(2, 3)"
