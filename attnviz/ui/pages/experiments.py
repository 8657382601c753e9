"""The Experiments page: one question at a time, answered with the current setting."""

from __future__ import annotations

import streamlit as st

from attnviz.engine.cost.need import Need
from attnviz.engine.records.trace import Trace
from attnviz.text.headline import headline
from attnviz.ui.pages.panels import Panel
from attnviz.ui.panels import experiment_panels, explore_panels, importance, masking_methods
from attnviz.ui.session import admission, widgets
from attnviz.ui.session.notices import notice, paragraph
from attnviz.ui.session.selection import Selection

EXPERIMENTS = {
    "mask_values": Panel(masking_methods.panel, Need(drawn=40)),
    "axis": Panel(experiment_panels.axis, experiment_panels.AXIS, asks_first=True),
    "scale": Panel(experiment_panels.scale, experiment_panels.SCALE, asks_first=True),
    "sharing": Panel(experiment_panels.sharing, experiment_panels.SHARING, asks_first=True),
    "shuffle": Panel(experiment_panels.shuffle, experiment_panels.SHUFFLE, asks_first=True),
    "importance": Panel(importance.panel, importance.NEED, asks_first=True),
}
NEED = EXPERIMENTS["mask_values"].need
"""The need of the page: what it opens with."""


def page(trace: Trace, selection: Selection) -> Selection:
    """Draw the chosen experiment; return the selection as the visitor leaves it."""
    selection = explore_panels.choose_layer(trace, selection)
    with st.container(key="tools-experiment"):
        selection = widgets.choose(selection, "experiment")
    experiment = EXPERIMENTS[selection.experiment]
    refused = admission.refusal(experiment.need, trace) if trace.config.model else ""
    if refused:
        notice(refused)
        return selection
    if experiment.has_room(trace):
        selection = experiment.draw(trace, selection)
    paragraph(headline(trace))
    return selection
