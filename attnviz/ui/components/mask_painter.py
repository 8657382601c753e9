"""A mask as a grid to paint: rows are queries, columns are keys, with the mouse, a finger or the keyboard.

A component that draws itself and sends the whole grid when a stroke ends; the mask is the page's, which sends it back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st

from attnviz.arrays import Array
from attnviz.pictures.colours import SHARE
from attnviz.settings.language import Words
from attnviz.ui.session.browser import transport
from attnviz.ui.session.browser.component import component
from attnviz.ui.session.callback import callback

WORDS = Words(
    {
        "grid": "Mask. Rows are queries, columns are keys. Arrow keys move, Space allows or forbids.",
        "row": "query {row} {query}",
        "column": "key {column} {key}",
        "may": "may attend",
        "may_not": "may not attend",
        "empty": "(empty)",
        "hint": "Drag over cells to allow or forbid them; or arrow keys and Space.",
    }
)

LARGEST = 28
"""Pixels of a cell, where there is much else."""

_component = component(__file__)


def show(
    allowed: Array,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    key: str,
    painted: Callable[[Array], None],
    refused: int = 0,
    largest: int = LARGEST,
) -> None:
    """Draw the mask (queries, keys); `painted` is called with a new one, before the next run, when a stroke has ended.

    refused  how often a painted mask was not taken: when it rises, the grid goes back to `allowed`
    largest  pixels that a cell has at most
    """

    @callback
    def cells_changed() -> None:
        mask = read(st.session_state.get(key), allowed.shape)
        if mask is not None:
            painted(mask)

    data = packed(allowed, query_tokens, key_tokens, refused, largest)
    _component(key=key, data=data, height="content", on_cells_change=cells_changed)


def read(answer: Any, shape: tuple[int, ...]) -> Array | None:
    """Return the mask that the browser sent, or None if it is none of this shape: browsers can say anything."""
    cells = answer.get("cells") if isinstance(answer, Mapping) else None
    if not isinstance(cells, str) or set(cells) - set("01\n"):
        return None
    rows = cells.split("\n")
    if len(rows) != shape[0] or any(len(row) != shape[1] for row in rows):
        return None
    return np.array([[cell == "1" for cell in row] for row in rows], dtype=bool)


def packed(
    allowed: Array, query_tokens: Sequence[str], key_tokens: Sequence[str], refused: int = 0, largest: int = LARGEST
) -> bytes:
    """Pack the data for the browser as JSON; the mask as lines of 0 and 1."""
    described = {
        "queries": list(query_tokens),
        "keys": list(key_tokens),
        "cells": "\n".join("".join("01"[int(cell)] for cell in row) for row in allowed),
        "refused": refused,
        "may": SHARE[2],
        "largest": largest,
        "words": dict(WORDS),
    }
    return transport.packed(described)
