"""The mask-value lab: what becomes of the weights when a forbidden score is hidden in one way or another."""

from __future__ import annotations

from typing import Literal

import pandas as pd
import streamlit as st

from attnviz.engine.records.trace import Trace
from attnviz.experiments import masking_methods
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words
from attnviz.text.cell_sentence import percent
from attnviz.text.format.number_format import localised
from attnviz.ui.components import number_tables
from attnviz.ui.components.stage import heatmap
from attnviz.ui.components.stage.view import WHOLE
from attnviz.ui.session import widgets
from attnviz.ui.session.notices import paragraph
from attnviz.ui.session.selection import Selection

TEXTS = Words(
    {
        "question": "How is a score masked out?",
        "ask": "A key that a query may not attend to gets no weight if its score is −∞: exp(−∞) is 0, exactly. "
        "Programs also write a large negative number, or a 0, or zero the weights afterwards. Here are the same "
        "scores, masked in five ways, and how much leaks to forbidden keys.",
        "most": "Head {head} leaks most: with 0 as a score, up to {percent} of a row goes to forbidden keys.",
        "head": "Head",
        "leaks": "Leaked: the sum of each row's weights on forbidden keys",
        "sums": "The sum of each row",
        "libraries": "What libraries make of a row with nothing allowed",
    }
)
WHOLE_UP_TO = 16
SMALLEST = 0.01  # a share that is worth a sentence


def panel(trace: Trace, selection: Selection) -> Selection:
    """Draw five ways to hide a score side by side, what leaks through each, and what an emptied row becomes."""
    st.subheader(TEXTS["question"], anchor=False)
    layer, (choice, number, switch) = selection.layer, st.columns([1, 2, 1], vertical_alignment="bottom")
    first, share = masking_methods.leakiest(trace, layer)
    with choice:
        heads = range(trace.config.n_heads)
        selection = widgets.choose_available(selection, "head", TEXTS["head"], heads, otherwise=first)
    with number:
        selection = widgets.draw(selection, "large")
    head, allowed = first if selection.head is None else selection.head, trace.layers[layer]["allowed"].array
    emptied = False
    if allowed.any(axis=-1).all():
        with switch:
            selection = widgets.draw(selection, "empty_row")
        emptied = selection.empty_row
    trial = masking_methods.masking_trial(trace, layer, head, large=selection.large, empty_a_row=emptied)
    heatmap.show([masking_methods.stage(trial)], key="lab", view=WHOLE)
    leaks = len(heads) > 1 and share >= SMALLEST
    paragraph([TEXTS["most"].format(head=ordinal(first), percent=percent(share))] if leaks else [])
    paragraph([TEXTS["ask"]])
    for sentence in trial.notes:
        paragraph([localised(sentence)])
    _table(masking_methods.ways(trial), "ways")
    for column, name, frame in zip(
        st.columns(2), ("leaks", "sums"), (masking_methods.leaked_weights(trial), masking_methods.sums(trial))
    ):
        with column:
            paragraph([TEXTS[name]])
            _table(frame, name, index=True)
    paragraph([TEXTS["libraries"]])
    _table(masking_methods.libraries(), "libraries")
    return selection


def _table(frame: pd.DataFrame, name: str, *, index: bool = False) -> None:
    number_tables.show(frame, hide_index=not index, height=_height(frame), key=f"lab-{name}")


def _height(frame: pd.DataFrame) -> Literal["content", "auto"]:
    """Return the height of a table: a short one is shown whole."""
    return "content" if len(frame) <= WHOLE_UP_TO else "auto"
