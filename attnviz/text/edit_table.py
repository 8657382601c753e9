"""Edits as a visitor makes them: in the cells of a table, or by pasting a matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.records.config import Config
from attnviz.engine.records.edits import MAX_EDITS, OUTER, Edit
from attnviz.engine.records.trace import Step, Trace
from attnviz.settings.counting import ordinal
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words
from attnviz.text.format.sentence_parts import Sentence, fill, rounded_number
from attnviz.text.position_label import position_label
from attnviz.text.step_names import plain as symbol

WORDS = Words(
    {
        "change": "{symbol}{layer}, {where}: {was} → {now}",
        "layer": " of layer {n}",
        "shape": "the matrix has {rows} rows and {columns} columns; {symbol} has {needed_rows} and {needed_columns} "
        "here",
        "many": "{n:,} numbers would be changed; at most {most:,} can be",
    }
)


@dataclass(frozen=True)
class EditedMatrix:
    """The matrix in the table: one head of a step; layer and head count from 0, and are None where there is none."""

    layer: int | None
    step: str
    head: int | None

    def index(self, row: int, column: int, n_axes: int) -> tuple[int, ...]:
        """Return the index of a cell in the step's array."""
        inside = (row, column) if n_axes - (self.head is not None) == 2 else (column,)
        return inside if self.head is None else (self.head, *inside)


def editable(trace: Trace, layer: int) -> dict[str, Step]:
    """Return the steps whose numbers can be changed: those of the layer, and before the first those around it."""
    around = {
        name: step for name, step in trace.around.items() if trace.config.is_cross_attention or name[-3:] != "_kv"
    }
    inside = {name: step for name, step in trace.layers[layer].items() if step.kind != "allowed"}
    return (around if layer == 0 else {}) | inside


def edited_matrix(step: Step, layer: int, head: int) -> EditedMatrix:
    """Return the part of a step that is edited at once."""
    by_head = step.axes[0].endswith("head")
    return EditedMatrix(
        None if step.name in OUTER else layer, step.name, min(head, len(step.array) - 1) if by_head else None
    )


def changed_cells(
    config: Config, on: EditedMatrix, n_axes: int, rows: Mapping[Any, Mapping[str, Any]], columns: Sequence[str]
) -> Config:
    """Return the setting with some cells of a table changed: {row: {column: number}}.

    A cell that was emptied is undone.
    """
    new, removed = [], set()
    for row, cells in rows.items():
        for column, value in cells.items():
            position = on.index(int(row), list(columns).index(column), n_axes)
            if value is None:
                removed.add((on.layer, on.step, position))
            else:
                new.append((on.layer, on.step, position, float(value)))
    return _with(config, (edit for edit in config.edits if edit[:3] not in removed), new)


def set_matrix(trace: Trace, config: Config, on: EditedMatrix, matrix: Array) -> Config:
    """Return the setting with a whole part of a step set; only numbers that differ become edits.

    Raises ConfigError if the matrix has another shape.
    """
    step = trace.around[on.step] if on.layer is None else trace.layers[on.layer][on.step]
    part = np.atleast_2d(step.head(on.head or 0))
    if matrix.shape != part.shape:
        shapes = dict(zip(("rows", "columns", "needed_rows", "needed_columns"), (*matrix.shape, *part.shape)))
        raise ConfigError(WORDS["shape"].format(symbol=symbol(step.symbol), **shapes))
    changes = [
        (on.layer, on.step, on.index(int(row), int(column), len(step.axes)), float(matrix[row, column]))
        for row, column in np.argwhere(matrix != part)
    ]
    return _with(config, config.edits, changes)


def with_number(config: Config, edit: Edit) -> Config:
    """Return the setting with one number of a step changed.

    Raises ConfigError where so many are changed that one more is too many.
    """
    return _with(config, config.edits, [edit])


def with_head(config: Config, layer: int, indices: Sequence[tuple[int, ...]], *, is_off: bool) -> Config:
    """Return the setting with the output of a head at 0, as `knock_out` has it, or with no number of it changed.

    indices  of its output in the step "heads"

    Raises ConfigError where so many numbers are changed that these are too many.
    """
    ours = {(layer, "heads", index) for index in indices}
    others = [edit for edit in config.edits if edit[:3] not in ours]
    return _with(config, others, [(*edited, 0.0) for edited in ours] if is_off else [])


def without(config: Config, edit: Edit) -> Config:
    """Return the setting with one change undone."""
    return replace(config, edits=tuple(other for other in config.edits if other != edit))


def describe_edit(trace: Trace, before: Trace, edit: Edit) -> Sentence:
    """Return one change in words: S, head 2, cat → sat: 0.31 → 4. `before` is the run without any."""
    layer, name, index, value = edit
    step, was = ((run.around if layer is None else run.layers[layer])[name] for run in (trace, before))
    deep = layer is not None and len(trace.layers) > 1
    return fill(
        WORDS["change"],
        symbol=symbol(step.symbol),
        layer=WORDS["layer"].format(n=ordinal(layer)) if deep and layer is not None else "",
        where=position_label(trace, step, index),
        was=rounded_number(float(was.array[index])),
        now=rounded_number(value),
    )


def _with(config: Config, kept: Iterable[Edit], new: Iterable[Edit]) -> Config:
    edits = {edit[:3]: edit for edit in (*kept, *new)}
    if len(edits) > MAX_EDITS:
        raise ConfigError(WORDS["many"].format(n=len(edits), most=MAX_EDITS))
    return replace(config, edits=tuple(edits.values()))
