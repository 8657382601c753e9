"""A prediction before the film: which cell of a row turns dark, pointed at in the map of the untrained head."""

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
from attnviz.ui.components.stage.view import View
from attnviz.ui.panels.learn import frame
from attnviz.ui.session import session_state
from attnviz.ui.session.notices import typeset

WORDS = Words(
    {
        "toggle": "Predict first: which cell turns dark?",
        "before": "Before learning: weights",
        "ask": "This head has learned nothing yet. Once it has, which cell in the row of {query} will be the darkest? "
        "Click it.",
        "other_row": "That is another row; click a cell in the row of {query}.",
        "right": "You pointed at {key}, and that is where it went: after {steps} steps {query} gives it {share} of its "
        "weight.",
        "wrong": "You pointed at {key}. After {steps} steps {query} gives its largest weight, {share}, to {dark}.",
    }
)
KEY, TOGGLE, _POINTED = "learn-predicted", "predict-cell", "_pointed_cells"


@dataclass(frozen=True)
class Dark:
    """The row that is asked about, its darkest cells once the head has learned, and the weight of these.

    cells  one or more columns: heads may look at different words
    """

    row: int
    cells: tuple[int, ...]
    weights: tuple[float, ...]


def dark(before: Trace, after: Trace) -> Dark | None:
    """Return the row to ask about: of those whose words count, the first whose darkest cell moves; None for none."""
    answers = GAMES[after.config.task].answers(after.query_tokens, after.key_tokens)
    if answers is None:
        return None
    rows = answers.counts[0].nonzero()[0].tolist()
    first, last = (each.layers[-1]["weights"].array for each in (before, after))
    moved = [row for row in rows if (first[:, row].argmax(axis=-1) != last[:, row].argmax(axis=-1)).any()]
    if not rows:
        return None
    row = int((moved or rows)[0])
    columns = last[:, row].argmax(axis=-1)
    cells = tuple(dict.fromkeys(int(column) for column in columns))
    return Dark(row, cells, tuple(float(last[:, row, column].max()) for column in cells))


def is_open(config: Config, film: Film) -> bool:
    """Draw the toggle; while it is on, ask, and return whether the film has to wait for an answer."""
    before, after = (run(replace(config, learn_steps=step)) for step in (0, film.best))
    asked = dark(before, after)
    if asked is None or not st.toggle(WORDS["toggle"], key=TOGGLE):
        return False
    about = session_state.digest(config.task, config.sentence, config.second_sentence, str(config.seed))
    pointed = st.session_state.setdefault(_POINTED, {})
    stage = replace(frame.maps(before, [WORDS["before"]])[-1], wanted=())
    picked = picking.picked(KEY, [stage])
    query = name_token(before.query_tokens, asked.row)
    is_elsewhere = picked is not None and picked.row not in (None, asked.row)
    if about not in pointed and picked is not None and picked.column is not None and picked.row == asked.row:
        pointed[about] = picked.column
    if about not in pointed:
        typeset(fill(WORDS["ask"], query=query), *([fill(WORDS["other_row"], query=query)] if is_elsewhere else []))
        heatmap.show([stage], key=KEY, view=View(fit=True), lettering=heatmap.Lettering(is_question=True))
        return True
    typeset(_verdict(before, asked, pointed[about], film.best))
    return False


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
