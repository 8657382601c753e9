"""The rules of what only trained models do: a norm over all heads, and experts of which each token takes a few."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attnviz.arithmetic.entries import Entry, Rule, around
from attnviz.arithmetic.entry_symbols import letter
from attnviz.arithmetic.notation.latex_numbers import chain
from attnviz.arrays import Array
from attnviz.engine.plan.values import Value
from attnviz.engine.tables.blocks import clipped

ROOT = r"\rho"
"""The letter of a root of a mean square."""


class NormOfHeads(Rule):
    """A row less the mean of the rows of all heads, over their deviation; under RMS over the root of the mean square.

    A row of one head is written as any norm; only what stands under the root is that of all heads.
    """

    def _all(self, at: Entry, v: Value) -> Array:
        heads = range(len(at.position.read[v.args[0].name].array))
        axis = v.axes[0]
        return np.concatenate([replace(at, index={**at.index, axis: h}).number(v.args[0]) for h in heads])

    def number(self, at: Entry, v: Value) -> Array:
        x = at.number(v.args[0])
        first = at.index[v.axes[0]] * len(x)
        return np.asarray(at.position.chosen.norm.fn(self._all(at, v)))[first : first + len(x)]

    def size(self, at: Entry, v: Value) -> Array:
        return np.abs(at.number(v)).max(initial=0.0) + np.abs(at.number(v.args[0])).max(initial=0.0) / self._root(at, v)

    def written(self, at: Entry, v: Value, d: int | None) -> list[str]:
        return [rf"\frac{{{at.written(v.args[0], d)[0]}}}{{{ROOT}}}"]

    def above(self, at: Entry, v: Value) -> list[str]:
        n, fmt, x = len(self._all(at, v)), at.to.fmt, letter(v.args[0])
        mean = rf"\tfrac{{1}}{{{n}}} \textstyle\sum_{{h,d}} ({x}^{{(h)}}_d)^2"
        return chain(ROOT, [rf"\sqrt{{{mean} + \epsilon}}", fmt.number(self._root(at, v))])

    def _root(self, at: Entry, v: Value) -> float:
        return float(np.sqrt((self._all(at, v) ** 2).mean() + at.position.chosen.norm.epsilon))


class Clipped(Rule):
    """The units that a gate lets through: within their limits, and 1 more."""

    is_sum = True
    compute = staticmethod(clipped)

    def size(self, at: Entry, v: Value) -> Array:
        return at.size(v.args[0]) + 1.0

    def written(self, at: Entry, v: Value, d: int | None) -> list[str]:
        return around(r"\mathrm{clip}(", at.written(v.args[0], d), ") + 1")


class FromSink(Rule):
    """The score of the sink of the head, with the other sign."""

    def number(self, at: Entry, v: Value) -> Array:
        return -at.number(v.args[0])[0]

    def written(self, at: Entry, v: Value, d: int | None) -> list[str]:
        return [at.to.fmt.number(self.number(at, v))]


class Route(Rule):
    """The shares of the experts of a row: a softmax, of which the largest stay."""

    def number(self, at: Entry, v: Value) -> Array:
        assert at.position.chosen.experts is not None  # noqa: S101  # a plan without experts never asks
        return at.position.chosen.experts.shares(at.number(v.args[0]))

    def written(self, at: Entry, v: Value, d: int | None) -> list[str]:
        if self.number(at, v)[d] == 0.0:
            return ["0"]
        x = at.written(v.args[0], d)
        return [rf"\frac{{e^{{{x[0]}}}}}{{\Sigma}}"]

    def above(self, at: Entry, v: Value) -> list[str]:
        experts, x = at.position.chosen.experts, at.number(v.args[0])
        assert experts is not None  # noqa: S101
        taken = np.flatnonzero(self.number(at, v)) if experts.adds_up else np.arange(len(x))
        terms = [rf"e^{{{at.written(v.args[0], int(e))[0]}}}" for e in taken]
        shown = terms if len(terms) <= 8 else [*terms[:4], r"\dots", terms[-1]]
        return chain(r"\Sigma", [" + ".join(shown), at.to.fmt.number(np.exp(x[taken]).sum())])


class EachUnit(Rule):
    """The share of each hidden unit, that of its expert."""

    def number(self, at: Entry, v: Value) -> Array:
        assert at.position.chosen.experts is not None  # noqa: S101
        return at.position.chosen.experts.each_unit(at.number(v.args[0]))
