"""The maps of a slide: where they stand beside its words, and what part of the window is theirs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import streamlit as st

from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.lessons.lesson import Slide
from attnviz.pictures.stage_record import Stage
from attnviz.ui.components.stage import heatmap
from attnviz.ui.components.stage.view import SCROLLED, View
from attnviz.ui.panels.classroom import picked_answer
from attnviz.ui.panels.lesson import question as question_panel

_ROOM = View(fit=True, large=True)
_UNSCROLLED = View(fit=True, reserved=30, least=270)
"""Of a learner's slide with nothing but pictures below its text; on a small window it is scrolled instead."""
_UNSCROLLED_BUTTONS = replace(_UNSCROLLED, reserved=85)

_BESIDE, _HIGH = 660, 520
"""Pixels that maps have beside the words in a window of 1280 by 720, with the list of lessons at the left."""
_NUMBERED, _SMALLEST = 26, 20
"""Pixels of a cell that has its number, and the least of one that an answer may make smaller."""
_LEFT, _OVER = 60, 45
"""Pixels for the words and the gap beside a map, and for what stands over and under a head."""
_MOST = 12
"""Columns of a map that has numbers; with more of them it is read by its colours, wherever it stands."""

Column = AbstractContextManager[object]


def columns(
    before: Sequence[Sequence[Stage]], after: Sequence[Sequence[Stage]], *, room: bool
) -> tuple[Column, Column]:
    """Return where the words of a slide stand, and where its maps do.

    They stand beside each other, unless cells would lose their numbers there; a narrow window has the words above.

    before, after  the rows of maps, of which both count, so that an answer moves nothing
    room           has everything below each other
    """
    if room:
        return nullcontext(), nullcontext()
    wide = any(_is_wide(row, _NUMBERED) for row in before) or any(_is_wide(row, _SMALLEST) for row in after)
    both = st.container(key="columns-wide" if wide else "columns")
    return both.container(key="column-words"), both.container(key="column-maps")


def _is_wide(row: Sequence[Stage], cell: int) -> bool:
    """Return whether the heads of a row need more room than there is beside the words, with cells of so many pixels."""
    shapes = [stage.array.shape for stage in row]
    if not shapes or max(shape[2] for shape in shapes) > _MOST:
        return False
    down = max(1, _HIGH // (cell * max(shape[1] for shape in shapes) + _OVER))
    return sum(cell * n_columns * -(-heads // down) + _LEFT for heads, _, n_columns in shapes) > _BESIDE


def pictures_key(row: int) -> str:
    """Return the key of a row of maps."""
    return f"lesson-{row}"


def draw(
    slide: Slide, rows: Sequence[Sequence[Stage]], question: ResolvedQuestion | None, at: str, *, room: int | None
) -> None:
    """Draw the maps, a row at a time; for a room one row alone, in large type and within the screen.

    question  the open one;  room  the index of the row for a room
    """
    view, lettering = _view(slide, rows, question is not None), picked_answer.lettering(question)
    if room is not None:
        view, rows = _ROOM, [[replace(picture, large=True) for picture in row] for row in rows[room:][:1]]
    for number, row in enumerate(filter(None, rows)):
        picked = picked_answer.cell(question, row, question_panel.answer_key(at)) if question else None
        heatmap.show(row, key=pictures_key(number), picked=picked, view=view, lettering=lettering)


def _view(slide: Slide, rows: Sequence[Sequence[Stage]], is_open: bool) -> View:
    """Return the share of a learner's window: all that is left, until there is more than one row and its buttons.

    An answered question keeps the size that its cells need, as the answer must not make a picture smaller.
    """
    if len(rows) > 1 or (slide.question is not None and not is_open):
        return SCROLLED
    return _UNSCROLLED if is_open else _UNSCROLLED_BUTTONS
