"""One frame of a head that learns: its weights as maps, with outlines where they should lie, and what it says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.engine.learn import learn
from attnviz.engine.learning import film as films
from attnviz.engine.learning.film import Film
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.engine.tasks.games import GAMES
from attnviz.pictures import stages
from attnviz.pictures.stage_record import Stage
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words
from attnviz.text.cell_sentence import percent
from attnviz.ui.components.stage import heatmap
from attnviz.ui.components.stage.available_space import View
from attnviz.ui.panels.learning import curves
from attnviz.ui.session import locale
from attnviz.ui.session.notices import paragraph

WORDS = Words(
    {
        "no_answer": "No example of the task looks like this sentence, so nothing says what would be right.",
        "says": "After {steps} steps it says: {said}.",
        "should": "Right would be: {words}.",
        "all_right": "All of it is right.",
        "measured": "In 200 sentences drawn anew: {right} of the words right, {crisp} of the weight in the outlines.",
        "layer": "Weights, layer {n}",
        "weights": "Weights",
        "beside": "{label}: weights",
        "beside_at": "{label}: weights after {n} steps",
    }
)
MAPS = 654
"""Pixels for the maps until the browser has told."""

PLAYED = "_learn_played"
"""Of the session: the frame that is shown while the film is played."""


def show(given: Trace, film: Film, others: dict[str, Config], mark: DeltaGenerator) -> None:
    """Draw the frame, and go on to the next where the film is played: this part of the page alone is then run again.

    given  the run of the frame of the slider
    mark   the place for the mark over the curves
    """
    playing = PLAYED in st.session_state
    config, fresh = given.config, [given]
    draw = locale.in_current_language(lambda: _frame(config, film, others, mark, fresh))
    st.fragment(draw, run_every=0.6 if playing else None)()


def _frame(config: Config, film: Film, others: dict[str, Config], mark: DeltaGenerator, fresh: list[Trace]) -> None:
    """Draw one frame: that of the slider, or the next of those that lead up to it.

    fresh  the run of the slider's frame, which is taken out: what a session keeps of this part holds no run
    """
    given = fresh.pop() if fresh else None
    step = config.learn_steps
    if PLAYED in st.session_state:
        place, before = st.session_state[PLAYED], [each for each in film.steps if each < step]
        if place >= len(before):
            st.session_state.pop(PLAYED)
            st.rerun()
        st.session_state[PLAYED], step = place + 1, before[place]
    curves.mark(mark, film, step)
    trace = given if given and step == config.learn_steps else run(replace(config, learn_steps=step))
    shown = maps(trace, [WORDS["layer"].format(n=ordinal(n)) for n in range(len(trace.layers))])
    for label, other in others.items():
        near = max(each for each in learn(other).steps if each <= step)  # a browser may bring fewer frames
        there = run(replace(other, learn_steps=near))
        title = WORDS["beside" if near == step else "beside_at"].format(label=label, n=near)
        last = maps(there, [title] * len(there.layers))[-1]
        shown.append(replace(last, name=f"try{len(shown)}"))
    heatmap.show(shown, key="learn", view=View(width=MAPS, fit=not others))
    with st.container(key="learn-says"):  # as high in every frame: maps that had other room would be built anew
        paragraph([*says(trace, step), *measured(film, step)])


def measured(film: Film, step: int) -> list[str]:
    """Describe what a kept frame can do; nothing for a frame between two."""
    if step not in film.steps:
        return []
    at = film.steps.index(step)
    return [WORDS["measured"].format(right=percent(film.right[at]), crisp=percent(film.crisp[at]))]


def maps(trace: Trace, titles: Sequence[str]) -> list[Stage]:
    """Return the weights of every layer as pictures, with outlines in the last where the task says where to look."""
    titles = titles if len(trace.layers) > 1 or titles[0] != WORDS["layer"].format(n=1) else [WORDS["weights"]]
    drawn = [
        replace(stages.stage(trace, steps["weights"], title), name=f"layer{n}")
        for n, (steps, title) in enumerate(zip(trace.layers, titles))
    ]
    answers = GAMES[trace.config.task].answers(trace.query_tokens, trace.key_tokens)
    if answers is not None:
        cells = (answers.where[0] & answers.counts[0][:, None]).nonzero()
        wanted = tuple((h, int(i), int(j)) for h in range(trace.config.n_heads) for i, j in zip(*cells, strict=True))
        drawn[-1] = replace(drawn[-1], wanted=wanted)
    return drawn


def says(trace: Trace, step: int) -> list[str]:
    """Describe the output of the rows that count, and the right answer."""
    game = GAMES[trace.config.task]
    sentences, answers = films.predicted_words(trace), game.answers(trace.query_tokens, trace.key_tokens)
    if answers is None:
        return [WORDS["says"].format(steps=step, said=" ".join(sentences)), WORDS["no_answer"]]
    rows = answers.counts[0].nonzero()[0]
    found = [sentences[row] for row in rows]
    right = [game.vocabulary[answers.words[0, row]] for row in rows]
    lines = [WORDS["says"].format(steps=step, said=" ".join(found))]
    lines.append(WORDS["all_right"] if found == right else WORDS["should"].format(words=" ".join(right)))
    return lines
