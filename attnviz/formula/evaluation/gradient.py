"""The derivative of a formula in the same nodes, so that every reading of a formula is one of its gradient too.

G is dL/ds, a number for each query and key. An axis that a gradient lacks is one along which it is constant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from attnviz.arrays import Array
from attnviz.formula.evaluation.arrays import Arrays
from attnviz.formula.evaluation.numbers import Numbers
from attnviz.formula.graph import AXES, Formula, Node

UPSTREAM = "G"
DIFFERENTIABLE = ("q", "k", "x")


def gradients(formula: Formula, arrays: Arrays, upstream: Array) -> dict[str, Array]:
    """Return dL/d(name) of queries, keys and parameters, or of a normaliser's scores, in the four axes.

    upstream  dL/ds, (heads, queries, keys)
    """
    numbers = Numbers(replace(arrays, values={**arrays.values, UPSTREAM: np.asarray(upstream, dtype=float)[..., None]}))
    slopes: dict[str, Array] = {}
    for name, node in Gradient(formula).by_name.items():
        shape = (arrays.heads, *arrays.values[name].shape[1:])
        slopes[name] = np.array(np.broadcast_to(numbers(node), shape))
    return slopes


def row_by_row(formula: Formula) -> Formula:
    """Return a normaliser in which each row has its own copy of the learned numbers.

    Rows differ in the keys that take part, so a slope is added up along its own row first; over the rows, outside.
    """
    if not formula.parameters:
        return formula
    made: dict[int, Node] = {}
    for node in formula.nodes:
        args = tuple(made[id(arg)] for arg in node.args)
        differs = node.name in formula.parameters if node.op == "variable" else any("i" in arg.axes for arg in args)
        axes = "i" + node.axes if differs and "i" not in node.axes else node.axes
        made[id(node)] = replace(node, args=args, axes=axes)
    return replace(formula, root=made[id(formula.root)], nodes=[made[id(node)] for node in formula.nodes])


class Gradient:
    """The graph of the derivatives: `by_name` holds the node of dL/d(name)."""

    def __init__(self, formula: Formula) -> None:
        self._known: dict[tuple[object, ...], Node] = {}
        self._of: dict[int, Node] = {id(formula.root): self._upstream(formula.root)}
        for node in reversed(formula.nodes):
            if id(node) in self._of and not node.is_leaf:
                self._back(node, self._of[id(node)])
        self.by_name: Mapping[str, Node] = {
            node.name: self._of[id(node)]
            for node in formula.nodes
            if node.op in ("variable", "matrix")
            and id(node) in self._of
            and (node.name in DIFFERENTIABLE or node.name in formula.parameters)
        }

    def _make(
        self,
        op: str,
        *args: Node,
        value: float | str = "",
        axes: str | None = None,
        width: int = 0,
        over: str = "",
        truth: bool = False,
        columns: int = 0,
    ) -> Node:
        if axes is None:
            axes = "".join(axis for axis in AXES if any(axis in arg.axes for arg in args))
            width = next((arg.width for arg in args if "d" in arg.axes), 0)
        typed = width if op in ("variable", "size", "outer") else 0
        key = (op, tuple(map(id, args)), value, axes, over, typed, columns)
        if key not in self._known:
            self._known[key] = Node(op, args, value, axes, width, truth, over, (0, 1), columns)
        return self._known[key]

    def _upstream(self, root: Node) -> Node:
        """Return G, added up over queries or keys where the formula is the same for all of them."""
        node = self._make("variable", value=UPSTREAM, axes="ij")
        for axis in node.axes:
            if axis not in root.axes:
                node = self._make("sum", node, axes=node.axes.replace(axis, ""), over=axis)
        return node

    def _number(self, value: float) -> Node:
        return self._make("number", value=value, axes="")

    def _times(self, one: Node, other: Node) -> Node:
        return one if other.op == "number" and other.value == 1.0 else self._make("*", one, other)

    def _add(self, x: Node, gradient: Node, whole: Node) -> None:
        """Add to what x has a gradient with the axes of `whole`, added up over those that x lacks."""
        for axis in whole.axes:
            if axis in x.axes:
                continue
            if axis in gradient.axes:
                axes = gradient.axes.replace(axis, "")
                gradient = self._make("sum", gradient, axes=axes, width=gradient.width, over=axis)
            else:
                size = self._make("size", value=axis, axes="", width=whole.width)
                gradient = self._times(gradient, size)
        have = self._of.get(id(x))
        self._of[id(x)] = gradient if have is None else self._make("+", have, gradient)

    def _back(self, node: Node, g: Node) -> None:
        """Hand the gradient of a node on to what it is made of."""
        rule = _RULES.get(node.op)
        if rule:
            rule(self, node, g)

    def sum_of(self, node: Node, g: Node) -> None:
        one, other = node.args
        self._add(one, g, node)
        self._add(other, g if node.op == "+" else self._make("neg", g), node)

    def product(self, node: Node, g: Node) -> None:
        one, other = node.args
        self._add(one, self._times(g, other), node)
        self._add(other, self._times(g, one), node)

    def quotient(self, node: Node, g: Node) -> None:
        one, other = node.args
        share = self._make(node.op, g, other)
        self._add(one, share, node)
        self._add(other, self._make("neg", self._times(share, node)), node)

    def power(self, node: Node, g: Node) -> None:
        base, exponent = node.args
        lower = self._make("**", base, self._make("-", exponent, self._number(1.0)))
        self._add(base, self._times(self._times(g, exponent), lower), node)
        if exponent.op != "number":
            zero, one = self._number(0.0), self._number(1.0)  # 0 to any power stays, and its logarithm has no number
            safe = self._make("if", self._make("==", base, zero, truth=True), one, base)
            self._add(exponent, self._times(self._times(g, node), self._make("call", safe, value="log")), node)

    def remainder(self, node: Node, g: Node) -> None:
        one, other = node.args
        self._add(one, g, node)
        self._add(other, self._make("neg", self._times(g, self._make("//", one, other))), node)

    def negative(self, node: Node, g: Node) -> None:
        self._add(node.args[0], self._make("neg", g), node)

    def larger(self, node: Node, g: Node) -> None:
        """Give the gradient to the larger of two; where both are equal there is a kink, and neither takes it."""
        if node.args[0] is node.args[1]:  # max(q, q) is q, without a kink
            self._add(node.args[0], g, node)
            return
        sign = ">" if node.op == "high" else "<"
        for one, other in (node.args, node.args[::-1]):
            wins = self._make("truth_as_number", self._make(sign, one, other, truth=True))
            self._add(one, self._times(g, wins), node)

    def choice(self, node: Node, g: Node) -> None:
        test, yes, no = node.args
        zero = self._number(0.0)
        self._add(yes, self._make("if", test, g, zero), node)
        self._add(no, self._make("if", test, zero, g), node)

    def call(self, node: Node, g: Node) -> None:
        slope = _SLOPES.get(node.name)
        if slope:
            self._add(node.args[0], self._times(g, slope(self, node, node.args[0])), node)

    def added_up(self, node: Node, g: Node) -> None:
        self._add(node.args[0], g, node.args[0])

    def best(self, node: Node, g: Node) -> None:
        """Give the gradient to the largest; equal ones share it."""
        (x,) = node.args
        wins = self._make("truth_as_number", self._make("==", x, node, truth=True))
        count = self._make("sum", wins, axes=node.axes, width=node.width, over=node.over)
        self._add(x, self._times(self._make("/", g, count), wins), x)

    def level(self, node: Node, g: Node) -> None:
        """Give each entry above the level the slope of its part of the sum."""
        (x,) = node.args
        above = self._make("high", self._make("-", x, node), self._number(0.0))
        slope = self._make("**", above, self._number(node.number - 1.0))
        if node.number == 1.0:
            slope = self._make("truth_as_number", self._make(">", x, node, truth=True))
        total = self._make("sum", slope, axes=node.axes, width=node.width, over=node.over)
        self._add(x, self._times(g, self._make("ratio", slope, total)), x)

    def running(self, node: Node, g: Node) -> None:
        """Give each entry what all that come after it, and it itself, hand back."""
        (x,) = node.args
        before = self._make("cumsum", g, axes=node.axes, over=node.over)
        total = self._make("sum", g, axes=node.axes.replace(node.over, ""), over=node.over)
        self._add(x, self._make("+", self._make("-", total, before), g), x)

    def length(self, node: Node, g: Node) -> None:
        (x,) = node.args
        self._add(x, self._times(g, self._make("ratio", x, node)), x)

    def through(self, node: Node, g: Node) -> None:
        """Go back through x W: the gradient goes to x through W transposed, and x^T g is W's own."""
        x, W = node.args
        full = g if "d" in g.axes else self._times(g, self._make("**", node, self._number(0.0)))
        axes = "".join(axis for axis in AXES if axis in full.axes or axis == "d")
        self._add(x, self._make("@T", full, W, axes=axes, width=x.width), node)
        of_matrix = self._make("outer", x, full, axes="", width=x.width, columns=node.width)
        have = self._of.get(id(W))
        self._of[id(W)] = of_matrix if have is None else self._make("+", have, of_matrix, axes="")


