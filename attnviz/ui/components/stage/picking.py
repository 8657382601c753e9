"""Picks in the pictures since the last run: a cell, a row or a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attnviz.pictures.stage_record import Stage
from attnviz.ui.session.browser.stage_events import Event, last


@dataclass(frozen=True)
class Picked:
    """A cell of a stage, or a whole row or column picked by its word: then the rest is None. All count from 0."""

    stage: str
    head: int | None
    row: int | None
    column: int | None


def picked(key: str, stages: Sequence[Stage]) -> Picked | None:
    """Return the pick since the last run, before the pictures are drawn again: `stages` as they were in that run."""
    return located(last("pick", key), stages)


def located(event: Event | None, stages: Sequence[Stage]) -> Picked | None:
    """Return what an event picks; None if there is no such cell, row or column, as a browser may say anything."""
    stage = next((stage for stage in stages if event is not None and stage.name == event.stage), None)
    if stage is None or event is None or event.row is event.column is None:
        return None
    head, row, column = event.head, event.row, event.column
    if any(at is not None and at >= size for at, size in zip((head, row, column), stage.array.shape, strict=True)):
        return None
    if head is not None and column is not None and column >= stage.true_widths[head]:
        return None
    return Picked(stage.name, head, row, column)
