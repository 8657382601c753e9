"""One cell of a formula, line by line: what each line is, in symbols and in numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from attnviz.arrays import Array
from attnviz.codegen.latex import Latex
from attnviz.codegen.steps import steps
from attnviz.formula.evaluation.numbers import Numbers
from attnviz.formula.graph import REDUCTIONS, Formula, Node


@dataclass(frozen=True, eq=False)
class FormulaLine:
    """One line.

    symbol    its name in LaTeX;  formula  what it is made of in symbols;  inserted  the same with numbers, where it is
              one number and that says more
    values    its numbers;  is_vector  whether it has several: an entry each, or one for each key of the row
    """

    name: str
    node: Node
    symbol: str
    formula: str
    inserted: str
    values: Array
    is_vector: bool


def cell(
    formula: Formula, numbers: Numbers, show: Callable[[float], str], positions: tuple[str, str], at: int = 0
) -> list[FormulaLine]:
    """Return the lines of one cell.

    numbers  the values of the nodes in this cell alone or, for a normaliser, in its row, in which the cell is at `at`
    show     a number in LaTeX;  positions  how query and key are written as an index
    """
    writer = _Writer(formula, numbers, show, positions, at)
    return [writer.line(name, node) for name, node in steps(formula, every=True)]


class _Writer:
    """A writer of one line after the other; each knows the names and the numbers of those before it."""

    def __init__(
        self, formula: Formula, numbers: Numbers, show: Callable[[float], str], positions: tuple[str, str], at: int
    ) -> None:
        self._formula, self._numbers, self._show, self._at = formula, numbers, show, at
        self._named, self._valued = Latex(positions), Latex(positions)
        for node in formula.nodes:
            if node.is_leaf and node.op not in ("number", "text", "matrix") and not node.is_token:
                self._note(node)

    def _note(self, node: Node) -> None:
        """Let the lines that follow say the number of a node, where it is one; along a row that is the cell's own."""
        values = self._numbers(node).reshape(-1)
        if "d" in node.axes or node.truth:
            return
        if values.size == 1:
            self._valued.known[id(node)] = self._show(float(values[0]))
        elif self._formula.kind.over == "j":
            self._valued.known[id(node)] = self._show(float(values[self._at]))

    def line(self, name: str, node: Node) -> FormulaLine:
        """Return the line of a node; the last one is the number of the cell."""
        is_last, values = node is self._formula.root, self._numbers(node).reshape(-1)
        is_vector = self._formula.kind.over in node.axes and not is_last
        if is_last and values.size > 1:
            values = values[self._at : self._at + 1]
        symbol, formula = self._named.called(name, node), self._named.text(node)
        says_no_more = is_vector or "d" in node.axes or node.op in REDUCTIONS
        inserted = "" if says_no_more else self._valued.text(node)
        self._named.names[id(node)] = name
        self._note(node)
        return FormulaLine(name, node, symbol, formula, inserted if inserted != formula else "", values, is_vector)
