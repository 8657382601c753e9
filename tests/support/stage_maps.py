"""The maps as the browser makes them of stages, once more in Python: what the page's JavaScript is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.pictures.figures import bars
from attnviz.pictures.stage_record import Stage
from tests.support import placement
from tests.support.placement import NARROWEST_PAGE, Placement, Tiling

BARE = 6  # pixels left of a stage without words there


def outline(stage: Stage) -> placement.Shape:
    """The size of a stage in a window."""
    left = placement.room_beside(stage.rows)
    left = round(placement.LARGER * left) if stage.large else left
    worded = stage.columns is not None
    sizes = stage.true_widths, stage.array.shape[1], left, worded, stage.leads, stage.sums
    return placement.Shape(*sizes, large=stage.large)


def placed(stages: Sequence[Stage], width: int, height: int, *, focused: bool = False) -> Placement:
    """Lay out all heads of all stages in a box; `focused` if they are those of one head.

    Words beside the rows of one stage serve also those at its right whose columns are only counted.
    """
    outlines: list[placement.Shape] = []
    worded = set[str]()
    for stage in stages:
        is_bare = stage.columns is None and stage.axes[0] in worded
        outlines.append(replace(outline(stage), left=BARE) if is_bare else outline(stage))
        if stage.columns is not None and width >= NARROWEST_PAGE:
            worded.add(stage.axes[0])
    return placement.place(outlines, width, height, focused=focused)


def mosaic(stage: Stage, tiling: Tiling) -> dict[str, Any]:
    """The heat map of a stage, its heads laid out by `tiling`."""
    shades, cells = stage.scale, blocks(stage, tiling)
    steps = np.linspace(0, 1, len(shades.colours)).tolist()
    return {
        "x": list(tiling.x),
        "y": list(tiling.y),
        "z": _laid_out(cells, tiling),
        "zmin": shades.low,
        "zmax": shades.high,
        "colorscale": [list(stop) for stop in zip(steps, shades.colours, strict=True)],
        "meta": _meta(stage, tiling, cells),
    }


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


def _laid_out(cells: Array, tiling: Tiling) -> Array:
    """Every head in its tile, NaN wherever nothing is drawn; an infinite number stays infinite."""
    shape = (tiling.down * (tiling.lines + 1) - 1, tiling.across * (tiling.columns + 1) - 1)
    picture: Array = np.full(shape, np.nan)
    for head, top, left in tiling.corners():
        picture[top : top + tiling.lines, left : left + tiling.columns] = cells[head, :, : tiling.columns]
    return picture


def _meta(stage: Stage, tiling: Tiling, cells: Array) -> dict[str, Any]:
    """Return the facts by which the browser finds a cell, names it and writes beside it."""
    return {
        "rows": list(stage.rows),
        "columns": None if stage.columns is None else list(stage.columns),
        "heads": list(stage.names),
        "roles": None if stage.roles is None else list(stage.roles),
        "tested": None if stage.tested is None else list(stage.tested),
        "axes": list(stage.axes),
        "positions": [None if positions is None else list(positions) for positions in stage.positions],
        "widths": [-(-width // tiling.fold) for width in tiling.widths],
        "true": list(tiling.widths),
        "across": tiling.across,
        "block": [tiling.block, tiling.fold],
        "room": [tiling.left, tiling.right, tiling.top],
        "large": stage.large,
        "leads": stage.leads,
        "ends": _ends(cells, stage.least_end) if stage.apart else None,
        "sums": _sums(stage, tiling) if stage.sums else None,
        "share": stage.kind == "share",
        "masked": stage.hidden is not None and bool(stage.hidden.any()),
        "odd": bool((stage.drawn_cells & ~np.isfinite(stage.array)).any()),
    }


def _ends(cells: Array, least: float) -> list[float]:
    """Return the size of the largest number of each head, or `least` where that is smaller; 0 where all are."""
    largest = [float(np.abs(head[np.isfinite(head)]).max(initial=0.0)) for head in cells]
    return [max(end, least) if end else 0.0 for end in largest]


def _sums(stage: Stage, tiling: Tiling) -> dict[str, list[list[float]]]:
    """Return the bars of every head, those of a block as the longest of them."""
    totals, spread = bars(stage)
    edges = [np.arange(0, array.shape[1], tiling.block) for array in (totals, spread)]
    totals = np.maximum.reduceat(np.maximum(totals, 0.0), edges[0], axis=1)
    spread = np.maximum.reduceat(np.nan_to_num(spread), edges[1], axis=1)
    return {"columns": totals.round(3).tolist(), "rows": spread.round(3).tolist()}
