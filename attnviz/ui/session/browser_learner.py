"""Learning in the visitor's browser: it has a processor of its own, and finds the same bits as the server would.

A link with a setting that nobody has learned yet is learned where it was opened; thirty who open thirty of them cost
the server no more than the numbers that it sends. It learns by itself what takes moments, and more only where a
browser cannot and the visitor has asked for it. What a browser sends back is shown to that visitor alone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from attnviz.engine import inputs, learning_job
from attnviz.engine.learning import film, learnable, learning_cost
from attnviz.engine.records.config import Config
from attnviz.engine.tasks.games import GAMES
from attnviz.exports.bundle import joined
from attnviz.pictures.colours import DARK, SHARE
from attnviz.settings.language import Words
from attnviz.ui.session.browser import streamlit_private
from attnviz.ui.session.browser.styles import stylesheet
from attnviz.ui.session.callback import callback
from attnviz.ui.session.notices import notice

WORDS = Words(
    {
        "here": "Learning in your browser: step {step} of {last}. The server has nothing to do.",
        "layer": "Weights, layer {n}",
        "weights": "Weights",
        "loss": "Loss",
        "failed": "This setting cannot be learned in this browser: that is left to the server.",
        "ask": "This setting has not been trained yet. It would keep the server busy for about {n} seconds, so it "
        "begins only if you want it.",
        "server": "Let the server learn it",
    }
)

FREE = 2.0
"""Seconds of learning, as they are estimated, that a link may cost the server when nobody has pressed anything."""

MOST_FILMS = 7
"""Films of a browser that are kept for its visitor: the setting's, and one for each thing that can be taken away."""

FOLDER = Path(__file__).parent / "worker"
WORKER = FOLDER / "worker.js"
KEY = "learner"

is_offered = True
"""True if browsers are asked to learn at all."""

_FILMS, _PENDING, _FAILED, _ASKED, _DRAWN = (f"_learner_{x}" for x in ("films", "pending", "failed", "asked", "drawn"))


def script() -> str:
    """Return what runs in the browser: the component, and as a text in it the script of its worker."""
    worker = json.dumps(joined(WORKER), ensure_ascii=False)
    return f"const WORKER = {worker};\n" + joined(FOLDER / "learner.js")


_component = st.components.v2.component(
    "attnviz_learner", css=stylesheet(FOLDER / "learner.css"), js=script(), isolate_styles=True
)


def begin() -> None:
    """Have films of the visitor's browser count where there are any; call it in a run before anything is computed."""
    film.look_also(_of_this_visitor)
    st.session_state.pop(_DRAWN, None)


def at_hand(*settings: Config) -> bool:
    """Return whether everything that these settings learn is there, or may be learned by the server now.

    If not, it has the browser learn it, or asks whether the server should, and draws that.
    """
    for config in settings:
        if not learnable.learns(config) or film.is_kept(config) or _name(config) in st.session_state.get(_ASKED, ()):
            continue
        if is_offered and not st.session_state.get(_FAILED) and _hand_out(config):
            return False
        if is_offered:
            notice(WORDS["failed"])
        seconds = learning_cost.of(config).seconds
        if seconds > FREE:
            notice(WORDS["ask"].format(n=math.ceil(seconds)))
            _offer_server(config)
            return False
    return True


def _hand_out(config: Config) -> bool:
    """Draw the component that learns a setting; False if it is too large to be sent."""
    if st.session_state.get(_DRAWN):
        return True  # it comes next
    pending = _pending(config)
    if pending is None:
        return False
    st.session_state[_DRAWN] = True
    _component(
        key=KEY, data=pending[1], height="content", on_film_change=_film_changed, on_failed_change=_failed_changed
    )
    _offer_server(config)
    return True


def _pending(config: Config) -> tuple[learning_job.Job, bytes] | None:
    """Return the job of learning a setting, and what the browser is sent; kept until it comes back."""
    name = _name(config), config.learn_steps
    if st.session_state.get(_PENDING, ("",))[0] != name:
        st.session_state[_PENDING] = name, _packed_job(config)
    pending: tuple[learning_job.Job, bytes] | None = st.session_state[_PENDING][1]
    return pending


def _packed_job(config: Config) -> tuple[learning_job.Job, bytes] | None:
    job = learning_job.job(
        config, max(config.learn_steps, GAMES[config.task].recipe["learn_steps"]), config.learn_steps
    )
    if job is None:
        return None
    queries, keys, _ = inputs.tokens(config)
    words = {name: WORDS[name] for name in ("here", "layer", "weights", "loss")}
    return job, job.packed((queries, keys), words=words, colours=[list(SHARE), list(DARK[SHARE])])


@callback
def _film_changed() -> None:
    """Keep the film that the browser has sent, if it is one."""
    pending = st.session_state.get(_PENDING, ("", None))[1]
    answer = st.session_state.get(KEY)
    if pending is None or not isinstance(answer, Mapping) or answer.get("film") is None:
        return
    received = learning_job.received(answer["film"], pending[0])
    st.session_state.pop(_PENDING)
    if received is None:
        st.session_state[_FAILED] = True
        return
    films: dict[Config, learning_job.ReceivedFrames] = {**st.session_state.get(_FILMS, {})}
    films.pop(received.config, None)
    films[received.config] = learning_job.ReceivedFrames(received, pending[0])
    st.session_state[_FILMS] = dict([*films.items()][-MOST_FILMS:])


@callback
def _failed_changed() -> None:
    st.session_state[_FAILED] = True
    st.session_state.pop(_PENDING, None)


def _offer_server(config: Config) -> None:
    st.button(WORDS["server"], key="learn-on-server", on_click=_ask, args=(_name(config),))


@callback
def _ask(name: str) -> None:
    st.session_state[_ASKED] = (*st.session_state.get(_ASKED, ()), name)[-MOST_FILMS:]


def _name(config: Config) -> str:
    return repr(learnable.what_is_learned(config))


def _of_this_visitor(key: Config) -> Any:
    """Return the film that this visitor's browser has learned; none where no page is run, as for a file."""
    if streamlit_private.current_run() is None:
        return None
    return st.session_state.get(_FILMS, {}).get(key)
