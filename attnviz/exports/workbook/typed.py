"""Typed scores and normalisers in the cells of a workbook: every line of the formula is a block of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from attnviz.arrays import Array
from attnviz.codegen.spreadsheet import Spreadsheet, blocks
from attnviz.exports.workbook.layout import FORBIDDEN, Block, fault
from attnviz.exports.workbook.layout import Formula as Cells
from attnviz.exports.workbook.normaliser_formulas import MaskedScores
from attnviz.exports.workbook.score_formulas import Pair, numbers, shape
from attnviz.formula.evaluation.arrays import Part, of_normaliser, of_score
from attnviz.formula.evaluation.functions import complete
from attnviz.formula.evaluation.numbers import Numbers
from attnviz.formula.graph import REDUCTIONS, Formula, Node

NEWTON = 12
"""Steps of Newton's method that bring a level to the last digits."""

Head = tuple[int, int]
"""The number of a head, counted from 0, and how many there are."""


def _heading(formula: Formula, name: str, node: Node, array: Array) -> str:
    typed = formula.text[slice(*node.span)].replace("\n", " ")
    return f"{name} · {shape(array)}" if typed == name else f"{name} = {typed} · {shape(array)}"


def _checked(name: str, array: Array) -> Array:
    if not np.isfinite(array).all():
        raise fault("infinite", name=name)
    return array


def _flipped(block: Block) -> Cells:
    """Return the cells of a block with rows and columns exchanged."""
    return lambda i, j: block.at(j, i)


@dataclass
class _Score:
    """The score of one head; `own` holds the blocks of the lines, by the identity of their nodes."""

    pair: Pair
    formula: Formula
    head: Head
    own: dict[int, Block] = field(default_factory=dict)
    transposed: dict[str, Block] = field(default_factory=dict)

    def __post_init__(self) -> None:
        Q, K = self.pair.Q.array[None], self.pair.K.array[None]
        parameters = {name: self._given(name) for name in self.formula.parameters if name in self.pair.parameters}
        parameters = complete(self.formula, parameters, Q[None], K[None])
        part = Part(heads=(self.head[0],), n_heads=self.head[1])
        self.numbers = Numbers(of_score(self.formula, Q, K, parameters, part))
        self.sizes = {"d_q": Q.shape[2], "d_k": K.shape[2], "n": K.shape[1], "n_key": K.shape[1]}
        self.sizes |= {"n_query": Q.shape[1], "n_heads": self.head[1], "h": self.head[0] + 1}
        self.lines = blocks(self.formula)
        self.nodes = [node for _, node in self.lines]

    def _given(self, name: str) -> Array:
        """Return the numbers of a parameter, with an axis of one head."""
        role, array = self.formula.parameters[name].role, self.pair.parameters[name].array
        if role in ("vector", "list"):
            return array
        return array[0] if role == "number" else array[None]

    def write(self) -> Cells:
        """Write every line but the last as a block on the sheet; return what stands in the cells of the last."""
        for name, parameter in self.formula.parameters.items():
            if parameter.role == "columns":
                W = self.pair.parameters[name]
                heading = f"{name}ᵀ · {shape(W.array.T)}"
                self.transposed[name] = self.pair.sheet.add(heading, W.array.T, _flipped(W))
        for name, node in self.lines[:-1]:
            array = _checked(name, self._array(node))
            heading = _heading(self.formula, name, node, array)
            words = numbers(array.shape[0]), numbers(array.shape[1])
            cells = self._cells(node)
            self.own[id(node)] = self.pair.sheet.add(heading, array, cells, rows=words[0], columns=words[1])
        return self._cells(self.formula.root)

    def _array(self, node: Node) -> Array:
        """Return the numbers of a line: rows are queries or keys, columns are entries or keys."""
        array = np.asarray(self.numbers(node), dtype=float)[0]
        full = {"i": self.sizes["n_query"], "j": self.sizes["n_key"]}
        width = self.numbers.arrays.widths[node.width] if "d" in node.axes else 1
        wanted = tuple(full[axis] if axis in node.axes else 1 for axis in "ij")
        array = np.broadcast_to(array, (*wanted, width))
        return array[:, :, 0] if {"i", "j"} <= set(node.axes) else array.reshape(-1, width)

    def _cells(self, node: Node) -> Cells:
        """Return the formula of each cell of a line; of the score itself, row and column are query and key."""
        is_score, by_key = node is self.formula.root, "i" not in node.axes

        def formula(row: int, column: int) -> str:
            i, j = (row, column) if is_score or not by_key else (0, row)
            sheet = Spreadsheet(self.formula, [n for n in self.nodes if id(n) in self.own], self._at(i, j, column))
            return sheet.cell(node)

        return formula

    def _at(self, i: int, j: int, column: int) -> Callable[[Node, bool], str]:
        def at(node: Node, array: bool) -> str:
            if id(node) in self.own:
                return self._line(node, self.own[id(node)], i, j, column, array)
            if node.op == "size":
                return str(self.numbers.arrays.widths[node.width])
            if node.name in ("i", "j"):
                return str(i if node.name == "i" else j)
            if node.name in self.sizes and node.name not in self.formula.parameters:
                return str(self.sizes[node.name])
            return self._parameter(node, i, j, column, array)

        return at

    def _line(self, node: Node, block: Block, i: int, j: int, column: int, array: bool) -> str:
        if {"i", "j"} <= set(node.axes):
            return block.at(i, j)
        row = i if "i" in node.axes else j if "j" in node.axes else 0
        if "d" not in node.axes:
            return block.at(row, 0)
        return block.row(row) if array else block.at(row, column)

    def _parameter(self, node: Node, i: int, j: int, column: int, array: bool) -> str:
        if node.name in ("q", "k"):
            block, row = (self.pair.Q, i) if node.name == "q" else (self.pair.K, j)
            return block.row(row) if array else block.at(row, column)
        role = self.formula.parameters[node.name].role
        if node.name not in self.pair.parameters:
            return "0"
        block = self.transposed.get(node.name, self.pair.parameters[node.name])
        if role == "matrix":
            rows, columns = block.array.shape
            return block.part((0, rows - 1), (0, columns - 1)) if array else block.column(column)
        if role == "list":
            return block.at(0, j)
        if role == "number":
            return block.at(0, 0)
        row = 0 if role == "vector" else j
        return block.row(row) if array else block.at(row, column)


