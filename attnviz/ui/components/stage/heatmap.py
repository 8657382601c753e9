"""The pictures on the page, and the way back from them: which cell a person has chosen.

Streamlit draws the charts; a small component without any markup of its own writes over them and listens. It finds the
charts by the keys given here.

A chart that is given other numbers is a new one to Streamlit: the browser takes the old one out and builds the new one
from nothing, which costs more than all else in a move. So a chart is told only what its picture's size depends on, and
another component brings the numbers, which the first one puts into the chart that is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import streamlit as st

from attnviz.pictures import figures, headings
from attnviz.pictures.figures import Stage
from attnviz.pictures.placement import NARROWEST_PAGE, STAGE_GAP, Placement
from attnviz.settings import language
from attnviz.settings.language import Words
from attnviz.ui.components.pickers import film_strip
from attnviz.ui.components.stage import drawer
from attnviz.ui.session import transport

DEFAULT_WIDTH = 960  # beside an open sidebar on a window of 1280
WIDTHS = (240, 3840)
DEFAULT_ROOM = 560  # below the sentence on a window of 720
HEIGHTS = (160, 2160)
ROOM_STEP = 64
"""Pixels by which the room of a chart has to change for another chart to be built.

Plotly writes the part of the room that a picture takes into the chart, and in another room it takes the same part of
that: half of the room made half of the picture. A new chart knows nothing of the old room.
"""
LEGEND = 140  # pixels that a legend takes beside what is said
USUAL = 560  # pixels for the pictures of a page that is scrolled
WORDS = Words(
    {
        "masked": "masked",
        "nan": "not a number",
        "asked": "this is what is asked for",
        "empty": "(empty)",
        "wide": "wide",
        "word": "word",
        "from": "from",
        "dimension": "dimension",
        "total": "total",
        "spread": "spread",
        "zero": "every score is 0",
        "keys": "Heat map. Arrow keys move from cell to cell, Page Up and Page Down from head to head, Enter chooses.",
    }
)

_HERE = Path(__file__).parent
_SCRIPTS = (
    "ink.js",
    "chart.js",
    "lettering.js",
    "picture.js",
    "lens.js",
    "heatmap.js",
)  # each builds on those before it
_component = st.components.v2.component(
    "attnviz_bridge",
    css=(_HERE / "heatmap.css").read_text("utf-8"),
    js="\n".join((_HERE / part).read_text("utf-8") for part in _SCRIPTS),
    isolate_styles=False,
)
_pictures = st.components.v2.component(
    "attnviz_pictures", js=(_HERE / "pictures.js").read_text("utf-8"), isolate_styles=False
)


@dataclass(frozen=True)
class Picked:
    """What a person chose in a picture: a cell, or a whole row or column by its word (then the rest is None)."""

    stage: str
    head: int | None
    row: int | None
    column: int | None


def show(
    stages: Sequence[Stage],
    *,
    key: str,
    picked: Picked | None = None,
    width: int = DEFAULT_WIDTH,
    signs: bool = False,
    fit: bool = False,
    fill: bool = False,
    focus: film_strip.Film | None = None,
    heads: int = 1,
    opening: tuple[int, int] | None = None,
    first: str = "",
    leave: int = 0,
    answered: bool = False,
    asked: bool = False,
) -> Picked | None:
    """Draw the stages and return what was chosen in them since the last run, None as a rule.

    picked   what is chosen now; it is marked in every stage that it concerns
    width    pixels to lay out for until the browser has said how many there are
    signs    write a minus into negative cells that are too small for their number, as is always done in print
    fit      keep within the room that the window has left, as the browser tells it, so that nothing is scrolled
    fill     fill the window from here to its foot; what follows is scrolled to. A phone has one stage at a time then
    focus    the stages are those of one head, beside a film strip of all of them
    heads    how many heads there are of which one can be brought forward
    opening  the head and the row that are lit while nothing is chosen or pointed at
    first    the stage that is shown where there is room for one at a time; otherwise the one that leads
    leave    pixels of the window below the pictures that are for something else
    answered an answer stands beside them, or on a narrow window below, and takes its place of theirs
    asked    a number that is NaN is one that a question asks for
    """
    every = stages
    told = _told(key, width, fill=fill, fit=fit, answered=answered, leave=leave)
    stages = told.seen(stages, first)
    with st.container(key=key, gap=None):
        answer = _component(
            key=f"{key}-bridge",
            data=transport.packed(
                {
                    "key": key,
                    "stages": [stage.name for stage in stages],
                    "names": {stage.name: stage.title for stage in stages},
                    "picked": asdict(picked) if picked else None,
                    "width": width,
                    "wide": told.wide,
                    "words": {**WORDS, "mark": "NaN"} | ({"nan": WORDS["asked"], "mark": "?"} if asked else {}),
                    "axes": {axis: language.translate(axis) for stage in stages for axis in stage.axes},
                    "signs": signs,
                    "fit": HEIGHTS[0] if fit or fill else 0,
                    "fill": DEFAULT_ROOM if fill else 0,
                    "focus": None if focus is None else focus.head,
                    "heads": heads,
                    "opening": opening,
                    "turns": [stage.name for stage in every] if len(stages) < len(every) else [],
                }
            ),
            height="content",
            on_width_change=_nothing,
            on_room_change=_nothing,
            on_wide_change=_nothing,
            on_picked_change=_nothing,
            on_focus_change=_nothing,
            on_scale_change=_nothing,
            on_shown_change=_nothing,
        )
        placed = _placed(stages, told, focused=focus is not None)
        turns = [(stage.name, stage.title) for stage in every] if len(stages) < len(every) else []
        _draw(stages, placed, told, key, focus, turns)
    return _refined(read(answer.get("picked"), stages), stages, placed)


def narrow(key: str, width: int = DEFAULT_WIDTH) -> bool:
    """Return whether these pictures have room for one stage at a time, as far as the browser has told."""
    return _width(_said(key).get("width"), width) < NARROWEST_PAGE


def in_front(stages: Sequence[Stage], first: str) -> Stage:
    """Return the stage of a name, or else the one that leads."""
    named = (stage for stage in stages if stage.name == first)
    leading = (stage for stage in stages if stage.leads)
    return next(named, next(leading, stages[0]))


@dataclass(frozen=True)
class _Told:
    """The room that the browser has told of, less what an answer takes of it.

    wide  whether the window is so wide that an answer stands beside the maps;  fill  whether they fill the window
    """

    width: int
    room: int | None
    wide: bool
    fill: bool

    def seen(self, stages: Sequence[Stage], first: str) -> list[Stage]:
        """Return the stages that there is room for: one alone where they do not stand side by side."""
        return [in_front(stages, first)] if self.fill and self.width < NARROWEST_PAGE else list(stages)

    @property
    def high(self) -> int:
        """Pixels for the pictures under their headings."""
        return (self.room or USUAL) - headings.HEIGHT

    def films(self, *, focused: bool) -> tuple[int, int]:
        """Return the pixels that a film strip takes beside the pictures, or below where the stages need the width."""
        if not focused:
            return 0, 0
        beside = self.width - film_strip.WIDTH >= NARROWEST_PAGE
        return (film_strip.WIDTH, 0) if beside else (0, film_strip.HEIGHT)


def _told(key: str, width: int, *, fill: bool, fit: bool, answered: bool, leave: int) -> _Told:
    said = _said(key)
    wide = said.get("wide") is not False
    told = _width(said.get("width"), width)
    room = _room(said.get("room"), DEFAULT_ROOM if fill else None) if fit or fill else None
    if room is not None:
        room = max(room - leave, HEIGHTS[0])
    if answered and wide:
        told = max(told - drawer.WIDTH, WIDTHS[0])
    elif answered and room is not None and room - drawer.HEIGHT >= HEIGHTS[0]:
        room -= drawer.HEIGHT
    return _Told(told, room, wide, fill)


def has_chosen(key: str) -> bool:
    """Return whether something was chosen in these pictures since the last run."""
    return _said(key).get("picked") is not None


def chosen(
    key: str,
    stages: Sequence[Stage],
    *,
    focused: bool,
    answered: bool,
    first: str = "",
    leave: int = 0,
    width: int = DEFAULT_WIDTH,
) -> Picked | None:
    """Return what was chosen since the last run in pictures that fill the window, before they are drawn anew.

    All the rest says how they were drawn then.
    """
    told = _told(key, width, fill=True, fit=False, answered=answered, leave=leave)
    stages = told.seen(stages, first)
    return _refined(read(_said(key).get("picked"), stages), stages, _placed(stages, told, focused=focused))


def _refined(picked: Picked | None, stages: Sequence[Stage], placed: Placement) -> Picked | None:
    """The cell that a drawn one stands for, where several share it."""
    if picked is None or picked.row is None:
        return picked
    for stage, tiling in zip(stages, placed.tilings, strict=True):
        if stage.name == picked.stage and picked.head is not None and picked.column is not None:
            row, column = figures.behind(stage, tiling, picked.head, picked.row, picked.column)
            return replace(picked, row=row, column=column)
    return picked


def brought(key: str, heads: int) -> tuple[int | None] | None:
    """The head that was brought forward in these pictures since the last run, (None,) for all; None as a rule."""
    said = _said(key)
    head, cell = said.get("focus"), said.get("picked")
    if isinstance(cell, Mapping) and cell.get("bring") is True:
        head = cell.get("head")
    if isinstance(head, bool) or not isinstance(head, int) or not -1 <= head < heads:
        return None
    return (None,) if head < 0 else (head,)


def rescaled(key: str) -> bool:
    """Whether the other choice of scales was asked for in these pictures since the last run."""
    return _said(key).get("scale") is True


def turned(key: str) -> str | None:
    """Return the step that was turned over to in these pictures since the last run; None as a rule."""
    step = _said(key).get("shown")
    return step[:40] if isinstance(step, str) and step else None


def _said(key: str) -> Mapping[str, Any]:
    """What the browser has said of these pictures, before they are drawn: it may say anything."""
    said = st.session_state.get(f"{key}-bridge")
    return said if isinstance(said, Mapping) else {}


def _nothing() -> None:
    """Streamlit passes on only values that have a callback."""


def _width(told: Any, otherwise: int) -> int:
    """The width that the browser told, within reason."""
    if isinstance(told, bool) or not isinstance(told, int):
        return otherwise
    return min(max(told, WIDTHS[0]), WIDTHS[1])


def _room(told: Any, otherwise: int | None) -> int | None:
    """The pixels for headings and pictures that the browser told, within reason."""
    if isinstance(told, bool) or not isinstance(told, int):
        return otherwise
    return min(max(told, HEIGHTS[0]), HEIGHTS[1])


def _placed(stages: Sequence[Stage], told: _Told, *, focused: bool) -> Placement:
    beside, under = told.films(focused=focused)
    alone = focused or (told.fill and told.width < NARROWEST_PAGE)
    return figures.placed(stages, told.width - beside, told.high - under, focused=alone)


def _draw(
    stages: Sequence[Stage],
    placed: Placement,
    told: _Told,
    key: str,
    focus: film_strip.Film | None,
    turns: Sequence[tuple[str, str]],
) -> None:
    beside, under = told.films(focused=focus is not None)
    high = told.high - under
    tallest = high if told.fill else max(tiling.height for tiling in placed.tilings)
    charts = [
        figures.split_numbers(figures.mosaic(stage, tiling, tallest if placed.side_by_side or told.fill else None))
        for stage, tiling in zip(stages, placed.tilings, strict=True)
    ]
    for (chart, given, _), span in zip(charts, placed.spans, strict=True):
        room = round((span if placed.side_by_side else told.width) / ROOM_STEP)
        chart["layout"]["meta"] = room
        given["revision"] ^= room  # what Plotly has made of it in other room is not kept
    inside = {stage.name: given | {"alt": stage.alt} for stage, (_, given, _) in zip(stages, charts, strict=True)}
    numbers = b"".join(each.tobytes() for *_, each in charts)
    _pictures(key=f"{key}-numbers", data=transport.packed({"key": key, "pictures": inside}, numbers), height="content")
    side_by_side = placed.side_by_side or bool(beside)
    with st.container(key=f"{key}-row", horizontal=side_by_side, gap=None if side_by_side or told.fill else "small"):
        if focus is not None and beside:
            film_strip.show(focus, key=f"{key}-film", height=high + headings.HEIGHT)
        for at, (stage, (chart, *_)) in enumerate(zip(stages, charts, strict=True)):
            with _column(placed, at):
                tiling = placed.tilings[at]
                left = 0 if turns else tiling.left
                room = placed.spans[at] - left - (LEGEND if turns else 0)
                st.html(
                    headings.heading(
                        stage,
                        left=left,
                        block=tiling.block,
                        fold=tiling.fold,
                        switch=told.fill and stage.name == "scores" and len(tiling.widths) > 1,
                        room=room,
                        gap=STAGE_GAP if placed.side_by_side and at + 1 < len(placed.spans) else 0,
                        beside=turns,
                    )
                )
                st.plotly_chart(
                    figures.as_written(chart),
                    key=f"{key}-{stage.name}",
                    theme=None,  # there is no text in it to be coloured
                    config={"staticPlot": True, "displayModeBar": False},
                )
        if focus is not None and under:
            film_strip.show(focus, key=f"{key}-film", height=under)


def _column(placed: Placement, at: int) -> AbstractContextManager[Any]:
    """A place of the width of a stage and of the gap after it."""
    if not placed.side_by_side:
        return st.container(gap=None)
    gap = STAGE_GAP if at + 1 < len(placed.spans) else 0
    return st.container(width=placed.spans[at] + gap, gap=None)


def read(answer: Any, stages: Sequence[Stage]) -> Picked | None:
    """What the browser says was chosen, or None if no such cell, row or column exists: browsers can say anything."""
    stage = next((stage for stage in stages if isinstance(answer, dict) and stage.name == answer.get("stage")), None)
    if stage is None:
        return None
    heads, rows, columns = stage.array.shape
    try:
        head, row, column = (_index(answer.get(name), size) for name, size in _sizes(heads, rows, columns))
    except ValueError:
        return None
    if head is not None and column is not None and column >= stage.true_widths[head]:
        return None
    return None if row is None and column is None else Picked(stage.name, head, row, column)


def _sizes(heads: int, rows: int, columns: int) -> tuple[tuple[str, int], ...]:
    return ("head", heads), ("row", rows), ("column", columns)


def _index(value: Any, size: int) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < size:
        raise ValueError(value)
    return value
