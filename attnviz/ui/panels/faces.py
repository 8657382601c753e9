"""The three ways in which the numbers of the page can come to be, above the setting: one press changes to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from attnviz.engine.pretrained import model_registry
from attnviz.engine.records import offered_models
from attnviz.engine.records.config import Config
from attnviz.engine.tables.initialisers import INITIALISERS
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

    opening  the setting behind the first; the others differ from it in where the matrices come from
    """
    settings = _settings(config, opening)
    shown = face(config)
    st.session_state[KEY] = shown
    st.segmented_control(
        WORDS["faces"], list(settings), format_func=WORDS.__getitem__, key=KEY, on_change=_choose,
        args=(settings, shown), required=True, label_visibility="collapsed",
    )  # fmt: skip
    paragraph([WORDS[f"of_{shown}"]])


def _settings(config: Config, opening: Config) -> Mapping[str, Config]:
    """Return the setting behind each face; a sentence of the visitor's own stays."""
    model = next((name for name in offered_models.names() if name.startswith(f"{TRAINED}~")), "")
    settings = {"by_hand": opening, "random": replace(opening, initialiser=Config().initialiser)}
    if model:
        settings["trained"] = Config(sentence=SENTENCE, model=model)
    if config.sentence not in (opening.sentence, SENTENCE):
        settings = {name: replace(each, sentence=config.sentence) for name, each in settings.items()}
    return settings


@callback
def _choose(settings: Mapping[str, Config], shown: str) -> None:
    chosen = st.session_state.get(KEY) or shown
    if chosen != shown and chosen in settings:
        session_state.adopt(settings[chosen], Selection())
