"""The multiply-adds of a formula, by the rule of the shape ledger."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.formula.graph import Formula, Node


def multiply_adds(formula: Formula, n_query: int, n_key: int, sizes: Mapping[str, int]) -> int:
    """Return one for every product of two numbers, whether or not a sum follows, in one head.

    sizes  the length of each width: d_q, d_k, d_a ...

    >>> from attnviz.formula.reader import parse
    >>> multiply_adds(parse("q @ W @ k"), 5, 7, {"d_q": 6, "d_k": 6})
    390
    """

    def length(node: Node) -> int:
        return sizes.get(formula.sizes.get(node.width, ""), 1) if "d" in node.axes else 1

    total = 0
    for node in formula.nodes:
        entries = (n_query if "i" in node.axes else 1) * (n_key if "j" in node.axes else 1) * length(node)
        if node.op == "*" or node.is_square:
            total += entries
        elif node.op == "@":
            total += entries * length(node.args[0])
        elif node.op == "norm":
            x = node.args[0]
            total += (n_query if "i" in x.axes else 1) * (n_key if "j" in x.axes else 1) * length(x)
    return total
