"""The Experiments page: one question at a time, answered with the present setting."""

from __future__ import annotations

from attnviz.core.trace import Trace
from attnviz.ui import controls, mask_values, panels, trials
from attnviz.ui.selection import Selection

EXPERIMENTS = {
    "mask_values": mask_values.panel,
    "axis": trials.axis,
    "scale": trials.scale,
    "sharing": trials.sharing,
    "shuffle": trials.shuffle,
}


def page(trace: Trace, selection: Selection) -> Selection:
    """Draw the chosen experiment; the selection as the visitor leaves it."""
    selection = panels.layer(trace, selection)
    selection = controls.choose(selection, "experiment")
    return EXPERIMENTS[selection.experiment](trace, selection)