def score(pair: Pair, formula: Formula, head: Head) -> Cells:
    """Return the formula of the cells of a typed score; its lines are added to the sheet."""
    return _Score(pair, formula, head).write()


@dataclass
class _Weights:
    """The normaliser of one head, along the rows of the masked scores or along their columns."""

    lines: MaskedScores
    formula: Formula
    head: Head
    learned: Mapping[str, Block]
    own: dict[int, Block] = field(default_factory=dict)

    def __post_init__(self) -> None:
        numbers_of = {name: block.array[0] for name, block in self.learned.items()}
        Z = self.lines.masked.array / self.lines.temperature
        part = Part(heads=(self.head[0],), n_heads=self.head[1])
        self.numbers = Numbers(of_normaliser(self._transposed(Z)[None], part, numbers_of))
        n, m = self._transposed(Z).shape
        self.sizes = {"n_query": n, "n_key": m, "n_heads": self.head[1], "h": self.head[0] + 1}
        self.closed = np.isneginf(Z)
        self.z = self._block("x", np.where(self.closed, -np.inf, Z), lambda i, j: self._over_T(i, j))

    def _over_T(self, i: int, j: int) -> str:
        s = self.lines.masked.at(i, j)
        return f'IF(ISNUMBER({s}),{s}/{self.lines.T},"{FORBIDDEN}")'

    def _transposed(self, array: Array) -> Array:
        return array.T if self.lines.by_column else array

    def _block(self, name: str, array: Array, formula: Cells) -> Block:
        masked = self.lines.masked
        heading = f"{name} · {shape(array)}"
        return self.lines.sheet.add(heading, array, formula, rows=masked.rows, columns=masked.columns, grey_of=masked)

    def write(self) -> Cells:
        """Return every line but the last as a block, or as a number a row.

        Return what stands in the cells of the last.
        """
        named = {id(node) for _, node in blocks(self.formula)}
        for node in self.formula.nodes:
            if node.op in REDUCTIONS and node.args[0].is_leaf and node.args[0].name == "j" and id(node) in named:
                self._along_row("j", node.args[0])
        for name, node in blocks(self.formula)[:-1]:
            if node.op == "level":
                self._level(name, node)
            elif "j" in node.axes:
                self._along_row(name, node)
            else:
                self._each_row(name, node)
        root = self.formula.root
        return lambda i, j: f"IF(ISNUMBER({self.z.at(i, j)}),{self._cell(root, i, j)},0)"

    def _values(self, node: Node) -> Array:
        return np.asarray(self.numbers(node), dtype=float)[0, :, :, 0]

    def _along_row(self, name: str, node: Node) -> None:
        array = np.broadcast_to(self._values(node), self._transposed(self.closed).shape)
        array = np.where(self.closed, -np.inf, _checked(name, np.where(self.closed, 0.0, self._transposed(array))))

        def formula(i: int, j: int) -> str:
            value = self._position("j", i, j) if node.name == "j" and node.is_leaf else self._cell(node, i, j)
            return f'IF(ISNUMBER({self.z.at(i, j)}),{value},"{FORBIDDEN}")'

        self.own[id(node)] = self._block(name, array, formula)

    def _each_row(self, name: str, node: Node) -> None:
        empty = self._transposed(self.closed).all(axis=1, keepdims=True)
        array = np.broadcast_to(self._values(node), empty.shape)
        array = _checked(name, np.where(empty, 0.0, array))

        def formula(i: int, j: int) -> str:
            at = (0, j) if self.lines.by_column else (i, 0)
            line = self.lines.line(self.z, *at)
            return f"IF(COUNT({line})=0,0,{self._cell(node, *at)})"

        self.own[id(node)] = self.lines.sheet.along(name, self._transposed(array), formula, self.lines.masked)

    def _level(self, name: str, node: Node) -> None:
        """Write the level of each row by Newton's method from 1 below the largest: a number a row for every step."""
        x, power = self.own.get(id(node.args[0]), self.z), node.number
        X = np.broadcast_to(self._values(node.args[0]), self._transposed(self.closed).shape)
        t = np.where(self._transposed(self.closed), -np.inf, X).max(axis=1, keepdims=True) - 1.0
        t = np.where(np.isneginf(t), 0.0, t)
        X = np.where(self._transposed(self.closed), t, X)
        first = lambda i, j: f"IF(COUNT({self.lines.line(x, i, j)})=0,0,MAX({self.lines.line(x, i, j)})-1)"  # noqa: E731
        cells = self._step_of_level(f"{name} · 1", t, first)
        start = cells
        whole = lambda i, j: f"IF(ISNUMBER({x.at(i, j)}),{x.at(i, j)},{self.lines.each(start, i, j)})"  # noqa: E731
        whole_row = self._block(f"{name} · {node.args[0].name or 'x'}", self._transposed(X), whole)
        for step in range(2, NEWTON + 2):
            t = t + _newton(X, t, power)
            cells = self._step_of_level(f"{name} · {step}", t, self._newton(whole_row, cells, power))
        self.own[id(node)] = cells

    def _step_of_level(self, name: str, array: Array, formula: Cells) -> Block:
        def each(i: int, j: int) -> str:
            return formula(*((0, j) if self.lines.by_column else (i, 0)))

        return self.lines.sheet.along(name, self._transposed(array), each, self.lines.masked)

    def _newton(self, x: Block, before: Block, power: float) -> Cells:
        """Return the formula of the next step: what is above, to the power, is brought nearer to a sum of 1."""

        def formula(i: int, j: int) -> str:
            line, t = self.lines.line(x, i, j), self.lines.each(before, i, j)
            above, p = f"(({line}-{t})*({line}>{t}))", repr(power)
            total = f"SUMPRODUCT({above}^{p})"
            slope = f"SUMPRODUCT({above}^{power - 1.0!r})" if power > 1 else f"SUMPRODUCT(({line}>{t})*1)"
            return f"IF({slope}=0,{t},{t}+({total}-{total}^{1.0 - 1.0 / power!r})/{slope})"

        return formula

    def _position(self, which: str, i: int, j: int) -> str:
        return str((j if which == "i" else i) if self.lines.by_column else (i if which == "i" else j))

    def _cell(self, node: Node, i: int, j: int) -> str:
        operands = [each for each in self.formula.nodes if id(each) in self.own and each is not node]

        def at(each: Node, array: bool) -> str:
            if id(each) in self.own:
                block = self.own[id(each)]
                if "j" not in each.axes:
                    return self.lines.each(block, i, j)
                return self.lines.line(block, i, j) if array else block.at(i, j)
            if each.value == "x":
                return self.lines.line(self.z, i, j) if array else self.z.at(i, j)
            if each.op == "size":
                return f"COUNT({self.lines.line(self.z, i, j)})"
            if each.name in self.learned:
                return self.learned[each.name].at(0, 0)
            return self._position(each.name, i, j) if each.name in ("i", "j") else str(self.sizes[each.name])

        def upto(each: Node) -> str:
            return self.lines.upto(self.own.get(id(each), self.z), i, j)

        return Spreadsheet(self.formula, operands, at, upto).cell(node)


def _newton(X: Array, t: Array, power: float) -> Array:
    above = np.maximum(X - t, 0.0)
    slope = np.where(above > 0, above ** (power - 1.0), 0.0).sum(axis=1, keepdims=True)
    total = (above**power).sum(axis=1, keepdims=True)
    return np.where(slope == 0, 0.0, (total - total ** (1.0 - 1.0 / power)) / np.where(slope == 0, 1.0, slope))


def weights(lines: MaskedScores, formula: Formula, head: Head, learned: Mapping[str, Block]) -> Cells:
    """Return the formula of the cells of the weights of a typed normaliser; its lines are added to the sheet.

    learned  the blocks of its learned numbers
    """
    return _Weights(lines, formula, head, learned).write()
