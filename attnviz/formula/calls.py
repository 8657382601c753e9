"""The nodes of functions and knobs: what can be said by others is, so that readings need not know it."""

from __future__ import annotations

from operator import add, mul, sub, truediv

from attnviz.formula import names
from attnviz.formula.faults import fault
from attnviz.formula.graph import ALONG, HIGHEST_POWER, Graph, Kind, Node, ordered

LARGEST_NUMBER = 1e300
MOST_ON_TOP = 9999
"""Of a row: more than any row has."""

Knob = float | tuple[float, ...] | str


class Calls:
    """A maker of the nodes of functions in a graph."""

    def __init__(self, graph: Graph, kind: Kind) -> None:
        self._graph, self._kind = graph, kind
        self._knobs: set[Node] = set()

    def applied(self, name: str, args: tuple[Node, ...], where: tuple[int, int]) -> Node:
        """Return the node of a function; what can be said by others is: `unit(x)` is x over its norm."""
        make = self._graph.make
        if name == "relu":
            return make("high", (args[0], make("number", value=0.0, span=where)), span=where)
        if name in names.FUNCTIONS:
            return make("call", args, name, span=where)
        if name == "dot":
            return self.over("sum", make("*", args, span=where), where)
        if name in names.OF_ROWS and self._kind.over != "j":
            raise fault("of_rows", where, name=name, call=names.OF_ROWS[name])
        if name == "level":
            return self._level(args[0], args[1], where)
        if name == "top":
            return self._top(args[0], args[1], where)
        if len(args) == 2:
            return make({"ratio": "ratio", "max": "high", "min": "low"}[name], args, span=where)
        if name == "unit":
            return make("ratio", (args[0], self.over("norm", args[0], where)), span=where)
        if name == "mean":
            total = self.over("sum", args[0], where)
            axes = "i" if self._kind.over == "j" else ""
            count = make("size", value=self._kind.over, axes=axes, width=args[0].width, span=where)
            return make("/", (total, count), span=where)
        return self.over(name, args[0], where)

    def _level(self, x: Node, power: Node, where: tuple[int, int]) -> Node:
        if power.op != "number" and self._is_of_knobs(power):
            level = self.over("level", x, where)
            return self._graph.make("level", (x, power), axes=level.axes, over=level.over, span=where)
        if power.op != "number" or not 1.0 <= power.number <= HIGHEST_POWER:
            raise fault("level", where, most=HIGHEST_POWER)
        return self.over("level", x, where, power.number)

    def _top(self, x: Node, n: Node, where: tuple[int, int]) -> Node:
        if n.op != "number" or not 1.0 <= n.number <= MOST_ON_TOP or n.number != int(n.number):
            raise fault("top", where, most=MOST_ON_TOP)
        return self.over("top", x, where, n.number)

    def _is_of_knobs(self, node: Node) -> bool:
        """Return whether a node is made of numbers and of the names that stand for knobs alone."""
        return all(each.op == "number" or each in self._knobs for each in ordered([node]) if each.is_leaf)

    def over(self, op: str, x: Node, where: tuple[int, int], value: float | str = "") -> Node:
        """Return the node that goes over the entries of a vector or, in a normaliser, over the keys of a row."""
        axis = self._kind.over
        if axis not in x.axes:
            raise fault("not_a_vector" if axis == "d" else "not_a_row", x.span, name=op)
        axes = x.axes if op in ALONG else x.axes.replace(axis, "")
        width, truth = x.width if "d" in axes else 0, op == "top"
        return self._graph.make(op, (x,), value, axes=axes, width=width, truth=truth, over=axis, span=where)

    def knob(self, value: Knob, where: tuple[int, int]) -> Node:
        """Return the number of a knob; where heads have their own, the choice among them by h."""
        if isinstance(value, str):
            named = self._graph.make("variable", value=value, axes="", span=where)
            self._knobs.add(named)
            return named
        first, *others = value if isinstance(value, tuple) else (value,)
        numbers = [self._graph.make("number", value=float(each), span=where) for each in (first, *others)]
        node = numbers.pop()
        for at in range(len(numbers), 0, -1):
            h = self._graph.make("variable", value="h", axes="", span=where)
            number = self._graph.make("number", value=float(at), span=where)
            is_head = self._graph.make("==", (h, number), truth=True, span=where)
            node = self._graph.make("if", (is_head, numbers[at - 1], node), span=where)
        return node


def folded(op: str, left: Node, right: Node) -> float | None:
    """Compute the value of two numbers of a line with knobs, so that a power of knobs is a plain number."""
    try:
        number = {"+": add, "-": sub, "*": mul, "/": truediv}[op](left.number, right.number)
    except (KeyError, ArithmeticError):
        return None
    return number if abs(number) < LARGEST_NUMBER else None
