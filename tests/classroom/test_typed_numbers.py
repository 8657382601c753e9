"""Numbers as people give them, read without being run."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.classroom.typed_numbers import MAX_SIZE, read_number
from tests.support.cases import for_each

READ = [
    ("0.25", 0.25),
    ("0,25", 0.25),
    (".5", 0.5),
    (",5", 0.5),
    ("1e-3", 0.001),
    ("−2", -2.0),
    ("+3", 3.0),
    ("1/2", 0.5),
    ("1 / 3", 1 / 3),
    ("1:4", 0.25),
    ("50 %", 0.5),
    ("12,5%", 0.125),
    ("e", math.e),
    ("e/(e+3)", math.e / (math.e + 3)),
    ("e^2/(e^2+e+1)", math.e**2 / (math.e**2 + math.e + 1)),
    ("e^-1", 1 / math.e),
    ("exp(-1)", 1 / math.e),
    ("1/(1+2e)", 1 / (1 + 2 * math.e)),
    ("√2/2", math.sqrt(2) / 2),
    ("sqrt(3)", math.sqrt(3)),
    ("2√3", 2 * math.sqrt(3)),
    ("2(1+1)", 4.0),
    ("2^3^2", 512.0),
    ("-2^2", -4.0),
    ("3²", 9.0),
    ("4·5", 20.0),
    ("1-2-3", -4.0),
    ("8/4/2", 1.0),
]


@for_each("text, number", READ)
def test_a_number_is_read_as_it_is_written(text: str, number: float) -> None:
    assert read_number(text) == pytest.approx(number, rel=1e-15)


@for_each(
    "text",
    [
        *("", " ", "nan", "inf", "a half", "1/0", "1/2/", "(1", "1)", "()", "1..2", "1,2,3", "1 2", "__import__('os')"),
        *("9^9^9^9^9", "10^101", "1e400", "1e16", "(-8)^(1/3)", "√-1", "exp(1000)", "0^-1", "%", "e e" + "e" * 60),
        *("(" * 30 + "1" + ")" * 30, "-" * 59, "1" * 61, "2^" * 29 + "2", "1.234,5"),
    ],
)
def test_what_is_none_or_too_much_is_refused(text: str) -> None:
    assert read_number(text) is None


@pytest.mark.slow
@given(st.text(max_size=80) | st.text("0123456789.,eE+-*/^%()√π sqrtexp", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    number = read_number(text)
    assert number is None or (math.isfinite(number) and abs(number) <= MAX_SIZE)


@given(st.floats(-1e14, 1e14))
def test_a_number_of_python_is_read_as_it_is(number: float) -> None:
    assert read_number(repr(number)) == number
    assert read_number(repr(number).replace(".", ",")) == number
