"""The notes on a run: edits and cells that fit nothing in it, and rows without an allowed key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attnviz.engine.records import edits as edits_of
from attnviz.engine.records.config import Config
from attnviz.engine.records.edits import Edit
from attnviz.engine.records.trace import Steps
from attnviz.engine.tables import masks
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Plural, Words, sign

NOTES = Words(
    {
        "left_out": "Changed numbers that have no place in this setting are left out: {listed}.",
        "more_left_out": "Changed numbers that have no place in this setting are left out: {listed} and {n:,} more.",
        "beyond": "The list of allowed cells names {n} beyond the {queries} queries and {keys} keys; left out.",
        "zero": "{where}no score is positive, so the weights are all zeros: {listed}.",
        "more_zero": "{where}no score is positive, so the weights are all zeros: {listed} and {n} more.",
        "row": "head {head} row {row}",
    }
)
EMPTY = Plural(
    "{where}row {rows} has nothing to attend to: weights and output are zeros there.",
    "{where}rows {rows} have nothing to attend to: weights and output are zeros there.",
)


def note_left_out(layers: Sequence[Steps], config: Config, notes: list[str]) -> tuple[Edit, ...]:
    """Return the edits that were applied; add to the notes those of the setting that fit nothing in the run."""
    beyond = [edit for edit in config.edits if edit[0] is not None and edit[0] >= config.n_layers]
    left_out = [*(edit for steps in layers for edit in steps.left_out), *beyond]
    if left_out:
        listed, more = ", ".join(edits_of.position(edit) for edit in left_out[:3]), len(left_out) - 3
        notes.append(NOTES["more_left_out" if more > 0 else "left_out"].format(listed=listed, n=more))
    return tuple(edit for steps in layers for edit in steps.edits)


def note_beyond(config: Config, n_query: int, n_key: int, notes: list[str]) -> None:
    """Add a note if the list of allowed cells names cells that do not exist."""
    beyond = (
        sum(i >= n_query or j >= n_key for i, j in masks.parse(config.custom_cells)) if "custom" in config.mask else 0
    )
    if beyond:
        notes.append(NOTES["beyond"].format(n=beyond, queries=n_query, keys=n_key))


def note_empty_rows(layer: Steps, config: Config, where: str, notes: list[str]) -> None:
    """Add to the notes the rows without weights, and the reason."""
    nothing = np.isneginf(layer["masked"].array).all(axis=-1).all(axis=0)
    if nothing.any():
        rows = sign(", ").join(map(str, ordinal(np.flatnonzero(nothing))))
        note = EMPTY.format(n=int(nothing.sum()), where=where, rows=rows)
        notes.append(note[0].upper() + note[1:])
    zero = (layer["weights"].array.sum(axis=-1) == 0) & ~np.isneginf(layer["masked"].array).all(axis=-1)
    zero &= (layer["masked"].array <= 0).all(axis=-1)
    if zero.any():
        listed = ", ".join(
            NOTES["row"].format(head=ordinal(int(h)), row=ordinal(int(i))) for h, i in np.argwhere(zero)[:6]
        )
        more = int(zero.sum()) - 6
        note = NOTES["more_zero" if more > 0 else "zero"].format(where=where, listed=listed, n=more)
        notes.append(note[0].upper() + note[1:])
