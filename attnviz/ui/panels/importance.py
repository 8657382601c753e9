"""Is the weight the importance: weight, slopes and knock-out of one row side by side, and how they agree over many."""

from __future__ import annotations

import streamlit as st

from attnviz.analysis.importance import measured, n_runs
from attnviz.engine.cost.need import SHORT, Need
from attnviz.engine.records.trace import Trace
from attnviz.experiments import importance
from attnviz.settings.language import Words
from attnviz.text.format.number_format import localised
from attnviz.ui.components import number_tables
from attnviz.ui.components.stage import heatmap
from attnviz.ui.session import admission, widgets
from attnviz.ui.session.notices import paragraph
from attnviz.ui.session.selection import Selection

TEXTS = Words(
    {
        "question": "Does a large weight mean importance?",
        "ask": "A large weight is often read as: this word mattered. What it means to matter can be tried: forbid the "
        "key, compute everything again, and see how much is lost. L is the length of the output rows, their "
        "directions held fixed; the slopes say how fast L moves with a weight, and with a score.",
        "head": "Head",
        "query": "Query",
        "wait": "Forbidding one key after another",
    }
)
# It forbids as many keys of as many rows as there is time for: of many rows, or of one at least.
NEED = Need(held=2, made=1, each_key=1, busy=SHORT, most=3 * SHORT, excludes_models=True)


def panel(trace: Trace, selection: Selection) -> Selection:
    """Draw four measures of one row, and their rank correlations over the rows of the layer."""
    st.subheader(TEXTS["question"], anchor=False)
    if not admission.admitted(NEED, trace.config):
        return selection
    left, right = st.columns(2)
    with left:
        heads = range(trace.config.n_heads)
        selection = widgets.choose_available(selection, "head", TEXTS["head"], heads)
    n = len(trace.query_tokens)
    with right:
        selection = widgets.choose_available(selection, "query", TEXTS["query"], range(n), otherwise=n - 1)
    position = selection.head or 0, n - 1 if selection.query is None else selection.query
    with st.spinner(TEXTS["wait"]):
        runs = n_runs(trace, selection.layer)
        found = admission.repeated(trace.config, runs, measured, selection.layer, position, known=trace)
    heatmap.show([importance.stage(trace, found, position)], key="importance")
    paragraph(map(localised, importance.importance_sentences(found)))
    paragraph([TEXTS["ask"]])
    number_tables.show(importance.row_table(trace, found, position), hide_index=True, key="importance-row")
    number_tables.show(importance.correlation_table(found), hide_index=True, key="importance-all")
    return selection
