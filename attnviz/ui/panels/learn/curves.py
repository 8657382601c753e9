"""Loss and success over the steps of learning, with a mark at the frame that is shown.

The mark lies over the charts and is no part of them: Streamlit would build a chart anew that has another one.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.engine.learning.film import Film
from attnviz.pictures import figures
from attnviz.pictures.charts import learning_curves
from attnviz.settings.language import Words
from attnviz.ui.session.browser import styles

WORDS = Words(
    {
        "loss": "Loss over the steps of learning",
        "shares": "Right answers and weight in the outlines, over the steps of learning",
    }
)
STYLE = Path(__file__).with_suffix(".css")


def draw(film: Film) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Draw both charts; return the place for the mark, and one below the charts."""
    charts = {
        "shares": learning_curves.share_chart(film.steps, film.right, film.crisp),
        "loss": learning_curves.loss_chart(film.steps, film.loss),
    }
    with st.container(key="learn-curves", gap=None):
        styles.style(STYLE)
        mark = st.empty()
        for name, chart in charts.items():
            st.plotly_chart(
                figures.as_written(chart), key=f"learn-{name}", config={"displayModeBar": False}, alt=WORDS[name]
            )
        return mark, st.empty()


def mark(container: DeltaGenerator, film: Film, step: int) -> None:
    """Move the mark to a step."""
    at = learning_curves.fraction(film.steps, step)
    container.html(f'<div class="attn-mark" style="--at: {at}" data-step="{step}"><i></i><i></i></div>')
