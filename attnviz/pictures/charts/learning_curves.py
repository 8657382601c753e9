"""Lines over the steps of learning: the loss, and how much is right and lies where it should."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attnviz.pictures.colours import CHARTS, CLEAR
from attnviz.settings.language import Words

HEIGHT, NAME = 124, 16  # pixels of a chart, and of the name of its axis
ROOM = 0.06
"""Of the axis, beside the first and the last step."""
NAMES = Words({"loss": "Loss", "right": "Right", "crisp": "Weight in the right place", "step": "Steps of learning"})


def loss_chart(steps: Sequence[int], loss: Sequence[float]) -> dict[str, Any]:
    """Draw the loss over the steps on a logarithmic axis."""
    return {"data": [_line(steps, "loss", loss)], "layout": _layout(steps, {"type": "log", "dtick": 1})}


def share_chart(steps: Sequence[int], right: Sequence[float], crisp: Sequence[float]) -> dict[str, Any]:
    """Draw what share is right and what weight lies where it should."""
    lines = [_line(steps, "right", right), _line(steps, "crisp", crisp)]
    return {"data": lines, "layout": _layout(steps, {"range": [0, 1.03], "dtick": 0.5}, named=False)}


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


def _layout(steps: Sequence[int], y: dict[str, Any], *, named: bool = True) -> dict[str, Any]:
    """Return the axes; `named` if the title of the axis of steps stands below this chart, not only below the next."""
    axis = {"fixedrange": True, "zeroline": False, "gridcolor": CHARTS["grid"]}
    return {
        "height": HEIGHT + NAME * named,
        "margin": {"l": 48, "r": 8, "t": 30, "b": 26 + NAME * named},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "xaxis": axis | {"range": _ends(steps)} | ({"title": {"text": NAMES["step"], "standoff": 6}} if named else {}),
        "yaxis": axis | y,
    }
