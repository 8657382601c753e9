"""Faults that raise no error and leave every shape right: what they make of a run, as numbers changed in it.

A fault is computed from the run without it, so that every number of a faulty run is the engine's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.records.config import Config
from attnviz.engine.records.edits import Edit
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run

WRONG_BY = 0.1
"""The error of one wrong digit after the point."""


def _edits(step: str, before: Array, after: Array) -> Iterator[Edit]:
    """Yield the numbers of a step in the first layer that are others after a fault."""
    for position in np.argwhere(before != after).tolist():
        yield 0, step, tuple(position), float(after[tuple(position)])


def _joined(trace: Trace) -> Iterator[Edit]:
    """Yield heads (h, n, d_v) reshaped to (n, h d_v) as they lie, the axis of the words not moved to the front."""
    heads, concat = trace["heads"].array, trace["concat"].array
    return _edits("concat", concat, heads.reshape(concat.shape))


def _mask_added(trace: Trace) -> Iterator[Edit]:
    """Return a mask of ones and zeros added to the scores, in place of 0 and minus infinity."""
    allowed = np.broadcast_to(trace["allowed"].array.astype(float), trace["capped"].shape)
    return _edits("masked", trace["masked"].array, trace["capped"].array + allowed)


def _one_limit(trace: Trace) -> Iterator[Edit]:
    """Draw W_V within the limit of W_Q: both uniform, so each number is that many times as large."""
    (n_in, d_k), d_v = trace["w_q"].shape[1:], trace["w_v"].shape[2]
    W = trace["w_v"].array
    return _edits("w_v", W, W * np.sqrt((n_in + d_v) / (n_in + d_k)))


def _stale(trace: Trace) -> Iterator[Edit]:
    """Return scores of an earlier run, with other random numbers."""
    earlier = run(replace(trace.config, seed=trace.config.seed + 1))
    return _edits("scores", trace["scores"].array, earlier["scores"].array)


def _digit(trace: Trace) -> Iterator[Edit]:
    """Return one weight with a wrong digit: that of the second query for the first key."""
    A = trace["weights"].array
    wrong = A.copy()
    wrong[0, 1, 0] += WRONG_BY
    return _edits("weights", A, wrong)


FAULTS: dict[str, Callable[[Trace], Iterator[Edit]]] = {
    "joined": _joined,
    "mask_added": _mask_added,
    "one_limit": _one_limit,
    "stale": _stale,
    "digit": _digit,
}
"""By name: what is changed in a run."""


@lru_cache(maxsize=64)
def with_fault(config: Config, name: str) -> Config:
    """Return the setting of a run with a fault in it.

    >>> config = Config(sentence="a b c", n_heads=2, d_v=2, output_projection=False)
    >>> right, faulty = run(config)["heads"].array, run(with_fault(config, "joined"))["concat"].array
    >>> faulty[0].tolist() == right[0, :2].ravel().tolist()
    True
    """
    edits = tuple(FAULTS[name](run(config)))
    open_to_all = {"mask": "none"} if name == "mask_added" else {}
    return replace(config, edits=(*config.edits, *edits), **open_to_all)  # type: ignore[arg-type]
