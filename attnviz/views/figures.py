"""The stages of attention as Plotly heat maps: one trace a stage, all of its heads side by side.

The figures are plain dicts. They hold no text at all: words, head names and numbers are drawn over them from `meta`,
which says how the picture is laid out, so that picture and words can never disagree.
"""

from __future__ import annotations

import base64
import html
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from attnviz.core.language import say
from attnviz.views.mosaic import RIGHT, TOP, Grid, Layout, Shape, arrange, room_for

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

SIGNED = ("#2a5ea8", "#8fb4dc", "#fbfaf7", "#eea47c", "#b8402a")
SHARE = ("#fbfaf7", "#c9dcef", "#86b2da", "#3d7ab8", "#12355f")
MASKED = "rgba(128,128,128,.38)"
EDITED = "#0f8a5f"
MOST_FRAMES = 200
LARGER = 14  # tenths of the usual room for words, where type is large
EXACT_UP_TO = 2500  # cells; up to here a picture carries float64, beyond float32
FORBIDDEN = "may not attend"
ALLOWED = "may attend"
MASKED_WORD = "masked"


@dataclass(frozen=True)
class Stage:
    """One step of attention, ready to be drawn.

    name      stable, in links and keys
    title     a few characters: QKᵀ, weights
    array     (heads, rows, columns); heads narrower than the widest are padded, see `widths`
    kind      "signed", "share" or "allowed"
    rows      the word of every row;  columns  the word of every column, or None for 1, 2, 3 ...
    axes      what a row and what a column is called; rows of one name light up together in all stages
    masked    True where nothing is drawn: the query may not see the key
    widths    true columns of every head; None = all of them
    heads     a name for every head; None = head 1, head 2 ...
    alt       the picture in a sentence, for those who cannot see it
    large     words and numbers in large type, for a room
    reach     the largest size that the colours must tell apart, where stages are to be compared; None = its own
    edited    head, row and column of the cells that were changed by hand; they are framed
    margin    rows at the bottom and columns at the right that are sums, and do not belong to the shape
    """

    name: str
    title: str
    array: np.ndarray
    kind: str
    rows: Sequence[str]
    columns: Sequence[str] | None = None
    axes: tuple[str, str] = ("query", "key")
    masked: np.ndarray | None = None
    widths: Sequence[int] | None = None
    heads: Sequence[str] | None = None
    phrase: str = ""
    formula: str = ""
    alt: str = ""
    large: bool = False
    reach: float | None = None
    edited: Sequence[tuple[int, int, int]] = ()
    margin: int = 0

    @property
    def true_widths(self) -> tuple[int, ...]:
        return tuple(self.widths or (self.array.shape[2],) * self.array.shape[0])

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.heads or (say("head {n}", n=head + 1) for head in range(self.array.shape[0])))

    @property
    def hidden(self) -> np.ndarray | None:
        """True where nothing is drawn; in a stage that tells what is allowed, that is wherever it is not."""
        return self.array == 0 if self.kind == "allowed" else self.masked

    @property
    def shape(self) -> Shape:
        """What the arrangement asks of this stage."""
        left = room_for(self.rows, least=24, most=76)
        bottom = 22 if self.columns is None else room_for(self.columns, least=24, most=60)
        if self.large:
            left, bottom = LARGER * left // 10, LARGER * bottom // 10
        return Shape(self.true_widths, self.array.shape[1], left, bottom, self.columns is not None)


@dataclass(frozen=True)
class Scale:
    """The numbers at the two ends of a colour scale, and its colours at equal steps between them."""

    low: float
    high: float
    colours: tuple[str, ...]


def layout(stages: Sequence[Stage], width: int, height: int | None = None) -> Layout:
    """Where all heads of all stages go on a page of `width` pixels; `height` is what they may take at most."""
    return arrange(tuple(stage.shape for stage in stages), width, height)


def scale(stage: Stage) -> Scale:
    """The colour scale of a stage: symmetric about 0 for signed numbers, 0 to 1 for shares."""
    if stage.kind == "allowed":
        return Scale(0.0, 1.0, (SHARE[2], SHARE[2]))
    drawn = stage.array[_drawn(stage) & np.isfinite(stage.array)]
    low, high = (float(drawn.min()), float(drawn.max())) if drawn.size else (0.0, 0.0)
    if stage.reach is not None:
        low, high = (-stage.reach if low < 0 else 0.0), stage.reach
    if stage.kind == "signed" or low < 0:
        end = max(-low, high) or 1.0
        return Scale(-end, end, SIGNED)
    return Scale(0.0, max(1.0, high), SHARE)


