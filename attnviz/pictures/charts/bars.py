"""Small bar charts of vectors: a bar for each entry, blue below zero and red above, as in the maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attnviz.pictures.colours import CHARTS, CLEAR, SHARE, SIGNED
from attnviz.text.format.number_format import plotly_separators

NEGATIVE, POSITIVE = SIGNED[0], SIGNED[-1]
HEIGHT = 132


def bars(values: Sequence[tuple[str, float]], *, shares: bool = False) -> dict[str, Any]:
    """Return a Plotly figure with a bar for each (label, value); the labels are our own words.

    `shares` paints numbers that are never negative in the colour of weights, not in the two of signed numbers.

    >>> bars([("1", 2.0), ("2", -1.0)])["data"][0]["y"]
    [2.0, -1.0]
    """
    labels, heights = [label for label, _ in values], [float(value) for _, value in values]
    position = list(range(len(values)))
    every = -(-len(values) // 16)
    trace = {
        "type": "bar",
        "x": position,
        "y": heights,
        "marker": {"color": SHARE[3] if shares else [NEGATIVE if height < 0 else POSITIVE for height in heights]},
        "customdata": labels,
        "hovertemplate": "%{customdata}: %{y:.4~g}<extra></extra>",
    }
    axis = {"fixedrange": True, "zeroline": False, "showgrid": False}
    layout = {
        "template": "none",
        "height": HEIGHT,
        "margin": {"l": 46, "r": 6, "t": 6, "b": 24},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "bargap": 0.5,
        "separators": plotly_separators(),
        "xaxis": axis | {"tickmode": "array", "tickvals": position[::every], "ticktext": labels[::every]},
        "yaxis": axis | {"nticks": 4, "zeroline": True, "zerolinecolor": CHARTS["zero"]},
    }
    return {"data": [trace], "layout": layout}
