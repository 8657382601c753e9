"""Attention as one Plotly figure for a notebook: heads side by side, words on the axes, a slider over the layers.

Words are the text of ticks at whole numbers, never categories of an axis: those would merge equal words, and read a
token such as "3" as a coordinate.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.records.lookups import no_step
from attnviz.engine.records.trace import Step, Trace
from attnviz.engine.tables.tokenisers import graphemes
from attnviz.pictures import columns, stages
from attnviz.pictures.colours import MASKED_COLOUR
from attnviz.pictures.stage_record import Stage
from attnviz.settings.counting import ordinal, ordinals
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words
from attnviz.text import captions, step_names
from attnviz.text.format.number_format import plotly_separators
from attnviz.text.query_sentences import visible_token

ACROSS = 4  # heads side by side, where there is but one stage
CELL, MIN_SIDE, MAX_SIDE = 26, 150, 420  # pixels: of a cell, and of a map
GAP = {"x": 84, "y": 92}
MARGIN = {"l": 80, "t": 64, "r": 24, "b": 80}
SLIDER = 60
if TYPE_CHECKING:
    import plotly.graph_objects as go

COLOUR_BAR = {"lenmode": "pixels", "len": 200, "y": 1.0, "yanchor": "top"}
LONGEST_LABEL = 14
MOST_LABELS = 32
WORDS = Words(
    {
        "title": "{stage}, {head}",
        "layer": "layer {n}",
        "layers": "layer",
        "heads": "head",
        "of_head": "layer %{y}, head %{x}: %{z:.4~g}<extra></extra>",
        "hover": "%{y} → %{x}: %{z:.4~g}<extra></extra>",
    }
)
FAULTS = Words(
    {
        "plotly": 'A figure needs Plotly: pip install "attnviz[plot]".',
        "trace": "heatmaps takes a Trace, not {given}; call heatmaps(of_weights(weights, tokens))",
        "layer": "layer is {layer}; choose 0 to {last}, counted from 0",
        "head": "head is {head}; the step {step} has 0 to {last}, counted from 0",
    }
)


def heatmaps(trace: Trace, layer: int | None = None) -> go.Figure:
    """Return a figure of the scores, weights and outputs of every head of a run, as far as it has them.

    layer  counted from 0, or from the end if negative; None is all layers, with a slider

    Raises IndexError if there is no such layer, ConfigError for what is no Trace, and ModuleNotFoundError without
    Plotly.
    """
    if not isinstance(trace, Trace):
        raise ConfigError(FAULTS["trace"].format(given=type(trace).__name__))
    go = _plotly()
    chosen = range(len(trace.layers)) if layer is None else [_checked(trace, layer)]
    figure = _drawn([stages.side_by_side(trace, at) for at in chosen])
    if len(chosen) > 1:
        figure["layout"]["sliders"] = [_slider([ordinal(at) for at in chosen], len(figure["data"]) // len(chosen))]
        figure["layout"]["margin"] |= {"b": MARGIN["b"] + SLIDER}
        figure["layout"]["height"] += SLIDER
    return go.Figure(figure)


def of_step(trace: Trace, name: str, layer: int, head: int | None) -> go.Figure:
    """Return a figure of one step of a layer or around them, a map a head; see `Trace.figure`."""
    go, steps = _plotly(), {**trace.around, **trace.layers[_checked(trace, layer)]}
    if name not in steps:
        raise no_step(name, steps)
    step = steps[name]
    drawn = stages.stage(trace, step, captions.NAMES[name], step.meaning, step_names.plain(step.symbol))
    if head is not None:
        n = len(drawn.array)
        if not -n <= head < n:
            raise IndexError(FAULTS["head"].format(head=head, step=name, last=n - 1))
        drawn = columns.focused(drawn, head % n, n)
    return go.Figure(_drawn([[drawn]]))


def of_measure(step: Step) -> go.Figure:
    """Return a figure of a measure of every head, layers by heads, each cell with its number; see `Study.figure`."""
    go, array = _plotly(), np.atleast_2d(step.array)
    rows, columns = ([str(n) for n in ordinals(size)] for size in array.shape)
    title, masked = step.name.replace("_", " "), np.isnan(array)[None]
    drawn = Stage(step.name, title, array[None], step.kind, rows, columns, masked=masked)
    figure = _drawn([[replace(drawn, heads=[step.meaning])]])
    for axis, name, labels_of in (("yaxis1", "layers", rows), ("xaxis1", "heads", columns)):
        figure["layout"][axis] |= {"ticktext": labels_of, "tickvals": [*range(len(labels_of))], "tickangle": 0}
        figure["layout"][axis]["title"] = {"text": WORDS[name]}
    figure["data"][0]["hovertemplate"] = WORDS["of_head"]
    return go.Figure(figure)


def _checked(trace: Trace, layer: int) -> int:
    """Return a layer counted from 0; raise IndexError if there is no such."""
    n = len(trace.layers)
    if not -n <= layer < n:
        raise IndexError(FAULTS["layer"].format(layer=layer, last=n - 1))
    return layer % n


def _drawn(shown: Sequence[Sequence[Stage]]) -> dict[str, Any]:
    """Return maps and layout of the stages of every layer, of which the first is seen."""
    figure = _figure(shown[0])
    maps = [_maps(each, at == 0) for at, each in enumerate(shown)]
    figure["data"] = [one for each in maps for one in each]
    figure["layout"] |= _colours(shown)
    return figure


def _plotly() -> ModuleType:
    """Return plotly.graph_objects, loaded when a figure is asked for; raise ModuleNotFoundError with advice."""
    try:
        return import_module("plotly.graph_objects")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(FAULTS["plotly"], name=error.name) from None


def labels(tokens: Sequence[str]) -> list[str]:
    """Return tokens as labels of ticks: numbered from 1, shortened, visible, and without HTML or formulas for Plotly.

    The number also protects words that JavaScript objects know, such as constructor.

    >>> labels(["<b>", "$x$", ""])
    ['1 &lt;b&gt;', '2 &#36;x&#36;', '3 (empty)']
    """
    return [f"{number} {_escaped(token)}" for number, token in enumerate(tokens, 1)]


def _escaped(token: str) -> str:
    clusters = graphemes(visible_token(token))
    short = "".join(clusters if len(clusters) <= LONGEST_LABEL else (*clusters[: LONGEST_LABEL - 1], "…"))
    return html.escape(short).replace("$", "&#36;")


def _tiles(shown: Sequence[Stage]) -> list[tuple[int, int]]:
    """Return (row, column) of each map in the grid: a column for each stage, or a single stage wrapped into rows."""
    heads = len(shown[0].array)
    if len(shown) > 1:
        return [(head, column) for column in range(len(shown)) for head in range(heads)]
    across = min(ACROSS, math.ceil(math.sqrt(heads)))
    return [divmod(head, across) for head in range(heads)]


def _figure(shown: Sequence[Stage]) -> dict[str, Any]:
    """Return the layout of one layer: an axis of each kind and a title for every map."""
    tiles = _tiles(shown)
    down, across = (1 + max(tile[axis] for tile in tiles) for axis in (0, 1))
    width, height = (
        min(max(CELL * max(n), MIN_SIDE), MAX_SIDE) for n in zip(*(stage.array.shape[:0:-1] for stage in shown))
    )
    inner = across * (width + GAP["x"]) - GAP["x"], down * (height + GAP["y"]) - GAP["y"]
    layout: dict[str, Any] = {
        "template": "none",
        "width": inner[0] + MARGIN["l"] + MARGIN["r"] + len(shown) * 50,
        "height": inner[1] + MARGIN["t"] + MARGIN["b"],
        "margin": MARGIN | {"r": MARGIN["r"] + len(shown) * 50},
        "plot_bgcolor": MASKED_COLOUR,
        "annotations": [],
        "separators": plotly_separators(),
    }
    each = [(stage, head) for stage in shown for head in range(len(stage.array))]
    for number, ((stage, head), (row, column)) in enumerate(zip(each, tiles), 1):
        left, top = column * (width + GAP["x"]) / inner[0], 1 - row * (height + GAP["y"]) / inner[1]
        right, low = left + width / inner[0], max(top - height / inner[1], 0.0)
        layout[f"xaxis{number}"] = _axis(stage.columns, stage.true_widths[head]) | {
            "tickangle": 0 if stage.columns is None else -90,
            "domain": [left, min(right, 1.0)],
            "anchor": f"y{number}",
        }
        layout[f"yaxis{number}"] = _axis(stage.rows, stage.array.shape[1]) | {
            "domain": [low, top],
            "anchor": f"x{number}",
            "autorange": "reversed",
        }
        layout["annotations"].append(_title(stage, head, left, top))
    return {"layout": layout}


def _axis(words: Sequence[str] | None, n: int) -> dict[str, Any]:
    """Return an axis of whole numbers with words at them; thinned where there are many."""
    texts = [str(i) for i in ordinals(n)] if words is None else labels(words)
    every = math.ceil(n / MOST_LABELS)
    ticks = {"tickmode": "array", "tickvals": list(range(0, n, every)), "ticktext": texts[::every]}
    return ticks | {"type": "linear", "showgrid": False, "zeroline": False, "ticks": ""}


def _title(stage: Stage, head: int, left: float, top: float) -> dict[str, Any]:
    words = html.escape(WORDS["title"].format(stage=stage.title, head=stage.names[head]))
    return {"text": words, "x": left, "y": top, "xref": "paper", "yref": "paper", "xanchor": "left"} | {
        "yanchor": "bottom",
        "showarrow": False,
    }


def _maps(shown: Sequence[Stage], visible_now: bool) -> list[dict[str, Any]]:
    """Return a heat map for each head of each stage."""
    each = [(at, stage, head) for at, stage in enumerate(shown, 1) for head in range(len(stage.array))]
    return [
        {
            "type": "heatmap",
            "z": _numbers(stage, head),
            "xaxis": f"x{number}",
            "yaxis": f"y{number}",
            "coloraxis": f"coloraxis{at}",
            "hovertemplate": WORDS["hover"],
            "visible": visible_now,
            "xgap": 1,
            "ygap": 1,
        }
        for number, (at, stage, head) in enumerate(each, 1)
    ]


def _numbers(stage: Stage, head: int) -> Array:
    """Return the numbers of a head, NaN where nothing is drawn."""
    numbers = stage.array[head, :, : stage.true_widths[head]].astype(np.float64)
    return numbers if stage.hidden is None else np.where(stage.hidden[head, :, : numbers.shape[1]], np.nan, numbers)


def _colours(shown: Sequence[Sequence[Stage]]) -> dict[str, Any]:
    """Return one scale of colour for a stage in all heads and layers."""
    axes = {}
    for at, layers in enumerate(zip(*shown)):
        scales = [stage.scale for stage in layers]
        widest = max(scales, key=lambda each: each.high - each.low)
        steps = np.linspace(0, 1, len(widest.colours)).tolist()
        axes[f"coloraxis{at + 1}"] = {
            "cmin": min(each.low for each in scales),
            "cmax": max(each.high for each in scales),
            "colorscale": [list(stop) for stop in zip(steps, widest.colours)],
            "colorbar": {"title": {"text": layers[0].title}, "x": 1.01, "xpad": 8 + 62 * at, "thickness": 10}
            | COLOUR_BAR,
        }
    return axes


def _slider(layers: Sequence[int], n_maps: int) -> dict[str, Any]:
    """Return a slider that shows the maps of one layer."""
    steps = [
        {
            "label": WORDS["layer"].format(n=layer),
            "method": "restyle",
            "args": [{"visible": [at == which // n_maps for which in range(len(layers) * n_maps)]}],
        }
        for at, layer in enumerate(layers)
    ]
    return {"steps": steps, "active": 0, "pad": {"t": 40}}
