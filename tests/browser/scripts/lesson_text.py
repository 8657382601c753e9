"""Texts as Streamlit draws them, and as a lesson has them, side by side."""

from __future__ import annotations

import streamlit as st

from attnviz.lessons.inert_markdown import inert
from tests.support.live_markdown import LIVE, MARKUP

for at, text in enumerate([*LIVE.values(), *MARKUP.values()]):
    with st.container(key=f"raw-{at}"):
        st.markdown(text)
    with st.container(key=f"inert-{at}"):
        st.markdown(inert(text))
with st.container(key="allowed"):
    st.markdown(
        inert("**bold** *italic* `a @ b` $x_i < \\frac{a}{b}$\n\n| a | b |\n|:--|:-:|\n| 1 | 2 |\n\n* one\n* two")
    )
st.text("All drawn")
