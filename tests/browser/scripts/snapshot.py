"""A page with the button that saves a PNG, for its test."""

from __future__ import annotations

import streamlit as st

from attnviz import Config, run
from attnviz.pictures.static import svg
from attnviz.ui.components import svg_to_png

width = st.slider("Width", 400, 800, 480, key="width")
svg_to_png.button(svg.page(run(Config(sentence="one 猫 <b>", n_heads=1)), 0, width=width), key="png", dpi=192)
svg_to_png.button(svg.page(run(Config(n_heads=1)), 0, width=480), key="both", dpi=96, link="https://example.org/s/1")
svg_to_png.button("<svg", key="broken", label="Broken")
