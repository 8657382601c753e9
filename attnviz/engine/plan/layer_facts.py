"""The rows and numbers that the operations of a layer ask for while it is computed, and facts of its arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.numerics import products
from attnviz.engine.plan.chosen import Chosen, Turn
from attnviz.engine.plan.experts import Experts
from attnviz.engine.plan.values import Axes, Value, axes_by_length


class LayerFacts:
    """The rows and numbers of one layer, and what is found out about its arrays, once."""

    def __init__(self, chosen: Chosen) -> None:
        self.chosen = chosen
        self._found: dict[tuple[str, int], tuple[Array, Any]] = {}

    @property
    def turn(self) -> Turn:
        """The rotation of queries and keys."""
        assert self.chosen.turn is not None  # noqa: S101  # a plan without a rotation never asks
        return self.chosen.turn

    @property
    def experts(self) -> Experts:
        """The experts of the feed-forward block."""
        assert self.chosen.experts is not None  # noqa: S101  # a plan without experts never asks
        return self.chosen.experts

    def turned(self, value: Value, X: Array, turn: Callable[[Array], Array]) -> Array:
        """Return queries or keys turned, each head over its true columns."""
        widths = self.chosen.key_widths
        if widths is None:
            return turn(X)
        Y = X.copy()
        for h, width in enumerate(widths if value.axes[0] == "head" else widths[:: self.chosen.group]):
            Y[h, :, :width] = turn(X[h, :, :width])
        return Y

    def each_head(self, X: Array) -> Array:
        """Return keys or values, those of its group for each head of queries."""
        group = self.chosen.group
        return X if group == 1 else self._once("each_head", X, lambda: np.repeat(X, group, axis=-3))

    def added_up(self, G: Array) -> Array:
        """Return slopes added up over the heads that share keys and values."""
        group = self.chosen.group
        return G if group == 1 else G.reshape(-1, group, *G.shape[1:]).sum(axis=1)

    def moves(self, value: Value) -> bool:
        """Return whether the slopes of a value are asked for: those of a number are not."""
        return not value.is_number

    def gathered(self, G: Array, axes: Axes, value: Value) -> Array:
        """Return slopes of an array with these axes summed over those that a narrower value lacks."""
        if len(value.axes) == len(axes):
            return G
        have = axes_by_length(value.axes)
        return G.sum(axis=tuple(n for n, axis in enumerate(axes_by_length(axes)) if axis not in have))

    def first_equals(self, X: Array) -> Array | None:
        """Return for each row the first that equals it; None where no two do."""
        return self._once("first_equals", X, lambda: products.first_equals(X))

    def _once(self, what: str, X: Array, find: Callable[[], Any]) -> Any:
        at = what, id(X)
        if at not in self._found:
            self._found[at] = X, find()  # X is kept, so that its id belongs to nothing else
        return self._found[at][1]
