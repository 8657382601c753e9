"""Maps of layers by heads, or by words, and what was made for them before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

import streamlit as st

from attnviz.arrays import Array
from attnviz.engine.records.trace import Trace
from attnviz.pictures.stage_record import Stage
from attnviz.settings.counting import ordinals
from attnviz.settings.language import Words, sign
from attnviz.text.format.number_format import localised, short
from attnviz.ui.session import session_state
from attnviz.ui.session.browser.stage_events import Event

WORDS = Words(
    {
        "layer": "layer",
        "head": "head",
        "word": "word",
        "part": "part",
        "of_layer": "Layer {n}",
    }
)
KEPT = "_owed"
MOST_KEPT = 8

Made = TypeVar("Made")


def stage(
    trace: Trace,
    name: str,
    array: Array,
    title: str,
    phrase: str,
    columns: Sequence[str] | None = None,
    *,
    of: Literal["word", "part"] = "word",
    kind: str = "signed",
) -> Stage:
    """Return a map of layers by heads, or by columns of names: of words, or of parts of a layer."""
    rows = [WORDS["of_layer"].format(n=n) for n in ordinals(len(trace.layers))]
    axes = WORDS["layer"], WORDS["head" if columns is None else of]
    named = [str(n) for n in ordinals(trace.config.n_heads)] if columns is None else list(columns)
    about = {"heads": ("",), "phrase": phrase, "alt": title + sign(": ") + phrase}
    return Stage(name, title, array[None], kind, rows, named, axes, **about)  # type: ignore[arg-type]


def pressed(pick: Event | None, maps: Sequence[str], size: tuple[int, int]) -> tuple[int, int] | None:
    """Return the row and the column of a pick in one of these maps, from 0; None for any other.

    size  the rows and columns that there are
    """
    if pick is None or pick.stage not in maps or pick.row is None or pick.column is None:
        return None
    return (pick.row, pick.column) if pick.row < size[0] and pick.column < size[1] else None


def kept(trace: Trace, about: object, make: Callable[[], Made]) -> Made:
    """Return what was made of this run before, or make it: a click on a cell draws all of this once more."""
    name = session_state.digest(trace.config.chosen, about)
    before = st.session_state.setdefault(KEPT, {})
    if name not in before:
        made = make()
        for old in list(before)[: max(len(before) - MOST_KEPT + 1, 0)]:
            del before[old]
        before[name] = made
    result: Made = before[name]
    return result


def number(x: float) -> str:
    """Return a number as the language writes it; a head beside it, 2.3, is none and stays as it is."""
    return localised(short(float(x)))
