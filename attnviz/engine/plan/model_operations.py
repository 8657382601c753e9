"""The operations that only trained models have: experts, gates with limits, and sinks of heads.

As in `operations`, `value` computes what an operation makes, and `back` carries its slopes the other way.
"""

from __future__ import annotations

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.plan.layer_facts import LayerFacts
from attnviz.engine.plan.values import Value
from attnviz.engine.tables import blocks

Slopes = list[Array | None]


class Clipped:
    """The units that a gate of GPT-OSS lets through: within their limits, and 1 more."""

    def value(self, at: LayerFacts, v: Value, X: Array) -> Array:
        return blocks.clipped(X)

    def back(self, at: LayerFacts, v: Value, G: Array, y: Array, X: Array) -> Slopes:
        return [np.where(np.abs(X) < blocks.LIMIT, G, 0.0)]


class FromSink:
    """The score of the sink of each head, for every query and key, with the other sign."""

    def value(self, at: LayerFacts, v: Value, s: Array, Q: Array, K: Array) -> Array:
        return np.broadcast_to(-s[..., None], (*Q.shape[:-1], K.shape[-2]))

    def back(self, at: LayerFacts, v: Value, G: Array, *_: Array) -> Slopes:
        return [-G.sum(axis=(-1, -2))[..., None], None, None]


class Route:
    """The shares of the experts that each row takes."""

    def value(self, at: LayerFacts, v: Value, R: Array) -> Array:
        return at.experts.shares(R)

    def back(self, at: LayerFacts, v: Value, G: Array, y: Array, R: Array) -> Slopes:
        return [at.experts.back(G, R, y)]


class EachUnit:
    """The share of each hidden unit, that of its expert."""

    def value(self, at: LayerFacts, v: Value, shares: Array) -> Array:
        return at.experts.each_unit(shares)

    def back(self, at: LayerFacts, v: Value, G: Array, *_: Array) -> Slopes:
        return [at.experts.added_up(G)]
