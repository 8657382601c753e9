"""The pictures on the page, over which a component writes numbers and words.

Streamlit draws the charts; a small component without any markup of its own writes over them and listens. It finds the
charts by the keys given here. `room` says how large they are, `picking` what was picked in them.

A chart that is given other numbers is a new one to Streamlit: the browser takes the old one out and builds the new one
from nothing, which costs more than all else in a move. So a chart is told only what its picture's size depends on, and
another component brings the numbers, which the first one puts into the chart that is room.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from attnviz.pictures import figures, headings
from attnviz.pictures.layout.placement import STAGE_GAP, Placement
from attnviz.pictures.stage_record import Stage
from attnviz.settings import language
from attnviz.settings.language import Words
from attnviz.ui.components.pickers import film_strip, overview
from attnviz.ui.components.pickers.overview import Overview
from attnviz.ui.components.stage import picking
from attnviz.ui.components.stage.available_space import (
    COOKIE,
    HEIGHTS,
    SCROLLED,
    Room,
    View,
    assumed,
    reported,
    room_for,
)
from attnviz.ui.components.stage.picking import Picked
from attnviz.ui.session.browser import transport
from attnviz.ui.session.browser.component import component, ignore

ROOM_STEP = 64
"""Pixels by which the room of a chart has to change for another chart to be built.

