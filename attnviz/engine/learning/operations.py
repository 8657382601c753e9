"""The operations of a plan in exact arithmetic, for many sentences at once: each with its value and with its slopes.

Arrays have an axis of sentences in front of those that a value names; weights, mask and bias are the same for all.
Products round their operands to 20 bits, so a weight is that of `run` but for about a millionth. The browser's worker
has the same table, in ui/session/worker/operations.js.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.learning.normalisers import LearnedNormaliser
from attnviz.engine.learning.scores import LearnedScore
from attnviz.engine.numerics.exact import contracted, product, tanh
from attnviz.engine.plan.chosen import Chosen
from attnviz.engine.plan.model_operations import Slopes
from attnviz.engine.plan.operations import Add, AsKeys, OnlyWhere, Operation, Over, Times
from attnviz.engine.plan.values import Axes, Value
from attnviz.engine.tables.scores.slopes import swap

Rotations = tuple[tuple[Array, Array], tuple[Array, Array]]
"""Cosines and sines for queries and for keys, (tokens, pairs) each."""


class Facts(Protocol):
    """The rows and numbers of the layer that is computed; `left` is what a score's slopes need of its value."""

    chosen: Chosen
    score: LearnedScore
    normaliser: LearnedNormaliser
    rotations: Rotations | None
    left: dict[Value, Any]

    def moves(self, value: Value) -> bool:
        """Return whether learning moves a value, so that its slopes are asked for."""

    def each_head(self, X: Array) -> Array:
        """Return keys or values, those of its group for each head of queries."""

    def added_up(self, G: Array) -> Array:
        """Return slopes added up over the heads that share keys and values."""


def array_axes(value: Value) -> Axes:
    """Return the axes of a value's array, with that of sentences where it has one."""
    return value.axes if value.op in ("weight", "given") else ("sentence", *value.axes)


class Product:
    """A matrix product."""

    def value(self, at: Facts, v: Value, X: Array, W: Array) -> Array:
        return contracted(X, W, *self._axes(v))

    def back(self, at: Facts, v: Value, G: Array, _: Array, X: Array, W: Array) -> Slopes:
        x, w, y = self._axes(v)
        into_x = contracted(G, W, y, w, x) if at.moves(v.args[0]) else None
        return [into_x, contracted(X, G, x, y, w)]

    def _axes(self, v: Value) -> tuple[Axes, Axes, Axes]:
        """Return the axes of both factors and of the product; the one that is summed over has one name in both."""
        x, w = (array_axes(arg) for arg in v.args)
        return x, (*w[:-2], x[-1], w[-1]), array_axes(v)


class Tanh:
    """The hyperbolic tangent, entry by entry."""

    def value(self, at: Facts, v: Value, x: Array) -> Array:
        return tanh(x)

    def back(self, at: Facts, v: Value, G: Array, y: Array, x: Array) -> Slopes:
        return [G * (1.0 - y * y)]


class Rope:
    """A rotation of each pair of columns by its position; an odd last column stays."""

    def value(self, at: Facts, v: Value, X: Array) -> Array:
        return _rotated(X, *self._rotation(at, v))

    def back(self, at: Facts, v: Value, G: Array, y: Array, X: Array) -> Slopes:
        cos, sin = self._rotation(at, v)
        return [_rotated(G, cos, -sin)]

    def _rotation(self, at: Facts, v: Value) -> tuple[Array, Array]:
        assert at.rotations is not None  # noqa: S101  # a plan without rotations never asks
        return at.rotations["key" in v.axes]


class ScoreOf:
    """A score of each query with each key."""

    def value(self, at: Facts, v: Value, Q: Array, K: Array, *own: Array) -> Array:
        S, at.left[v] = at.score.forward(Q, at.each_head(K), self._named(v, own))
        return S

    def back(self, at: Facts, v: Value, G: Array, S: Array, Q: Array, K: Array, *own: Array) -> Slopes:
        of_q, of_k, of_own = at.score.backward(G, Q, at.each_head(K), self._named(v, own), at.left[v])
        return [of_q, at.added_up(of_k), *(of_own[arg.name] for arg in v.args[2:])]

    def _named(self, v: Value, own: tuple[Array, ...]) -> dict[str, Array]:
        return {arg.name: x for arg, x in zip(v.args[2:], own)}


class Normalise:
    """The weights of each row of scores."""

    def value(self, at: Facts, v: Value, S: Array, *rest: Array) -> Array:
        return at.normaliser.forward(S, at.chosen.temperature)

    def back(self, at: Facts, v: Value, G: Array, A: Array, S: Array, *rest: Array) -> Slopes:
        return [at.normaliser.backward(G, S, A, at.chosen.temperature), *(None for _ in rest)]


class Mix:
    """The values, weighed and added up."""

    def value(self, at: Facts, v: Value, A: Array, V: Array, *rest: Array) -> Array:
        return product(A, at.each_head(V))

    def back(self, at: Facts, v: Value, G: Array, _: Array, A: Array, V: Array, *rest: Array) -> Slopes:
        return [product(G, swap(at.each_head(V))), at.added_up(product(swap(A), G)), *(None for _ in rest)]


class SideBySide:
    """The columns of all heads, one head after the other."""

    def value(self, at: Facts, v: Value, Z: Array) -> Array:
        return np.swapaxes(Z, 1, 2).reshape(Z.shape[0], Z.shape[2], -1)

    def back(self, at: Facts, v: Value, G: Array, _: Array, Z: Array) -> Slopes:
        return [np.swapaxes(G.reshape(*G.shape[:-1], Z.shape[1], -1), 1, 2)]


def _rotated(x: Array, cos: Array, sin: Array) -> Array:
    even, odd = x[..., 0 : 2 * cos.shape[-1] : 2], x[..., 1 : 2 * cos.shape[-1] : 2]
    y = x.copy()
    y[..., 0 : 2 * cos.shape[-1] : 2] = even * cos - odd * sin
    y[..., 1 : 2 * cos.shape[-1] : 2] = even * sin + odd * cos
    return y


OPERATIONS: dict[str, Operation] = {
    "+": Add(),
    "*": Times(),
    "/": Over(),
    "@": Product(),
    "tanh": Tanh(),
    "rope": Rope(),
    "as_keys": AsKeys(),
    "score": ScoreOf(),
    "only_where": OnlyWhere(),
    "normalise": Normalise(),
    "mix": Mix(),
    "side_by_side": SideBySide(),
}
"""Each operation that learning knows, by its name in a plan."""