def mosaic(stage: Stage, grid: Grid) -> dict[str, Any]:
    """The Plotly figure of a stage, its heads laid out as `grid` says."""
    shades, picture = scale(stage), _laid_out(stage, grid)
    meta = json.dumps(_meta(stage, grid)).replace("#", r"\u0023")  # for Streamlit, #000001 is a colour of its own
    steps = np.linspace(0, 1, len(shades.colours)).tolist()
    trace = {
        "type": "heatmap",
        "z": picture,
        "zmin": shades.low,
        "zmax": shades.high,
        "colorscale": [list(stop) for stop in zip(steps, shades.colours, strict=True)],
        "showscale": False,
        "hoverinfo": "skip",
        "meta": meta,
    }
    revision = {"datarevision": zlib.crc32(picture.tobytes())}
    layout = _layout(grid, _ground(stage, grid))
    layout["shapes"] += [_framed(*cell, grid) for cell in stage.edited[:MOST_FRAMES]]
    return {"data": [trace], "layout": layout | revision}


def bare(figure: dict[str, Any]) -> Figure:
    """The figure without a template."""
    from plotly.graph_objects import Figure  # here, as all else in this file can do without

    drawn = Figure(figure)
    drawn.layout.template = None
    return drawn


def parted(figure: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], np.ndarray]:
    """A mosaic's figure in parts: a chart of its size with nothing in it, what goes in, and the numbers of that.

    The first two are JSON; `z` says only what the numbers are like. The name of the one trace says which size that is:
    what goes in fits only a chart of the same name. `revision` is another number whenever anything that goes in is.
    """
    (trace,), layout = figure["data"], figure["layout"]
    size = {name: part for name, part in layout.items() if name not in ("template", "shapes", "datarevision")}
    name = f"{zlib.crc32(json.dumps(size).encode()):08x}"
    shapes, revision, numbers = layout["shapes"], layout["datarevision"], trace["z"]
    like = {"dtype": str(numbers.dtype), "shape": numbers.shape}
    trace = trace | {"z": like, "name": name}
    chart = {"data": [{"type": "heatmap", "name": name, "showscale": False, "hoverinfo": "skip"}], "layout": size}
    given = {
        "trace": trace,
        "layout": {"shapes": shapes, "datarevision": revision},
        "revision": zlib.crc32(json.dumps([trace, shapes]).encode(), revision),
    }
    return chart, given, numbers


def as_written(figure: dict[str, Any]) -> Figure:
    """A figure as Plotly would send it, without a Plotly object for each of its parts, which costs most.

    A page hands a chart to Plotly twice. It is drawn once only if nothing in it looks new the second time: an object
    counts as new, so there is no template and `meta` is a string; numbers do not, if `datarevision` is equal.
    """
    return _as_written()(figure)


@cache
def _as_written() -> type[Figure]:
    """A figure that is written already; a page asks it for nothing but `to_dict`."""
    from plotly.graph_objects import Figure

    class AsWritten(Figure):  # type: ignore[misc]
        def __init__(self, written: dict[str, Any]) -> None:  # not the parent's: it builds the objects
            self.__dict__["written"] = written

        def to_dict(self) -> dict[str, Any]:
            return dict(self.__dict__["written"])

    return AsWritten


def _drawn(stage: Stage) -> np.ndarray:
    """True where a head has a number to show: inside its true width and not masked."""
    heads, _, columns = stage.array.shape
    inside = np.arange(columns) < np.array(stage.true_widths).reshape(heads, 1, 1)
    return np.broadcast_to(inside if stage.hidden is None else inside & ~stage.hidden, stage.array.shape)


def _laid_out(stage: Stage, grid: Grid) -> np.ndarray:
    """Every head at its place, NaN wherever nothing is drawn; an infinite number stays infinite."""
    dtype = np.float64 if stage.array.size <= EXACT_UP_TO else np.float32
    picture = np.full((grid.cells_y, grid.cells_x), np.nan, dtype)
    drawn = _drawn(stage)
    with np.errstate(over="ignore"):  # beyond float32 a number is drawn as infinite
        shown = np.where(drawn, stage.array, np.nan).astype(dtype)
    for head, top, left in grid.corners():
        picture[top : top + grid.rows, left : left + grid.columns] = shown[head, :, : grid.columns]
    return picture


def _meta(stage: Stage, grid: Grid) -> dict[str, Any]:
    """What has to be known to find a cell, name it and write beside it."""
    return {
        "rows": list(stage.rows),
        "columns": None if stage.columns is None else list(stage.columns),
        "heads": list(stage.names),
        "axes": list(stage.axes),
        "widths": list(grid.widths),
        "across": grid.across,
        "gap": [grid.gap_x, grid.gap_y],
        "large": stage.large,
        "size": [grid.cells_x, grid.cells_y],
        "masked": stage.hidden is not None and bool(stage.hidden.any()),
        "odd": bool((_drawn(stage) & ~np.isfinite(stage.array)).any()),
        "nan": _nan(stage, grid),
    }


