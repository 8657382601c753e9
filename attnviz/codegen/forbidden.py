"""The result of a normaliser's lines for a score of -inf: scripts need a mask only where that is not harmless."""

from __future__ import annotations

import numpy as np

from attnviz.arrays import Array
from attnviz.formula.evaluation.numbers import MORE, ONE
from attnviz.formula.graph import Formula, Node

MINUS, PLUS, ZERO = "-inf", "inf", "0"
NEUTRAL = {"sum": ZERO, "max": MINUS, "min": PLUS, "norm": ZERO, "level": MINUS, "cumsum": ZERO, "top": MINUS}
"""The entry that changes nothing in each reduction."""

_STAY_ZERO = ("tanh", "sqrt", "abs", "sin", "sign")


def at_forbidden(node: Node) -> str:
    """Return "0", "-inf" or "inf", or nothing where it is not known; what is the same along the row counts as finite.

    >>> from attnviz.formula.reader import parse
    >>> at_forbidden(parse("exp(x - max(x)) / sum(exp(x - max(x)))", "normaliser").root)
    '0'
    """
    if node.op == "variable":
        return MINUS if node.value == "x" else ""
    if node.op == "number":
        return ZERO if node.value == 0 else ""
    args = [at_forbidden(arg) for arg in node.args]
    if node.op == "call":
        return _called(node.name, args[0])
    if node.op == "neg":
        return {ZERO: ZERO, MINUS: PLUS, PLUS: MINUS}.get(args[0], "")
    if node.op in ("+", "-"):
        return args[0] if args[0] in (MINUS, PLUS) and not _along(node.args[1]) else ""
    if node.op in ("/", "ratio"):
        return _divided(node, args[0])
    if node.op == "*":
        for known, by in zip(args, reversed(node.args)):
            if known and by.op == "number" and by.number > 0:
                return known
        pairs = zip(args, reversed(node.args))
        return ZERO if any(known == ZERO and not _along(other) for known, other in pairs) else ""
    if node.op == "high":
        return ZERO if sorted(args) == sorted([MINUS, ZERO]) else ""
    positive = node.op == "**" and node.args[1].op == "number" and node.args[1].number > 0
    return ZERO if positive and args[0] == ZERO else ""


def is_zero_of_nothing(formula: Formula) -> bool:
    """Return whether the lines of a script give a row with nothing allowed weights of zero by themselves.

    >>> from attnviz.formula.reader import parse
    >>> lines = ("sigmoid(x)", "e = exp(x - max(x)); e / sum(e)", "e = exp(x - max(x)); ratio(e, sum(e))")
    >>> [is_zero_of_nothing(parse(line, "normaliser")) for line in lines]
    [True, False, False]
    """
    if at_forbidden(formula.root) != ZERO:
        return True  # a script leaves out what is forbidden where that is not harmless
    values: dict[int, Array] = {}
    with np.errstate(all="ignore"):
        for node in formula.nodes:
            values[id(node)] = _of_nothing(node, [values[id(arg)] for arg in node.args])
    return bool(np.all(values[id(formula.root)] == 0))


def _of_nothing(node: Node, args: list[Array]) -> Array:
    """Return the value of a node where every score is -inf."""
    if node.op in ("level", "top"):
        return np.array(np.nan)
    if node.op in NEUTRAL:
        is_left_out = at_forbidden(node.args[0]) != NEUTRAL[node.op]
        return np.array(float(NEUTRAL[node.op])) if is_left_out else args[0]  # n times 0, -inf or NaN is the same again
    if node.is_leaf:
        known = {"number": lambda: node.number, "size": lambda: 0.0 if node.value == "j" else 1.0}
        return np.array(known[node.op]() if node.op in known else -np.inf if node.value == "x" else 1.0)
    return np.asarray((ONE if len(args) == 1 else MORE)[node.name if node.op == "call" else node.op](*args))


def _called(name: str, known: str) -> str:
    if name in ("exp", "sigmoid") and known == MINUS:
        return ZERO
    return ZERO if name in _STAY_ZERO and known == ZERO else ""


def _divided(node: Node, known: str) -> str:
    if _along(node.args[1]):
        return ""
    if known == ZERO:
        return ZERO
    by = node.args[1]
    return known if node.op == "/" and by.op == "number" and by.number > 0 else ""


def _along(node: Node) -> bool:
    """Return whether a node has the scores of the row in it entry by entry, not only in sums over the row."""
    if node.op == "variable":
        return node.value == "x"
    return not node.over and any(_along(arg) for arg in node.args)
