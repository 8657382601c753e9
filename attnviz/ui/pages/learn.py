"""The Learn page: a head while it learns, a frame at a time, and what it needs to be able to learn."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attnviz.analysis.best_success import best_success
from attnviz.engine.cost.need import Need
from attnviz.engine.learn import TASKS, learn
from attnviz.engine.learning import film as films
from attnviz.engine.learning import learnable
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.engine.tasks.games import GAMES
from attnviz.settings.language import Words
from attnviz.text.cell_sentence import percent
from attnviz.ui.components import number_tables
from attnviz.ui.panels.learn import ablations, controls, curves, frame, guesses, opening, prediction, reasons
from attnviz.ui.panels.learn.ablations import RIGHT
from attnviz.ui.session import admission
from attnviz.ui.session.notices import notice, paragraph
from attnviz.ui.session.selection import Selection

NEED = Need(held=2, made=2, drawn=48, every_layer=True, excludes_models=True)
WORDS = Words(
    {
        "choose": "Choose a task, and see a head learn it: from random numbers to a map that can be read. Here is one "
        "that learned to translate English into French; your own setting stays as it is until you choose.",
        "wait": "Learning …",
        "overlap": "{n} words share vectors of {d_model} numbers, so that they overlap; a larger embedding "
        "size may help.",
        "ceiling": "{n} words share vectors of {d_model} numbers: even if all weight lay where a person would look, a "
        "matrix fitted by least squares would get only {share} of the words right. A larger embedding size helps.",
    }
)


def head(config: Config, selection: Selection) -> None:
    """Draw the tasks, which are there also while one is learned."""
    _tasks(config, selection)


def page(trace: Trace, selection: Selection) -> Selection:
    """Draw the page; return the selection as the visitor leaves it."""
    config = trace.config
    if not INITIALISERS[config.initialiser].learned:
        _open(selection)
        return selection
    if prediction.is_open(trace, selection):
        notice(*trace.notes)
        return selection
    game = GAMES[config.task]
    whole = replace(config, learn_steps=max(config.learn_steps, game.recipe["learn_steps"]))
    if learnable.obstacle(config) or not (whole == config or _may_learn(whole)):
        notice(*trace.notes)
        return selection
    with st.spinner(WORDS["wait"]):
        film = learn(whole)
        film.measure()
    maps, beside = st.columns([5, 2], gap="medium")
    with beside, st.container(key="learn-beside"):
        paragraph([game.note])
        labels = frame.Labels(*curves.draw(film))
        prediction.verdict(config, selection, film)
        notice(*trace.notes, *_overlap(config), *(note for note in film.notes if note not in trace.notes))
    with maps:
        shown = st.container()
        others = guesses.ask(config, ablations.chips(config, _may_learn))
        with shown:
            selection = frame.show(trace, selection, film, others, labels)
    if others:
        number_tables.show(ablations.table(film, others), hide_index=True, key="tried")
        paragraph(guesses.verdicts(config, others))
        reasons.draw(config, others)
    return selection


def _overlap(config: Config) -> list[str]:
    """Say what is lost where there are fewer numbers in a vector than words to tell apart."""
    n, d_model = len(GAMES[config.task].vocabulary), config.d_model
    share = best_success(config) if d_model < n else 1.0
    if share < RIGHT:
        return [WORDS["ceiling"].format(n=n, d_model=d_model, share=percent(share))]
    return [WORDS["overlap"].format(n=n, d_model=d_model)] if d_model < n // 2 else []


def _open(selection: Selection) -> None:
    """Draw a film that comes with the package, for whoever has not chosen a task."""
    with st.container(gap=None):
        with st.container(key="learn-controls", horizontal=True, vertical_alignment="center", gap="medium"):
            controls.play(opening.setting(), selection)
            paragraph([WORDS["choose"]])
        opening.show()


def _may_learn(config: Config) -> bool:
    """Return whether a film is there or may be learned now; says why not."""
    return films.is_kept(config) or admission.admitted(NEED, config)


def _tasks(config: Config, selection: Selection) -> None:
    """Draw a button for each task, which opens the setting in which it is learned well."""
    with st.container(key="tools-task", horizontal=True, gap="small", vertical_alignment="center"):
        for name, task in TASKS.items():
            chosen = name == (config.task if INITIALISERS[config.initialiser].learned else opening.TASK)
            st.button(
                task.label,
                key=f"task-{name}",
                type="primary" if chosen else "secondary",
                on_click=prediction.begin,
                args=(task.config(seed=config.seed), selection),
            )
