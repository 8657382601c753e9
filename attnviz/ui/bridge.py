"""The pictures on the page, and the way back from them: which cell a person has chosen.

Streamlit draws the charts; a small component without any markup of its own writes over them and listens. It finds the
charts by the keys given here.

A chart that is given other numbers is a new one to Streamlit: the browser takes the old one out and builds the new one
from nothing, which costs more than all else in a move. So a chart is told only what its picture's size depends on, and
another component brings the numbers, which the first one puts into the chart that is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from attnviz.core import language
from attnviz.core.language import Words
from attnviz.ui import wire
from attnviz.views import figures
from attnviz.views.figures import Stage

DEFAULT_WIDTH = 904  # beside an open sidebar on a window of 1280
WIDTHS = (240, 3840)
HEADING = 68  # pixels over a picture: three lines
HEIGHTS = (160, 2160)
TALL_BELOW = 440  # pixels a stage must be wide to have name and phrase in one line
WORDS = Words(
    {
        "masked": "masked",
        "nan": "not a number",
        "empty": "(empty)",
        "wide": "wide",
        "keys": "Heat map. Arrow keys move from cell to cell, Page Up and Page Down from head to head, Enter chooses.",
    }
)

_HERE = Path(__file__).parent
_component = st.components.v2.component(
    "attnviz_bridge",
    css=(_HERE / "bridge.css").read_text("utf-8"),
    js=(_HERE / "bridge.js").read_text("utf-8"),
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
) -> Picked | None:
    """Draw the stages and return what was chosen in them since the last run, None as a rule.

    picked   what is chosen now; it is marked in every stage that it concerns
    width    pixels to lay out for until the browser has said how many there are
    signs    write a minus into negative cells that are too small for their number, as is always done in print
    fit      keep within the room that the window has left, as the browser tells it, so that nothing is scrolled
    """
    with st.container(key=key, gap="xxsmall"):
        answer = _component(
            key=f"{key}-bridge",
            data=wire.packed(
                {
                    "key": key,
                    "stages": [stage.name for stage in stages],
                    "picked": asdict(picked) if picked else None,
                    "width": width,
                    "words": dict(WORDS),
                    "axes": {axis: language.say(axis) for stage in stages for axis in stage.axes},
                    "signs": signs,
                    "fit": HEIGHTS[0] if fit else 0,
                }
            ),
            height="content",
            on_width_change=_nothing,
            on_room_change=_nothing,
            on_picked_change=_nothing,
        )
        _draw(stages, _width(answer.get("width"), width), _height(answer.get("room")) if fit else None, key)
    return read(answer.get("picked"), stages)


def _nothing() -> None:
    """Streamlit passes on only values that have a callback."""


def _width(told: Any, otherwise: int) -> int:
    """The width that the browser told, within reason."""
    if isinstance(told, bool) or not isinstance(told, int):
        return otherwise
    return min(max(told, WIDTHS[0]), WIDTHS[1])


def _height(told: Any) -> int | None:
    """The height of a picture in the room that the browser told, within reason; None where it has not told it."""
    if isinstance(told, bool) or not isinstance(told, int):
        return None
    return min(max(told, HEIGHTS[0]), HEIGHTS[1]) - HEADING


def _draw(stages: Sequence[Stage], width: int, height: int | None, key: str) -> None:
    layout = figures.layout(stages, width, height)
    charts = [figures.parted(figures.mosaic(stage, grid)) for stage, grid in zip(stages, layout.grids, strict=True)]
    inside = {stage.name: given | {"alt": stage.alt} for stage, (_, given, _) in zip(stages, charts, strict=True)}
    numbers = b"".join(each.tobytes() for *_, each in charts)
    _pictures(key=f"{key}-numbers", data=wire.packed({"key": key, "pictures": inside}, numbers), height="content")
    columns: Sequence[AbstractContextManager[Any]] = [nullcontext()] * len(stages)
    if layout.side_by_side:
        columns = st.columns(layout.shares, gap="small")
    tall = (min(layout.shares) if layout.side_by_side else width) < TALL_BELOW
    for stage, (chart, *_), column in zip(stages, charts, columns, strict=True):
        with column:
            st.html(figures.heading(stage, tall=tall))
            st.plotly_chart(
                figures.as_written(chart),
                key=f"{key}-{stage.name}",
                theme=None,  # there is no text in it to be coloured
                config={"staticPlot": True, "displayModeBar": False},
            )


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
