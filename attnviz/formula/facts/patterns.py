"""Patterns at the root of a formula, whatever its parts are called: a dot product, a softmax."""

from __future__ import annotations

from attnviz.formula.graph import REDUCTIONS, Formula, Node, ordered


def is_dot(formula: Formula) -> bool:
    """Return whether a score is the dot product of query and key.

    >>> from attnviz.formula.reader import parse
    >>> [is_dot(parse(text)) for text in ("sum(q * k)", "k @ q", "sum(q * k) / sqrt(d_k)")]
    [True, True, False]
    """
    root = formula.root
    if root.op != "sum" or root.args[0].op != "*":
        return False
    return sorted(arg.name for arg in root.args[0].args if arg.op == "variable") == ["k", "q"]


def form(formula: Formula) -> tuple[object, ...]:
    """Return what a formula computes, operation by operation: the same for lines that only name their steps otherwise.

    >>> from attnviz.formula.reader import parse
    >>> form(parse("t = q @ W; t @ k")) == form(parse("q@W@k"))
    True
    >>> form(parse("sum(q * W[j])")) == form(parse("sum(q * W[:, j])"))
    False
    """
    numbers: dict[int, int] = {}
    parts: list[object] = []
    for node in ordered([formula.root]):
        numbers[id(node)] = len(parts)
        args = tuple(numbers[id(arg)] for arg in node.args)
        parameter = formula.parameters.get(node.name) if node.op in ("variable", "matrix") else None
        role = parameter.role if parameter else ""  # a row of W and a column of it have the same axes
        parts.append((node.op, args, node.value, role, node.axes, node.over, formula.sizes.get(node.width, "")))
    return tuple(parts)


def softmax_of(root: Node) -> Node | None:
    """Return the y of which a node is the softmax, exp(y - max(y)) over its sum; None where it is no softmax."""
    if root.op != "/" or root.args[1].op != "sum" or root.args[1].args[0] is not root.args[0]:
        return None
    e = root.args[0]
    if e.op != "call" or e.value != "exp" or e.args[0].op != "-":
        return None
    y, largest = e.args[0].args
    return y if largest.op == "max" and largest.args[0] is y else None


def is_softmax(formula: Formula) -> bool:
    """Return whether a normaliser is the softmax of the scores."""
    inside = softmax_of(formula.root)
    return inside is not None and inside.value == "x"


def is_cell_by_cell(formula: Formula) -> bool:
    """Return whether the weight of a key follows from its own score alone.

    >>> from attnviz.formula.reader import parse
    >>> [is_cell_by_cell(parse(text, "normaliser")) for text in ("sigmoid(x)", "relu(x) / n")]
    [True, False]
    """
    alone = {"x", "h", "n_heads", *formula.parameters}
    others = (*REDUCTIONS, "size")
    return formula.variables() <= alone and not any(node.op in others for node in formula.nodes)
