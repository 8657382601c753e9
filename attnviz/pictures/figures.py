"""The stages of attention as the browser draws them: what is said of each, and its numbers as arrays.

Also what is needed to hand other figures to Plotly as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from attnviz.analysis.statistics import column_sums, effective_keys
from attnviz.arrays import Array
from attnviz.pictures.colours import DARK
from attnviz.pictures.stage_bytes import NamedArray

if TYPE_CHECKING:
    from plotly.graph_objects import Figure
from attnviz.pictures.stage_record import Stage

EXACT_UP_TO = 2500
"""Numbers of an array up to which they are sent as float64, beyond as float32."""

FORBIDDEN = "forbidden"
SAID = ("name", "title", "symbol", "phrase", "shorter", "formula", "alt", "kind", "axes", "leads", "sums", "grey")
HOW = ("large", "apart", "reach", "margin")


def described(stage: Stage, arrays: MutableMapping[str, NamedArray]) -> dict[str, Any]:
    """Return what is said of a stage, as JSON has it, and add its arrays.

    Masked numbers are NaN: what no picture shows could be the answer to a question.

    `masked` is the name of the array that is true where a cell is masked, of all heads or of one that all share, and
    None where no cell is; stages that are masked alike have one. `ends` has the size of the largest number of each
    head. Where the stage has sums, there are `total` (heads, columns) and `spread` (heads, rows) behind its name and a
    dot.
    """
    axes, array = ("head", *stage.axes), stage.array.astype(np.float64, copy=False)
    if stage.masked is not None and stage.masked.any():
        array = np.where(stage.masked, np.nan, array)
    arrays[stage.name] = axes, array if array.size <= EXACT_UP_TO else as_colour(array)
    if stage.sums:
        total, spread = bars(stage)
        arrays[f"{stage.name}.total"] = (axes[0], axes[2]), as_colour(total)
        arrays[f"{stage.name}.spread"] = axes[:2], as_colour(spread)
    listed = {"rows": stage.rows, "columns": stage.columns, "roles": stage.roles, "tested": stage.tested}
    cells = {"edited": stage.edited, "wanted": stage.wanted}
    return {
        **{name: getattr(stage, name) for name in (*SAID, *HOW)},
        **{name: each if each is None else list(each) for name, each in listed.items()},
        **{name: [[int(at) for at in cell] for cell in each] for name, each in cells.items()},
        "heads": stage.names,
        "widths": [int(width) for width in stage.true_widths],
        "positions": _listed(stage.positions),
        **({} if stage.common == (None, None) else {"common": _listed(stage.common)}),
        "masked": None if stage.masked is None or not stage.masked.any() else _mask(stage, stage.masked, arrays),
        "scale": {"low": stage.scale.low, "high": stage.scale.high, **shades(stage.scale.colours)},
        "ends": _ends(stage),
    }


def _listed(along: Sequence[Sequence[int] | None]) -> list[list[int] | None]:
    return [each if each is None else [int(at) for at in each] for each in along]


def shades(colours: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Return the colours of a scale on a light page and on a dark one."""
    return {"colours": colours, "dark": DARK.get(tuple(colours), colours)}


def as_colour(array: Array) -> Array:
    """Return numbers of which a picture shows the colour; what float32 cannot hold is infinite."""
    with np.errstate(over="ignore"):
        return array.astype(np.float32)


def _mask(stage: Stage, masked: Array, arrays: MutableMapping[str, NamedArray]) -> str:
    """Add the cells that are masked, unless another stage has the same; return the name of the array."""
    whole = np.broadcast_to(masked, stage.array.shape)
    mask = whole[:1] if whole.strides[0] == 0 or (whole == whole[:1]).all() else whole
    for name, (_, other) in arrays.items():
        if name.endswith(FORBIDDEN) and np.array_equal(other, mask):
            return name
    name = f"{stage.name}.{FORBIDDEN}" if FORBIDDEN in arrays else FORBIDDEN
    arrays[name] = ("head", *stage.axes), mask
    return name


def _ends(stage: Stage) -> list[float]:
    """Return the size of the largest number of each head, or where that is only what rounding left, a little more."""
    sizes = np.where(stage.drawn_cells & np.isfinite(stage.array), np.abs(stage.array), 0.0).max((1, 2), initial=0.0)
    return [max(float(size), stage.least_end) if size else 0.0 for size in sizes]


def bars(stage: Stage) -> tuple[Array, Array]:
    """Return what each column adds to, (heads, columns), and the part of all keys that each row spreads over.

    The latter is (heads, rows).
    """
    if stage.bars is not None:
        return stage.bars
    weights = np.where(stage.drawn_cells & np.isfinite(stage.array), stage.array, 0.0)
    with np.errstate(all="ignore"):
        return column_sums(weights), effective_keys(weights) / weights.shape[2]


def without_template(figure: dict[str, Any]) -> Figure:
    """Return the figure without a template."""
    from plotly.graph_objects import Figure  # here, as all else in this file can do without

    drawn = Figure(figure)
    drawn.layout.template = None
    return drawn


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
