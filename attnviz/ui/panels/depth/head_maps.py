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
from attnviz.ui.session.browser.component import checked_index, report

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


def pressed(key: str, maps: Sequence[str], size: tuple[int, int]) -> tuple[int, int] | None:
    """Return the row and the column that were pressed in one of these maps since the last run, from 0; None as a rule.

    key  of the maps on the page;  size  the rows and columns that there are
    """
    pick = report(key).get("picked")
    if not isinstance(pick, dict) or pick.get("stage") not in maps:
        return None
    try:
        row, column = (checked_index(pick.get(name), n) for name, n in zip(("row", "column"), size))
    except ValueError:
        return None
    return None if row is None or column is None else (row, column)


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
