"""The maps of a slide: where they stand beside its words, and what part of the window is theirs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial

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
_SHARE, _SIGNED = 26, 34
"""Pixels of a cell that has its number: a share, or one with a sign and two digits behind the point."""
_LETTER, _BESIDE_NAMES, _OVER = 7, 24, 45
"""Pixels of a letter of the words beside a map, of what is about them, and of what stands over and under a head."""
_MOST = 12
"""Columns of a map that has numbers; with more of them it is read by its colours, wherever it stands."""

Column = AbstractContextManager[object]


def columns(
    slide: Slide, before: Sequence[Sequence[Stage]], after: Sequence[Sequence[Stage]], *, room: bool
) -> tuple[Column, Column]:
    """Return where the words of a slide stand, and where its maps do.

    They stand beside each other, unless cells would lose their numbers there or the words have a table; a narrow window
    has the words above.

    before, after  the rows of maps, of which both count, so that the words stand still when a question is answered
    room           has everything below each other
    """
    if room:
        return nullcontext(), nullcontext()
    both = st.container(key="columns-wide" if _has_table(slide) or any(map(_is_wide, (*before, *after))) else "columns")
    return both.container(key="column-words"), both.container(key="column-maps")


def _has_table(slide: Slide) -> bool:
    return any(line.startswith("|") for line in slide.text.splitlines())


def _is_wide(row: Sequence[Stage]) -> bool:
    """Return whether the heads of a row, with numbers in their cells, need more room than there is beside the words."""
    if not row or max(stage.array.shape[2] for stage in row) > _MOST:
        return False
    cells = [_SIGNED if stage.scale.low < 0 else _SHARE for stage in row]
    down = max(1, min(_HIGH // (_SHARE * stage.array.shape[1] + _OVER) for stage in row))
    return sum(map(partial(_width, down), row, cells)) > _BESIDE


def _width(down: int, stage: Stage, cell: int) -> int:
    """Return the pixels of a map with so many heads below each other."""
    heads, _, n_columns = stage.array.shape
    return cell * n_columns * -(-heads // down) + _LETTER * max(map(len, stage.rows)) + _BESIDE_NAMES


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
