"""The page of what people bring, alone, beside a run whose settings come from the address."""

from __future__ import annotations

import json
from pathlib import Path

import streamlit as st

import attnviz
from attnviz import Config, run
from attnviz.ui import own
from attnviz.ui.selection import Selection

st.set_page_config(layout="wide")
st.html(Path(attnviz.__file__).parent / "ui" / "page.css")
trace = run(Config(**json.loads(st.query_params.get("config", "{}"))))
st.session_state["held"] = own.page(trace, st.session_state.get("held", Selection()))
