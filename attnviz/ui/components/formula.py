"""Formulas on the page: they break at the width that there is, and what cannot break scrolls and says so."""

from __future__ import annotations

import streamlit as st

from attnviz.text.format import line_breaks
from attnviz.text.format.number_format import localised_latex


def show(latex: str, which: str = "") -> None:
    """Draw one formula, each of its rows a line of its own; `which` tells it from others of the page."""
    lines = (f"{left} {right}".strip() for left, right in line_breaks.rows(latex))
    with st.container(key=f"formula-{which}" if which else "formula"):
        st.markdown(localised_latex("\n\n".join(map(line_breaks.in_text, lines))))


def show_aligned(latex: str) -> None:
    """Draw the rows of an aligned formula below each other."""
    st.markdown(localised_latex(line_breaks.table(latex)))