Plotly writes the part of the room that a picture takes into the chart, and in another room it takes the same part of
that: half of the room made half of the picture. A new chart knows nothing of the old room.
"""
LEGEND = 140  # pixels that a legend takes beside a heading
WORDS = Words(
    {
        "masked": "masked",
        "nan": "not a number",
        "question": "this is what is asked for",
        "empty": "(empty)",
        "wide": "wide",
        "word": "word",
        "to": "to",
        "dimension": "dimension",
        "total": "total",
        "spread": "spread",
        "reads_key": "bar on the right: how many words a row attends to, its effective number of keys",
        "total_key": "bar below: the weight that a word receives in all",
        "above_key": "a score above 0",
        "below_key": "a score below 0",
        "apart_key": "own scales: the largest score of each head has the full colour",
        "zero": "every score is 0",
        "keys": "Heat map. Arrow keys move from cell to cell, Page Up and Page Down from head to head, Enter chooses.",
    }
)

STATES = ("width", "room", "wide")
"""What the component reports of its room."""
_component = component(__file__, is_isolated=False, states=STATES)
_pictures = component(__file__, name="pictures", is_isolated=False)
HEADINGS = Path(__file__).with_name("headings.css")
"""The style of the headings: a page sends it along with its own."""
REPORTED = (*STATES, "picked", "focus", "scale", "shown")
"""The values that the component reports."""


@dataclass(frozen=True)
class Heads:
    """The heads of the pictures.

    film     the strip of all heads, if the stages are those of one of them
    number   how many there are of which one can be brought to the front
    opening  the head and the row that are lit while nothing is picked or pointed at
    overview  all words of a text of which the stages are a window
    """

    film: film_strip.Strip | None = None
    number: int = 1
    opening: tuple[int, int] | None = None
    overview: Overview | None = None


@dataclass(frozen=True)
class Lettering:
    """The text in the cells.

    signs        a minus also in negative cells that are too small for their number, as always in print
    is_question  a number that is NaN is one that a question asks for
    """

    signs: bool = False
    is_question: bool = False


@dataclass(frozen=True)
class _Drawing:
    """The visible stages, in their places; `tabs` are the names and titles of those that one can turn to."""

    key: str
    stages: Sequence[Stage]
    tabs: Sequence[tuple[str, str]]
    room: Room
    placement: Placement


def show(
    stages: Sequence[Stage],
    *,
    key: str,
    picked: Picked | None = None,
    view: View = SCROLLED,
    heads: Heads = Heads(),
    lettering: Lettering = Lettering(),
) -> Picked | None:
    """Draw the stages and return what was picked in them since the last run, None as a rule.

    picked  what is picked now; it is marked in every stage that it concerns
    """
    drawing = _drawing(stages, key, view, has_film=heads.film is not None)
    with st.container(key=key, gap=None):
        data = _message(drawing, heads, lettering) | {"picked": asdict(picked) if picked else None}
        listeners: dict[str, Any] = {f"on_{name}_change": ignore for name in REPORTED}
        _component(key=f"{key}-bridge", data=transport.packed(data), height="content", **listeners)
        _draw(drawing, heads)
    return picking.read(reported(key).get("picked"), drawing.stages, drawing.placement)


def numbers(stages: Sequence[Stage], *, key: str, view: View) -> bytes:
    """Return what `show` sends to be put into the charts of these stages, where the charts are there."""
    return _charts(_drawing(stages, key, view, has_film=False))[1]


def _drawing(stages: Sequence[Stage], key: str, view: View, *, has_film: bool) -> _Drawing:
    room = room_for(key, view, has_film=has_film)
    visible = list(room.visible(stages))
    tabs = [(stage.name, stage.title) for stage in stages] if len(visible) < len(stages) else []
    return _Drawing(key, visible, tabs, room, room.placement(visible))


def _message(drawing: _Drawing, heads: Heads, lettering: Lettering) -> dict[str, Any]:
    """Return the data that the component needs beside the charts and their numbers."""
    view = drawing.room.view
    width, height = assumed(drawing.key, view)
    mark = {"nan": WORDS["question"], "mark": "?"} if lettering.is_question else {"mark": "NaN"}
    return {
        "key": drawing.key,
        "stages": [stage.name for stage in drawing.stages],
        "names": {stage.name: stage.title for stage in drawing.stages},
        "width": width,
        "wide": drawing.room.is_wide,
        "words": {**WORDS, **mark},
        "axes": {axis: language.translate(axis) for stage in drawing.stages for axis in stage.axes},
        "signs": lettering.signs,
        "fit": HEIGHTS[0] if view.fit or view.fill else 0,
        "fill": height if view.fill else 0,
        "cookie": COOKIE.format(key=drawing.key) if view.fill else "",
        "focus": None if heads.film is None else heads.film.head,
        "heads": heads.number,
        "opening": heads.opening,
        "turns": [name for name, _ in drawing.tabs],
    }


def _draw(drawing: _Drawing, heads: Heads) -> None:
    """Draw the charts under their headings, the film strip beside or below them, and the overview beside or over."""
    room, placement, key, film = drawing.room, drawing.placement, drawing.key, heads.film
    charts, data = _charts(drawing)
    _pictures(key=f"{key}-numbers", data=data, height="content")
    side_by_side = placement.side_by_side or bool(room.film_width) or bool(room.overview_width)
    close = side_by_side or room.view.fill
    if heads.overview is not None and not room.overview_width:
        with st.container(height=room.overview_height, border=False):
            overview.show(heads.overview, height=None)
    with st.container(key=f"{key}-row", horizontal=side_by_side, gap=None if close else "small"):
        if heads.overview is not None and room.overview_width:
            with st.container(width=room.overview_width, gap=None):
                overview.show(heads.overview, height=room.picture_height + room.heading_height)
        if film is not None and room.film_width:
            film_strip.show(film, key=f"{key}-film", height=room.picture_height + room.heading_height)
        for number, (stage, chart) in enumerate(zip(drawing.stages, charts, strict=True)):
            with _column(placement, number):
                st.html(_heading(drawing, number))
                st.plotly_chart(
                    figures.as_written(chart),
                    key=f"{key}-{stage.name}",
                    theme=None,  # there is no text in it to be coloured
                    config={"staticPlot": True, "displayModeBar": False},
                )
    if film is not None and room.film_height:
        film_strip.show(film, key=f"{key}-film", height=room.film_height)


def _charts(drawing: _Drawing) -> tuple[list[dict[str, Any]], bytes]:
    """Return the charts of the stages, and what is sent to be put into them."""
    room, placement, fill = drawing.room, drawing.placement, drawing.room.view.fill
    tallest = room.picture_height if fill else max(tiling.height for tiling in placement.tilings)
    height = tallest if placement.side_by_side or fill else None
    charts, pictures, arrays = [], {}, []
    for stage, tiling, span in zip(drawing.stages, placement.tilings, placement.spans, strict=True):
        chart, picture, array = figures.split_numbers(figures.mosaic(stage, tiling, height))
        steps = round((span if placement.side_by_side else room.width) / ROOM_STEP)
        chart["layout"]["meta"] = steps
        picture["revision"] ^= steps  # what Plotly has made of it in other room is not kept
        charts.append(chart)
        pictures[stage.name] = picture | {"alt": stage.alt}
        arrays.append(array.tobytes())
    return charts, transport.packed({"key": drawing.key, "pictures": pictures}, b"".join(arrays))


def _heading(drawing: _Drawing, number: int) -> str:
    """Return the heading of a stage as HTML."""
    stage, tiling, span = drawing.stages[number], drawing.placement.tilings[number], drawing.placement.spans[number]
    left = 0 if drawing.tabs else tiling.left
    return headings.heading(
        stage,
        left=left,
        block=tiling.block,
        fold=tiling.fold,
        switch=drawing.room.view.fill and stage.name == "scores" and len(tiling.widths) > 1,
        room=span - left - (LEGEND if drawing.tabs else 0),
        gap=_gap(drawing.placement, number),
        beside=drawing.tabs,
        says_masked=stage.leads or not any(each.leads and each.masked is not None for each in drawing.stages),
    )


def _gap(placement: Placement, number: int) -> int:
    """Return the pixels between a stage and the next one beside it."""
    return STAGE_GAP if placement.side_by_side and number + 1 < len(placement.spans) else 0


def _column(placement: Placement, number: int) -> AbstractContextManager[Any]:
    """Return a container of the width of a stage and of the gap after it."""
    if not placement.side_by_side:
        return st.container(gap=None)
    return st.container(width=placement.spans[number] + _gap(placement, number), gap=None)
