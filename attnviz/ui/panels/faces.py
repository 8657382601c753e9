"""The three ways in which the numbers of the page can come to be, above the setting: one press changes to another."""

from __future__ import annotations

import streamlit as st

from attnviz.engine.pretrained import model_registry
from attnviz.engine.records import offered_models
from attnviz.engine.records.config import Config
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.models import boxed
from attnviz.settings.fields import settings, snap_to_valid
from attnviz.settings.language import Words
from attnviz.ui.session import session_state
from attnviz.ui.session.callback import callback
from attnviz.ui.session.notices import paragraph
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "faces": "Where the matrices come from",
        "by_hand": "Made by hand",
        "random": "Random",
        "trained": "Trained",
        "of_by_hand": "Each head does one plain thing, because its matrices were built for it.",
        "of_random": "The matrices of a model before its training: heads attend without a purpose.",
        "of_trained": "A small language model that learned to say the next word: what its heads do, nobody told them.",
        "of_learned": "These matrices were learned: what the heads do, nobody told them.",
    }
)
KEY = "face"
TRAINED = "small"
SENTENCE = "When Mary and John went to the shop, John gave a book to"
"""What the trained model is asked first: the next word depends on who gives."""


def face(config: Config) -> str:
    """Return the face of a setting.

    >>> face(Config()), face(Config(initialiser="by_hand"))
    ('random', 'by_hand')
    """
    if model_registry.find(config.model) is not None:
        return "trained"
    origin = INITIALISERS[config.initialiser].origin
    return {"random": "random", "learned": "trained"}.get(origin, "by_hand")


def offer(config: Config, opening: Config) -> None:
    """Draw the three faces, the one that is shown pressed, and a sentence on it.

    opening  the setting that the page begins with: its heads are those made by hand
    """
    _draw(config, opening, KEY)
    shown = face(config)
    is_boxed = config.model.partition("~")[0] in boxed.NAMES
    paragraph([WORDS["of_learned" if shown == "trained" and not is_boxed else f"of_{shown}"]])


def offer_on_a_phone(config: Config, opening: Config) -> None:
    """Draw the three faces once more, above the maps of a narrow window, where the sidebar is closed at first.

    They begin anew with each face: a browser that lags would send the one before, as if it had been pressed.
    """
    _draw(config, opening, f"{KEY}-above-{face(config)}")


def _draw(config: Config, opening: Config, key: str) -> None:
    shown = face(config)
    st.session_state[key] = shown
    offered = ["by_hand", "random", *(["trained"] if _model() else [])]
    st.segmented_control(
        WORDS["faces"], offered, format_func=WORDS.__getitem__, key=key, on_change=_choose,
        args=(opening, shown, key), required=True, label_visibility="collapsed",
    )  # fmt: skip


def _model() -> str:
    """Return the name of the trained model, with its hash; empty where it is not offered."""
    return next((name for name in offered_models.names() if name.startswith(f"{TRAINED}~")), "")


def changed(config: Config, opening: Config, to: str) -> Config:
    """Return the setting behind a face: what makes its matrices changes, and all else stays as it was chosen."""
    own = config.sentence not in (opening.sentence, SENTENCE)
    if to == "trained":
        made = {"model": _model(), "mask": Config().mask, "sentence": SENTENCE}
    elif to == "random":
        made = {"model": "", "initialiser": Config().initialiser, "sentence": opening.sentence}
    else:
        made = {item.name: getattr(opening, item.name) for item in settings(Config)}
        made = {name: value for name, value in made.items() if value != getattr(Config(), name)} | {"model": ""}
    if own:
        del made["sentence"]
    values = {item.name: getattr(config, item.name) for item in settings(Config)} | made
    return Config(**snap_to_valid(Config, values)[0])  # while a slider moves, the others may not yet fit it


@callback
def _choose(opening: Config, shown: str, key: str) -> None:
    """Change to the face that is pressed, from the setting as it is now: a part of the page may have run since."""
    chosen = st.session_state.get(key) or shown
    if chosen != shown:
        config, _ = session_state.saved(Config, Selection)
        session_state.adopt(changed(config, opening, chosen), Selection())
