"""Arcs between the layers for what heads bring to the last token from those they read; thickness is the number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.pictures.colours import CHARTS, CLEAR
from attnviz.pictures.plotly_figure import labels
from attnviz.settings.counting import ordinal, ordinals
from attnviz.settings.language import Words
from attnviz.text.format.number_format import localised, short

WORDS = Words(
    {
        "layer": "layer {n}",
        "input": "input",
        "arc": "head {head}, from {token}: {amount}",
    }
)
POSITIVE, NEGATIVE = CHARTS["one"], CHARTS["root"]
THICKEST, THINNEST = 16.0, 0.4
LEAST = 0.01
"""What is less than this part of the largest is not drawn."""
POINTS = 24
LAYER, BELOW, SIDE = 96, 74, 62  # pixels
APART = 0.5
"""The part of a column over which the arcs of a layer's heads begin side by side."""


def drawn(parts: Array) -> list[tuple[int, int, int]]:
    """Return the layer, head and token of each part that is drawn, the thickest first; (layers, heads, tokens).

    >>> drawn(np.array([[[0.5, -2.0], [0.0, 0.01]]]))
    [(0, 0, 1), (0, 0, 0)]
    """
    sizes = abs(parts)
    order = np.argsort(-sizes, axis=None, kind="stable")
    kept = [at for at in order.tolist() if sizes.flat[at] >= LEAST * sizes.max() > 0]
    return [tuple(map(int, np.unravel_index(at, parts.shape))) for at in kept]  # type: ignore[misc]


def arcs(parts: Array, tokens: Sequence[str]) -> dict[str, Any]:
    """Return a Plotly figure of what each head brings from each token, (layers, heads, tokens): an arc for each.

    An arc goes up from the token, as the layer reads it, to the last token behind the layer. Thickness is the number's
    size, red is above 0 and blue below.
    """
    n_layers, _, n = parts.shape
    words, most = labels(tokens), float(abs(parts).max()) or 1.0
    traces = [_arc(parts, at, words, most) for at in reversed(drawn(parts))]
    axis = {"fixedrange": True, "zeroline": False, "showgrid": False, "tickmode": "array"}
    names = [WORDS["input"], *(WORDS["layer"].format(n=each) for each in ordinals(n_layers))]
    plain = [word.partition(" ")[2] for word in words]
    layout = {
        "template": "none", "height": LAYER * n_layers + BELOW, "paper_bgcolor": CLEAR, "plot_bgcolor": CLEAR,
        "margin": {"l": SIDE, "r": 14, "t": 10, "b": BELOW - 10}, "showlegend": False, "hovermode": "closest",
        "xaxis": axis | {"range": [-0.6, n - 0.4], "tickvals": list(range(n)), "ticktext": plain},
        "yaxis": axis | {"range": [-0.1, n_layers + 0.1], "showgrid": True, "gridcolor": CHARTS["grid"],
                         "tickvals": list(range(n_layers + 1)), "ticktext": names},
    }  # fmt: skip
    return {"data": traces, "layout": layout}


def _arc(parts: Array, at: tuple[int, int, int], words: Sequence[str], most: float) -> dict[str, Any]:
    layer, head, token = at
    amount, (_, heads, n) = float(parts[at]), parts.shape
    t = np.linspace(0.0, 1.0, POINTS)
    start = token + APART * ((head + 0.5) / heads - 0.5)
    end = n - 1 + APART * ((head + 0.5) / heads - 0.5)
    said = localised(short(amount))
    name = WORDS["arc"].format(head=f"{ordinal(layer)}.{ordinal(head)}", token=words[token], amount=said)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": (start + (end - start) * (3 * t**2 - 2 * t**3)).tolist(),
        "y": (layer + t).tolist(),
        "line": {
            "color": POSITIVE if amount > 0 else NEGATIVE,
            "width": max(THICKEST * abs(amount) / most, THINNEST),
            "simplify": False,  # else the curves have corners
        },
        "opacity": 0.75,
        "customdata": [amount] * POINTS,
        "text": [name] * POINTS,
        "hovertemplate": "%{text}<extra></extra>",
    }
