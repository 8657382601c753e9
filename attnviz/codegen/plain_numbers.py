"""Operations of plain Python that may fail on one number where an array goes on: 1 / 0 is inf there, and no error."""

from __future__ import annotations

from attnviz.formula.graph import HIGHEST_POWER, Node

_COUNTS = ("n", "n_query", "n_key", "n_heads", "h", "d_q", "d_k")
_STEADY = ("+", "-", "*", "neg", "abs", "high", "low")
LARGEST_EXPONENT = 700.0
"""e to this power is still a number."""


def may_fail(node: Node) -> bool:
    """Return whether plain Python may raise an error for this operation, or give a complex number.

    >>> from attnviz.formula.reader import parse
    >>> [may_fail(parse(line, "bias").root) for line in ("1 / n", "1 / (n - 3)", "(-2)**0.5", "log(7)", "log(n - 1)")]
    [False, True, True, False, True]
    """
    if node.op in ("/", "ratio", "//", "%"):
        return node.op != "ratio" and not is_positive(node.args[1]) and not _is_negative_number(node.args[1])
    if node.op == "**":
        base, power = node.args
        is_small = power.op == "number" and abs(power.number) <= HIGHEST_POWER and not _has(base, "**")
        is_whole = power.op == "number" and power.number >= 0 and power.number == int(power.number)
        return not (is_small and (is_positive(base) or is_whole))
    if node.op != "call":
        return False
    (x,) = node.args
    fails = {
        "exp": not _is_below(x),
        "sigmoid": not _is_number(x) or abs(x.number) > LARGEST_EXPONENT,
        "log": not is_positive(x),
        "sqrt": not (is_positive(x) or (x.op == "number" and x.number == 0)),
        "sin": not _is_steady(x),
        "cos": not _is_steady(x),
    }
    return fails.get(node.name, False)


def is_positive(node: Node) -> bool:
    """Return whether a node is above 0 whatever the sizes are."""
    if node.op == "number":
        return node.number > 0
    if node.op in ("variable", "size"):
        return node.op == "size" or node.name in _COUNTS
    if node.op in ("+", "*", "/", "low"):
        return all(map(is_positive, node.args))
    if node.op == "high":
        return any(map(is_positive, node.args))
    if node.op == "**":
        return is_positive(node.args[0]) and not may_fail(node)
    return node.op == "call" and node.name in ("sqrt", "abs") and is_positive(node.args[0])


def _is_number(node: Node) -> bool:
    return node.op == "number"


def _is_negative_number(node: Node) -> bool:
    return node.op == "neg" and is_positive(node.args[0])


def _is_below(node: Node) -> bool:
    """Return whether e to the power of a node is surely a number."""
    if node.op == "number":
        return node.number <= LARGEST_EXPONENT
    return node.op == "neg" and is_positive(node.args[0])


def _is_steady(node: Node) -> bool:
    """Return whether a node is made of sizes and numbers so plainly that it is finite."""
    if node.op == "call":
        return node.name == "abs" and _is_steady(node.args[0])
    return (node.is_leaf or node.op in _STEADY) and all(map(_is_steady, node.args))


def _has(node: Node, op: str) -> bool:
    return node.op == op or any(_has(arg, op) for arg in node.args)


def is_careful(node: Node) -> bool:
    """Return whether a node holds an operation that may fail, so that what comes out may be no number."""
    return may_fail(node) or any(map(is_careful, node.args))
