"""One word and what it reads from, alone on a page whose settings come from the address."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from attnviz import Config, run
from attnviz.ui.components.sentence import attention_lines
from attnviz.ui.session import session_state

st.set_page_config(layout="wide")
settings: dict[str, Any] = {"n_heads": 4, **json.loads(st.query_params.get("config", "{}"))}
settings["sentence"] = st.text_input("Sentence", settings.get("sentence", Config().sentence))
trace = run(Config(**settings))
held = st.session_state.setdefault(
    "held", attention_lines.Request(*json.loads(st.query_params.get("asked", "[null, 0]")))
)
request = attention_lines.show(trace, 0, key="word", query=held.query, head=held.head)
if request:
    st.session_state["held"] = request
    st.session_state["times"] = st.session_state.get("times", 0) + 1
st.text(f"Asked {request}, {st.session_state.get('times', 0)} times")
st.button("Again")
session_state.keep_choices()
