"""The Learn page: a head while it learns, a frame at a time, and what it needs to be able to learn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from attnviz.analysis.best_success import best_success
from attnviz.engine.learn import TASKS, learn
from attnviz.engine.learning import film as films
from attnviz.engine.learning import learnable
from attnviz.engine.learning.film import Film
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.engine.tasks.games import GAMES
from attnviz.settings.language import Words
from attnviz.text.cell_sentence import percent
from attnviz.text.headline import headline
from attnviz.ui.components import number_tables
from attnviz.ui.panels.learning import curves, frame, opening, tries
from attnviz.ui.panels.learning.tries import RIGHT
from attnviz.ui.session import admission, session_state
from attnviz.ui.session.notices import notice, paragraph
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "choose": "Choose a task, and see a head learn it: from random numbers to a map that can be read. Here is one "
        "that learned to translate English into French; your own setting stays as it is until you choose.",
        "frame": "Steps of learning",
        "play": "Play",
        "stop": "Stop",
        "best": "Best frame",
        "best_help": "Step {step}: the first at which as much is right, and as much of the weight lies where it "
        "should, as at any other.",
        "another": "Another example",
        "words": "Your own sentence may use these words: {words}.",
        "wait": "Learning …",
        "overlap": "{n} words share vectors of {d_model} numbers, so that they overlap; a larger embedding "
        "size may help.",
        "ceiling": "{n} words share vectors of {d_model} numbers: even if all weight lay where it should, a matrix "
        "fitted by least squares would say only {share} of the words right. A larger embedding size helps.",
    }
)

EXAMPLES = 20
"""The number of other sentences that a task has to show."""


def head(config: Config, selection: Selection) -> None:
    """Draw the tasks, which are there also while one is learned."""
    _tasks(config, selection)
    is_learned = INITIALISERS[config.initialiser].learned
    paragraph([GAMES[config.task].note if is_learned else WORDS["choose"]])


def page(trace: Trace, selection: Selection) -> Selection:
    """Draw the page; the selection as the visitor leaves it."""
    config = trace.config
    if not INITIALISERS[config.initialiser].learned:
        _open(selection)
        return selection
    game = GAMES[config.task]
    whole = replace(config, learn_steps=max(config.learn_steps, game.recipe["learn_steps"]))
    if learnable.obstacle(config) or not (whole == config or _may_learn(whole)):
        return selection
    with st.spinner(WORDS["wait"]):
        film = learn(whole)
        film.measure()
    notice(*_overlap(config), *(note for note in film.notes if note not in trace.notes))
    _controls(config, selection, film)
    maps, beside = st.columns([5, 2], gap="medium")
    with beside:
        mark = curves.draw(film)
        paragraph(headline(trace))
    with maps:
        shown = st.container()
        others = tries.chips(config, _may_learn)
        with shown:
            frame.show(trace, film, others, mark)
    if others:
        number_tables.show(tries.table(film, others), hide_index=True, key="tried")
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
    opening.show()
    st.button(WORDS["play"], key="play", type="primary", on_click=_play, args=(opening.setting(), selection))


def _may_learn(config: Config) -> bool:
    """Return whether a film is there or may be learned now; says why not."""
    return films.is_kept(config) or admission.admitted("learn", config)


def _tasks(config: Config, selection: Selection) -> None:
    """Draw a button for each task, which opens the setting in which it is learned well."""
    with st.container(horizontal=True, gap="small"):
        for name, task in TASKS.items():
            chosen = name == (config.task if INITIALISERS[config.initialiser].learned else opening.TASK)
            st.button(
                task.label,
                key=f"task-{name}",
                type="primary" if chosen else "secondary",
                on_click=_begin,
                args=(task.config(seed=config.seed), selection),
            )


def _begin(config: Config, selection: Selection) -> None:
    st.session_state.pop(frame.PLAYED, None)
    session_state.adopt(config, replace(selection, layer=config.n_layers - 1, head=None, query=None, key=None))


def _controls(config: Config, selection: Selection, film: Film) -> None:
    """Draw the slider over the frames, and the buttons that play them and show another sentence."""
    frames = sorted({*film.steps, config.learn_steps})
    st.session_state["frame"] = config.learn_steps
    slider, buttons = st.columns([1, 1], gap="medium", vertical_alignment="bottom")
    slider.select_slider(
        WORDS["frame"], frames, config.learn_steps, key="frame", on_change=_to_frame, args=(config, selection)
    )
    best = replace(config, learn_steps=film.best)
    with buttons, st.container(horizontal=True, gap="small"):
        playing = frame.PLAYED in st.session_state
        end = {"on_click": _stop} if playing else {"on_click": _play, "args": (best, selection)}
        st.button(WORDS["stop" if playing else "play"], key="play", **end)
        help_text = WORDS["best_help"].format(step=film.best)
        st.button(WORDS["best"], key="best", help=help_text, on_click=_begin, args=(best, selection))
        other = replace(config, **_another(config))
        words = WORDS["words"].format(words=", ".join(GAMES[config.task].vocabulary))
        st.button(WORDS["another"], key="another", help=words, on_click=_begin, args=(other, selection))


def _to_frame(config: Config, selection: Selection) -> None:
    st.session_state.pop(frame.PLAYED, None)
    session_state.adopt(replace(config, learn_steps=st.session_state["frame"]), selection)


def _play(best: Config, selection: Selection) -> None:
    """Begin the film at its first frame; it stops at the best one."""
    session_state.adopt(best, replace(selection, layer=best.n_layers - 1, head=None, query=None, key=None))
    st.session_state[frame.PLAYED] = 0


def _stop() -> None:
    st.session_state.pop(frame.PLAYED, None)


def _another(config: Config) -> dict[str, Any]:
    """Return the sentences of the next example, after the one that is shown."""
    game = GAMES[config.task]
    queries, keys = game.examples(config.seed, "shown", EXAMPLES)
    shown = [" ".join(game.vocabulary[place] for place in row) for row in queries]
    read = [" ".join(game.vocabulary[place] for place in row) if game.is_cross else "" for row in keys]
    pairs = list(zip(shown, read))
    held = (config.sentence, config.second_sentence)
    sentence, second = pairs[(pairs.index(held) + 1) % EXAMPLES if held in pairs else 0]
    return {"sentence": sentence, "second_sentence": second}
