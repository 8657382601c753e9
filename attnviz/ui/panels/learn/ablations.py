"""Ablations: settings with something taken away, learned beside the one that is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from attnviz.engine.learn import learn
from attnviz.engine.learning import learnable
from attnviz.engine.learning.film import Film
from attnviz.engine.records.config import Config
from attnviz.engine.tasks.games import GAMES
from attnviz.settings.language import Words
from attnviz.text.cell_sentence import percent
from attnviz.text.format.number_format import localised
from attnviz.ui.session import widget_values

WORDS = Words(
    {
        "needs": "What makes it learnable? Take something away, and let it learn again.",
        "as_set": "as set",
        "never": "never",
    }
)
COLUMNS = Words(
    {
        "setting": "setting",
        "right_at": "99 % right from step",
        "crisp_at": "90 % of the weight in the outlines from step",
        "right": "right at the end",
        "crisp": "weight in the outlines",
    }
)
RIGHT, CRISP = 0.99, 0.9
TRIED = "tries"
"""The key of what is taken away."""

CHIPS = Words(
    {
        "position": "No positions",
        "heads": "One head",
        "layers": "One layer",
        "mask": "No mask",
        "hardmax": "Hardmax",
        "location": "Location-based score",
    }
)
"""The ablations offered as buttons."""

WITHOUT: dict[str, dict[str, Any]] = {
    "position": {"position": "none"},
    "heads": {"n_heads": 1, "n_kv_heads": None},
    "layers": {"n_layers": 1},
    "mask": {"mask": "none"},
    "hardmax": {"normaliser": "hardmax"},
    "location": {"score": "location"},
}
"""The changes that each of them makes."""


def chips(config: Config, may_learn: Callable[[Config], bool]) -> dict[str, Config]:
    """Draw what can be taken away; return the settings without what was, by their labels.

    may_learn  whether the film of a setting is there or may be learned now
    """
    changed = {name: replace(config, **change) for name, change in WITHOUT.items()}
    offered = [name for name, other in changed.items() if other != config]
    widget_values.reset_invalid_choice(TRIED, offered, [])
    chosen = st.pills(
        WORDS["needs"],
        offered,
        selection_mode="multi",
        format_func=CHIPS.__getitem__,
        key=TRIED,
    )
    end = max(config.learn_steps, GAMES[config.task].recipe["learn_steps"])
    settings = {}
    for name in chosen:
        other = replace(changed[name], learn_steps=end)
        if not learnable.obstacle(other) and may_learn(other):
            settings[CHIPS[name]] = other
    return settings


def table(film: Film, others: dict[str, Config]) -> pd.DataFrame:
    """Return the tries as a table: from which step on each does its task, and how well it does it at the end."""
    tried = {WORDS["as_set"]: film, **{label: learn(other) for label, other in others.items()}}
    rows = [
        (
            label,
            _from_step(each.steps, each.right, RIGHT),
            _from_step(each.steps, each.crisp, CRISP),
            percent(each.right[-1]),
            localised(f"{each.crisp[-1]:.2f}"),
        )
        for label, each in tried.items()
    ]
    return pd.DataFrame(rows, columns=[COLUMNS[name] for name in ("setting", "right_at", "crisp_at", "right", "crisp")])


def _from_step(steps: Sequence[int], values: Sequence[float], least: float) -> str:
    return next((str(step) for step, value in zip(steps, values) if value >= least), WORDS["never"])
