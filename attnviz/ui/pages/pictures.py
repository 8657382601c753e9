"""Stages of a run side by side on a page that is no Explore page, and what is picked in any stages as a selection."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from attnviz.engine.records.trace import Trace
from attnviz.pictures import columns
from attnviz.pictures.stage_record import Stage
from attnviz.ui.components.stage import heatmap
from attnviz.ui.components.stage.heatmap import Heads
from attnviz.ui.components.stage.picking import Picked
from attnviz.ui.pages.stage_reducer import reduce
from attnviz.ui.panels import explore_panels, window
from attnviz.ui.panels.cell import selected
from attnviz.ui.session.browser.stage_events import last
from attnviz.ui.session.selection import Selection


def draw(trace: Trace, selection: Selection, *, key: str, names: Collection[str] = columns.OPENING) -> Selection:
    """Draw the named stages of a layer side by side; return the selection with what was picked in them."""
    selection = explore_panels.choose_layer(trace, selection)
    everywhere = replace(selection, focus=None)
    moved = last("window", key)
    everywhere = everywhere if moved is None else reduce(everywhere, moved, trace)
    seen = window.seen(trace, everywhere)
    stages = columns.opening(trace, selection.layer)
    shown = [seen.part(stage) for stage in stages if stage.name in names]
    if not shown:
        return selection
    picked = heatmap.show(
        shown,
        key=key,
        picked=picked_of(seen.inside(everywhere), shown),
        heads=Heads(overview=window.overview(trace, everywhere, seen)),
    )
    if picked is not None:
        everywhere = window.held(seen.outside(everywhere, selected(everywhere, picked, shown)), seen)
    return replace(everywhere, focus=selection.focus)


def picked_of(selection: Selection, stages: list[Stage], answer: Mapping[str, Any] | None = None) -> Picked | None:
    """Return the selected cell or row as the pictures know it, or the number of which there is an answer."""
    head, query, key = selection.head, selection.query, selection.key
    number = answer["number"] if answer else {}
    numbered = next((stage for stage in stages if stage.name == number.get("stage")), None)
    if numbered is not None:
        row = key if numbered.axes[0] == "key" else query
        return None if row is None else Picked(numbered.name, number["head"], row, number["column"])
    if query is None:
        return None
    leading = sorted(stages, key=lambda stage: (not stage.leads, stage.axes != ("query", "key")))
    stage = next((stage for stage in leading if stage.axes[0] == "query"), None)
    if stage is None:
        return None
    output = next((stage for stage in stages if stage.name == "heads"), None)
    if output is not None and None not in (head, selection.dimension):
        return Picked(output.name, head, query, selection.dimension)
    whole = None not in (head, key) and stage.axes[1] == "key"
    return Picked(stage.name, head, query, key) if whole else Picked(stage.name, None, query, None)
