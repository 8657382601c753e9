"""A formula read back from its LaTeX, as one reads it in a paper, and computed for one cell.

Products bind in the order of their signs: a thin space first, then ⊙, then a dot; a sum or a largest takes all the
product behind it. A row vector is an array of one axis, a transposed one stands in a `Column`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attnviz.formula.evaluation import numbers

_FENCES = {
    r"\left\lfloor": "⌊",
    r"\right\rfloor": "⌋",
    r"\left\|": "‖<",
    r"\right\|": "‖>",
    r"\left|": "|<",
    r"\right|": "|>",
    r"\left": "",
    r"\right": "",
    r"\;": "",
    r"\text{and}": "∧",
    r"\text{or}": "∨",
    r"\text{not}": "¬",
    r"\text{otherwise}": "",
}
_TOKEN = re.compile(
    r"\\(?:mathrm|texttt|operatorname)\{(?:\\.|[^{}\\])*\}|\\[A-Za-z]+|\\.|\d+(?:\.\d+)?(?:e[+-]?\d+)?|[‖|][<>]|l'|\S"
)
_FUNCTIONS = {r"\tanh": "tanh", r"\ln": "log", r"\sin": "sin", r"\cos": "cos", r"\sigma": "sigmoid"}
_TOP = r"\operatorname{top}"
_RELATIONS = {"<": "<", ">": ">", r"\le": "<=", r"\ge": ">=", "=": "==", r"\ne": "!="}

Value = Any
Read = Callable[["Cell"], Value]


@dataclass(frozen=True)
class Column:
    """A vector that stands as a column."""

    vector: np.ndarray


@dataclass(frozen=True)
class Cell:
    """The numbers of one cell.

    names   what each symbol is, by its name without the positions of its index
    along   what it is at each key, of symbols that depend on the key: (keys, ...)
    key     the key;  other  the key that a sum has come to;  entry  the entry of vectors
    keys    the keys that take part;  width  of every vector;  zero  whether 1/0 is meant to be 0
    """

    names: Mapping[str, Value]
    along: Mapping[str, np.ndarray]
    key: int
    keys: tuple[int, ...]
    width: int
    zero: bool = False
    other: int | None = None
    entry: int | None = None
    lines: Mapping[str, Read] | None = None


def read(latex: str) -> Read:
    """Return the function of a cell that a formula says."""
    for command, sign in _FENCES.items():
        latex = latex.replace(command, sign)
    parser = _Parser(_TOKEN.findall(latex))
    return parser.lines() if r"\begin{aligned}" in latex else parser.formula()


class _Parser:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.at = tokens, 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *wanted: str) -> str:
        token = self.peek()
        if wanted and token not in wanted:
            raise ValueError(f"{token!r} stands where {wanted} was looked for, in {''.join(self.tokens)}")
        self.at += 1
        return token

    def given(self, *signs: str) -> bool:
        if self.peek() in signs:
            self.at += 1
            return True
        return False

    def word(self) -> str:
        """Return the letters inside braces."""
        self.take("{")
        start = self.at
        while not self.given("}"):
            self.at += 1
        return "".join(self.tokens[start : self.at - 1])

    def formula(self) -> Read:
        """Read a formula, with or without what stands before its sign of equality."""
        start = self.at
        if re.fullmatch("[sBa]", self.peek()) and self.tokens[self.at + 1 : self.at + 6] == list("_{ij}"):
            self.at += 6
            if self.given("="):
                return self.whole()
        self.at = start
        return self.whole()

    def whole(self) -> Read:
        found = self.either()
        if self.at < len(self.tokens):
            raise ValueError(f"{self.tokens[self.at :]} is left over")
        return found

    def lines(self) -> Read:
        """Read lines with names, of which each may use those before it."""
        for sign in r"\begin", "{":
            self.take(sign)
        self.at += len("aligned") + 1
        found: dict[str, Read] = {}
        while True:
            name = self.symbol_name()[0]
            self.take("&")
            self.take("=")
            found[name] = self.either()
            if not self.given("\\\\"):
                break
        return lambda cell: found[name](replace(cell, lines=found))

    def either(self) -> Read:
        return self.chain(self.both, {"∨": np.logical_or})

    def both(self) -> Read:
        return self.chain(self.denied, {"∧": np.logical_and})

    def denied(self) -> Read:
        if self.given("¬"):
            inside = self.denied()
            return lambda cell: np.logical_not(inside(cell))
        found = self.chain(self.sum, {sign: numbers.MORE[op] for sign, op in _RELATIONS.items()})
        return self.on_top(found) if self.given(r"\in") else found

    def on_top(self, each: Read) -> Read:
        """Read whether a number is one of the largest of a row."""
        for sign in (_TOP, "_"):
            self.take(sign)
        n, inside = int(self.word()), self.closed("(", ")")

        def among(cell: Cell) -> bool:
            row = [(-float(inside(other)), other.other) for other in _along(cell, "l")]
            return (-float(each(cell)), _here(cell)) in sorted(row)[:n]

        return among

    def sum(self) -> Read:
        return self.chain(self.term, {"+": np.add, "-": np.subtract})

    def term(self) -> Read:
        if self.given("-"):
            inside = self.rest()
            return lambda cell: -inside(cell)
        return self.rest()

    def rest(self) -> Read:
        return self.chain(self.product, {r"\bmod": np.mod})

    def product(self) -> Read:
        return self.chain(self.entrywise, {r"\cdot": _dot})

    def entrywise(self) -> Read:
        return self.chain(self.beside, {r"\odot": np.multiply})

    def beside(self) -> Read:
        return self.chain(self.power, {r"\,": _beside})

    def chain(self, part: Callable[[], Read], signs: Mapping[str, Callable[..., Value]]) -> Read:
        found = part()
        while self.peek() in signs and self.peek():
            operation, left, right = signs[self.take()], found, part()
            found = _applied(operation, left, right)
        return found

    def power(self) -> Read:
        base = self.atom()
        while self.given("^"):
            if self.given(r"\top"):
                base = _applied(Column, base)
                continue
            if self.given("{"):
                self.given(r"\odot")
                exponent = self.either()
                self.take("}")
            else:
                exponent = _constant(float(self.take()))
            base = _applied(np.power, base, exponent)
        return base

    def atom(self) -> Read:
        token = self.take()
        if re.match(r"\d", token):
            return _constant(float(token))
        if token in _ATOMS:
            return _ATOMS[token](self)
        if token in _FUNCTIONS:
            return _applied(numbers.ONE[_FUNCTIONS[token]], self.closed("(", ")"))
        if token.startswith((r"\texttt", r"\operatorname")):
            inside = token[token.index("{") + 1 : -1].replace("\\", "")
            return _applied(np.sign, self.closed("(", ")")) if inside == "sgn" else _constant(inside)
        self.at -= 1
        return self.symbol()

    def closed(self, opening: str, closing: str) -> Read:
        self.take(opening)
        found = self.either()
        self.take(closing)
        return found

    def fence(self, closing: str) -> Read:
        found = self.either()
        self.take(closing)
        if not self.given("_"):
            return found
        self.word()  # an entry of the vector inside
        return lambda cell: found(cell)[cell.entry]

    def fraction(self) -> Read:
        over, under = self.closed("{", "}"), self.closed("{", "}")
        return lambda cell: (numbers.ratio if cell.zero else np.divide)(np.asarray(over(cell)), np.asarray(under(cell)))

    def floor(self) -> Read:
        """Read what is cut off: the quotient as Python cuts it off, where it is one."""
        self.take(r"\frac")
        over, under = self.closed("{", "}"), self.closed("{", "}")
        self.take("⌋")
        return _applied(np.floor_divide, over, under)

    def cases(self) -> Read:
        self.word()
        rows: list[tuple[Read, Read]] = []
        while True:
            value = self.either()
            self.take("&")
            if self.given(r"\end"):
                self.word()
                return lambda cell: _chosen([(test(cell), yes(cell)) for yes, test in rows], value(cell))
            rows.append((value, self.either()))
            self.take("\\\\")

    def reduction(self, name: str) -> Read:
        if name != r"\sum" and self.peek() == "(":
            self.take("(")
            one = self.either()
            for sign in (",", r"\,"):
                self.take(sign)
            other = self.either()
            self.take(")")
            return _applied(np.maximum if name == r"\max" else np.minimum, one, other)
        self.take("_")
        index, body = self.word(), self.product()
        reduce = {r"\sum": np.sum, r"\max": np.max, r"\min": np.min}[name]
        if r"\le" in index:
            return lambda cell: reduce([body(each) for each in _along(cell, "l") if each.other <= _here(cell)])
        return lambda cell: reduce([body(each) for each in _along(cell, index)])

    def level(self) -> Read:
        """Read a threshold, or the number that goes by the same letter."""
        if self.tokens[self.at : self.at + 2] == ["_", "{"] and self.tokens[self.at + 4 : self.at + 5] == ["("]:
            self.take("_")
            power, inside = float(self.word()), self.closed("(", ")")
            return lambda cell: numbers.level(np.array([inside(each) for each in _along(cell, "l")]), power)[0]
        self.at -= 1
        return self.symbol()

    def exponential(self) -> Read:
        if self.peek() != "^":
            self.at -= 1
            return self.symbol()
        self.take("^")
        return _applied(np.exp, self.closed("{", "}"))

    def symbol_name(self) -> tuple[str, str]:
        """Return the name of a symbol without its positions, and those."""
        token = self.take()
        base = token[token.index("{") + 1 : -1] if token.startswith(r"\mathrm") else token.lstrip("\\")
        if not self.given("_"):
            return base, ""
        inside = self.word() if self.peek() == "{" else self.take()
        parts = [re.sub(r"\\mathrm\{(.*)\}", r"\1", part) for part in inside.split(",")]
        places = [part for part in parts if re.fullmatch("[ijld']+", part)]
        return "_".join([base, *(part for part in parts if part not in places)]), ",".join(places)

    def symbol(self) -> Read:
        name, index = self.symbol_name()
        return lambda cell: _value(cell, name, index)


_ATOMS: dict[str, Callable[[_Parser], Read]] = {
    "(": lambda parser: parser.fence(")"),
    "[": lambda parser: _applied(lambda truth: 1.0 * truth, parser.fence("]")),
    "|<": lambda parser: _applied(np.abs, parser.fence("|>")),
    "‖<": lambda parser: _applied(np.linalg.norm, parser.fence("‖>")),
    "⌊": _Parser.floor,
    "e": _Parser.exponential,
    r"\frac": _Parser.fraction,
    r"\sqrt": lambda parser: _applied(np.sqrt, parser.closed("{", "}")),
    r"\begin": _Parser.cases,
    r"\tau": _Parser.level,
    **{name: lambda parser, name=name: parser.reduction(name) for name in (r"\sum", r"\max", r"\min")},
}


def _constant(value: Value) -> Read:
    return lambda cell: value


def _applied(operation: Callable[..., Value], *parts: Read) -> Read:
    return lambda cell: operation(*(part(cell) for part in parts))


def _dot(left: Value, right: Value) -> Value:
    return left @ right if np.ndim(left) == np.ndim(right) == 1 else np.multiply(left, right)


def _beside(left: Value, right: Value) -> Value:
    if isinstance(right, Column):
        return left @ right.vector
    if isinstance(left, np.ndarray) and left.ndim == 1 and np.ndim(right) == 2:
        return left @ right
    if np.ndim(left) and np.ndim(right):
        raise ValueError("two vectors stand side by side, without a sign between them")
    return np.multiply(left, right)


def _here(cell: Cell) -> int:
    return cell.key if cell.other is None else cell.other


def _chosen(rows: list[tuple[Value, Value]], otherwise: Value) -> Value:
    for test, yes in reversed(rows):
        otherwise = np.where(test, yes, otherwise)
    return otherwise


def _along(cell: Cell, index: str) -> list[Cell]:
    if index == "d":
        return [replace(cell, entry=d) for d in range(cell.width)]
    return [replace(cell, other=key) for key in cell.keys]


def _value(cell: Cell, name: str, index: str) -> Value:
    """Return what a symbol is in a cell: at another key where its index says l, one entry where it says d."""
    here = replace(cell, key=cell.other, other=None) if "l" in index and cell.other is not None else cell
    if name in ("l", "l'") and cell.other is not None:
        return float(cell.other)
    if cell.lines and name in cell.lines:
        return cell.lines[name](here)
    if re.search("[jl]", index) and name in cell.along:
        found = cell.along[name][here.key]
    else:
        found = float(here.key) if name == "j" else cell.names[name]
    if index.endswith("d"):
        return found[cell.entry]
    return found
