"""The part of a number that may be what rounding left of larger ones that cancel.

A sum of products that ought to be 0 comes out as 1e-14 or so. What is left cannot be more than the rounding of what was
summed, and what was summed is known: a number below that is 0 for a reader, and a small one above it is a small one.
Weights are no sums that cancel: one of 1e-26 is real. So is what a person has typed.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.records.trace import Step, Trace

ULP = 2.0**-52
SLACK = 16
"""Roundings of each term that are allowed for: matrices that were solved have more behind them than their own."""

PROJECTED = {"queries": ("embedded", "w_q"), "keys": ("embedded_kv", "w_k"), "values": ("embedded_kv", "w_v")}
PRODUCTS = ("scaled_dot", "dot")
"""The scores that are sums of products of queries and keys."""
CHAIN = ("scores", "scaled", "capped", "masked")


def cleared(trace: Trace, layer: int, step: Step) -> Array:
    """Return the numbers of a step of a layer with 0 in place of what is rounding alone.

    >>> from attnviz import Config, run
    >>> trace = run(Config(sentence="a b"))
    >>> bool((cleared(trace, 0, trace["weights"]) == trace["weights"].array).all())
    True
    """
    least = bound(trace, layer, step.name)
    if least is None:
        return step.array
    is_rounding = np.abs(step.array) <= least
    for at, name, index, _ in trace.config.edits:
        if at == layer and (name == step.name or (name in CHAIN and step.name in CHAIN)):
            is_rounding[index] = False
    return np.where(is_rounding, 0.0, step.array)


def total(trace: Trace, layer: int, step: Step, index: tuple[int | slice, ...]) -> float:
    """Return the sum of some numbers of a step of a layer: 0 where they cancel but for rounding."""
    numbers, least = step.array[index], bound(trace, layer, step.name)
    left = 0.0 if least is None else float(least[index].sum())
    left += numbers.size * ULP * float(np.abs(numbers).sum())
    found = float(numbers.sum())
    return 0.0 if abs(found) <= left else found


def bound(trace: Trace, layer: int, name: str) -> Array | None:
    """Return for each number of a step the size up to which it is rounding alone; None where nothing cancels."""
    steps = trace.layers[layer]
    if name in PROJECTED and name in steps:
        return _projected(trace, layer, name)
    if name == "scores":
        return _scores(trace, layer)
    if name in CHAIN and name in steps:
        return _scaled(trace, layer, name)
    if name == "heads" and {"weights", "values", "heads"} <= set(steps):
        A, V = steps["weights"].array, _repeated(trace, steps["values"].array)
        of_values = bound(trace, layer, "values")
        read = 0.0 if of_values is None else _repeated(trace, of_values)
        return np.abs(A) @ (np.abs(V) * _of_terms(V.shape[-2]) + read)
    return None


def _of_terms(n: int) -> float:
    return SLACK * (n + 1) * ULP


def _repeated(trace: Trace, of_groups: Array) -> Array:
    """Return the arrays of keys or values, one for each head."""
    return np.repeat(of_groups, trace.config.group_size, axis=0)


def _projected(trace: Trace, layer: int, name: str) -> Array | None:
    """Return the bound of X W, or, where positions rotate it, of a row: a rotation mixes its columns."""
    around: Mapping[str, Step] = trace.around
    steps, (source, matrix) = trace.layers[layer], PROJECTED[name]
    source = source if trace.config.is_cross_attention else "embedded"
    if layer > 0 or source not in around or matrix not in steps:
        return None
    X, W = np.abs(around[source].array), np.abs(steps[matrix].array)
    summed: Array = X @ W * _of_terms(X.shape[-1])
    if summed.shape != steps[name].array.shape:
        return None
    is_rotated = f"projected_{name}" in steps
    return np.broadcast_to(2 * summed.max(axis=-1, keepdims=True), summed.shape) if is_rotated else summed


def _scores(trace: Trace, layer: int) -> Array | None:
    steps = trace.layers[layer]
    if trace.config.score not in PRODUCTS or not {"queries", "keys", "scores"} <= set(steps):
        return None
    Q, K = np.abs(steps["queries"].array), _repeated(trace, np.abs(steps["keys"].array))
    found: Array = Q @ np.swapaxes(K, -1, -2) * _of_terms(Q.shape[-1])
    of_q, of_k = (bound(trace, layer, name) for name in ("queries", "keys"))
    if of_q is not None and of_k is not None:
        found = found + of_q @ np.swapaxes(K, -1, -2) + Q @ np.swapaxes(_repeated(trace, of_k), -1, -2)
    return found if found.shape == steps["scores"].array.shape else None


def _scaled(trace: Trace, layer: int, name: str) -> Array | None:
    """Return the bound of the scores times what they are multiplied by; a bias is no rounding."""
    steps, of_scores = trace.layers[layer], bound(trace, layer, "scores")
    if of_scores is None or "scaled" not in steps or (name == "masked" and trace.config.bias != "none"):
        return None
    S, scaled = steps["scores"].array, steps["scaled"].array
    factors = np.abs(np.divide(scaled, S, out=np.zeros_like(S), where=np.abs(S) > of_scores))
    return of_scores * factors.max(axis=(-1, -2), keepdims=True)
