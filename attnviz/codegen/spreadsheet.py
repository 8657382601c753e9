"""A formula in the cells of a spreadsheet.

Whatever has cells of its own is referred to; `at` says where. Inside SUMPRODUCT all is done entry by entry, so nothing
may stand there that swallows a whole array: MAX, AND, OR and IF are written as arithmetic. In a normaliser a forbidden
cell holds a text, which SUM, MAX, MIN and COUNT pass over in a range and SUMPRODUCT does not: there every line that is
added up has cells of its own, and no array is ever written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection

import numpy as np

from attnviz.codegen.axis_order import is_integral
from attnviz.codegen.steps import NamedNode, plain_number, steps
from attnviz.formula.evaluation.numbers import MORE, ONE
from attnviz.formula.facts.equivalence import PLACES
from attnviz.formula.graph import ALONG, REDUCTIONS, Formula, Node

At = Callable[[Node, bool], str]
Upto = Callable[[Node], str]
"""The reference to a node with cells of its own: the range of a whole vector or row (True), or one cell of it; and to
the cells of its row from the first to this one."""

_CALLS = {
    "tanh": "TANH({})",
    "exp": "EXP({})",
    "log": "LN({})",
    "abs": "ABS({})",
    "sqrt": "SQRT({})",
    "sin": "SIN({})",
    "cos": "COS({})",
    "sign": "SIGN({})",
    "sigmoid": "1/(1+EXP(0-({})))",
}
_RANGES = {"sum": "SUM({})", "max": "MAX({})", "min": "MIN({})", "norm": "SQRT(SUMSQ({}))"}
_ARRAYS = {
    "sum": "SUMPRODUCT({})",
    "max": "SUMPRODUCT(MAX({}))",
    "min": "SUMPRODUCT(MIN({}))",
    "norm": "SQRT(SUMPRODUCT(({0})*({0})))",
}
_ALONG = {
    "cumsum": "SUM({upto})",
    "top": "(SUMPRODUCT(ISNUMBER({row})*({row}>{cell}))+SUMPRODUCT(ISNUMBER({upto})*({upto}={cell}))<={n})",
}
"""Of the cell of a row, the row, and the cells up to this one: of equal numbers the earlier is the larger."""

_SIGNS = {"==": "=", "!=": "<>"}


def blocks(formula: Formula) -> list[NamedNode]:
    """Return the lines that get cells of their own, the result last; nothing with an entry a query, key and column."""
    return [(name, node) for name, node in steps(formula, every=True) if not node.is_big]


class Spreadsheet:
    """A writer of nodes as the text of a cell, without the equals sign; nodes in `own` have cells of their own."""

    def __init__(self, formula: Formula, own: Collection[Node], at: At, upto: Upto | None = None) -> None:
        self._formula, self._own, self._at, self._upto = formula, {id(node) for node in own}, at, upto

    def cell(self, node: Node) -> str:
        """Return the formula in a cell of a node; true and false are 1 and 0 there, so that they can be added."""
        code = self._of(node, False)
        return f"IF({code},1,0)" if node.truth else code

    def _text(self, node: Node, array: bool) -> str:
        if id(node) in self._own or node.op in ("variable", "matrix", "size"):
            return self._at(node, array)
        return self._of(node, array)

    def _of(self, node: Node, array: bool) -> str:
        if node.op == "number":
            return plain_number(node.number) if node.number >= 0 else f"({plain_number(node.number)})"
        if node.op == "text":
            return '"' + str(node.value).replace('"', '""') + '"'
        if node.op in ("variable", "matrix", "size"):
            return self._at(node, array)
        if node.op in ALONG and self._upto:
            (row,) = node.args
            cells = {"row": self._text(row, True), "cell": self._text(row, False), "upto": self._upto(row)}
            return _ALONG[node.op].format(n=plain_number(node.number) if node.op == "top" else "", **cells)
        if node.op in REDUCTIONS:
            is_range = self._formula.kind.over == "j"
            table = _RANGES if is_range else _ARRAYS
            return table[node.op].format(self._text(node.args[0], True))
        if node.op == "@":
            x, W = (self._text(node.args[0], True), self._at(node.args[1], array))
            return f"MMULT({x},{W})" if array else f"SUMPRODUCT(MMULT({x},{W}))"
        fixed = self._fixed(node) if node.op in ("//", "%") and not is_integral(node) else None
        if fixed is not None and math.isfinite(fixed):
            return plain_number(fixed) if fixed >= 0 else f"({plain_number(fixed)})"
        args = [self._text(arg, array) for arg in node.args]
        if node.truth:
            return self._truth(node, args)
        return (_of_arrays if array else _of_cells).get(node.op, _plain)(node, args)

    def _fixed(self, node: Node) -> float | None:
        """Return the number of a node that is made of positions and sizes alone; None for any other.

        Where both are fractions INT may round up what Python cuts off, as 1 / 0.1, and no formula of a cell can tell.
        """
        if node.op == "number":
            return node.number
        if node.op == "variable" and node.name in PLACES:
            text = self._at(node, False)
            return float(text) if text.isdigit() else None
        if node.is_leaf or node.over or node.truth:
            return None
        args = [self._fixed(arg) for arg in node.args]
        if any(arg is None for arg in args):
            return None
        operation = ONE if len(args) == 1 else MORE
        with np.errstate(all="ignore"):
            return float(operation[node.name if node.op == "call" else node.op](*np.array(args, dtype=float)))

    def _truth(self, node: Node, args: list[str]) -> str:
        if node.op == "not":
            return f"(({args[0]}*1)=0)"
        if node.op in ("and", "or"):
            return f"(({args[0]}{'*' if node.op == 'and' else '+'}{args[1]})>0)"
        if node.args[0].is_token:
            return f"{'' if node.op == '==' else 'NOT'}(EXACT({args[0]},{args[1]}))"
        return f"({args[0]}{_SIGNS.get(node.op, node.op)}{args[1]})"


def _plain(node: Node, args: list[str]) -> str:
    """Return the part of the formula that is the same for a cell and for an array."""
    if node.op == "call":
        return _CALLS[node.name].format(args[0])
    return {
        "**": "POWER({0},{1})",
        "//": "INT({0}/{1})",
        "%": "MOD({0},{1})",
        "neg": "(0-{0})",
        "truth_as_number": "({0}*1)",
    }.get(node.op, f"({{0}}{node.op}{{1}})").format(*args)


def _chosen(node: Node, args: list[str]) -> str:
    sign = ">" if node.op == "high" else "<"
    other = "<=" if node.op == "high" else ">="
    return f"(({args[0]}{sign}{args[1]})*{args[0]}+({args[0]}{other}{args[1]})*{args[1]})"


def _called(node: Node, args: list[str]) -> str:
    """Return a function of one cell; the exponential of what is never positive cannot overflow."""
    if node.value == "sigmoid":
        (x,) = args
        return f"IF({x}>=0,1/(1+EXP(0-({x}))),EXP({x})/(1+EXP({x})))"
    return _plain(node, args)


_of_cells: dict[str, Callable[[Node, list[str]], str]] = {
    "call": _called,
    "if": lambda node, args: f"IF({','.join(args)})",
    "high": lambda node, args: f"MAX({','.join(args)})",
    "low": lambda node, args: f"MIN({','.join(args)})",
    "ratio": lambda node, args: f"IF({args[1]}=0,0,{args[0]}/{args[1]})",
}
_of_arrays: dict[str, Callable[[Node, list[str]], str]] = {
    "if": lambda node, args: f"({args[0]}*{args[1]}+(1-{args[0]})*{args[2]})",
    "high": _chosen,
    "low": _chosen,
    "ratio": lambda node, args: f"({args[0]}/({args[1]}+({args[1]}=0))*({args[1]}<>0))",
}
