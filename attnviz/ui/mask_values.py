"""The mask-value lab: what becomes of the weights when a forbidden score is hidden in one way or another."""

from __future__ import annotations

from typing import Literal

import pandas as pd
import streamlit as st

from attnviz.core.language import Words
from attnviz.core.trace import Trace
from attnviz.ui import bridge, controls
from attnviz.ui.say import line
from attnviz.ui.selection import Selection
from attnviz.views import mask_lab

TEXTS = Words(
    {
        "head": "Head",
        "leaks": "Leaked: the sum of each row's weights on forbidden keys",
        "sums": "The sum of each row",
        "libraries": "What libraries make of a row with nothing allowed",
    }
)
_SMALL = "%.3g"
WHOLE_UP_TO = 16


def panel(trace: Trace, selection: Selection) -> Selection:
    """Five ways to hide a score side by side, what leaks through each, and what an emptied row becomes."""
    layer, (choice, number, switch) = selection.layer - 1, st.columns([1, 2, 1], vertical_alignment="bottom")
    with choice:
        heads = range(1, trace.config.n_heads + 1)
        selection = controls.pick(selection, "head", TEXTS["head"], heads)
    with number:
        selection = controls.draw(selection, "large")
    head, allowed = (selection.head or 1) - 1, trace.layers[layer]["allowed"].array
    emptied = False
    if allowed.any(axis=-1).all():
        with switch:
            selection = controls.draw(selection, "empty_row")
        emptied = selection.empty_row
    found = mask_lab.lab(trace, layer, head, large=selection.large, empty_a_row=emptied)
    for sentence in found.said:
        line([sentence])
    bridge.show([mask_lab.stage(found)], key="lab")
    _table(mask_lab.ways(found), "ways")
    for column, name, frame in zip(st.columns(2), ("leaks", "sums"), (mask_lab.leaks(found), mask_lab.sums(found))):
        with column:
            line([TEXTS[name]])
            _table(frame, name, index=True)
    line([TEXTS["libraries"]])
    _table(mask_lab.libraries(), "libraries")
    return selection


def _table(frame: pd.DataFrame, name: str, *, index: bool = False) -> None:
    numbers = {column: st.column_config.NumberColumn(format=_SMALL) for column in frame.select_dtypes("number")}
    st.dataframe(frame, hide_index=not index, column_config=numbers, height=_height(frame), key=f"lab-{name}")


def _height(frame: pd.DataFrame) -> Literal["content", "auto"]:
    """A short table is shown whole."""
    return "content" if len(frame) <= WHOLE_UP_TO else "auto"
