"""A rule for each operation of a plan: what an entry of it is, and how it is written with its numbers."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from attnviz.arithmetic.entries import Entry, Operands, Rule, around, joined
from attnviz.arithmetic.entry_symbols import letter
from attnviz.arithmetic.model_rules import Clipped, EachUnit, FromSink, NormOfHeads, Route
from attnviz.arithmetic.notation.derivation import largest
from attnviz.arithmetic.notation.latex_numbers import chain
from attnviz.arrays import Array
from attnviz.engine.plan.chosen import at_rest
from attnviz.engine.plan.values import Value

Turns = tuple[Array, Array, Array]
"""Of pairs that are rotated together the firsts, the seconds, and the angle of each."""


class Add(Rule):
    compute, is_sum = staticmethod(operator.add), True

    def size(self, at: Entry, v: Value) -> Array:
        return at.size(v.args[0]) + at.size(v.args[1])

    def written(self, at: Entry, v: Value, d: int | None) -> list[str]:
        x, y = v.args
        rule = at.rule(x)
        if isinstance(rule, Product) and y.op == "weight":
            return rule.written(at, x, d, plus=at.number(y)[d])
        return joined(at.written(x, d), " + ", at.factor(y, d))


class Times(Rule):
    compute = staticmethod(operator.mul)

    def size(self, at: Entry, v: Value) -> Array:
        return at.size(v.args[0]) * at.size(v.args[1])

    def written(self, at: Entry, v: Value, d: int | None) -> list[str]:
        first, second = sorted(v.args, key=lambda arg: not arg.is_number)
        if at_rest(first, at.position.config):
            return at.written(second, d)
        before = at.factor(first, d) if at.rule(first).is_sum else at.written(first, d)
        return joined(before, r" \cdot ", at.factor(second, d))

    def changes(self, at: Entry, v: Value) -> bool:
        numbers, others = [x for x in v.args if x.is_number], [x for x in v.args if not x.is_number]
        is_new = len(others) > 1 or any(at.rule(x).changes(at, x) for x in others)
        return is_new or any(at.number(x) != 1.0 for x in numbers)


class Over(Rule):
    compute = staticmethod(operator.truediv)

    def size(self, at: Entry, v: Value) -> Array:
        return at.size(v.args[0]) / np.abs(at.number(v.args[1]))

    def written(self, at: Entry, v: Value, d: int | None) -> list[str]:
        x, y = at.written(v.args[0], d), at.written(v.args[1], d)
        return [rf"\frac{{{x[0]}}}{{{y[0]}}}"] if len(x) == 1 else around("(", x, f") / {y[0]}")


class Product(Rule):
    """A row times a matrix, or weights times values."""

    is_sum = True

    def parts(self, at: Entry, v: Value) -> tuple[Array, Array]:
        return at.number(v.args[0]), at.number(v.args[1])

    def number(self, at: Entry, v: Value) -> Array:
        x, W = self.parts(at, v)
        return x @ W

    def size(self, at: Entry, v: Value) -> Array:
        x, W = self.parts(at, v)
        return np.abs(x) @ np.abs(W)

    def written(self, at: Entry, v: Value, d: int | None, plus: float | Array = 0.0) -> list[str]:
        x, W = self.parts(at, v)
        x, W = at.to.as_printed(x, self.beside(x)), at.to.as_printed(W, largest(W))
        return at.to.fmt.products(x, W[:, d or 0], self.kept(at), plus)

    def beside(self, x: Array) -> float:
        return largest(x)

    def kept(self, at: Entry) -> int | None:
        """Return the term that is never left out."""
        return None

    def operands(self, at: Entry, v: Value) -> Operands:
        x, W = self.parts(at, v)
        return {"x": x, "W": W}


class Mix(Product):
    """The weights of a row times the values; what is forbidden takes no part: 0 times infinity would be NaN."""

    def parts(self, at: Entry, v: Value) -> tuple[Array, Array]:
        V, row = at.along("key").number(v.args[1]), at.along("key")
        may = at.position.keys_allowed
        return row.number(v.args[0]), np.where(np.reshape(may, (-1, 1)) | np.isfinite(V), V, 0.0)

    def beside(self, x: Array) -> float:
        return 0.0  # the smallest weight is no rounding

    def kept(self, at: Entry) -> int | None:
        return at.index["key"]


class ScoreOf(Product):
    """A query times a key; what another score makes of them its row says, line by line."""

    def parts(self, at: Entry, v: Value) -> tuple[Array, Array]:
        return at.number(v.args[0]), at.number(v.args[1])[:, None]


class Tanh(Rule):
    compute = staticmethod(np.tanh)

    def written(self, at: Entry, v: Value, d: int | None) -> list[str]:
        return around(r"\tanh\left(", at.written(v.args[0], d), r"\right)")


class Activation(Rule):
    def number(self, at: Entry, v: Value) -> Array:
        return np.asarray(at.position.chosen.activation.fn(at.number(v.args[0])), dtype=float)

    def size(self, at: Entry, v: Value) -> Array:
        return at.size(v.args[0]) + np.abs(at.number(v))

    def written(self, at: Entry, v: Value, d: int | None) -> list[str]:
        return around("f(", at.written(v.args[0], d), ")")


class Norm(Rule):
    """A row less its mean, over its deviation; under RMS over the root of its mean square alone."""

    def number(self, at: Entry, v: Value) -> Array:
        return np.asarray(at.position.chosen.norm.fn(at.number(v.args[0])))

    def size(self, at: Entry, v: Value) -> Array:
        x, mean, spread = self._parts(at, v)
        return np.abs(at.number(v)).max(initial=0.0) + (np.abs(x).max(initial=0.0) + np.abs(mean)) / spread

    def written(self, at: Entry, v: Value, d: int | None) -> list[str]:
        lines = at.written(v.args[0], d)
        symbol = at.position.chosen.norm.symbol
        less = lines if symbol == "RMS" else joined(lines, "", [r" - \mu"])
        return [rf"\frac{{{less[0]}}}{{{_SPREAD[symbol]}}}"]

    def above(self, at: Entry, v: Value) -> list[str]:
        x, mean, spread = self._parts(at, v)
        n, fmt, symbol = len(x), at.to.fmt, at.position.chosen.norm.symbol
        sum_of, x_d = rf"\tfrac{{1}}{{{n}}} \textstyle\sum_d", f"{letter(v.args[0])}_d"
        if symbol == "RMS":
            return chain(r"\rho", [rf"\sqrt{{{sum_of} {x_d}^2 + \epsilon}}", fmt.number(spread)])
        squares = rf"\sqrt{{{sum_of} ({x_d} - \mu)^2 + \epsilon}}"
        return chain(r"\mu", [f"{sum_of} {x_d}", fmt.number(mean)]) + chain(r"\sigma", [squares, fmt.number(spread)])

    def _parts(self, at: Entry, v: Value) -> tuple[Array, float, float]:
        x = at.number(v.args[0])
        mean = 0.0 if at.position.chosen.norm.symbol == "RMS" else float(x.mean())
        return x, mean, float(np.sqrt(((x - mean) ** 2).mean() + at.position.chosen.norm.epsilon))


_SPREAD = {"RMS": r"\rho", "LN": r"\sigma"}


class Rope(Rule):
    """Pairs of entries rotated by the position times the angle of the pair; one without a partner stays as it is."""

    is_sum = True

    def turns(self, at: Entry, v: Value) -> Turns:
        """Return the pairs and their angles: neighbours, or in trained models an entry and that half a width on."""
        frequencies, width = at.position.chosen.frequencies, len(at.number(v.args[0]))
        if frequencies is not None:
            first = np.arange(len(frequencies))
            return first, first + len(frequencies), at.row(v) * frequencies
        first = np.arange(0, width // 2 * 2, 2)
        return first, first + 1, at.row(v) * at.position.config.rope_base ** (-first / width)

    def number(self, at: Entry, v: Value) -> Array:
        x, (first, second, angles) = at.number(v.args[0]), self.turns(at, v)
        y, sin, cos = x.copy(), np.sin(angles), np.cos(angles)
        y[first] = x[first] * cos - x[second] * sin
        y[second] = x[first] * sin + x[second] * cos
        return y

    def size(self, at: Entry, v: Value) -> Array:
        return np.asarray(np.abs(at.number(v.args[0])).max())

    def written(self, at: Entry, v: Value, d: int | None) -> list[str]:
        first, second, angles = self.turns(at, v)
        pairs = np.flatnonzero((first == d) | (second == d))
        if not len(pairs):
            return []
        (pair,), fmt = pairs, at.to.fmt
        left, right = at.written(v.args[0], int(first[pair])), at.factor(v.args[0], int(second[pair]))
        by, is_second = fmt.number(angles[pair]), second[pair] == d
        one, sign, other = (r"\sin", "+", r"\cos") if is_second else (r"\cos", "-", r"\sin")
        return joined(left, rf" \cdot {one}({by}) {sign} ", joined(right, rf" \cdot {other}({by})", [""]))

    def changes(self, at: Entry, v: Value) -> bool:
        return at.row(v) > 0

    def operands(self, at: Entry, v: Value) -> Operands:
        return {"x": at.number(v.args[0]), "angles": self.turns(at, v)[2]}


class AsKeys(Rule):
    """The rows of what is attended to, read as keys."""

    def number(self, at: Entry, v: Value) -> Array:
        return at.as_keys.number(v.args[0])


class OnlyWhere(Rule):
    compute = staticmethod(lambda s, allowed: np.where(allowed, s, -np.inf))

    def written(self, at: Entry, v: Value, d: int | None) -> list[str]:
        return []

    def changes(self, at: Entry, v: Value) -> bool:
        position = at.position
        is_open = position.config.mask == ("none",) and not np.isneginf(at.number(v))
        return not is_open or bool(np.isneginf(position.scores_to_normalise).any())


class SideBySide(Rule):
    def number(self, at: Entry, v: Value) -> Array:
        heads = range(at.position.config.n_heads)
        return np.concatenate([replace(at, index={**at.index, "head": h}).number(v.args[0]) for h in heads])

    def operands(self, at: Entry, v: Value) -> Operands:
        return {"x": at.number(v)}


RULES: Mapping[str, Rule] = {
    "+": Add(),
    "*": Times(),
    "/": Over(),
    "@": Product(),
    "score": ScoreOf(),
    "mix": Mix(),
    "tanh": Tanh(),
    "activation": Activation(),
    "norm": Norm(),
    "norm_of_heads": NormOfHeads(),
    "clipped": Clipped(),
    "from_sink": FromSink(),
    "rope": Rope(),
    "route": Route(),
    "each_unit": EachUnit(),
    "as_keys": AsKeys(),
    "only_where": OnlyWhere(),
    "side_by_side": SideBySide(),
}
"""Each operation by its name in a plan; score and normaliser are said by their rows, line by line."""
