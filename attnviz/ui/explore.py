"""The Explore page: scores, weights and outputs of all heads side by side, and below them one thing up close."""

from __future__ import annotations

from dataclasses import replace

from attnviz.core.trace import Trace
from attnviz.ui import bridge, cell, controls, panels
from attnviz.ui.bridge import Picked
from attnviz.ui.selection import Selection
from attnviz.views import stages

PANELS = {
    "cell": cell.panel,
    "word": panels.read_word,
    "flow": panels.every_step,
    "statistics": panels.statistics,
    "redeal": panels.deal_again,
    "table": panels.table,
}


def page(trace: Trace, selection: Selection) -> Selection:
    """Draw the page; the selection as the visitor leaves it."""
    if len(trace.layers) > 1:
        selection = controls.draw(selection, "layer")
    picked = bridge.show(stages.side_by_side(trace, selection.layer - 1), key="explore", picked=_picked(selection))
    if picked is not None:
        selection = _selected(selection, picked)
    selection = controls.choose(selection, "panel")
    return PANELS[selection.panel](trace, selection)


def _picked(selection: Selection) -> Picked | None:
    """The selected cell or row as the pictures know it."""
    head, query, key = (
        None if number is None else number - 1 for number in (selection.head, selection.query, selection.key)
    )
    if query is None:
        return None
    return Picked("weights", head, query, key) if None not in (head, key) else Picked("weights", None, query, None)


def _selected(selection: Selection, picked: Picked) -> Selection:
    """What was picked, counted from 1 as people count; a word alone lets go of head and key."""
    head, query, key = (None if number is None else number + 1 for number in (picked.head, picked.row, picked.column))
    if picked.stage == "heads":
        return replace(selection, head=head or selection.head, query=query)
    return replace(selection, head=head, query=query, key=key)
