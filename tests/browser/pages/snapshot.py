"""A page with the button that saves a PNG, for its test."""

from __future__ import annotations

import streamlit as st

from attnviz import Config, run
from attnviz.ui import snapshot
from attnviz.views import svg

width = st.slider("Width", 400, 800, 480, key="width")
snapshot.button(svg.page(run(Config(sentence="one 猫 <b>", n_heads=1)), 0, width=width), key="png", dpi=192)
snapshot.button("<svg", key="broken", label="Broken")