def _nan(stage: Stage, grid: Grid) -> str | None:
    """The cells that hold NaN as a number of their own, as bits in base64; None as a rule."""
    cells = (_drawn(stage) & np.isnan(stage.array))[:, :, : grid.columns]
    return base64.b64encode(np.packbits(cells).tobytes()).decode() if cells.any() else None


def _layout(grid: Grid, ground: str) -> dict[str, Any]:
    axis = {"visible": False, "fixedrange": True, "constrain": "domain"}
    return {
        "template": "none",
        "height": grid.height,
        "margin": {"l": grid.left, "t": TOP, "r": RIGHT, "b": grid.bottom, "pad": 0},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": False,
        "xaxis": axis | {"range": [-0.5, grid.cells_x - 0.5], "constraintoward": "left"},
        "yaxis": axis
        | {
            "range": [grid.cells_y - 0.5, -0.5],
            "constraintoward": "top",
            "scaleanchor": "x",
            "scaleratio": grid.cell_h / grid.cell_w,
        },
        "shapes": [{"type": "path", "path": ground, "layer": "below", "fillcolor": MASKED, "line": {"width": 0}}]
        if ground
        else [],
    }


def _framed(head: int, row: int, column: int, grid: Grid) -> dict[str, Any]:
    """A frame around one cell."""
    _, top, left = list(grid.corners())[head]
    x, y = left + column, top + row
    line = {"color": EDITED, "width": 2}
    return {"type": "rect", "x0": x - 0.5, "x1": x + 0.5, "y0": y - 0.5, "y1": y + 0.5, "line": line}


def _ground(stage: Stage, grid: Grid) -> str:
    """The grey that shows through where cells are masked, under every head, as one path."""
    if stage.hidden is None or not stage.hidden.any():
        return ""
    return "".join(
        f"M{left - 0.5},{top - 0.5}H{left + grid.widths[head] - 0.5}V{top + grid.rows - 0.5}H{left - 0.5}Z"
        for head, top, left in grid.corners()
    )


def heading(stage: Stage, *, tall: bool) -> str:
    """Name, phrase, formula, shape and a small legend as HTML, from our own words; three lines if `tall`, else two.

    Words of a visitor never enter here.
    """
    title, phrase = html.escape(stage.title), html.escape(stage.phrase)
    name = f'<b class="attn-name">{title}</b>'
    said = f'<span class="attn-phrase">{phrase}</span>'
    sum_up = f'<div class="attn-formula">{html.escape(_sum_up(stage))}</div>'
    if tall:
        return f'<div class="attn-head"><div>{name}{_legend(stage)}</div><div>{said}</div>{sum_up}</div>'
    return f'<div class="attn-head"><div>{name}{said}{_legend(stage)}</div>{sum_up}</div>'


def _sum_up(stage: Stage) -> str:
    heads, rows, _ = stage.array.shape
    rows, widths = rows - stage.margin, sorted({width - stage.margin for width in stage.true_widths})
    columns = str(widths[0]) if len(widths) == 1 else say("{low} to {high}", low=widths[0], high=widths[-1])
    shape = f"{rows} × {columns}" if stage.names == ("",) else f"{heads} × {rows} × {columns}"
    return f"{stage.formula}   {shape}" if stage.formula else shape


def _legend(stage: Stage) -> str:
    """The colour scale as a small gradient between the numbers at its ends."""
    if stage.kind == "allowed":
        return f'<span class="attn-legend">{_swatch(SHARE[2], say(ALLOWED))}{_swatch(MASKED, say(FORBIDDEN))}</span>'
    shades = scale(stage)
    signed = shades.colours is SIGNED
    low, high = (_short(end, signed) for end in (shades.low, shades.high))
    gradient = f'<i style="background:linear-gradient(90deg,{",".join(shades.colours)})"></i>'
    masked = _swatch(MASKED, say(MASKED_WORD)) if stage.masked is not None and stage.masked.any() else ""
    return f'<span class="attn-legend">{masked}{low}{gradient}{high}</span>'


def _swatch(colour: str, word: str) -> str:
    return f'<span class="attn-swatch"><i style="background:{colour}"></i>{word}</span>'


def _short(number: float, signed: bool) -> str:
    """Two digits are enough at the end of a legend, and whole numbers while they are short.

    >>> _short(-3.375, True), _short(1.0, False), _short(121.3, True), _short(12345.0, True)
    ('−3.4', '1', '+121', '+1.2e+04')
    """
    form = ".0f" if 100 <= abs(number) < 10_000 else ".2g"
    return f"{number:{'+' if signed else ''}{form}}".replace("-", "−", 1) if number else "0"
