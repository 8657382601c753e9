"""Attention layers in exact arithmetic, forward and backward: the plan of `run`, for many sentences at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from attnviz.arrays import Array
from attnviz.engine.learning.normalisers import LearnedNormaliser
from attnviz.engine.learning.operations import OPERATIONS, Rotations, array_axes
from attnviz.engine.learning.scores import LearnedScore
from attnviz.engine.numerics.exact import total
from attnviz.engine.plan.chosen import Chosen
from attnviz.engine.plan.layer_arrays import LayerArrays
from attnviz.engine.plan.operations import Operation
from attnviz.engine.plan.tracing import Plan
from attnviz.engine.plan.values import Axes, Value, axes_by_length

Layer = Mapping[str, Array]
"""The parameters of one layer by the names that `run` knows them by."""

WRITTEN = "output"
"""The step of the last layer that is compared with the right words: what it writes, without what it read."""


@dataclass(frozen=True)
class Network:
    """The fixed part of a network, constant while its parameters are learned.

    plan, chosen         what each layer computes, and with which numbers
    score, normaliser    the rows that it computes with
    embeddings           (words, d_model), the vector of each word of the vocabulary
    positions            (queries, d_model) and (keys, d_model), which are added
    rotations            cosines and sines of RoPE for queries and for keys, (tokens, pairs) each; None without
    given                the mask, (queries, keys), and the bias where there is one, (heads, queries, keys)
    """

    plan: Plan
    chosen: Chosen
    score: LearnedScore
    normaliser: LearnedNormaliser
    embeddings: Array
    positions: tuple[Array, Array]
    rotations: Rotations | None
    given: Mapping[str, Array]

    @property
    def is_cross(self) -> bool:
        """Return whether the tokens attend to those of another sentence."""
        return self.plan.has.cross

    def forward(self, layers: Sequence[Layer], queries: Array, keys: Array) -> tuple[Array, list[LearnedLayer]]:
        """Compute what the last layer writes, (batch, queries, d_model), and the steps of each layer."""
        read = {"X": self.embeddings[queries] + self.positions[0]}
        if self.is_cross:
            read["X_kv"] = self.embeddings[keys] + self.positions[1]
        fixed, computed = frozenset(read), []
        for n, parameters in enumerate(layers):
            layer = LearnedLayer(self, {**parameters, **read}, fixed)
            computed.append(layer)
            read["X"] = layer.compute(until=WRITTEN if n == len(layers) - 1 else None)
            fixed -= {"X"}
        return read["X"], computed

    def backward(self, computed: Sequence[LearnedLayer], G: Array) -> list[dict[str, Array]]:
        """Return the gradient of every parameter of each layer, from that of what the last layer writes."""
        slopes, step = list[dict[str, Array]](), WRITTEN
        for layer in reversed(computed):
            slopes.insert(0, layer.slopes(step, G))
            G, step = slopes[0].get("X", G), [*self.plan][-1]
        return slopes


class LearnedLayer(LayerArrays):
    """The arrays of one layer; nobody asks for the slopes of inputs that are `fixed`."""

    def __init__(self, network: Network, known: Mapping[str, Array], fixed: frozenset[str]) -> None:
        super().__init__(network.chosen, {**network.given, **known})
        self.score, self.normaliser, self.rotations = network.score, network.normaliser, network.rotations
        self.left: dict[Value, Any] = {}
        self._plan, self._fixed, self._inner = network.plan, fixed, dict[Value, Array]()

    def operation(self, value: Value) -> Operation:
        """Return the exact operation that makes a value."""
        return OPERATIONS[value.op]

    def compute(self, until: str | None) -> Array:
        """Compute the steps in their order, and return the last, or the one named by `until`."""
        for name, value in self._plan.items():
            if value.op == "step":
                self.known[name] = self.of(value.args[0], self._inner)
            if name == until:
                break
        return self.known[name]

    def slopes(self, step: str, G: Array) -> dict[str, Array]:
        """Return the slopes of the parameters and of what the layer reads, from those of a step."""
        found: dict[str, list[Array]] = defaultdict(list, {step: [G]})
        for name, value in reversed([*self._plan.items()]):
            if value.op == "step" and name in found:
                self.into(value.args[0], self._sum(found.pop(name)), lambda name, G: found[name].append(G), self._inner)
        return {name: self._sum(parts) for name, parts in found.items()}

    def moves(self, value: Value) -> bool:
        """Return whether learning moves a value, so that its slopes are asked for."""
        if value.op in ("given", "setting", "number"):
            return False
        return value.name not in self._fixed if value.name else any(map(self.moves, value.args))

    def gathered(self, G: Array, axes: Axes, value: Value) -> Array:
        """Return slopes with axes summed over those that a narrower value lacks, that of sentences among them."""
        have, all_axes = axes_by_length(array_axes(value)), axes_by_length(("sentence", *axes))
        gone = tuple(n for n, axis in enumerate(all_axes) if axis not in have)
        return total(G, gone) if gone else G

    def added_up(self, G: Array) -> Array:
        """Return slopes added up over the heads that share keys and values."""
        group = self.chosen.group
        return G if group == 1 else total(G.reshape(len(G), -1, group, *G.shape[2:]), 2)

    def _sum(self, parts: Sequence[Array]) -> Array:
        """Add slopes up in the order in which the page reads what they are of: the bits depend on it."""
        return reduce(add, reversed(parts))
