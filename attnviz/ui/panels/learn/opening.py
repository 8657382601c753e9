"""The first picture of the Learn page: one head before, while and after it learns, whatever the setting is.

A phone has room for one of the three frames, and their names over it to turn to the others.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import streamlit as st

from attnviz.engine.learn import TASKS, learn
from attnviz.engine.learning import film as films
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.pictures.stage_record import Stage
from attnviz.settings.language import Words
from attnviz.ui.components.stage import heatmap
from attnviz.ui.components.stage.view import View
from attnviz.ui.panels.learn import frame
from attnviz.ui.session.browser import styles
from attnviz.ui.session.notices import paragraph

WORDS = Words({"after": "After {n} steps", "says": "it says: {said}"})
TASK, HALFWAY = "translation", 20
"""A film that comes with the package, and a step at which it is half learned."""

KEY = "learn-opening"
_CSS = Path(__file__).with_name("opening.css")


def setting() -> Config:
    """Return the setting that is shown, at its best frame."""
    config = TASKS[TASK].config()
    return replace(config, learn_steps=learn(config).best)


def show() -> None:
    """Draw three frames side by side, and below them how good the last one is."""
    styles.style(_CSS)
    last = setting()
    film = learn(TASKS[TASK].config())
    shown = last.learn_steps
    traces = [run(replace(last, learn_steps=step)) for step in (0, HALFWAY, shown)]
    drawn = [_stage(trace) for trace in traces]
    heatmap.show(drawn, key=KEY, view=View(fit=True, one_by_one=True, first=drawn[-1].name))
    with st.container(key="learn-opening-says", gap=None):
        frame.explain_outlines(drawn)
        paragraph([*frame.says(traces[-1], shown), *frame.success_sentences(film, shown)])


def _stage(trace: Trace) -> Stage:
    n = trace.config.learn_steps
    phrase = WORDS["says"].format(said=" ".join(films.predicted_words(trace)))
    stage = frame.maps(trace, [WORDS["after"].format(n=n)])[-1]
    return replace(stage, name=f"frame{n}", phrase=phrase)
