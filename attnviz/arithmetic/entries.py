"""The numbers of a layer's plan at one position: what an entry is, how it is written, and what goes into it.

Along an axis on which the position has no index a value is a vector, or a matrix: rules compute all of its entries, and
write the one that is asked for, d; of a number d is None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from attnviz.arithmetic.cell_position import CellPosition
from attnviz.arithmetic.notation.derivation import Derivation
from attnviz.arithmetic.notation.latex_numbers import chain
from attnviz.arrays import Array
from attnviz.engine.plan.values import Value

Operands = dict[str, Array]
"""What goes into a line, by name."""


@dataclass(frozen=True, eq=False)
class Entry:
    """A position in a layer, and the derivation that its numbers are written into.

    index  the index along each axis that has one;  `rules` that of each operation
    made   values without a name that a line before says, with their numbers
    """

    position: CellPosition
    to: Derivation
    index: Mapping[str, int]
    rules: Mapping[str, Rule]
    made: dict[Value, Array] = field(default_factory=dict)

    def along(self, axis: str) -> Entry:
        """Return the same with all that stands along an axis."""
        return replace(self, index={name: at for name, at in self.index.items() if name != axis})

    @property
    def as_keys(self) -> Entry:
        """The same for the row of the key, read as that of a query."""
        return replace(self, index={**self.index, "query": self.index["key"]})

    def row(self, value: Value) -> int:
        """Return which row of a step this is, counted from 0."""
        return self.index["query" if "query" in value.axes else "key"]

    def rule(self, value: Value) -> Rule:
        is_leaf = value.name or value.is_number or value in self.made
        return LEAF if is_leaf else self.rules[value.op]

    def number(self, value: Value) -> Array:
        """Return what a value is here: as it was recorded, or what it is made of."""
        return self.rule(value).number(self, value)

    def size(self, value: Value) -> Array:
        """Return the size of the terms that a value is the sum of, by which rounding is told from an edit."""
        return self.rule(value).size(self, value)

    def written(self, value: Value, d: int | None) -> list[str]:
        """Return an entry with its numbers put in, in as many lines as it takes; none for what stays as it is."""
        return self.rule(value).written(self, value, d)

    def factor(self, value: Value, d: int | None) -> list[str]:
        """Return an entry as it stands after an operator: sums, and what is negative, in brackets."""
        lines = self.written(value, d)
        return around("(", lines, ")") if self.rule(value).is_sum or lines[0].startswith("-") else lines

    def above(self, value: Value) -> list[str]:
        """Return the lines that say what stands in the entries by a letter."""
        return self.rule(value).above(self, value)

    def operands(self, value: Value) -> Operands:
        """Return the numbers that go in, by name."""
        return self.rule(value).operands(self, value)


class Rule:
    """An operation at one position; what is here holds for most of them."""

    is_sum = False
    compute: Callable[..., Array]

    def number(self, at: Entry, v: Value) -> Array:
        return self.compute(*map(at.number, v.args))

    def size(self, at: Entry, v: Value) -> Array:
        return np.abs(at.number(v))

    def written(self, at: Entry, v: Value, d: int | None) -> list[str]:
        x = at.number(v)
        return [at.to.fmt.number(x[d] if np.ndim(x) else x)]

    def changes(self, at: Entry, v: Value) -> bool:
        """Return whether it changes anything here; a scale of 1 does not."""
        return True

    def above(self, at: Entry, v: Value) -> list[str]:
        return [line for arg in v.args for line in at.above(arg)]

    def parts(self, at: Entry, v: Value) -> tuple[Array, Array]:
        """Return the row and the matrix of a sum of products."""
        raise NotImplementedError

    def operands(self, at: Entry, v: Value) -> Operands:
        found: Operands = {}
        for arg in sorted(v.args, key=lambda arg: not arg.is_number):
            for name, x in at.operands(arg).items():
                found["y" if name in found and name == "x" else name] = x
        return found


class Leaf(Rule):
    """A number of the run or of its setting that has a name, or was said by a line before."""

    def number(self, at: Entry, v: Value) -> Array:
        position = at.position
        if v in at.made:
            return at.made[v]
        if v.is_number:
            own = position.scale if v.name == "scale" else getattr(position.chosen, v.name) if v.name else v.number
            return np.array(own)
        if v.name == "allowed":
            return np.array(position.may)  # a score that was given as minus infinity is forbidden too
        step, headed = position.read[v.name], v.axes[0].endswith("head")
        part = step.head(at.index[v.axes[0]] if headed else 0)
        return part[tuple(at.index.get(axis, slice(None)) for axis in v.axes[headed:])]

    def written(self, at: Entry, v: Value, d: int | None) -> list[str]:
        x = at.number(v)
        if v.op not in ("weight", "given") and not v.is_number:
            x = at.to.as_printed(x, at.to.sizes.get(v.name, 0.0))
        return [at.to.fmt.number(x[d] if np.ndim(x) else x)]

    def changes(self, at: Entry, v: Value) -> bool:
        return False

    def above(self, at: Entry, v: Value) -> list[str]:
        if v.name != "scale" or not at.position.scaled_by_width:
            return []
        return chain("c", [rf"\frac{{1}}{{\sqrt{{{at.position.d_k}}}}}", at.to.fmt.number(at.position.scale)])

    def operands(self, at: Entry, v: Value) -> Operands:
        return {} if v.op == "number" else {_operand(v): at.number(v)}


def _operand(v: Value) -> str:
    """Return what a number goes by in a line: scale, score, x, W, b ..."""
    if v.op == "weight":
        return "W" if v.name.startswith("w") else v.name[0]
    return (
        v.name
        if v.op in ("given", "setting") or v.name == "bias"
        else "score"
        if v.axes[-2:] == ("query", "key")
        else "x"
    )


LEAF = Leaf()


def joined(left: list[str], between: str, right: list[str]) -> list[str]:
    """Return the lines of one with those of another behind them."""
    return [*left[:-1], left[-1] + between + right[0], *right[1:]]


def around(before: str, lines: list[str], after: str) -> list[str]:
    """Return lines with something before the first and after the last."""
    return joined([before], "", joined(lines, after, [""]))
