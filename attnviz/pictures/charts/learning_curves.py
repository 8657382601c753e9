"""Lines over the steps of learning: the loss, and how much is right and lies where a person would look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attnviz.pictures.colours import CHARTS, CLEAR
from attnviz.settings.language import Words
from attnviz.text.format.number_format import plotly_separators

PLOT, BELOW, NAME, LINE = 68, 26, 16, 19  # pixels: the lines, their axis, the name of that, a line of the legend
ROOM = 0.06
"""Of the axis, beside the first and the last step."""
NAMES = Words({"loss": "Loss", "right": "Right", "crisp": "Weight in the outlines", "step": "Steps of learning"})


def loss_chart(steps: Sequence[int], loss: Sequence[float]) -> dict[str, Any]:
    """Draw the loss over the steps on a logarithmic axis."""
    lines = [_line(steps, "loss", loss)]
    return {"data": lines, "layout": _layout(steps, {"type": "log", "dtick": 1}, len(lines))}


def share_chart(steps: Sequence[int], right: Sequence[float], crisp: Sequence[float]) -> dict[str, Any]:
    """Draw what share is right and what weight lies where a person would look."""
    lines = [_line(steps, "right", right), _line(steps, "crisp", crisp)]
    return {"data": lines, "layout": _layout(steps, {"range": [0, 1.03], "dtick": 0.5}, len(lines), named=False)}


def fraction(steps: Sequence[int], at: int) -> float:
    """Return where a step lies on the axis of the steps: 0 at its left end, 1 at its right end.

    >>> fraction((0, 50, 100), 50)
    0.5
    """
    first, last = _ends(steps)
    return (at - first) / (last - first)


def _ends(steps: Sequence[int]) -> tuple[float, float]:
    """Return the ends of the axis, with room for half a marker."""
    room = max(steps[-1], 1) * ROOM
    return -room, max(steps[-1], 1) + room


def _line(steps: Sequence[int], name: str, values: Sequence[float]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": NAMES[name],
        "x": list(steps),
        "y": list(values),
        "line": {"color": CHARTS[name], "width": 2},
        "marker": {"color": CHARTS[name], "size": 5, "symbol": "diamond" if name == "crisp" else "circle"},
        "hovertemplate": "%{x}: %{y:.4~g}",
    }


def _layout(steps: Sequence[int], y: dict[str, Any], n_lines: int, *, named: bool = True) -> dict[str, Any]:
    """Return the axes under a legend that may need a line of its own for each name.

    named  whether the title of the axis of steps stands below this chart, not only below the next
    """
    above, below = 11 + LINE * n_lines, BELOW + NAME * named
    axis = {"fixedrange": True, "zeroline": False, "gridcolor": CHARTS["grid"]}
    return {
        "height": above + PLOT + below,
        "margin": {"l": 48, "r": 8, "t": above, "b": below},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "showlegend": True,
        "separators": plotly_separators(),
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "xaxis": axis | {"range": _ends(steps)} | ({"title": {"text": NAMES["step"], "standoff": 6}} if named else {}),
        "yaxis": axis | y,
    }
