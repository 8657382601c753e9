"""The cell of a frame that is explained: chosen in a map, it stays chosen while the film goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from attnviz.arithmetic.cell import Cell
from attnviz.engine.records.trace import Trace
from attnviz.pictures.answer.browser_facts import CellFacts
from attnviz.pictures.stage_record import Stage
from attnviz.text import opening_sentence
from attnviz.ui.components.answer import drawer
from attnviz.ui.components.stage import picking
from attnviz.ui.components.stage.picking import Picked
from attnviz.ui.panels import cell as cell_panel
from attnviz.ui.session import widget_values, widgets
from attnviz.ui.session.browser import stage_events
from attnviz.ui.session.selection import Selection

KEY = "learn"
"""Of the maps."""


def updated(
    selection: Selection, asked: str, shown: Sequence[Stage], of: Mapping[str, tuple[Trace, int]]
) -> tuple[Selection, str]:
    """Return the selection and the name of the map in which a cell was chosen, as the last run leaves them.

    of  the run and the layer of each map
    """
    selection = replace(selection, focus=None)
    picked, part = picking.picked(KEY, shown), drawer.part(cell_panel.ANSWER)
    if picked is not None and picked.row is not None:
        asked = picked.stage
        selection = replace(selection, head=picked.head, query=picked.row, key=picked.column, dimension=None)
        if of[asked][0] is of[shown[0].name][0]:
            selection = replace(selection, layer=of[asked][1])
    elif stage_events.last("close", part):
        selection = replace(selection, query=None, key=None, dimension=None)
    if asked not in of:
        asked = shown[selection.layer].name
    other = stage_events.last("key", part)
    key = None if other is None else other.key
    if key is not None and key < len(of[asked][0].key_tokens) and selection.query is not None:
        head = opening_sentence.telling(*of[asked])[0] if selection.head is None else selection.head
        selection = replace(selection, head=head, key=key, dimension=None)
    if stage_events.last("lines", part):
        selection = replace(selection, all_lines=True)
        widget_values.show(selection, unlike=[replace(selection, all_lines=False)])
    return selection, asked


def marked(selection: Selection, asked: str, shown: Sequence[Stage]) -> Picked | None:
    """Return what is marked in the map in which it was chosen."""
    if selection.query is None:
        return None
    whole = selection.head is not None and selection.key is not None
    stage = next(stage for stage in shown if stage.name == asked)
    if not whole:
        return Picked(stage.name, None, selection.query, None)
    return Picked(stage.name, selection.head, selection.query, selection.key)


def explain(trace: Trace, selection: Selection, cells: CellFacts | None) -> Cell | None:
    """Draw how the number of the chosen cell came to be in this frame."""
    head = 0 if selection.query is None else opening_sentence.telling(trace, selection.layer)[0]
    return cell_panel.explain(trace, selection, head, cells)


def all_lines(trace: Trace, selection: Selection, cell: Cell | None) -> Selection:
    """Draw all lines of arithmetic of the chosen cell once they were asked for, and a switch to put them away."""
    if cell is None or not selection.all_lines:
        return selection
    with st.container(key="all-lines"):
        selection = widgets.draw(selection, "all_lines")
        return cell_panel.panel(trace, selection, cell) if selection.all_lines else selection
