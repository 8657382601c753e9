"""Tables on the page: four digits are drawn, a dash where there is no number, and all digits are kept beneath."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from attnviz import Config, run
from attnviz.analysis import statistics
from tests.ui.test_app import clean, opened

SHORT = re.compile(r"−?(\d{1,6}(\.\d{1,7})?(e−?\d+)?|∞)|~0|–")


def drawn(element: object) -> pd.DataFrame:
    """What a table shows in its cells."""
    held = element.proto.arrow_data.styler.display_values  # type: ignore[attr-defined]
    return pa.ipc.open_stream(held).read_pandas()


@pytest.mark.parametrize("panel", ["statistics", "table"])
def test_no_column_is_wide_for_a_small_number(panel: str) -> None:
    at = opened(panel=panel, initialiser="by_hand", mask="causal")
    assert clean(at)
    assert at.dataframe
    for each in at.dataframe:
        assert each.proto.placeholder == "–"
        numbers = each.value.select_dtypes("float")
        shown = drawn(each)
        for name in numbers.columns:
            texts = shown.iloc[:, list(each.value.columns).index(name)]
            assert all(SHORT.fullmatch(text) for text in texts), list(texts)
    assert any((drawn(each) == "~0").any(axis=None) for each in at.dataframe)


def test_all_the_digits_are_kept() -> None:
    at = opened(panel="statistics", mask="causal")
    sums = statistics.column_sums(run(Config(mask="causal"))["weights"].array)
    assert any(np.array_equal(each.value.to_numpy(), sums) for each in at.dataframe if each.value.shape == sums.shape)
