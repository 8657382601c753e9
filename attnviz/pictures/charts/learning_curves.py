"""Lines over the steps of learning: the loss, and how much is right and lies where it should."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attnviz.pictures.charts.variance_charts import FAINT, GREY
from attnviz.settings.language import Words

HEIGHT, NAME = 124, 16  # pixels of a chart, and of the name of its axis
COLOURS = {"loss": "#b23a2e", "right": "#1f5fa8", "crisp": "#0f8a5f"}
NAMES = Words({"loss": "Loss", "right": "Right", "crisp": "Weight in place", "step": "Steps of learning"})


def loss_chart(steps: Sequence[int], loss: Sequence[float], at: int) -> dict[str, Any]:
    """Draw the loss over the steps on a logarithmic axis, with a mark at one of them."""
    return {"data": [_line(steps, "loss", loss)], "layout": _layout(at, {"type": "log", "dtick": 1})}


def share_chart(steps: Sequence[int], right: Sequence[float], crisp: Sequence[float], at: int) -> dict[str, Any]:
    """Draw what share is right and what weight lies where it should, with a mark at one step."""
    lines = [_line(steps, "right", right), _line(steps, "crisp", crisp)]
    return {"data": lines, "layout": _layout(at, {"range": [0, 1.03], "dtick": 0.5}, named=False)}


def _line(steps: Sequence[int], name: str, values: Sequence[float]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": NAMES[name],
        "x": list(steps),
        "y": list(values),
        "line": {"color": COLOURS[name], "width": 2},
        "marker": {"color": COLOURS[name], "size": 5, "symbol": "diamond" if name == "crisp" else "circle"},
        "hovertemplate": "%{x}: %{y:.4~g}",
    }


def _layout(at: int, y: dict[str, Any], *, named: bool = True) -> dict[str, Any]:
    """The axes; `named` where the one of the steps has its name below it, and not only below the chart that follows."""
    axis = {"fixedrange": True, "zeroline": False, "gridcolor": FAINT}
    mark = {"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper", "layer": "below"}
    return {
        "template": "none",
        "height": HEIGHT + NAME * named,
        "margin": {"l": 48, "r": 8, "t": 30, "b": 26 + NAME * named},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "xaxis": axis | ({"title": {"text": NAMES["step"], "standoff": 6}} if named else {}),
        "yaxis": axis | y,
        "shapes": [mark | {"line": {"color": GREY, "width": 1, "dash": "dot"}}],
    }