Rule = Callable[[Gradient, Node, Node], None]
_RULES: dict[str, Rule] = {
    "+": Gradient.sum_of,
    "-": Gradient.sum_of,
    "*": Gradient.product,
    "/": Gradient.quotient,
    "ratio": Gradient.quotient,
    "**": Gradient.power,
    "%": Gradient.remainder,
    "neg": Gradient.negative,
    "high": Gradient.larger,
    "low": Gradient.larger,
    "if": Gradient.choice,
    "call": Gradient.call,
    "sum": Gradient.added_up,
    "max": Gradient.best,
    "min": Gradient.best,
    "norm": Gradient.length,
    "level": Gradient.level,
    "cumsum": Gradient.running,
    "@": Gradient.through,
}
"""The gradient rule of each operation; one without a rule, such as a comparison, passes nothing on."""

_SLOPES: dict[str, Callable[[Gradient, Node, Node], Node]] = {
    "tanh": lambda of, y, x: of._make("-", of._number(1.0), of._make("*", y, y)),
    "exp": lambda of, y, x: y,
    "log": lambda of, y, x: of._make("ratio", of._number(1.0), x),
    "abs": lambda of, y, x: of._make("call", x, value="sign"),
    "sqrt": lambda of, y, x: of._make("ratio", of._number(0.5), y),
    "sigmoid": lambda of, y, x: of._make("*", y, of._make("-", of._number(1.0), y)),
    "sin": lambda of, y, x: of._make("call", x, value="cos"),
    "cos": lambda of, y, x: of._make("neg", of._make("call", x, value="sin")),
}
"""The slope of y = f(x); 0 where it is infinite, as at log(0): what other cells add to the same sum stays finite."""
