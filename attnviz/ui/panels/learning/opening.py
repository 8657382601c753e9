"""What the Learn page opens with: one head before, while and after it learns, whatever the setting is."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attnviz.engine.learn import TASKS, learn
from attnviz.engine.learning import film as films
from attnviz.engine.records.config import Config
from attnviz.engine.run import run
from attnviz.pictures.stage_record import Stage
from attnviz.settings.language import Words
from attnviz.ui.components.stage import heatmap
from attnviz.ui.components.stage.available_space import View
from attnviz.ui.panels.learning import frame
from attnviz.ui.session.notices import paragraph

WORDS = Words({"after": "After {n} steps", "says": "it says: {said}"})
TASK, HALFWAY = "translation", 20
"""A film that comes with the package, and a step at which it is half learned."""


def setting() -> Config:
    """Return the setting that is shown, at its best frame."""
    config = TASKS[TASK].config()
    return replace(config, learn_steps=learn(config).best)


def show() -> None:
    """Draw three frames side by side, and below them how good the last one is."""
    last = setting()
    film = learn(TASKS[TASK].config())
    heatmap.show(
        [_stage(replace(last, learn_steps=step)) for step in (0, HALFWAY, last.learn_steps)],
        key="learn-opening",
        view=View(fit=True),
    )
    with st.container(key="learn-says"):
        paragraph([*frame.says(run(last), last.learn_steps), *frame.measured(film, last.learn_steps)])


def _stage(config: Config) -> Stage:
    trace, n = run(config), config.learn_steps
    phrase = WORDS["says"].format(said=" ".join(films.predicted_words(trace)))
    stage = frame.maps(trace, [WORDS["after"].format(n=n)])[-1]
    return replace(stage, name=f"frame{n}", phrase=phrase)
