"""The page of what people bring, alone, with a setting that comes from the address."""

from __future__ import annotations

import json
from pathlib import Path

import streamlit as st

import attnviz
from attnviz import Config
from attnviz.ui.pages import your_data
from attnviz.ui.session import session_state
from attnviz.ui.session.browser import styles
from attnviz.ui.session.selection import Selection

st.set_page_config(layout="wide")
styles.style(Path(attnviz.__file__).parent / "ui" / "page.css")
config = Config(**json.loads(st.query_params.get("config", "{}")))
st.session_state["held"] = your_data.page(config, st.session_state.get("held", Selection()))
session_state.keep_choices()
