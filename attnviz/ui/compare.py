"""The Compare page: the setting at the left as A, and B, which is the same but for what the visitor changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from attnviz.core import language
from attnviz.core.config import Config
from attnviz.core.fields import ConfigError
from attnviz.core.language import Words
from attnviz.core.layers import run
from attnviz.core.trace import Trace
from attnviz.ui import bridge, controls, panels, state
from attnviz.ui.say import line, say
from attnviz.ui.selection import Selection
from attnviz.views import address, comparison, flow
from attnviz.views.captions import NAMES
from attnviz.views.sentences import plain

WORDS = Words(
    {
        "ask": "What would change if one thing were different? A is the setting at the left, B the same but for what "
        "you choose here.",
        "step": "Compared step",
        "swap": "Swap A and B",
        "adopt": "Make B the setting",
        "stop": "Start again",
        "fault": "B cannot be drawn: {error}.",
        "furthest": "What moved furthest",
    }
)


STARTERS: dict[str, tuple[str, Callable[[Config], dict[str, Any]]]] = {
    "causal": ("A causal mask", lambda config: {"mask": "causal"}),
    "no_mask": ("No mask", lambda config: {"mask": "none"}),
    "score": ("Additive scores", lambda config: {"score": "additive"}),
    "scale": ("No 1/√d_k", lambda config: {"scale": 1.0}),
    "temperature": ("Half the temperature", lambda config: {"temperature": max(config.temperature / 2, 0.01)}),
    "positions": ("No positions", lambda config: {"position": "none"}),
    "kv": ("One key/value head", lambda config: {"n_kv_heads": 1}),
    "seed": ("Another seed", lambda config: {"seed": (config.seed + 1) % 1_000_000}),
}
"""What a first comparison can be, by one press: the label, and what is otherwise in B."""


def page(trace: Trace, selection: Selection) -> Selection:
    """Draw the page; the selection as the visitor leaves it."""
    config = trace.config
    if not selection.changes:
        _starters(config, selection)
    left, right = st.columns([3, 2])
    with left:
        selection = controls.alter(config, selection, "changes")
    with right:
        selection = _step(trace, selection)
    other, problems = address.changed(config, selection.changes)
    say(*problems)
    _turns(config, other, selection)
    try:
        second = run(other)
    except ConfigError as error:
        say(WORDS["fault"].format(error=error), kind="fault")
        return selection
    say(*(note for note in second.notes if note not in trace.notes))
    selection = panels.layer(trace, selection)
    _beside(trace, second, selection)
    return selection


def _starters(config: Config, selection: Selection) -> None:
    """A first change by one press; those that would change nothing are not offered."""
    line([WORDS["ask"]])
    with st.container(horizontal=True, gap="small"):
        for name, (label, change) in STARTERS.items():
            other = replace(config, **change(config))
            changes = address.difference(config, other)
            if changes:
                begun = replace(selection, changes=changes)
                st.button(language.say(label), key=f"start-{name}", on_click=state.adopt, args=(config, begun))


def _turns(config: Config, other: Config, selection: Selection) -> None:
    """Swap the two, keep the second, or begin again."""
    if not selection.changes:
        return
    names = [name for name, _ in selection.changes]
    back = replace(selection, changes=address.difference(other, config, names))
    none = replace(selection, changes=())
    with st.container(horizontal=True, gap="small"):
        st.button(WORDS["swap"], key="swap", on_click=state.adopt, args=(other, back))
        st.button(WORDS["adopt"], key="adopt", on_click=state.adopt, args=(other, none))
        st.button(WORDS["stop"], key="stop", on_click=state.adopt, args=(config, none))


def _step(trace: Trace, selection: Selection) -> Selection:
    """The step that is compared."""
    names = list(flow.steps(trace, selection.layer - 1))
    picked = controls.pick(selection, "step", WORDS["step"], names, words=NAMES.__getitem__, otherwise="weights")
    return picked if picked.step in names else replace(picked, step="weights")


def _beside(trace: Trace, second: Trace, selection: Selection) -> None:
    """The step in both, the difference, and what moved furthest."""
    layer, name = selection.layer - 1, selection.step
    if layer < len(second.layers):
        line([comparison.parting(trace, second, layer)])
    bridge.show(comparison.pictures(trace, second, layer, name), key="compare")
    say(*comparison.said(trace, second, layer, name))
    moves = comparison.moves(trace, second, layer, name)
    if moves:
        line([WORDS["furthest"]])
        say(*(plain(comparison.told(trace, layer, name, move)) for move in moves))
