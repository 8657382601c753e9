"""The page of `page_latency.py`: a slider, and one line of text, one chart, many elements or the maps of all heads."""

from __future__ import annotations

import numpy as np
import streamlit as st

from attnviz.pictures.stage_record import Stage
from attnviz.ui.components.stage import heatmap
from attnviz.ui.components.stage.view import View
from attnviz.ui.session.browser import styles, transport

WIDE = 8  # columns of a head's output
HEIGHT = "<style>.stMainBlockContainer{padding:1.1rem 2rem}</style>"


def stages(heads: int, tokens: int, seed: int, *, causal: bool) -> list[Stage]:
    """Return scores, weights and outputs made of fresh numbers."""
    draw = np.random.default_rng(seed)
    words = [f"word{at}" for at in range(tokens)]
    masked = np.triu(np.ones((tokens, tokens), bool), 1) if causal else None
    scores = draw.normal(size=(heads, tokens, tokens))
    shares = np.exp(scores if masked is None else np.where(masked, -np.inf, scores))
    weights = shares / shares.sum(-1, keepdims=True)
    outputs = weights @ draw.normal(size=(heads, tokens, WIDE))
    return [
        Stage("scores", "QKᵀ", scores, "signed", words, words, masked=masked, phrase="how well a query matches a key"),
        Stage("weights", "weights", weights, "share", words, words, masked=masked, phrase="shares that add to 1"),
        Stage("heads", "outputs", outputs, "signed", words, None, ("query", "dimension"), phrase="values, mixed"),
    ]


def elements() -> None:
    """Draw what Explore draws at 8 heads by 12 words, element by element, but empty: what Streamlit takes for it."""
    blank = st.components.v2.component("blank", js="export default () => {}")
    for number in range(2):
        blank(key=f"blank-{number}")
    with st.container(key="languages"):
        st.button("language")
    with st.container(key="places"):
        st.segmented_control("Place", ["one", "two"], default="one")
    with st.sidebar:
        st.text_input("Sentence")
        st.slider("Embedding size", 1, 64)
        st.slider("Heads", 1, 16)
        st.multiselect("Mask", ["one", "two"])
        st.selectbox("Score", ["one", "two"])
        with st.container(horizontal=True):
            st.button("seeds")
            st.button("temperatures")
        for number in range(7):
            st.expander(f"group {number}", key=f"group-{number}", on_change="rerun")
    st.container()
    with st.container(key="stage"):
        blank(key="way")
        blank(key="sentence")
        with st.container(key="maps"):
            blank(key="bridge")
            blank(key="numbers")
            with st.container(horizontal=True):
                for number in range(3):
                    with st.container():
                        st.html("<h2>map</h2>")
                        st.plotly_chart({"data": [{"type": "heatmap"}], "layout": {}}, key=f"map-{number}")
    with st.container(key="answer"):
        blank(key="drawer")
    st.html("<p>headline</p>")
    with st.container(key="lines"):
        st.segmented_control("Group", ["one", "two"], default="one")
        st.segmented_control("Way", ["one", "two"], default="one")
        st.html("<p>line</p>")
    blank(key="guard")


def page() -> None:
    transport.send_at_once()  # as the app does, for the floor as well
    st.set_page_config(layout="wide")
    st.html(HEIGHT)
    styles.style(heatmap.HEADINGS)
    query = st.query_params
    seed = st.slider("Seed", 0, 10_000, 0)
    if query.get("heads"):
        drawn = stages(int(query["heads"]), int(query["tokens"]), seed, causal=query.get("causal") == "yes")
        heatmap.show(drawn, key="mosaic", view=View())
    elif query.get("chart"):
        st.plotly_chart({"data": [{"type": "heatmap", "z": np.random.default_rng(seed).normal(size=(12, 12))}]})
    elif query.get("elements"):
        elements()
    st.text(f"seed {seed}")


page()
