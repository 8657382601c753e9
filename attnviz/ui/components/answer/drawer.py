"""The answer beside the maps: how the cell, the row or the output that was chosen came to be, in a few lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from attnviz.pictures.colours import DARK, SIGNED
from attnviz.settings.language import InContext, Words
from attnviz.ui.session.browser import transport
from attnviz.ui.session.browser.component import component, ignore, report

WORDS = Words(
    {
        "answer": "How this is computed",
        "close": "Close (Escape)",
        "all": "All lines",
        "rounded": "Numbers are rounded for display, the arithmetic is not.",
        "play": "Play",
        "lines": InContext("Lines", "of arithmetic"),
        "pause": "Pause (space)",
        "step": "Next step (→)",
        "again": "Again",
        "way": "Step of the computation (← →)",
        "setting": "The setting",
        "product": "product",
        "aside": "This follows as soon as you let go.",
        "in_words": "In words",
        "largest": "The largest product is entry {n}: {product}.",
        "without": "Without ÷ √{d} it would get {share}.",
    }
)

# Its styles are those of the page, over which it stands.
_component = component(__file__, is_isolated=False)


@dataclass(frozen=True)
class Around:
    """The surroundings of an answer.

    play         starts to show how it happens, once, when the page is opened with it
    chips        what stays in sight of the setting, as `rail.chips` says it
    head, focus  the head of the cell that was chosen last, and the one that is shown alone; None for none
    image        what the row attends to in the image that is read: `head`, `query`, `src` and `alt`
    """

    play: bool = False
    chips: Sequence[Mapping[str, str]] = ()
    head: int | None = None
    focus: int | None = None
    image: Mapping[str, Any] | None = None


NOTHING = Around()


def show(answer: Mapping[str, Any] | None, *, key: str, around: Around = NOTHING) -> None:
    """Draw an explanation, or nothing; it stays on the page, so that a screen reader hears of a new one."""
    with st.container(key=key):
        _component(
            key=f"{key}-lines",
            data=packed(answer, around),
            height="content",
            on_close_change=ignore,
            on_all_change=ignore,
            on_key_change=ignore,
        )


def packed(answer: Mapping[str, Any] | None, around: Around = NOTHING) -> bytes:
    """Pack the data for the browser."""
    scales = [list(SIGNED), list(DARK[SIGNED])]
    chosen = {"head": around.head, "focus": around.focus}
    data = {"answer": answer, "words": dict(WORDS), "scales": scales, "play": around.play, "chips": [*around.chips]}
    return transport.packed(data | {"chosen": chosen, "image": around.image})


def is_closed(key: str) -> bool:
    """Return whether it was closed since the last run."""
    return _state(key).get("close") is True


def wants_all(key: str) -> bool:
    """Return whether the full arithmetic was asked for since the last run."""
    return _state(key).get("all") is True


def chosen(key: str, n_keys: int) -> int | None:
    """Return the key that was chosen in it since the last run, counted from 0; None as a rule."""
    chosen = _state(key).get("key")
    good = isinstance(chosen, int) and not isinstance(chosen, bool) and 0 <= chosen < n_keys
    return chosen if good else None


def _state(key: str) -> Mapping[str, Any]:
    """Return the browser's message, which may say anything."""
    return report(f"{key}-lines")
