"""The controls of a slide as widgets: its moves, the mask to paint, and the measures of the result."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import streamlit as st

from attnviz.arrays import Array
from attnviz.classroom.measures import MEASURES, measure_text
from attnviz.engine.cost.need import Need
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.engine.tables.mask_bits import compact
from attnviz.lessons.control import Control, ControlChoice, ControlMove
from attnviz.lessons.lesson import Lesson, Slide
from attnviz.pictures.stage_record import Stage
from attnviz.settings.counting import ordinal
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words
from attnviz.text.format.html_math import as_markdown, named
from attnviz.text.format.number_format import localised
from attnviz.ui.components import mask_painter
from attnviz.ui.session import admission
from attnviz.ui.session.notices import notice

WORDS = Words(
    {
        "try": "Try it",
        "apart": "These choices do not go together: {why}.",
        "as_on_slide": "on the slide: {value}",
    }
)
NEED = Need(held=2, made=2, drawn=48)
"""The need of a lesson: its own setting, that of a slide, and what is tried there."""
TRANSPOSED = {"row_sums": "column_sums", "column_sums": "row_sums"}
PAINTED = ControlChoice("")
_PAINTED = "_painted"


@dataclass(frozen=True)
class Tried:
    """The run of what a person tries on a slide, and whether its pictures are turned."""

    trace: Trace
    transposed: bool = False


def draw(lesson: Lesson, slide: Slide, at: str, baseline: Trace, shown: Trace) -> Tried:
    """Draw the control of a slide, and return what is tried; the slide itself where it has none.

    at   the slide, as what is tried is kept by
    baseline  the run of the lesson's own setting;  shown  that of the slide
    """
    control = slide.control
    if control is None:
        return Tried(shown)
    with st.container(key="control", gap="xxsmall"):
        st.markdown(f"**{WORDS['try']}**")
        row = st.container(horizontal=True, gap="medium", vertical_alignment="bottom")
    with row:
        choices = [_move(lesson, slide, move, f"control-{at}-{n}", shown) for n, move in enumerate(control.moves, 1)]
        if control.paint:
            choices.append(_paint(at, shown))
        tried = _run(lesson, slide, choices, shown)
        transposed = any(choice.transposed for choice in choices)
        _measures(control, baseline, shown, tried, transposed)
    return Tried(tried, transposed)


def _move(lesson: Lesson, slide: Slide, move: ControlMove, key: str, shown: Trace) -> ControlChoice:
    """Draw one move; it begins with what is on the slide."""
    positions, labels = (
        range(len(move.choices)),
        [as_markdown(localised(choice.label) if move.is_slider else choice.label) for choice in move.choices],
    )
    first = _as_on_slide(lesson, slide, move, shown)
    value = st.session_state.get(key)
    start = value if value in positions else first
    if move.is_slider:
        at = st.select_slider(
            as_markdown(move.label), positions, start, format_func=labels.__getitem__, key=key, width=320
        )
    else:
        at = st.segmented_control(
            as_markdown(move.label), positions, default=start, format_func=labels.__getitem__, key=key, required=True
        )
    return move.choices[first if at is None else at]


def _as_on_slide(lesson: Lesson, slide: Slide, move: ControlMove, shown: Trace) -> int:
    seed = shown.config.seed
    settings = (lesson.on(slide, seed, [choice]) for choice in move.choices)
    return next(
        (
            n
            for n, (each, choice) in enumerate(zip(settings, move.choices))
            if each == shown.config and not choice.transposed
        ),
        0,
    )


def _paint(at: str, shown: Trace) -> ControlChoice:
    """Draw the mask as a grid to paint; what is painted is kept in the session."""
    painted = st.session_state.get(_PAINTED, {}).get(at)
    allowed = shown["allowed"].head(0).astype(bool) if painted is None else painted
    mask_painter.show(
        allowed, shown.query_tokens, shown.key_tokens, key=f"control-{at}-paint", painted=partial(_painted, at)
    )
    return PAINTED if painted is None else replace(PAINTED, change={"mask": "custom", "custom_cells": compact(painted)})


def _painted(at: str, cells: Array) -> None:
    st.session_state[_PAINTED] = {**st.session_state.get(_PAINTED, {}), at: cells}


def _run(lesson: Lesson, slide: Slide, choices: Sequence[ControlChoice], shown: Trace) -> Trace:
    """Return the run of the choices; the slide's, with a sentence, where they do not go together."""
    try:
        config = lesson.on(slide, shown.config.seed, choices)
    except ConfigError as error:
        notice(WORDS["apart"].format(why=str(error)), kind="fault")
        return shown
    return run(config) if config != shown.config and admission.admitted(NEED, config) else shown


def _measures(control: Control, baseline: Trace, shown: Trace, tried: Trace, transposed: bool) -> None:
    """Print what is measured, and beside it the same on the slide, where that is other.

    In a picture that is turned, a row is a column.
    """
    cells = []
    for name in control.measures:
        of = TRANSPOSED.get(name, name) if transposed else name
        value, first = measure_text(of, baseline, tried), measure_text(name, baseline, shown)
        value, first = localised(value), localised(first)
        beside = "" if value == first else f"<small>{html.escape(WORDS['as_on_slide'].format(value=first))}</small>"
        cells.append(f"<div><b>{value}</b>{beside}<span>{named(html.escape(MEASURES[name].label))}</span></div>")
    st.html(f'<div class="attn-measures" role="status">{"".join(cells)}</div>', width="content")


def transpose(picture: Stage) -> Stage:
    """Return a picture with its rows as columns, and the words of both."""
    columns = picture.columns or [str(ordinal(n)) for n in range(picture.array.shape[2])]
    return replace(
        picture,
        array=np.swapaxes(picture.array, 1, 2),
        rows=columns,
        columns=picture.rows,
        axes=picture.axes[::-1],
        masked=None if picture.masked is None else np.swapaxes(picture.masked, 1, 2),
        widths=None,
        sums=False,
    )
