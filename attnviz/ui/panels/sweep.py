"""A setting that moves by itself, value after value, while the maps follow: seeds, or temperatures.

Only what is drawn moves, and the field shows where: the setting and the address stay as they are until it is stopped.
What is shown then becomes the setting, whoever stops it: field, link and picture say the same. After the last value it
is the setting in which it began, and what was shown stays laid out to choose from.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from attnviz.engine.learning import learnable
from attnviz.engine.records.config import Config
from attnviz.settings import url_codec
from attnviz.settings.language import Words
from attnviz.ui.session import session_state, widget_values, widgets
from attnviz.ui.session.browser.component import report
from attnviz.ui.session.callback import callback
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "seed": "Seeds",
        "temperature": "Temperatures",
        "seed_help": "The next {n} seeds, one by one: what stays is due to the sentence, what changes is chance.",
        "temperature_help": "From {low} to {high}: a low temperature sharpens the weights, a high one evens them out.",
        "now": "■ {name} {value}",
        "stop": "Stop here and keep this value",
    }
)
TEMPERATURES = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0)
N_SEEDS = 10
SEEDS = 1_000_000  # as many as there are
SECONDS = 0.8
"""Seconds that a value is shown at least."""

PLAYED = "_sweep"
"""Of the session: the field that moves, and which of its values is shown."""
LAID_OUT = "_swept"
"""The field whose values are laid out below the maps, as far as it has moved, and the setting that it began in."""


def values(config: Config, name: str) -> Sequence[float]:
    """Return the values that a field goes through."""
    return TEMPERATURES if name == "temperature" else [(config.seed + n) % SEEDS for n in range(1, N_SEEDS + 1)]


def offer(config: Config, skip: Collection[str] = ()) -> None:
    """Draw a button for each field that can move here; that of one that moves stops it.

    `skip` are fields that are not for the visitor to choose, as a trained model has its own.
    """
    names = [] if learnable.learns(config) else _movable(config, skip)  # each value would have to be learned first
    moving, position = st.session_state.get(PLAYED, ("", 0))
    if moving not in names:
        st.session_state.pop(PLAYED, None)
        moving = ""
    with st.container(key="sweeps", horizontal=True, gap="small"):
        low, high = f"{TEMPERATURES[0]:g}", f"{TEMPERATURES[-1]:g}"
        for name in names:
            if name == moving:
                label, value = url_codec.labels(Config)[name], f"{values(config, name)[position]:g}"
                text = WORDS["now"].format(name=label, value=value)
                st.button(text, key="sweep_stop", on_click=_keep, help=WORDS["stop"])
            else:
                text = WORDS[f"{name}_help"].format(n=N_SEEDS, low=low, high=high)
                about: dict[str, Any] = {"args": (name,), "help": text, "disabled": bool(moving)}
                st.button(f"▶ {WORDS[name]}", key=f"sweep_{name}", on_click=_start, **about)
        if moving:
            _go_on(moving, position)


def settled(config: Config, *, moves: bool) -> Config:
    """Return the setting, with the value that is shown where a field was stopped, which its widget shows from now on.

    Call it before the widgets of the setting are drawn. `moves` says whether a field can move on this page.
    """
    name, position = st.session_state.get(PLAYED, ("", 0))
    st.session_state.pop(widget_values.MOVING, None)
    if name and moves and position < len(values(config, name)):
        st.session_state[widget_values.MOVING] = {name: values(config, name)[position]}
        return config
    if not name:
        return config
    kept = _reached(config)
    st.session_state.pop(PLAYED)
    widget_values.show(kept, unlike=[config])
    return kept


def laid_out(config: Config, looked_at: object = None) -> dict[str, Any] | None:
    """Return what the browser is told of the field that has moved last, and of the run that is drawn.

    None where no field has, or the setting is another since; `looked_at` is what else the pictures depend on.
    """
    name, begun = st.session_state.get(LAID_OUT, ("", config))
    if not name or _without(config, name) != _without(begun, name):
        return None
    label, shown = url_codec.labels(Config)[name], getattr(config, name)
    among = sorted({*values(begun, name), getattr(begun, name), shown}) if name == "temperature" else [begun.seed]
    among = among if name == "temperature" else [*among, *values(begun, name)]
    of = session_state.digest(begun, name, looked_at)
    return {"of": of, "name": name, "label": label, "value": shown, "values": among, "moves": is_moving()}


def _without(config: Config, name: str) -> Config:
    low: dict[str, Any] = {name: 1}
    return replace(config, **low)


@callback
def keep_chosen(key: str) -> None:
    """Have the value that was chosen among those that are laid out as the setting; without one, lay out none."""
    chosen = report(key).get("swept")
    name, begun = st.session_state.get(LAID_OUT, ("", None))
    if name and chosen in [*values(begun, name), getattr(begun, name)]:
        config, selection = session_state.saved(Config, Selection)
        kept: dict[str, Any] = {name: chosen}
        session_state.adopt(replace(config, **kept), selection)
        st.session_state.pop(PLAYED, None)
    else:
        _stop()
        st.session_state.pop(LAID_OUT, None)


def is_moving() -> bool:
    """Return whether a field moves."""
    return PLAYED in st.session_state


def moved(config: Config) -> Config:
    """Return the setting that is drawn: with the value that is shown now, where a field moves."""
    return _reached(config) if is_moving() else config


def _reached(config: Config) -> Config:
    """Return the setting with the value that is shown; as it is after the last one."""
    name, position = st.session_state[PLAYED]
    reached: dict[str, Any] = dict(zip([name], values(config, name)[position : position + 1]))
    return replace(config, **reached)


def _movable(config: Config, skip: Collection[str]) -> list[str]:
    """Return the fields that matter here and are free."""
    live = widgets.live(config)
    return [name for name in ("seed", "temperature") if name in live and name not in skip]


@callback
def _keep() -> None:
    _stop()


def _stop() -> None:
    """Stop, and have the value that is shown as the setting."""
    if not is_moving():
        return
    config, selection = session_state.saved(Config, Selection)
    session_state.adopt(_reached(config), selection)
    st.session_state.pop(PLAYED)


@callback
def _start(name: str) -> None:
    st.session_state[PLAYED] = name, 0
    st.session_state[LAID_OUT] = name, session_state.saved(Config, Selection)[0]


def _go_on(name: str, position: int) -> None:
    """Show the next value after a while."""
    fresh = [True]

    def wait() -> None:
        if fresh:
            fresh.pop()
        else:
            if PLAYED in st.session_state:  # else it was ended in a part of the page, and its button is still drawn
                st.session_state[PLAYED] = name, position + 1
            st.rerun()

    st.fragment(wait, run_every=SECONDS)()
