"""Numbers as they are read: four significant digits, never wider for being small."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.text.number_format import short


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
