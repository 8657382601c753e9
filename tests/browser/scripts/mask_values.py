"""A page with the mask-value lab and nothing else, for the tests of it."""

from __future__ import annotations

import streamlit as st

from attnviz import Config, run
from attnviz.ui.panels import masking_methods
from attnviz.ui.session import session_state
from attnviz.ui.session.selection import Selection, within

st.set_page_config(layout="wide")
(config, selection), _ = session_state.read(Config, Selection)
trace = run(config)
session_state.write(config, masking_methods.panel(trace, within(selection, trace)))
