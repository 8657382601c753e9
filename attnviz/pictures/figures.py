"""The stages of attention as Plotly heat maps: one trace a stage, all of its heads side by side.

The figures are plain dicts. They hold no text at all: words, head names and numbers are drawn over them from `meta`,
which says how the picture is laid out, so that picture and words can never disagree.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from attnviz.analysis.statistics import column_sums, effective_keys
from attnviz.arrays import Array
from attnviz.pictures.colours import CLEAR, DARK, EDITED, WANTED
from attnviz.pictures.layout import placement
from attnviz.pictures.layout.placement import NARROWEST_PAGE, Placement, Tiling

if TYPE_CHECKING:
    from plotly.graph_objects import Figure
from attnviz.pictures.stage_record import Stage

BARE = 6  # pixels left of a stage without words there
FRAME, WANTED_FRAME = {"color": EDITED, "width": 2}, {"color": WANTED, "width": 2}
INSIDE = 1.5  # pixels from the edge of a cell to the middle of its frame
MOST_FRAMES = 200
READ_FROM = 0.03  # of a weight that is seen in the sentence; a weaker one has neither tint nor arc there
EXACT_UP_TO = 2500  # cells; up to here a picture carries float64, beyond float32


def placed(stages: Sequence[Stage], width: int, height: int, *, focused: bool = False) -> Placement:
    """Lay out all heads of all stages in a box; `focused` if they are those of one head.

    Words beside the rows of one stage serve also those at its right whose columns are only counted.
    """
    outlines: list[placement.Shape] = []
    worded = set[str]()
    for stage in stages:
        is_bare = stage.columns is None and stage.axes[0] in worded
        outlines.append(replace(stage.outline, left=BARE) if is_bare else stage.outline)
        if stage.columns is not None and width >= NARROWEST_PAGE:
            worded.add(stage.axes[0])
    return placement.place(outlines, width, height, focused=focused)


def mosaic(stage: Stage, tiling: Tiling, height: int | None = None) -> dict[str, Any]:
    """Return the Plotly figure of a stage, its heads laid out by `tiling`; without a height, as high as they need."""
    shades, cells = stage.scale, blocks(stage, tiling)
    picture = _laid_out(cells, tiling, np.float64 if stage.array.size <= EXACT_UP_TO else np.float32)
    meta = json.dumps(_meta(stage, tiling, cells)).replace("#", r"\u0023")  # for Streamlit, #000001 is a colour
    steps = np.linspace(0, 1, len(shades.colours)).tolist()
    trace = {
        "type": "heatmap",
        "x": list(tiling.x),
        "y": list(tiling.y),
        "z": picture,
        "zmin": shades.low,
        "zmax": shades.high,
        "colorscale": [list(stop) for stop in zip(steps, shades.colours, strict=True)],
        "showscale": False,
        "hoverinfo": "skip",
        "meta": meta,
    }
    revision = {"datarevision": zlib.crc32(picture.tobytes())}
    layout = _layout(tiling, height or tiling.height, _ground(stage, tiling))
    layout["shapes"] += [_framed(*cell, tiling, WANTED_FRAME) for cell in stage.wanted[:MOST_FRAMES]]
    layout["shapes"] += [_framed(*cell, tiling) for cell in stage.edited[:MOST_FRAMES]]
    return {"data": [trace], "layout": layout | revision}


def without_template(figure: dict[str, Any]) -> Figure:
    """Return the figure without a template."""
    from plotly.graph_objects import Figure  # here, as all else in this file can do without

    drawn = Figure(figure)
    drawn.layout.template = None
    return drawn


def split_numbers(figure: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], Array]:
    """Return a mosaic's figure in parts: an empty chart of its height, what goes in, and the numbers of that.

    The first two are JSON; `z` says only what the numbers are like. The name of the one trace says which height that
    is: what goes in fits only a chart of the same name. `revision` is another number whenever anything that goes in is.
    """
    (trace,), layout = figure["data"], figure["layout"]
    hidden = {"visible": False, "fixedrange": True}
    size = {name: layout[name] for name in ("height", "paper_bgcolor", "plot_bgcolor", "hovermode")}
    size |= {"margin": {"l": 0, "t": 0, "r": 0, "b": 0, "pad": 0}, "xaxis": hidden, "yaxis": hidden}
    name = f"{zlib.crc32(json.dumps(size).encode()):08x}"
    inside = {name: part for name, part in layout.items() if name != "template" and size.get(name) != part}
    numbers = trace["z"]
    revision = zlib.crc32(json.dumps([trace["x"], trace["y"]]).encode(), layout["datarevision"])
    inside["datarevision"] = revision  # Plotly takes equal numbers in cells of another size for what it has drawn
    like = {"dtype": str(numbers.dtype), "shape": numbers.shape}
    trace = trace | {"z": like, "name": name}
    chart = {"data": [{"type": "heatmap", "name": name, "showscale": False, "hoverinfo": "skip"}], "layout": size}
    parts = {
        "trace": trace,
        "layout": inside,
        "revision": zlib.crc32(json.dumps([trace, inside]).encode(), revision),
    }
    return chart, parts, numbers


def as_written(figure: dict[str, Any]) -> Figure:
    """Return a figure as Plotly would send it, without a Plotly object for each of its parts, which costs most.

    A page hands a chart to Plotly twice. It is drawn once only if nothing in it looks new the second time: an object
    counts as new, so there is no template and `meta` is a string; numbers do not, if `datarevision` is equal.
    """
    return _as_written()(figure)


@cache
def _as_written() -> type[Figure]:
    """Return a figure that is written already; a page asks it for nothing but `to_dict`."""
    from plotly.graph_objects import Figure

    class AsWritten(Figure):  # type: ignore[misc]
        def __init__(self, written: dict[str, Any]) -> None:  # not the parent's: it builds the objects
            self.__dict__["written"] = written

        def to_dict(self) -> dict[str, Any]:
            return dict(self.__dict__["written"])

    return AsWritten


def blocks(stage: Stage, tiling: Tiling) -> Array:
    """Return the drawn cells of every head, (heads, lines, columns): the number of each that is largest in size.

    NaN wherever nothing is drawn.
    """
    shown = np.where(stage.drawn_cells, stage.array, np.nan)
    if tiling.block == tiling.fold == 1:
        return shown
    apart = _apart(shown, tiling)
    at = _largest(_apart(stage.drawn_cells, tiling), apart)
    return np.take_along_axis(apart, at[..., None], -1)[..., 0]


def behind(stage: Stage, tiling: Tiling, head: int, row: int, column: int) -> tuple[int, int]:
    """Return the row and column of the number that the drawn cell around a cell of the array shows."""
    line, block = row // tiling.block, column // tiling.fold
    drawn = stage.drawn_cells[head : head + 1]
    apart = _apart(stage.array[head : head + 1], tiling)[:, line : line + 1, block : block + 1]
    at = int(_largest(_apart(drawn, tiling)[:, line : line + 1, block : block + 1], apart)[0, 0, 0])
    return line * tiling.block + at // tiling.fold, block * tiling.fold + at % tiling.fold


def _apart(array: Array, tiling: Tiling) -> Array:
    """Return (heads, lines, columns, cells of a block): the array in blocks, filled up with NaN or False."""
    heads, rows, columns = array.shape
    block, fold = tiling.block, tiling.fold
    lines, folds = -(-rows // block), -(-columns // fold)
    whole = np.full((heads, lines * block, folds * fold), False if array.dtype == bool else np.nan)
    whole[:, :rows, :columns] = array
    return whole.reshape(heads, lines, block, folds, fold).swapaxes(2, 3).reshape(heads, lines, folds, block * fold)


def _largest(drawn: Array, apart: Array) -> Array:
    """Return the index of the largest cell, by size, of each block.

    One that is no number before all others, one not drawn last.
    """
    size = np.where(np.isnan(apart), np.inf, np.abs(apart))
    return np.where(drawn.astype(bool), size, -1.0).argmax(axis=-1)


def _laid_out(cells: Array, tiling: Tiling, dtype: type[np.floating[Any]]) -> Array:
    """Return every head in its tile, NaN wherever nothing is drawn; an infinite number stays infinite."""
    shape = (tiling.down * (tiling.lines + 1) - 1, tiling.across * (tiling.columns + 1) - 1)
    picture: Array = np.full(shape, np.nan, dtype)
    with np.errstate(over="ignore"):  # beyond float32 a number is drawn as infinite
        shown: Array = cells.astype(dtype)
    for head, top, left in tiling.corners():
        picture[top : top + tiling.lines, left : left + tiling.columns] = shown[head, :, : tiling.columns]
    return picture


def _meta(stage: Stage, tiling: Tiling, cells: Array) -> dict[str, Any]:
    """Return the facts by which the browser finds a cell, names it and writes beside it."""
    return {
        "rows": list(stage.rows),
        "columns": None if stage.columns is None else list(stage.columns),
        "heads": list(stage.names),
        "roles": None if stage.roles is None else list(stage.roles),
        "axes": list(stage.axes),
        "positions": [None if positions is None else list(positions) for positions in stage.positions],
        "widths": [-(-width // tiling.fold) for width in tiling.widths],
        "true": list(tiling.widths),
        "across": tiling.across,
        "block": [tiling.block, tiling.fold],
        "room": [tiling.left, tiling.right, tiling.top],
        "large": stage.large,
        "leads": stage.leads,
        "dark": list(DARK.get(stage.scale.colours, ())),
        "ends": _ends(cells, stage.least_end) if stage.apart else None,
        "sums": _sums(stage, tiling) if stage.sums else None,
        "share": stage.kind == "share",
        "masked": stage.hidden is not None and bool(stage.hidden.any()),
        "odd": bool((stage.drawn_cells & ~np.isfinite(stage.array)).any()),
        "nan": _nan(stage, tiling),
        "strong": _strong(stage, tiling),
    }


def _ends(cells: Array, least: float) -> list[float]:
    """Return the size of the largest number of each head, or `least` where that is smaller; 0 where all are."""
    largest = [float(np.abs(head[np.isfinite(head)]).max(initial=0.0)) for head in cells]
    return [max(end, least) if end else 0.0 for end in largest]


def bars(stage: Stage) -> tuple[Array, Array]:
    """Return what each column adds to, (heads, columns), and the part of all keys that each row spreads over.

    The latter is (heads, rows).
    """
    if stage.bars is not None:
        return stage.bars
    weights = np.where(stage.drawn_cells & np.isfinite(stage.array), stage.array, 0.0)
    with np.errstate(all="ignore"):
        return column_sums(weights), effective_keys(weights) / weights.shape[2]


def _sums(stage: Stage, tiling: Tiling) -> dict[str, list[list[float]]]:
    """Return the bars of every head, those of a block as the longest of them."""
    totals, spread = bars(stage)
    edges = [np.arange(0, array.shape[1], tiling.block) for array in (totals, spread)]
    totals = np.maximum.reduceat(np.maximum(totals, 0.0), edges[0], axis=1)
    spread = np.maximum.reduceat(np.nan_to_num(spread), edges[1], axis=1)
    return {"columns": totals.round(3).tolist(), "rows": spread.round(3).tolist()}


def _nan(stage: Stage, tiling: Tiling) -> str | None:
    """Return the drawn cells that hold NaN as a number of their own, as bits in base64; None as a rule."""
    odd = stage.drawn_cells & np.isnan(stage.array)
    if not odd.any():
        return None
    cells = np.any(_apart(odd, tiling), axis=-1)[:, :, : tiling.columns]
    return base64.b64encode(np.packbits(cells).tobytes()).decode()


def _strong(stage: Stage, tiling: Tiling) -> dict[str, str] | None:
    """Return the weights that the sentence shows of each row, where words share a cell; None where none do.

    Of each row in turn, head by head, those from `READ_FROM` on, and its largest: how many they are, their columns, and
    their numbers, as uint16, uint16 and float32 in base64.
    """
    if tiling.block == 1 or stage.kind != "share" or stage.axes != ("query", "key"):
        return None
    drawn = np.where(stage.drawn_cells & np.isfinite(stage.array), stage.array, 0.0)
    strong = (drawn > 0) & (drawn >= np.minimum(READ_FROM, drawn.max(axis=-1, keepdims=True)))
    parts = {
        "counts": strong.sum(-1).astype("<u2"),
        "columns": strong.nonzero()[2].astype("<u2"),
        "weights": drawn[strong].astype("<f4"),
    }
    return {name: base64.b64encode(part.tobytes()).decode() for name, part in parts.items()}


def _layout(tiling: Tiling, height: int, ground: list[dict[str, Any]]) -> dict[str, Any]:
    axis = {"visible": False, "fixedrange": True, "constrain": "domain", "domain": [0, 1]}
    below = height - tiling.top - tiling.y[-1]
    return {
        "template": "none",
        "height": height,
        "margin": {"l": tiling.left, "t": tiling.top, "r": tiling.right, "b": below, "pad": 0},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "hovermode": False,
        "xaxis": axis | {"range": [0, tiling.x[-1]], "constraintoward": "left"},
        "yaxis": axis
        | {"range": [tiling.y[-1], 0], "constraintoward": "top", "scaleanchor": "x", "scaleratio": 1},  # true pixels
        "shapes": ground,
    }


def _framed(head: int, row: int, column: int, tiling: Tiling, line: Mapping[str, Any] = FRAME) -> dict[str, Any]:
    """Return a frame in one cell, along its edges: the gaps between cells are drawn over what lies on them."""
    _, top, left = list(tiling.corners())[head]
    x, y = left + column // tiling.fold, top + row // tiling.block
    (x0, x1), (y0, y1) = tiling.x[x : x + 2], tiling.y[y : y + 2]
    inside = min(INSIDE, abs(x1 - x0) / 6, abs(y1 - y0) / 6)
    corners = {"x0": x0 + inside, "x1": x1 - inside, "y0": y0 + inside, "y1": y1 - inside}
    return {"type": "rect", **corners, "line": dict(line)}


def _ground(stage: Stage, tiling: Tiling) -> list[dict[str, Any]]:
    """Return the ground under every head as one path, if any of it shows: where cells are masked.

    It is clear: the browser draws over it. And where no cell holds a number, as while all of them are asked for, it has
    nothing else to tell by where the cells are.
    """
    is_masked = stage.hidden is not None and bool(stage.hidden.any())
    if not is_masked and np.isfinite(stage.array[stage.drawn_cells]).any():
        return []
    x, y = tiling.x, tiling.y
    path = "".join(
        f"M{x[left]},{y[top]}H{x[left + -(-tiling.widths[head] // tiling.fold)]}V{y[top + tiling.lines]}H{x[left]}Z"
        for head, top, left in tiling.corners()
    )
    return [{"type": "path", "path": path, "layer": "below", "line": {"width": 0}}]  # Plotly takes a clear colour
