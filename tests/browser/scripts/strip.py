"""A page with a strip and nothing else but what was chosen in it, for the tests of the strip."""

from __future__ import annotations

import streamlit as st

from attnviz import Config, run
from attnviz.pictures import pipeline_strip
from attnviz.ui.components.pickers import step_strip
from attnviz.ui.session import session_state

n_heads = st.slider("Heads", 1, 16, 4, key="heads")
busy = st.checkbox("Busy", key="busy")
more = {"bias": "alibi", "n_layers": 2, "residual": True, "norm": "pre", "feed_forward": "gelu", "position": "rope"}
config = Config(n_heads=n_heads, mask="causal" if busy else "none", **(more if busy else {}))
entries = pipeline_strip.entries(run(config), config.n_layers - 1)
st.session_state.setdefault("chosen", "scores")
picked = step_strip.show(entries, key="strip", chosen=st.session_state["chosen"])
if picked:
    st.session_state["chosen"] = picked
    st.session_state["times"] = st.session_state.get("times", 0) + 1
st.text(f"Chosen {st.session_state['chosen']}, {st.session_state.get('times', 0)} times")
session_state.keep_choices()
