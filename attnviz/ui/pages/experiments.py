"""The Experiments page: one question at a time, answered with the present setting."""

from __future__ import annotations

from attnviz.engine.records.trace import Trace
from attnviz.ui.panels import experiment_panels, explore_panels, importance, masking_methods
from attnviz.ui.session import admission, widgets
from attnviz.ui.session.notices import notice
from attnviz.ui.session.selection import Selection

EXPERIMENTS = {
    "mask_values": masking_methods.panel,
    "axis": experiment_panels.axis,
    "scale": experiment_panels.scale,
    "sharing": experiment_panels.sharing,
    "shuffle": experiment_panels.shuffle,
    "importance": importance.panel,
}


def page(trace: Trace, selection: Selection) -> Selection:
    """Draw the chosen experiment; return the selection as the visitor leaves it."""
    selection = explore_panels.choose_layer(trace, selection)
    selection = widgets.choose(selection, "experiment")
    refused = admission.refusal(f"experiments/{selection.experiment}", trace) if trace.config.model else ""
    if refused:
        notice(refused)
        return selection
    if selection.experiment == "mask_values" and not admission.admitted("experiments/mask_values", trace):
        return selection
    return EXPERIMENTS[selection.experiment](trace, selection)
