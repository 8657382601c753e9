"""A page with the mask-value lab and nothing else, for the tests of it."""

from __future__ import annotations

import streamlit as st

from attnviz import Config, run
from attnviz.ui import mask_values, state
from attnviz.ui.selection import Selection, within

st.set_page_config(layout="wide")
(config, selection), _ = state.read(Config, Selection)
trace = run(config)
state.write(config, mask_values.panel(trace, within(selection, trace)))
