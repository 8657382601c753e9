"""Tables on the page, with numbers as they are read: what is sorted, copied or saved has all its digits."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from attnviz.text.format.number_format import NONE, localised, short

MAX_STYLED_NUMBERS = 8_000
"""Numbers that are each written in Python; of a larger table the browser writes them, with as many digits."""


def show(frame: pd.DataFrame, **options: Any) -> None:
    """Draw a table; `options` are those of `st.dataframe`."""
    numbers = list(frame.select_dtypes("float").columns)
    if frame.size <= MAX_STYLED_NUMBERS:
        st.dataframe(frame.style.format(_written, subset=numbers), placeholder=NONE, **options)
        return
    written = {name: st.column_config.NumberColumn(format="%.4g") for name in numbers}
    st.dataframe(frame, column_config=written, placeholder=NONE, **options)


def _written(number: float | None) -> str:
    return localised(short(number))
