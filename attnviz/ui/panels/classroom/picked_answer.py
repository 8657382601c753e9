"""Answers that are clicked: a row, a column or its word in a picture chooses the option that stands for it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.pictures.stage_record import Stage
from attnviz.ui.components.stage import picking
from attnviz.ui.components.stage.heatmap import Lettering
from attnviz.ui.components.stage.picking import Picked
from attnviz.ui.session.browser import component
from attnviz.ui.session.browser.uninterrupted import uninterrupted


def option_at(question: ResolvedQuestion, stages: Sequence[Stage], picked: Picked) -> int | None:
    """Return the option that a pick stands for, None where it stands for none.

    The options of a question are the words along one axis. In a picture whose rows are that axis it is the row that
    was picked, in one whose columns are it is the column. Where a cell is asked for it is the cell.
    """
    axes = next(stage.axes for stage in stages if stage.name == picked.stage)
    position = None
    if question.form == "cell":
        of_weights = next((stage for stage in stages if stage.name == "weights"), None)
        if picked.row is None or picked.column is None or of_weights is None or axes[-2:] != of_weights.axes[-2:]:
            return None
        return picked.row * of_weights.array.shape[2] + picked.column
    if question.form == "some" or axes[-1] != question.axis:
        position = picked.row if axes[-2] == question.axis else None
    elif axes[-1] == question.axis:
        position = picked.column
    return position if position is not None and position < len(question.options) else None


def lettering(question: ResolvedQuestion | None) -> Lettering:
    """Return how the pictures of an open question are lettered; None for one that is answered, or none."""
    return Lettering(is_question=question is not None, is_unnamed=question is not None and question.form == "cell")


def cell(question: ResolvedQuestion, stages: Sequence[Stage], key: str) -> Picked | None:
    """Return the cell that is chosen in the widget of a key, counted row by row, to be marked in the picture."""
    answer = st.session_state.get(key)
    stage = next((each for each in stages if each.name == "weights"), None)
    if question.form != "cell" or stage is None or not isinstance(answer, int) or answer >= len(question.options):
        return None
    return Picked(stage.name, 0, *divmod(answer, stage.array.shape[2]))


def take(question: ResolvedQuestion, stages: Sequence[Stage], *, pictures: str, answer: str) -> None:
    """Choose the option that was clicked since the last run, or take it back; before its widget is drawn.

    pictures  the key of the pictures;  answer  that of the widget
    """
    if not question.axis and question.form != "cell":
        return
    picked = picking.picked(pictures, stages)
    position = None if picked is None else option_at(question, stages, picked)
    if position is None:
        return
    with uninterrupted():
        component.forget()  # a second time it would be taken back
        answers = {*(st.session_state.get(answer) or ())} if question.form == "some" else set()
        st.session_state[answer] = sorted(answers ^ {position}) if question.form == "some" else position
