"""The work of a formula, known before anything is computed and the same on every machine.

A clock would let a link work on one machine and refuse it on another.
"""

from __future__ import annotations

from attnviz.formula.evaluation.arrays import Arrays
from attnviz.formula.evaluation.numbers import factors
from attnviz.formula.faults import fault
from attnviz.formula.graph import REDUCTIONS, Formula, Node

MAX_STEPS = 90e6
"""Steps of work, each about a nanosecond, that one formula may take."""

WEIGHT = {
    "tanh": 16.0,
    "exp": 6.0,
    "log": 6.0,
    "sin": 15.0,
    "cos": 15.0,
    "sigmoid": 20.0,
    "**": 25.0,
    "%": 25.0,
    "//": 28.0,
    "ratio": 7.0,
    "norm": 10.0,
    "level": 1500.0,
    "cumsum": 6.0,
    "top": 100.0,
    "if": 3.0,
    "sqrt": 2.0,
}
LEAST_OF_BIG = 3.0
"""Of a step on every entry of a block: numbers close to nothing make any of them slower."""

OF_PRODUCT = 0.2
"""Of an entry that a product of matrices adds up."""


def check(formula: Formula, arrays: Arrays) -> None:
    """Raise FormulaError if computing it would take more than MAX_STEPS steps; it says what to lessen."""
    needed = work(formula, arrays)
    if needed > MAX_STEPS:
        width = max(
            [1, *(arrays.widths[each] for each, name in formula.sizes.items() if name and each in arrays.widths)]
        )
        facts = {"heads": arrays.heads, "queries": arrays.n_query, "keys": arrays.n_key, "width": width}
        which = "work" if formula.kind.name == "score" else "table_work"
        span = (0, len(formula.text))
        raise fault(which, span, n=f"{needed / 1e6:.0f}", most=f"{MAX_STEPS / 1e6:.0f}", **facts)


def work(formula: Formula, arrays: Arrays) -> float:
    """Return the steps of work that the numbers take."""
    contracted = {id(node.args[0]) for node in formula.nodes if node.op == "sum" and contracts(node)}
    return sum(_of(node, arrays, contracted) for node in formula.nodes if not node.is_leaf)


def _of(node: Node, arrays: Arrays, contracted: set[int]) -> float:
    of = node.args[0] if node.op in REDUCTIONS else node
    if id(node) in contracted:
        return 0.0
    weight = WEIGHT.get(node.name if node.op == "call" else node.op, 1.0)
    if node.is_square:
        weight = 1.0
    elif node.op == "@":
        weight = arrays.widths[node.args[0].width] / 4
    elif node.op == "sum" and contracts(node):
        weight = OF_PRODUCT
    if of.is_big and node.op not in REDUCTIONS:
        weight = max(weight, LEAST_OF_BIG)
    return entries(of, arrays) * weight


def entries(node: Node, arrays: Arrays) -> int:
    """Count the entries of the array of a node, in all heads."""
    count = arrays.heads
    count *= arrays.n_query if "i" in node.axes else 1
    count *= arrays.n_key if "j" in node.axes else 1
    return count * (arrays.widths[node.width] if "d" in node.axes else 1)


def contracts(node: Node) -> bool:
    """Return whether a sum is computed as a product of matrices, without the products themselves."""
    x = node.args[0]
    inside = [f for f in factors(x) if node.over in f.axes]
    return len(inside) > 1 and x.is_big and not any(f.is_big for f in inside)
