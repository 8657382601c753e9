"""The slider over the frames of a film, and the buttons that play it and show its best frame or another sentence."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attnviz.engine.learning.film import Film
from attnviz.engine.records.config import Config
from attnviz.engine.tasks.games import GAMES
from attnviz.settings.language import Words, sign
from attnviz.ui.session import session_state
from attnviz.ui.session.callback import callback
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "frame": "Steps of learning",
        "play": "Play",
        "stop": "Stop",
        "best": "Best frame",
        "best_help": "Step {step}: the first at which both the share of right answers and the weight in the "
        "outlines are at their largest.",
        "another": "Another example",
        "words": "Your own sentence may use these words: {words}.",
    }
)

PLAYED = "_learn_played"
"""Of the session: the frame that is shown while the film is played."""

_SLIDER = "frame"
_SLIDERS = "_learn_sliders"
EXAMPLES = 20
"""The number of other sentences that a task has to show."""


BUTTONS = ("film-play", "best", "another")
"""None has the name of a field: Back puts those of the address into the widgets, and a button takes no value."""


def pressed() -> bool:
    """Return whether one of the buttons was pressed, which changes more than the part of the page that holds them."""
    return any(st.session_state.get(key) for key in BUTTONS)


def slider_key() -> str:
    """Return the key of the slider; `put` gives it another one."""
    n = st.session_state.get(_SLIDERS, 0)
    return f"{_SLIDER}-{n}" if n else _SLIDER


def put(step: int) -> None:
    """Let the slider stand at a step, before it is drawn.

    One that stands elsewhere is replaced by a new one: a browser that lags would still send where the old one stood,
    which is no move of the visitor's, but would end the film that is played.
    """
    if st.session_state.get(slider_key(), step) != step:
        st.session_state[_SLIDERS] = st.session_state.get(_SLIDERS, 0) + 1
    st.session_state[slider_key()] = step


def draw(shown: Config, config: Config, selection: Selection, film: Film) -> None:
    """Draw the slider, which the session holds, and the buttons.

    shown  the setting at the frame that is shown;  config  at that in which the slider was when the page was drawn
    """
    frames = sorted({*film.steps, config.learn_steps})
    slider, buttons = st.columns([2, 3], gap="medium", vertical_alignment="bottom")
    key = slider_key()
    slider.select_slider(WORDS["frame"], frames, key=key, on_change=_to_frame, args=(config, selection, key))
    playing = PLAYED in st.session_state
    best, now = replace(config, learn_steps=film.best), config if playing else shown
    with buttons, st.container(horizontal=True, gap="small"):
        end = {"on_click": _stop} if playing else {"on_click": _play, "args": (best, selection)}
        st.button(WORDS["stop" if playing else "play"], key="film-play", **end)
        help_text = WORDS["best_help"].format(step=film.best)
        st.button(WORDS["best"], key="best", help=help_text, on_click=_show, args=(best, selection))
        words = WORDS["words"].format(words=sign(", ").join(GAMES[config.task].vocabulary))
        st.button(WORDS["another"], key="another", help=words, on_click=_to_another, args=(now, selection))


def play(best: Config, selection: Selection) -> None:
    """Draw the button alone that plays a film up to its best frame."""
    at = replace(selection, layer=best.n_layers - 1, head=None, query=None, key=None)
    st.button(WORDS["play"], key="film-play", type="primary", on_click=_play, args=(best, at))


@callback
def begin(config: Config, selection: Selection) -> None:
    """Show a setting and its last layer, with no cell chosen, as a callback."""
    _show(config, replace(selection, layer=config.n_layers - 1, head=None, query=None, key=None))


@callback
def _show(config: Config, selection: Selection) -> None:
    """Show a frame, with the cell that is chosen explained there."""
    st.session_state.pop(PLAYED, None)
    session_state.adopt(config, selection)


@callback
def _to_frame(config: Config, selection: Selection, key: str) -> None:
    if key != slider_key() or key not in st.session_state:  # on a slow line it may have been taken away since
        return
    st.session_state.pop(PLAYED, None)
    session_state.adopt(replace(config, learn_steps=st.session_state[key]), selection)


@callback
def _play(best: Config, selection: Selection) -> None:
    """Begin the film at its first frame; it stops at the best one."""
    _show(best, selection)
    st.session_state[PLAYED] = 0


@callback
def _stop() -> None:
    st.session_state.pop(PLAYED, None)


@callback
def _to_another(config: Config, selection: Selection) -> None:
    """Show the sentences of the next example, after the one that is shown."""
    game = GAMES[config.task]
    queries, keys = game.examples(config.seed, "shown", EXAMPLES)
    shown = [" ".join(game.vocabulary[place] for place in row) for row in queries]
    read = [" ".join(game.vocabulary[place] for place in row) if game.is_cross else "" for row in keys]
    pairs = list(zip(shown, read))
    sentences = (config.sentence, config.second_sentence)
    sentence, second = pairs[(pairs.index(sentences) + 1) % EXAMPLES if sentences in pairs else 0]
    begin(replace(config, sentence=sentence, second_sentence=second), selection)
