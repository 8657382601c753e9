"""Picks in the pictures since the last run: a cell, a head, another step, another scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from attnviz.pictures.stage_record import Stage
from attnviz.ui.session.browser.component import checked_index, report


@dataclass(frozen=True)
class Picked:
    """A cell of a stage, or a whole row or column picked by its word: then the rest is None. All count from 0."""

    stage: str
    head: int | None
    row: int | None
    column: int | None


def has_picked(key: str) -> bool:
    """Return whether something was picked in the pictures of a key since the last run."""
    return report(key).get("picked") is not None


def picked(key: str, stages: Sequence[Stage]) -> Picked | None:
    """Return the pick since the last run, before the pictures are drawn again: `stages` as they were in that run."""
    return read(report(key).get("picked"), stages)


def focused_head(key: str, heads: int) -> tuple[int | None] | None:
    """Return the head that was brought to the front since the last run, (None,) for all; None as a rule."""
    head = report(key).get("focus")
    if isinstance(head, bool) or not isinstance(head, int) or not -1 <= head < heads:
        return None
    return (None,) if head < 0 else (head,)


def is_rescaled(key: str) -> bool:
    """Return whether the scale of the colours was switched since the last run."""
    return report(key).get("scale") is True


def turned_to(key: str) -> str | None:
    """Return the step that was turned to since the last run; None as a rule."""
    step = report(key).get("shown")
    return step[:40] if isinstance(step, str) and step else None


def read(answer: Any, stages: Sequence[Stage]) -> Picked | None:
    """Read a pick from the browser; None if there is no such cell, row or column, as it may say anything."""
    stage = next((stage for stage in stages if isinstance(answer, dict) and stage.name == answer.get("stage")), None)
    if stage is None:
        return None
    sizes = zip(("head", "row", "column"), stage.array.shape, strict=True)
    try:
        head, row, column = (checked_index(answer.get(name), size) for name, size in sizes)
    except ValueError:
        return None
    if head is not None and column is not None and column >= stage.true_widths[head]:
        return None
    return None if row is None and column is None else Picked(stage.name, head, row, column)
