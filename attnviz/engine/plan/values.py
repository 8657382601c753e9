"""The words of the page: symbols that stand for arrays, and the operations on them.

A `Value` knows the operation that makes it, what that reads, and its axes by name. Nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Axes = tuple[str, ...]

SAME_LENGTH = ({"model", "out"}, {"joined", "out"})
"""Axes of one length under two names: what a layer hands on is what the next one reads, and without W_O the heads'
columns are the output."""

_CALLED = {"out": "model", "joined": "model"}


def axes_by_length(axes: Axes) -> list[str]:
    """Return axes with one name for those that are of one length, wherever something narrower is spread over them."""
    return [_CALLED.get(axis, axis) for axis in axes]


@dataclass(frozen=True, eq=False)
class Value:
    """One operation on others. Two are equal only if they are the same one: a value is a place in a plan.

    op    the name of the operation; of a leaf "input", "weight", "given" (mask and bias), "setting" or "number"
    args  what the operation reads; of a weight that is another one, that
    axes  the names of the axes of the array
    name  of a step that is recorded, a weight, an input or a setting; otherwise ""
    read  of a weight, what it multiplies; a matrix may be solved for that
    """

    op: str
    args: tuple[Value, ...] = ()
    axes: Axes = ()
    name: str = ""
    number: float = 0.0
    read: tuple[Value, ...] = ()

    @property
    def is_number(self) -> bool:
        """Return whether it is a number, of the setting or of the page itself, and no array."""
        return self.op in ("setting", "number")

    @property
    def said(self) -> tuple[Value, ...]:
        """The values that are read, without those that only say how to round, or which keys take part."""
        if self.op == "normalise":
            return (self.args[0], *self.args[3:])
        return self.args[:2] if self.op == "mix" else self.args

    def __add__(self, other: Value | None) -> Value:
        return self if other is None else Value("+", (self, other), _wider(self, other))

    def __mul__(self, other: Value | float | None) -> Value:
        if other is None:
            return self
        other = _value(other)
        return Value("*", (self, other), _wider(self, other))

    def __rmul__(self, other: float) -> Value:
        return _value(other) * self

    def __truediv__(self, other: Value | float) -> Value:
        return Value("/", (self, _value(other)), self.axes)

    def __matmul__(self, W: Value | None) -> Value:
        """Return the sum over the last axis of this and the one before last of W; W's axis of heads comes in front."""
        if W is None:
            raise ValueError(f"{self} is multiplied by a matrix that is not there")
        met = self.axes[-1], W.axes[-2]
        if met[0] != met[1] and set(met) not in SAME_LENGTH:
            raise ValueError(f"{self} @ {W}: {met[0]} does not meet {met[1]}")
        return Value("@", (self, W), (*W.axes[:-2], *self.axes[:-1], W.axes[-1]))

    def __str__(self) -> str:
        if self.name:
            return self.name
        if self.op == "number":
            return f"{self.number:g}"
        parts = [str(arg) for arg in self.args]
        if self.op not in PRECEDENCE:
            read = [str(arg) for arg in self.said]
            return f"{self.op}({', '.join(read[::-1] if self.op == 'only_where' else read)})"
        own = PRECEDENCE[self.op]
        inside = [f"({p})" if not a.name and PRECEDENCE.get(a.op, 9) < own else p for p, a in zip(parts, self.args)]
        return f" {self.op} ".join(inside)


PRECEDENCE = {"+": 1, "*": 2, "/": 2, "@": 2}
"""The operations that stand between what they read; the larger number binds tighter."""


def _value(x: Value | float) -> Value:
    return x if isinstance(x, Value) else Value("number", number=float(x))


def _wider(x: Value, y: Value) -> Axes:
    return max(x.axes, y.axes, key=len)


def _same_axes(op: str) -> Callable[[Value], Value]:
    return lambda x: Value(op, (x,), x.axes)


norm = _same_axes("norm")
tanh = _same_axes("tanh")
rope = _same_axes("rope")
norm_of_heads = _same_axes("norm_of_heads")
route = _same_axes("route")


def each_unit(shares: Value) -> Value:
    """Return the share of each hidden unit, that of the expert which it is part of."""
    return Value("each_unit", (shares,), (*shares.axes[:-1], "d_ff"))


activation = _same_axes("activation")
clipped = _same_axes("clipped")


def as_keys(x: Value) -> Value:
    """Return the same rows, read as what is attended to."""
    return Value("as_keys", (x,), ("key", *x.axes[1:]))


def score(Q: Value, K: Value, *parameters: Value) -> Value:
    """Return how well each query matches each key, by the score's line; heads of a group read the same keys."""
    return Value("score", (Q, K, *parameters), ("head", "query", "key"))


def from_sink(sinks: Value, Q: Value, K: Value) -> Value:
    """Return what makes scores of queries and keys count from the sink of each head: minus its score, everywhere."""
    return Value("from_sink", (sinks, Q, K), ("head", "query", "key"))


def bias_line(Q: Value, K: Value, *parameters: Value) -> Value:
    """Return what is added to the scores by position, by a typed line with numbers that are learned."""
    return Value("bias_line", (Q, K, *parameters), ("head", "query", "key"))


def only_where(allowed: Value | None, S: Value) -> Value:
    """Return the scores, minus infinity where a query may not attend."""
    return S if allowed is None else Value("only_where", (S, allowed), S.axes)


def normalise(S: Value, Q: Value, K: Value, *learned: Value) -> Value:
    """Return the weights of each row of scores, by the normaliser's line; 0 where a score is minus infinity.

    Q and K say how large the terms of a score are, which decides what counts as equal in a hard maximum.
    """
    return Value("normalise", (S, Q, K, *learned), S.axes)


def mix(A: Value, V: Value, allowed: Value | None, Q: Value) -> Value:
    """Return the sum of the values, weighed; a forbidden one takes no part, and equal queries get equal rows."""
    return Value("mix", (A, V, Q) if allowed is None else (A, V, Q, allowed), (*A.axes[:-1], V.axes[-1]))


def side_by_side(Z: Value) -> Value:
    """Return the columns of all heads, each head's true ones, one head after the other."""
    return Value("side_by_side", (Z,), ("query", "joined"))
