"""The Explore page: scores, weights and outputs of all heads side by side, and below them one thing up close."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from attnviz.core.trace import Trace
from attnviz.ui import bridge, cell, controls, mask_builder, panels, what_if
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
    "what_if": what_if.panel,
    "mask": mask_builder.panel,
}


def page(trace: Trace, selection: Selection) -> Selection:
    """Draw the page; the selection as the visitor leaves it."""
    selection = pictures(trace, selection, key="explore")
    selection = controls.choose(selection, "panel")
    return PANELS[selection.panel](trace, selection)


def pictures(
    trace: Trace, selection: Selection, *, key: str, names: Collection[str] = stages.SIDE_BY_SIDE
) -> Selection:
    """Draw the named stages of a layer side by side; the selection with what was picked in them."""
    selection = panels.layer(trace, selection)
    shown = [stage for stage in stages.side_by_side(trace, selection.layer - 1) if stage.name in names]
    picked = bridge.show(shown, key=key, picked=_picked(selection)) if shown else None
    return selection if picked is None else _selected(selection, picked)


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
