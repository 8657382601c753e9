"""The arithmetic of one cell under a row of a table that says it line by line: see `CellLine`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from attnviz.arithmetic import typed_lines
from attnviz.arithmetic.cell_position import CellPosition
from attnviz.arithmetic.normalised_slice import NormalisedSlice
from attnviz.arithmetic.notation.derivation import (
    Derivation,
    Display,
    Equation,
    MatVec,
    Result,
    Wording,
    dimension,
    largest,
)
from attnviz.arithmetic.notation.latex_numbers import Member, chain, row, shown_entries
from attnviz.arrays import Array
from attnviz.codegen.latex import Latex
from attnviz.engine.records.typed_rows import score_of
from attnviz.engine.rows.line_row import CellLine
from attnviz.engine.tables.normalisers import Normaliser
from attnviz.engine.tables.scores import Score
from attnviz.formula.evaluation.numbers import Numbers
from attnviz.formula.graph import REDUCTIONS, Formula, Node
from attnviz.formula.reader import parse
from attnviz.settings.counting import ordinal
from attnviz.settings.language import translate
from attnviz.settings.rows import KnobValue

SIGNS = {"*": "×", "-": "−"}


def of_score(derivation: Derivation, position: CellPosition, q: Array, k: Array, recorded: Array | None) -> Array:
    """Write the lines from the vectors of one query and one key to the score, as it was recorded, and return it."""
    row = score_of(position.config)
    if row.lines:
        return _score(derivation, position, row, q, k, recorded)
    return typed_lines.score(derivation, position, row.definition, q, k, recorded)


def _score(
    derivation: Derivation, position: CellPosition, score_row: Score, q: Array, k: Array, recorded: Array | None
) -> Array:
    off = [name for name in score_row.biases if f"score_{name}" not in position.steps]
    knobs = score_row.knob_values(dict(position.config.score_knobs))
    formula = _formula(score_row.lines, "score", [f" + {name}" for name in off], knobs)
    numbers = typed_lines.score_numbers(position, formula, q, k)
    exact = typed_lines.score_numbers(position, score_row.definition, q, k)(score_row.definition.root).item()
    sizes = {"q": derivation.sizes["queries"], "k": derivation.sizes["keys"]}
    writer = _Writer(derivation, formula, numbers, sizes, (str(ordinal(position.query)), str(ordinal(position.key))))
    plus = "" if off or not score_row.biases else translate(" and b")
    for line in score_row.lines[:-1]:
        writer.write(line, dimension, plus=plus)
    computed = Result(
        exact,
        recorded=recorded,
        step="" if recorded is None else "scores",
        size=typed_lines.size(formula, numbers),
        beside=derivation.sizes["scores"],
    )
    return writer.write_last(score_row.lines[-1], f"s_{{{derivation.ij}}}", computed)


def weight(derivation: Derivation, position: CellPosition, normaliser_row: Normaliser, line: NormalisedSlice) -> None:
    """Write the lines from the scores of the whole row to the weight of one key."""
    knobs = normaliser_row.knob_values(dict(position.config.normaliser_knobs))
    formula = _formula(normaliser_row.lines, "normaliser_lines", [" / T"] if line.T == 1.0 else [], knobs)
    numbers = typed_lines.weight_numbers(position, line, formula)
    values = {"s": line.x[None, None, :, None], "T": np.full((1, 1, 1, 1), line.T)}
    numbers = Numbers(replace(numbers.arrays, values={**numbers.arrays.values, **values}))
    sizes = {"s": derivation.sizes["masked"], "x": derivation.sizes["masked"] / line.T}
    writer = _Writer(
        derivation, formula, numbers, sizes, (str(ordinal(position.query)), str(ordinal(position.key))), line
    )
    for each in normaliser_row.lines[:-1]:
        writer.write(each, line.label)
    computed = Result(writer.last, recorded=line.recorded, step=line.step)
    writer.write_last(normaliser_row.lines[-1], f"a_{{{derivation.ij}}}", computed)


def _formula(lines: Sequence[CellLine], kind: str, without: Sequence[str], knobs: Mapping[str, KnobValue]) -> Formula:
    """Return the lines as one formula, without a bias that is off or a temperature of 1."""
    text = "; ".join(line.formula for line in lines)
    for part in without:
        text = text.replace(part, "")
    return parse(text, kind, knobs)


class _Symbols(Latex):
    """A writer of lines by their symbols, in which @ is the position of the cell, or l in a sum over the keys."""

    def __init__(self, positions: tuple[str, str], at: str) -> None:
        super().__init__(positions)
        self._at = at

    def known_as(self, node: Node, entry: str) -> str:
        return self.known[id(node)].replace("@", "l" if entry == "l" else self._at)


class _Writer:
    """A writer of one line after the other; each knows the names and the numbers of those before it."""

    def __init__(
        self,
        derivation: Derivation,
        formula: Formula,
        numbers: Numbers,
        sizes: Mapping[str, float],
        positions: tuple[str, str],
        line: NormalisedSlice | None = None,
    ) -> None:
        self._to, self._formula, self._numbers, self._line = derivation, formula, numbers, line
        self._names = {id(node): name for name, node in formula.named.items()}
        self._sizes: dict[int, float] = {}
        self._symbols, self._entries = _Symbols(positions, str(ordinal(line.at)) if line else ""), Latex(positions)
        for node in formula.nodes:
            self._sizes[id(node)] = self._size(node, sizes)
            if line and node.op == "variable" and node.name in ("s", "x", "T"):
                self._symbols.known[id(node)] = self._of_slice(node.name, line)

    def _of_slice(self, name: str, line: NormalisedSlice) -> str:
        """Return what the scores of the row are called, or the number of the temperature."""
        if name == "T":
            return self._to.fmt.number(line.T)
        symbol = line.name.replace("l", "@") if name == "s" or line.T == 1.0 else line.divided
        return rf"({symbol})" if " + " in symbol else symbol

    def _size(self, node: Node, sizes: Mapping[str, float]) -> float:
        """Return the size beside which an entry of a node is zero but for rounding; 0 where none is."""
        of = [self._sizes[id(arg)] for arg in node.args]
        if node.op in ("variable", "matrix"):
            return sizes.get(node.name, 0.0) or largest(self._numbers(node).astype(float))
        if node.op == "@":
            return largest(self._numbers(node))
        if node.op == "*":
            return of[0] * of[1]
        if node.is_square:
            return of[0] * of[0]
        if node.op in ("+", "-", "high"):
            return max(of)
        if node.op == "/" and node.args[1].value == "T":
            return of[0] / float(self._numbers(node.args[1]).item())
        if node.op in ("sum", "max", "norm", "neg") or (node.op == "call" and node.value == "tanh"):
            return 0.0 if node.over == "j" and node.op == "sum" else of[0]
        return 0.0

    @property
    def last(self) -> float:
        """The number of the cell."""
        return float(self._number_of_cell(self._formula.root))

    def _values(self, node: Node) -> Array:
        return np.asarray(self._numbers(node), dtype=float).reshape(-1)

    def _number_of_cell(self, node: Node) -> Array:
        """Return the number of a node, in a row that of the cell."""
        values = self._values(node)
        return values[self._line.at if self._line and values.size > 1 else 0]

    def _entries_of(self, node: Node) -> Array:
        """Return all entries of a vector or of a row, or the one number."""
        return self._values(node) if self._is_vector(node) else self._values(node)[0]

    def _is_vector(self, node: Node) -> bool:
        return self._formula.kind.over in node.axes

    def write(self, line: CellLine, label: Callable[[int], str], plus: str = "") -> None:
        """Write a line that has a name, and let those after it go on with it."""
        node = self._formula.named[line.formula.partition(" = ")[0]]
        is_vector, keep = self._is_vector(node), self._line.at if self._line else None
        symbol = line.symbol.replace("@", "l") or self._symbols.text(node, "l" if self._line else "")
        values = self._entries_of(node)
        operands = {name: self._entries_of(arg) for name, arg in self._operands(node)}
        words = Wording(line.title, line.sentence, line.brief, self._sign(node))
        if node.op == "@":
            x, W = node.args
            through = rf"{self._symbols.text(x)} \cdot {self._symbols.text(W)}"
            matvec = MatVec(self._values(x), self._numbers(W)[0, 0])
            self._to.add_matvec(line.name, (symbol, f"({symbol})_{{", through), matvec, words=words)
        else:
            members, above = self._members(node, keep, says=bool(line.symbol))
            members = members[1:] if members[:1] == [symbol] else members
            symbol = (r"\textstyle" if symbol.startswith(r"\sum") else "") + symbol
            self._to.add_line(
                line.name,
                Equation(symbol, members, above, keep if is_vector else None),
                Result(values, operands, beside=self._sizes[id(node)]),
                words=words,
                display=Display(bars=label if is_vector else None),
                plus=plus,
            )
        if line.symbol or not ("d" in node.axes or node.op == "sum"):
            self._symbols.known[id(node)] = line.symbol or symbol.removeprefix(r"\textstyle")

    def write_last(self, line: CellLine, symbol: str, result: Result) -> Array:
        """Write the line of the score or the weight."""
        root = self._formula.root
        while root.op == "if":
            root = root.args[1 if self._number_of_cell(root.args[0]) else 2]
        is_nothing = root.op == "ratio" and float(self._number_of_cell(root.args[1])) == 0.0
        members, _ = ([], []) if is_nothing else self._members(root, self._line.at if self._line else None, says=True)
        named = self._operands(root)
        result.operands = {
            n: self._values(a) if n in self._vectors_of(root) else self._number_of_cell(a) for n, a in named
        }
        words = Wording(line.title, line.zero if is_nothing else line.sentence, "" if is_nothing else line.brief)
        return self._to.add_line(line.name, Equation(symbol, members), result, words=words)

    def _vectors_of(self, node: Node) -> set[str]:
        """Return the operands that a node, or a part of it, adds up entry by entry."""
        if id(node) in self._names:
            return set()
        if node.op in REDUCTIONS:
            return {name for name, arg in self._operands(node) if self._is_vector(arg)}
        return {name for arg in node.args for name in self._vectors_of(arg)}

    def _sign(self, node: Node) -> str:
        """Return the sign between two vectors that a line joins entry by entry."""
        joins = "d" in node.axes and all(arg.is_leaf or id(arg) in self._names for arg in node.args)
        return SIGNS.get(node.op, "") if joins else ""

    def _operands(self, node: Node) -> list[tuple[str, Node]]:
        """Return the lines and the variables that a line is made of, by their names in it."""
        operands: dict[str, Node] = {}
        for arg in node.args:
            if id(arg) in self._names:
                operands[self._names[id(arg)]] = arg
            elif arg.op in ("variable", "matrix"):
                operands[arg.name] = arg
            else:
                operands |= dict(self._operands(arg))
        return list(operands.items())

    # --- the sides of an equation ------------------------------------------------------------------------------------

    def _members(self, node: Node, keep: int | None, *, says: bool) -> tuple[list[Member], list[str]]:
        """Return what a node equals, in numbers and where it `says` more than its name in symbols; and lines above."""
        fmt, is_vector = self._to.fmt, self._is_vector(node) and id(node) in self._names
        entry = "l" if self._line and is_vector else ""
        members: list[Member] = [self._symbols.text(node, entry)] if says else []
        if node.op == "max" and self._line:
            return members, self._row_above(node.args[0])
        if node.op == "level":
            return [], self._row_above(node.args[0])
        if node.op == "high" and self._line and node.args[0].op == "max":
            return members, self._row_above(node.args[0].args[0])
        if node.op == "sum":
            return [*members, self._total(node, keep)], []
        if node.op == "+" and node.args[0].op == "sum":
            *lines, last = self._total(node.args[0], keep)
            return [*members, [*lines, f"{last} + {fmt.factor(self._number_of_cell(node.args[1]))}"]], []
        if node.op == "norm":
            return self._length(node)
        if is_vector:
            return [*members, row(self._entries_in_numbers(node, keep), keep)], []
        return [*members, self._inserted(node, None)], []

    def _row_above(self, x: Node) -> list[str]:
        if self._line is None:
            return []
        seen = self._to.as_printed(self._values(x), self._sizes[id(x)])
        name = self._line.name if x.value == "s" else self._symbols.text(x, "l")
        return chain(name, [self._to.fmt.vector(seen, self._line.at)])

    def _total(self, node: Node, keep: int | None) -> list[str]:
        x = node.args[0]
        return self._to.fmt.total(self._to.as_printed(self._values(x), self._sizes[id(x)]), keep)

    def _length(self, node: Node) -> tuple[list[Member], list[str]]:
        fmt, x = self._to.fmt, node.args[0]
        values = self._values(x)
        squares = fmt.sum([f"{fmt.base(v)}^2" for v in self._to.as_printed(values, self._sizes[id(x)])], values**2)
        total = fmt.number((values**2).sum())
        symbol = self._symbols.text(node)
        return [rf"\sqrt{{{total}}}"], chain(rf"{symbol}^2", [squares, total])

    def _entries_in_numbers(self, node: Node, keep: int | None) -> list[str]:
        """Return the entries of a vector in numbers; those that are not shown stay empty."""
        n = self._values(node).size
        shown = set(shown_entries(n, keep))
        return [self._inserted(node, position) if position in shown else "" for position in range(n)]

    def _inserted(self, node: Node, position: int | None) -> str:
        """Return a node with the numbers of one entry, or of the cell, in the place of lines and variables."""
        self._entries.known = {}
        self._know(node, position)
        if node.op == "/" and position is not None:
            above, below = (self._entries.text(arg, "d") for arg in node.args)
            return f"({above}) / {below}"
        text = self._entries.text(node, "d")
        return text if position is None else text.replace(r"\left(", "(").replace(r"\right)", ")")

    def _know(self, node: Node, position: int | None) -> None:
        for arg in node.args:
            if id(arg) in self._names or arg.op in ("variable", "size", *REDUCTIONS):
                values = self._values(arg)
                at = 0 if values.size == 1 else position if position is not None else self._line.at if self._line else 0
                seen = self._to.as_printed(values[at], self._sizes[id(arg)])
                self._entries.known[id(arg)] = self._to.fmt.number(seen)
            else:
                self._know(arg, position)
