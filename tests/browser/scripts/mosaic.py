"""Three pictures as the address asks for them: `heads`, `rows`, `keys`, and words of what they should hold."""

import numpy as np
import streamlit as st

from attnviz.pictures.stage_record import Stage
from attnviz.ui.components.stage import heatmap
from attnviz.ui.session import session_state
from attnviz.ui.session.browser import styles

HOSTILE = (
    "<img src=x onerror=harm()>",
    "constructor",
    "$x$",
    "👩‍👩‍👧",
    "السلام",
    "a" * 200,
    "",
    "  ",
    "\u200b",
    "the",
    "the",
    "&lt;",
)
WORDS = ("the", "cat", "sat", "on", "the", "warm", "mat", "while", "a", "dog", "slept", "under")

st.set_page_config(layout="wide")
styles.style(heatmap.HEADINGS)
params = st.query_params
heads, rows = int(params.get("heads", 4)), int(params.get("rows", 7))
keys = int(params.get("keys", rows))
seed = st.slider("Seed", 0, 1000, 0)
draw = np.random.default_rng(seed)
scores = draw.normal(size=(heads, rows, keys))
weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
outputs = draw.normal(size=(heads, rows, 5))
masked = None
if "masked" in params:
    masked = np.triu(np.ones((rows, keys), bool), 1)
    weights = np.where(masked, 0.0, weights)
if "one" in params:  # a single dark cell in white: head, row and column
    scores = np.zeros_like(scores)
    scores[tuple(int(n) for n in params["one"].split("."))] = -1.0
if "odd" in params:
    scores[0, 0, 0], scores[0, 1, 0], scores[0, 1, 1] = np.nan, np.inf, -np.inf
words = (HOSTILE if "hostile" in params else WORDS) * 6
queries, seen = words[:rows], words[:keys]
widths = (5,) + (2,) * (heads - 1) if "ragged" in params else None
stages = [
    Stage("scores", "QKᵀ", scores, "signed", queries, seen, masked=masked, phrase="how well they match", alt="Scores."),
    Stage("weights", "weights", weights, "share", queries, seen, masked=masked, phrase="shares", alt="Weights."),
    Stage("heads", "outputs", outputs, "signed", queries, None, ("query", "dimension"), widths=widths, alt="Outputs."),
]
picked = heatmap.show(
    stages, key="mosaic", picked=st.session_state.get("picked"), lettering=heatmap.Lettering(signs="signs" in params)
)
st.session_state.picked = picked or st.session_state.get("picked")
st.session_state.runs = st.session_state.get("runs", 0) + 1
session_state.keep_choices()
st.text(f"seed {seed}, run {st.session_state.runs}, picked {st.session_state.picked}")
