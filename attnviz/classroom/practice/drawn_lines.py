"""A row, a column, a cell or a head of a step as a picture of its own, in which a mistake can be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from attnviz.arrays import Array
from attnviz.classroom import slides
from attnviz.classroom.context.question_context import QuestionContext
from attnviz.pictures.stage_record import Stage
from attnviz.settings.counting import ordinals

Part = slice | int | list[int]
Line = tuple[str, Array, tuple[Part, Part], tuple[int, int]]
"""A step to draw in, its numbers (rows, columns), which of these are drawn, and the cell of them that is framed."""

EVERY = slice(None)
NOWHERE = (-1, -1)


def drawn(runs: QuestionContext, head: int, line: Line, also: Sequence[tuple[int, int]] = ()) -> Stage:
    """Return the line as a picture of its own, its cell framed, and others with it."""
    name, array, (rows, columns), cell = line
    whole = slides.pictures(runs.trace, runs.layer, (name,))[0]
    row_names, column_names = whole.rows, whole.columns or [str(n) for n in ordinals(array.shape[1])]
    i, j = (np.arange(n)[part] for n, part in zip(array.shape, (rows, columns)))
    i, j = np.atleast_1d(i), np.atleast_1d(j)
    part = array[np.ix_(i, j)][None]
    framed = tuple((0, r, c) for r in range(len(i)) for c in range(len(j)) if (i[r], j[c]) in (cell, *also))
    return replace(
        slides.without_caption(whole),
        name="mistake",
        array=part,
        rows=[row_names[at] for at in i],
        columns=[column_names[at] for at in j],
        masked=np.isneginf(part),
        widths=None,
        heads=[whole.names[head]],
        edited=framed,
        sums=False,
        bars=None,
        roles=None,
        chosen=None,
        phrase="",
        formula="",
    )
