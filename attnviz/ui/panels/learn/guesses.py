"""A prediction before the result: how much a head will still get right once something is taken away."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from attnviz.engine.learn import learn
from attnviz.engine.records.config import Config
from attnviz.settings.language import Words
from attnviz.text.cell_sentence import percent
from attnviz.ui.panels.learn import ablations
from attnviz.ui.session import widget_values

WORDS = Words(
    {
        "ask": "{label}: how many words will be right at the end? Predict first.",
        "right": "{label}: {right} of the words are right, as you predicted.",
        "wrong": "{label}: {right} of the words are right; you predicted: {guess}.",
    }
)
GUESSES = Words({"all": "99 % or more", "part": "half or more, less than 99 %", "few": "less than half"})
_HALF = 0.5
_KEPT = "_guesses"


def ask(config: Config, others: Mapping[str, Config]) -> dict[str, Config]:
    """Ask for a prediction of each try; return those that have one, whose result may be shown.

    Predictions are kept beside their fields, which Streamlit forgets in a run that does not draw them: while a browser
    learns, none is drawn.
    """
    shown, kept = {}, st.session_state.setdefault(_KEPT, {})
    for name, label in ablations.CHIPS.items():
        if label not in others:
            continue
        key = f"guess-{config.task}-{name}"
        if key in kept and key not in st.session_state:
            st.session_state[key] = kept[key]
        widget_values.reset_invalid_choice(key, list(GUESSES), None)
        guess = st.pills(WORDS["ask"].format(label=label), list(GUESSES), format_func=GUESSES.__getitem__, key=key)
        kept[key] = guess
        if guess is not None:
            shown[label] = others[label]
    return shown


def verdicts(config: Config, shown: Mapping[str, Config]) -> list[str]:
    """Return what became of each prediction, in words."""
    said = []
    for name, label in ablations.CHIPS.items():
        guess = str(st.session_state.get(f"guess-{config.task}-{name}"))
        if label in shown and guess in GUESSES:
            right = learn(shown[label]).right[-1]
            words = WORDS["right" if guess == outcome(right) else "wrong"]
            said.append(words.format(label=label, right=percent(right), guess=GUESSES[guess]))
    return said


def outcome(right: float) -> str:
    """Return the prediction that a share of right words makes true.

    >>> [outcome(right) for right in (1.0, 0.99, 0.98, 0.5, 0.1)]
    ['all', 'all', 'part', 'part', 'few']
    """
    return "all" if right >= ablations.RIGHT else "part" if right >= _HALF else "few"
