"""Lengths of the axes of a plan: how many numbers each step holds, and how many products make it.

How work is counted: one multiply-add for every product of two numbers that is asked for, whether or not a sum follows,
so that a matrix product (n, d) by (d, m) counts n d m. Not counted are sums alone, divisions, roots, comparisons and
the functions exp, tanh and Phi; so a softmax, a mask, a bias and a residual connection count 0. Of a norm the squares
count, of a rotation four products for two numbers. Masked cells are computed like all others and count. Heads count at
their true width, without padding, and keys and values that several heads share count once where they are made and once
a head where they are used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from attnviz.codegen.cost import multiply_adds
from attnviz.engine.plan.chosen import resting
from attnviz.engine.plan.values import Value
from attnviz.engine.records.config import Config
from attnviz.engine.records.typed_rows import score_of
from attnviz.engine.tables.scores import Score
from attnviz.formula.graph import HIDDEN


@dataclass(frozen=True)
class Lengths:
    """The length of each axis, with padding, and the width of each head, without.

    axes    the length of each axis by its name
    widths  the true width of each head along an axis, by ("head" or "kv_head", "d_k" or "d_v")
    factor  of each head, whether its scores are multiplied by anything but 1
    resting the other factors that are 1
    """

    axes: Mapping[str, int]
    widths: Mapping[tuple[str, str], tuple[int, ...]]
    factor: tuple[bool, ...]
    score: Score
    resting: frozenset[str] = frozenset()

    def n_padded(self, value: Value) -> int:
        """Count the numbers of an array with its padding."""
        return math.prod(self.axes[axis] for axis in value.axes)

    def n_true(self, value: Value) -> int:
        """Count the numbers of an array without its padding."""
        if not value.axes or not value.axes[0].endswith("head"):
            return self.n_padded(value)
        return sum(math.prod(self._width(value, axis, h) for axis in value.axes[1:]) for h in self._heads(value))

    def n_multiply_adds(self, value: Value) -> int:
        """Count the products that make a value from the steps before it."""
        if value.name:
            return 0
        return self._own(value) + sum(map(self.n_multiply_adds, value.args))

    def _own(self, value: Value) -> int:
        if value.op == "@":
            left, matrix = value.args
            return math.prod(self.axes[axis] for axis in left.axes[:-1]) * self.n_true(matrix)
        if value.op == "*" and any(arg.name in self.resting for arg in value.args):
            return 0
        if value.op == "*":
            return self._scaled(value) if value.args[1].name == "scale" else self.n_true(value)
        if value.op == "mix":
            return self.n_true(value) * self.axes["key"]
        if value.op == "score":
            return self._scores()
        if value.op == "rope":
            n = self.axes[value.axes[1]]
            return n * sum(4 * (self._width(value, "d_k", h) // 2) for h in self._heads(value))
        return self.n_true(value) if value.op in ("norm", "norm_of_heads") else 0

    def _scaled(self, value: Value) -> int:
        return sum(self.factor) * self.n_padded(value) // self.axes["head"]

    def _scores(self) -> int:
        """Return the products of one score function, head by head."""
        formula, hidden = self.score.definition, dict.fromkeys(HIDDEN, self.axes.get("d_a", 1))
        n, m = self.axes["query"], self.axes["key"]
        return sum(multiply_adds(formula, n, m, {"d_q": d, "d_k": d, **hidden}) for d in self.widths["head", "d_k"])

    def _heads(self, value: Value) -> range:
        return range(self.axes[value.axes[0]])

    def _width(self, value: Value, axis: str, h: int) -> int:
        """Return the length of an axis in head h; d_q is called d_k, and a matrix may have it twice."""
        widths = self.widths.get((value.axes[0], axis))
        return self.axes[axis] if widths is None else widths[h]


def lengths_of(config: Config, axes: Mapping[str, int]) -> Lengths:
    """Return the lengths in a layer of a setting; `axes` are those that a run has, by their names."""
    group, score = config.group_size, score_of(config)
    d_k, d_v = config.key_widths(), config.value_widths()
    d_q, d_z = (tuple(np.repeat(each, group).tolist()) for each in (d_k, d_v))
    widths = {("head", "d_k"): d_q, ("kv_head", "d_k"): d_k, ("head", "d_v"): d_z, ("kv_head", "d_v"): d_v}
    scales = [score.scale(d) if config.scale is None else config.scale for d in d_q]
    return Lengths(axes, widths, tuple(scale != 1.0 for scale in scales), score, resting(config))


def axes_of(config: Config, n_query: int, n_key: int) -> dict[str, int]:
    """Return the length of every axis that a layer of a setting can have, with padding."""
    joined = sum(config.value_widths()) * config.group_size
    return {
        "query": n_query,
        "key": n_key,
        "head": config.n_heads,
        "kv_head": config.kv_heads,
        "number": 1,
        "model": config.d_model,
        "d_k": max(config.key_widths()),
        "d_v": max(config.value_widths()),
        "d_a": config.d_a,
        "d_ff": config.d_ff,
        "joined": joined,
        "out": config.d_model if config.has_output_projection() else joined,
    }
