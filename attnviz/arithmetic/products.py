"""Any number of a run that is a sum of products, taken down to these.

Nothing is rounded and nothing is computed but what the line itself says; with a trained model each parameter is named
by its position in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from attnviz.arithmetic import tensor_slices
from attnviz.arrays import Array
from attnviz.engine.pretrained.pretrained_config import facts_of
from attnviz.engine.records.trace import Step, Trace, result_of
from attnviz.engine.records.typed_rows import score_of

AFFINE: Mapping[str, tuple[str, str, str]] = {
    "queries": ("input", "w_q", "b_q"),
    "projected_queries": ("input", "w_q", "b_q"),
    "keys": ("looked_at", "w_k", "b_k"),
    "projected_keys": ("looked_at", "w_k", "b_k"),
    "values": ("looked_at", "w_v", "b_v"),
    "output": ("concat", "w_o", "b_o"),
    "ff_hidden": ("block", "w_1", "b_1"),
    "ff_gate": ("block", "w_1", "b_1"),
    "ff_up": ("block", "w_3", "b_3"),
    "ff_output": ("ff_hidden", "w_2", "b_2"),
}
"""The steps that are a row times a matrix: what the row is of, the matrix, and the bias."""


@dataclass(frozen=True, eq=False)
class Products:
    """One number as a sum of products, and what is added to it.

    read, matrix  the names of the steps that the two vectors are of
    left, right   the vectors;  `bias` what is added, 0 without one;  `total` the products and the bias added up
    activated     whether the step holds a function of the total, as a feed-forward block does
    result        the number of the run;  `sources` where the parameters lie in a model's files, sentences
    """

    read: str
    matrix: str
    left: Array
    right: Array
    bias: float
    total: float
    activated: bool
    result: float
    sources: tuple[str, ...]

    @property
    def values(self) -> Array:
        """The products."""
        return self.left * self.right


def offered(trace: Trace, layer: int) -> tuple[str, ...]:
    """Return the steps of a layer whose numbers are sums of products, in the order of the data."""
    steps = trace.layers[layer]
    turned = ("queries", "keys") if "projected_queries" in steps else ()
    dot = score_of(trace.config).is_dot and "queries" in steps
    sums = {"scores": dot, "heads": "values" in steps}

    def is_sum(name: str) -> bool:
        matrix = AFFINE[name][1] if name in AFFINE and name not in turned else ""
        return sums.get(name, matrix in steps and not _is_gated(name, steps))

    return tuple(name for name in steps if is_sum(name))


def _is_gated(name: str, steps: Mapping[str, Step]) -> bool:
    """Return whether the hidden units are products of two vectors, entry by entry, and no matrix product."""
    return name == "ff_hidden" and "ff_gate" in steps


def products(trace: Trace, layer: int, step: str, row: int, column: int, head: int = 0) -> Products:
    """Return the products of one number; layer, row, column and head count from 0.

    row  the query, or the key of keys and values;  `head` matters to steps that have heads

    Raises KeyError for a step that is no such sum, and IndexError for a position that there is not.

    >>> from attnviz import Config, run
    >>> trace = run(Config())
    >>> found = products(trace, 0, "queries", 2, 1, head=3)
    >>> len(found.values), bool(abs(found.total - trace["queries"].array[3, 2, 1]) < 1e-12)
    (16, True)
    """
    steps = trace.layers[layer]
    at = steps[step].array
    result = float(at[head, row, column] if at.ndim == 3 else at[row, column])
    if step == "scores":
        group = trace.config.group_size
        q, k = steps["queries"].array[head, row], steps["keys"].array[head // group, column]
        return _summed(("queries", "keys"), q, k, 0.0, result, ())
    if step == "heads":
        group = trace.config.group_size
        a, v = steps["weights"].array[head, row], steps["values"].array[head // group, :, column]
        return _summed(("weights", "values"), a, np.where(a == 0, 0.0, v), 0.0, result, ())
    read, matrix, bias = AFFINE[step]
    W = steps[matrix].array
    right = W[head, :, column] if W.ndim == 3 else W[:, column]
    added = 0.0
    if bias in steps:
        b = steps[bias].array
        added = float(b[head, column] if b.ndim == 2 else b[column])
    name, X = _read(trace, layer, read)
    left = X[row]
    return _summed((name, matrix), left, right, added, result, _sources(trace, layer, (matrix, bias), column, head),
               activated=step in ("ff_hidden", "ff_gate"))  # fmt: skip


def _summed(
    names: tuple[str, str], left: Array, right: Array, bias: float, result: float, sources: tuple[str, ...],
    *, activated: bool = False,
) -> Products:  # fmt: skip
    left, right = left.astype(float), right.astype(float)
    return Products(*names, left, right, bias, float(left @ right) + bias, activated, result, sources)


def _sources(trace: Trace, layer: int, names: tuple[str, ...], column: int, head: int) -> tuple[str, ...]:
    known, steps = facts_of(trace.config), trace.layers[layer]
    slices = [(known.slice_of(layer, name), steps[name].symbol) for name in names if name in steps]
    return tuple(tensor_slices.column(at, symbol, column, head) for at, symbol in slices if at is not None)


def _read(trace: Trace, layer: int, what: str) -> tuple[str, Array]:
    """Return the name and the array of what a step reads."""
    steps = trace.layers[layer]
    if what == "block":
        names = ("ff_normed", "added_normed", "added", "output")
        name = next(name for name in names if name in steps)
        return name, steps[name].array
    if what == "looked_at" and trace.config.is_cross_attention:
        return "embedded_kv", trace.around["embedded_kv"].array
    if what in ("input", "looked_at"):
        if "normed" in steps:
            return "normed", steps["normed"].array
        return "embedded", _stream(trace, layer)
    return what, steps[what].array


def _stream(trace: Trace, layer: int) -> Array:
    """Return what a layer begins with."""
    return result_of(trace.layers[layer - 1]).array if layer else trace.around["embedded"].array
