"""A prediction before a task is learned: which cell of a row turns dark, pointed at in the map of the untrained head.

It comes before the first training of a task that is chosen on the page, and a click leaves it out; a link to a film
opens that. While it is asked the page shows the head before its first step, for which nothing is learned.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from attnviz.engine.learning.film import Film
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.engine.tasks.games import GAMES
from attnviz.settings.language import Words
from attnviz.text.cell_sentence import percent
from attnviz.text.format.sentence_parts import fill, name_token
from attnviz.ui.components.stage import heatmap, picking
from attnviz.ui.components.stage.picking import Picked
from attnviz.ui.components.stage.view import View
from attnviz.ui.panels.learn import controls, frame
from attnviz.ui.session import session_state
from attnviz.ui.session.callback import callback
from attnviz.ui.session.notices import typeset
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "offer": "Predict first: which cell turns dark?",
        "before": "Before learning: weights",
        "ask": "This head has learned nothing yet. Once it has, which cell in the row of {query} will be the darkest? "
        "Click it.",
        "pointed": "You pointed at {key}. You may point at another cell, or let it learn.",
        "learn": "Let it learn",
        "skip": "Skip the prediction",
        "other_row": "That is another row; click a cell in the row of {query}.",
        "right": "You pointed at {key}, and that is where it went: after {steps} steps {query} gives it {share} of its "
        "weight.",
        "wrong": "You pointed at {key}. After {steps} steps {query} gives its largest weight, {share}, to {dark}.",
    }
)
KEY, _POINTED = "learn-predicted", "_pointed_cells"
_WAITING, _SKIPPED = "_predict_before", "_predict_skipped"


@dataclass(frozen=True)
class Dark:
    """The row that is asked about, its darkest cells once the head has learned, and the weight of these.

    cells  one or more columns: heads may look at different words
    """

    row: int
    cells: tuple[int, ...]
    weights: tuple[float, ...]


def row_of(before: Trace) -> int | None:
    """Return the row to ask about, which no film is needed for: of those whose words count, the first in which no
    head's darkest cell is where a person would look; None for none.
    """
    answers = GAMES[before.config.task].answers(before.query_tokens, before.key_tokens)
    rows = [] if answers is None else answers.counts[0].nonzero()[0].tolist()
    if answers is None or not rows:
        return None
    darkest = before.layers[-1]["weights"].array.argmax(axis=-1)
    moves = [row for row in rows if not answers.where[0, row, darkest[:, row]].any()]
    return int((moves or rows)[0])


def dark(before: Trace, after: Trace) -> Dark | None:
    """Return the row that is asked about with its darkest cells once the head has learned; None for none."""
    row = row_of(before)
    if row is None:
        return None
    last = after.layers[-1]["weights"].array
    cells = tuple(dict.fromkeys(int(column) for column in last[:, row].argmax(axis=-1)))
    return Dark(row, cells, tuple(float(last[:, row, column].max()) for column in cells))


@callback
def begin(config: Config, selection: Selection) -> None:
    """Open a task that was chosen: with the question, unless it was answered or left out before."""
    if st.session_state.get(_SKIPPED) or _about(config) in st.session_state.get(_POINTED, {}):
        controls.begin(config, selection)
    else:
        _ask(config, selection)


@callback
def _ask_of_shown(selection: Selection) -> None:
    """Ask of the film that is shown, whose slider may have moved since the whole page was drawn."""
    (config,) = session_state.saved(Config)
    _ask(config, selection)


def _ask(config: Config, selection: Selection) -> None:
    """Show the head before its first step, and ask there; the film goes on to the step of this setting."""
    before = replace(config, learn_steps=0)
    st.session_state[_WAITING] = _about(before), config.learn_steps
    st.session_state.get(_POINTED, {}).pop(_about(before), None)
    controls.begin(before, selection)


@callback
def _go_on(config: Config, selection: Selection, skipped: bool) -> None:
    """Let the head learn, as it does from now on at once where the question was left out."""
    _, steps = st.session_state.pop(_WAITING, ("", 0))
    st.session_state[_SKIPPED] = skipped or st.session_state.get(_SKIPPED, False)
    controls.begin(replace(config, learn_steps=steps), selection)


def _about(config: Config) -> str:
    return session_state.digest(config.task, config.sentence, config.second_sentence, str(config.seed))


def is_open(before: Trace, selection: Selection) -> bool:
    """Ask, if a prediction is waited for; return whether it is. `before` is the run of the page."""
    config = before.config
    about, row = _about(config), row_of(before)
    if config.learn_steps or st.session_state.get(_WAITING, ("",))[0] != about or row is None:
        return False
    stage = replace(frame.maps(before, [WORDS["before"]])[-1], wanted=())
    picked = picking.picked(KEY, [stage])
    kept: dict[str, Picked] = st.session_state.setdefault(_POINTED, {})
    is_elsewhere = picked is not None and picked.row not in (None, row)
    if picked is not None and picked.column is not None and picked.row == row:
        kept[about] = picked
    query, pointed = name_token(before.query_tokens, row), kept.get(about)
    lines = [fill(WORDS["ask"], query=query)]
    if pointed is not None and pointed.column is not None:
        lines = [fill(WORDS["pointed"], key=name_token(before.key_tokens, pointed.column))]
    name, kind = ("skip", "secondary") if pointed is None else ("learn", "primary")
    args = (config, selection, pointed is None)
    with st.container(gap=None):
        with st.container(key="learn-controls", horizontal=True, vertical_alignment="center", gap="medium"):
            st.button(WORDS[name], key="predict-go-on", type=kind, on_click=_go_on, args=args)  # type: ignore[arg-type]
            typeset(*lines, *([fill(WORDS["other_row"], query=query)] if is_elsewhere else []))
        lettering = heatmap.Lettering(is_question=True)
        heatmap.show([stage], key=KEY, picked=pointed, view=View(fit=True), lettering=lettering)
    return True


def verdict(config: Config, selection: Selection, film: Film) -> None:
    """Draw what became of the prediction; where there is none, a button that asks for it."""
    pointed: Picked | None = st.session_state.get(_POINTED, {}).get(_about(config))
    before = run(replace(config, learn_steps=0))
    if row_of(before) is None:
        return
    if pointed is None or pointed.column is None:
        st.button(WORDS["offer"], key="predict-cell", on_click=_ask_of_shown, args=(selection,))
        return
    asked = dark(before, run(replace(config, learn_steps=film.best)))
    if asked is not None:
        typeset(_verdict(before, asked, pointed.column, film.best))


def _verdict(trace: Trace, asked: Dark, column: int, steps: int) -> tuple[tuple[str, str], ...]:
    """Return what became of the prediction."""
    is_right = column in asked.cells
    at = asked.cells.index(column) if is_right else int(np.argmax(asked.weights))
    return fill(
        WORDS["right" if is_right else "wrong"],
        query=name_token(trace.query_tokens, asked.row),
        key=name_token(trace.key_tokens, column),
        dark=name_token(trace.key_tokens, asked.cells[at]),
        share=percent(asked.weights[at]),
        steps=str(steps),
    )
