"""The degree of a normaliser's nodes: the power to which the scale of the scores comes out of each.

The scores x stand over the temperature. What is twice as large for scores twice as large, such as x - max(x), can be
computed before that division; what does not change at all, such as x == max(x), needs no division.
"""

from __future__ import annotations

from attnviz.formula.graph import Formula, Node

ANY = -1
"""The degree of 0, which is that of whatever it is added to or compared with."""

_LINEAR = ("sum", "max", "min", "norm", "neg", "cumsum")
_ADDED = ("+", "-", "high", "low")
_COMPARED = ("<", "<=", ">", ">=", "==", "!=")


def degrees(formula: Formula) -> dict[int, int | None]:
    """Return the degree of every node in the scores by its identity: 0, 1 or ANY; None where there is none.

    >>> from attnviz.formula.reader import parse
    >>> softmax = parse("e = exp(x - max(x)); e / sum(e)", "normaliser")
    >>> softmax.named["e"].args[0].op, degrees(softmax)[id(softmax.named["e"].args[0])]
    ('-', 1)
    """
    degree_of: dict[int, int | None] = {}
    for node in formula.nodes:
        degree_of[id(node)] = _degree(node, [degree_of[id(arg)] for arg in node.args])
    return degree_of


def cancels(formula: Formula) -> bool:
    """Return whether a normaliser gives the same weights at every temperature.

    >>> from attnviz.formula.reader import parse
    >>> [cancels(parse(text, "normaliser")) for text in ("p = relu(x); ratio(p, sum(p))", "relu(x) / n")]
    [True, False]
    """
    return degrees(formula)[id(formula.root)] in (0, ANY)


def _degree(node: Node, of: list[int | None]) -> int | None:
    if node.op == "number":
        return ANY if node.number == 0 else 0
    if node.is_leaf:
        return 1 if node.value == "x" else 0
    if node.op in _LINEAR or (node.op == "call" and node.value == "abs"):
        return of[0]
    if node.op == "top" or (node.op == "call" and node.value == "sign"):
        return 0 if of[0] is not None else None
    if node.op in _ADDED:
        return _common(of)
    if node.op in _COMPARED:
        return 0 if _common(of) is not None else None
    if node.op == "if":
        return _common(of[1:]) if of[0] in (0, ANY) else None
    if node.op in ("/", "ratio") and of == [1, 1]:
        return 0
    if (of == [1, 0] and node.op in ("*", "/", "ratio")) or (of == [0, 1] and node.op == "*"):
        return 1
    return 0 if all(each in (0, ANY) for each in of) else None


def _common(of: list[int | None]) -> int | None:
    """Return the one degree of all; 0 as a number has any."""
    each = {degree for degree in of if degree != ANY}
    return each.pop() if len(each) == 1 else ANY if not each else None
