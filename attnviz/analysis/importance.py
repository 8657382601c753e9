r"""Is the weight the importance: what a key is worth to a query, by four measures.

L is the length of every output row, its direction held fixed: $L = \sum_i u_i \cdot y_i$ with $u_i = y_i / |y_i|$. For
a query and a key of a head there are then the weight, the slopes of L against the weight and against the score, and the
knock-out: how much L falls when that key is forbidden and everything after it is computed again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.backward.gradients import gradients
from attnviz.engine.cost import estimate as cost
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import normaliser_of
from attnviz.engine.run import run
from attnviz.engine.tables.initialisers import INITIALISERS

MEASURES = ("weight", "by_weight", "by_score")
MOST_RUNS = 400
SURE = 1e-6
FEWEST_KEYS = 3
"""A row with fewer keys has no order that says anything."""


@dataclass(frozen=True)
class Importance:
    """The measures of some rows of one layer.

    positions     head and query of each row, counted from 0
    weight, by_weight, by_score, knock_out  (rows, keys); what is forbidden is NaN
    exact      how far the knock-out is from the slope through softmax over 1 - weight, where it must be equal; None
               where it need not
    n_rows     how many rows the layer has
    """

    positions: Sequence[tuple[int, int]]
    weight: Array
    by_weight: Array
    by_score: Array
    knock_out: Array
    exact: float | None
    n_rows: int

    def correlations(self) -> dict[str, float | None]:
        """Return for each measure its rank correlation with the knock-out, the mean over rows; None where none has."""
        correlations: dict[str, float | None] = {}
        for name in MEASURES:
            each = [rank_correlation(*pair) for pair in zip(getattr(self, name), self.knock_out)]
            defined = [r for r in each if r is not None]
            correlations[name] = float(np.mean(defined)) if defined else None
        return correlations


def measured(config: Config, layer: int, first: tuple[int, int], known: Trace | None = None) -> Importance:
    """Return what `measure` does of a setting; `known` is its run, if that is there."""
    return measure(known or run(config), layer, first)


def n_runs(trace: Trace, layer: int) -> int:
    """Return how many runs `measure` makes of a setting, at most."""
    heads, queries, keys = trace.layers[layer]["weights"].shape
    rows = heads if layer == len(trace.layers) - 1 else heads * queries
    return min(cost.times(trace.config, MOST_RUNS), rows * keys)


def measure(trace: Trace, layer: int, first: tuple[int, int] = (0, 0)) -> Importance:
    """Measure the importance of every key, for as many rows of a layer as the time allows, `first` among them.

    In the last layer a query's row of scores changes its own row of the output alone, so one run forbids a key to all
    queries at once.
    """
    steps, Y = trace.layers[layer], trace["output"].array
    length = np.linalg.norm(Y, axis=-1, keepdims=True)
    U = np.divide(Y, length, out=np.zeros(Y.shape), where=length > 0)
    slopes = gradients(trace, {(None, "output"): U}).layers[layer]
    masked = steps["masked"].array
    heads, queries, keys = masked.shape
    twice = 2 if INITIALISERS[trace.config.initialiser].solved else 1  # heads are solved before what is changed
    runs = cost.times(trace.config, MOST_RUNS * twice) // twice
    is_last = layer == len(trace.layers) - 1 and trace.config.normalise_over == "keys"
    chosen = list(_rows(heads, queries, first, max(runs // keys, 1), whole_heads=is_last))
    fall = np.full((len(chosen), keys), np.nan)
    for group in _together(chosen, by_head=is_last):
        for j in range(keys):
            edits = [(layer, "masked", (*chosen[r], j), -np.inf) for r in group]
            if not any(np.isfinite(masked[(*chosen[r], j)]) for r in group):
                continue
            lost = (U * (Y - run(trace.config, edits=edits)["output"].array)).sum(axis=-1)
            for r in group:
                fall[r, j] = lost[chosen[r][1]] if is_last else lost.sum()
    at = tuple(np.array(chosen).T)
    allowed = np.isfinite(masked[at])
    measures = (steps["weights"].array[at], slopes["weights"].array[at], slopes["scores"].array[at], fall)
    weight, by_weight, by_score, fall = (np.where(allowed, array, np.nan) for array in measures)
    exact = _exact(trace, is_last, weight, slopes["masked"].array[at], fall)
    return Importance(chosen, weight, by_weight, by_score, fall, exact, heads * queries)


def _exact(trace: Trace, is_last: bool, weight: Array, by_masked: Array, fall: Array) -> float | None:
    """Compute the distance of the knock-out from T dL/dx / (1 - a): 0 for softmax where L is linear in the row."""
    config = trace.config
    linear = config.norm == "none" and config.feed_forward == "none" and not trace.edits
    if not (is_last and linear and normaliser_of(config).is_softmax):
        return None
    sure = ~(weight < 1.0 - SURE)  # what is left beside such a weight is rounding
    wanted = config.temperature * by_masked / np.where(sure, 1.0, 1.0 - weight)
    off = np.where(sure, 0.0, np.abs(wanted - fall))
    return float(np.nanmax(off, initial=0.0))


def _rows(
    heads: int, queries: int, first: tuple[int, int], most: int, *, whole_heads: bool
) -> Iterator[tuple[int, int]]:
    """Yield the rows to look at: that which comes first, then others, one of each head in turn."""
    if whole_heads:
        order = [first[0], *(h for h in range(heads) if h != first[0])][:most]
        yield from ((h, i) for h in order for i in range(queries))
        return
    others = [(h, i) for i in range(queries) for h in range(heads) if (h, i) != first]
    step = max(len(others) / max(most - 1, 1), 1.0)
    yield first
    yield from (others[int(step * n)] for n in range(min(most - 1, len(others))))


def _together(chosen: Sequence[tuple[int, int]], *, by_head: bool) -> list[list[int]]:
    """Return the rows, by their numbers, that one run can serve."""
    if not by_head:
        return [[r] for r in range(len(chosen))]
    return [[r for r, (h, _) in enumerate(chosen) if h == head] for head in dict.fromkeys(h for h, _ in chosen)]


def ranks(x: Array) -> Array:
    """Return the rank of each number, equal ones their mean.

    >>> ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [1.5, 0.0, 1.5]
    """
    ordered = np.sort(x)
    return (np.searchsorted(ordered, x, "left") + np.searchsorted(ordered, x, "right") - 1) / 2.0


def rank_correlation(x: Array, y: Array) -> float | None:
    """Return Spearman's rank correlation where both have a number; None for fewer than three, or where one is constant.

    >>> rank_correlation(np.array([1.0, 5.0, 9.0, np.nan]), np.array([0.0, 2.0, 1.0, 7.0]))
    0.5
    """
    both = np.isfinite(x) & np.isfinite(y)
    if both.sum() < FEWEST_KEYS:
        return None
    a, b = (ranks(each[both]) for each in (x, y))
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size else None
