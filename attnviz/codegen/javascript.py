"""A formula as a function of one cell in JavaScript.

The function takes `c`: q, k and the parameters of the head as lists, or x, the row of scores, with the positions i and
j, the sizes, and the lengths of the widths by their classes.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from attnviz.codegen.steps import plain_number, steps
from attnviz.formula.graph import REDUCTIONS, Formula, Node

SUM = """\
const sumOf = (n, f) => { let s = 0; for (let d = 0; d < n; d++) s += f(d); return s; };
"""
LIST = """\
const listOf = (n, f) => Array.from({ length: n }, (_, d) => f(d));
"""
MOST = """\
const mostOf = (n, f, sign) => sign * Math.max(...listOf(n, (d) => sign * f(d)));
"""
NORM = """\
const normOf = (n, f) => {
  const largest = mostOf(n, (d) => Math.abs(f(d)), 1), safe = largest > 0 && largest < Infinity ? largest : 1;
  return safe * Math.sqrt(sumOf(n, (d) => (f(d) / safe) ** 2));
};
"""
LEVEL = """\
const levelOf = (x, p) => {
  let largest = -Infinity;
  for (const each of x) largest = Math.max(largest, each);
  let t = largest - 1;
  for (let step = 1, turn = 0; step > 1e-17 && turn < 100; t += step, turn++) {
    let total = 0, slope = 0;
    for (const each of x) {
      if (!(each > t)) continue;
      const by = p === 1 ? 1 : Math.pow(each - t, p - 1);
      total += (each - t) * by;
      slope += by;
    }
    step = slope > 0 ? (total - Math.pow(total, 1 - 1 / p)) / slope : 0;
  }
  return t;
};
"""
"""The level of a row by Newton's method on the length of what lies above it, from below: as `entmax` finds it."""

TOP = """\
const isTop = (x, at, n) => {
  let place = 0;
  for (let d = 0; d < x.length; d++) if (x[d] > x[at] || (x[d] === x[at] && d < at)) place++;
  return place < n && x[at] === x[at];
};
"""
"""Whether a number is one of the n largest of its row; of equal ones the earlier is the larger, and NaN is none."""

MOD = """\
const modOf = (a, b) => { const r = a % b; return r !== 0 && (r < 0) !== (b < 0) ? r + b : r; };
"""
FLOOR = """\
const floorOf = (a, b) => {
  if (b === 0) return a / b;
  const r = a % b;
  return Math.round((a - r) / b) - (r !== 0 && (r < 0) !== (b < 0) ? 1 : 0);
};
"""
HELPERS = {
    **{"normOf": NORM, "mostOf": MOST, "listOf": LIST, "sumOf": SUM},
    **{"levelOf": LEVEL, "isTop": TOP, "modOf": MOD, "floorOf": FLOOR},
}
"""The helpers that the functions call, each before those that it calls itself."""

_SAME = ("+", "-", "*", "/", "<", "<=", ">", ">=")
_OTHER = {"==": "===", "!=": "!==", "and": "&&", "or": "||"}
_REDUCED = {
    "sum": "sumOf({n}, ({d}) => {x})",
    "max": "mostOf({n}, ({d}) => {x}, 1)",
    "min": "mostOf({n}, ({d}) => {x}, -1)",
    "norm": "normOf({n}, ({d}) => {x})",
    "level": "levelOf(listOf({n}, ({d}) => {x}), {value})",
    "cumsum": "sumOf({at} + 1, ({d}) => {x})",
    "top": "isTop(listOf({n}, ({d}) => {x}), {at}, {value})",
}


def javascript(formula: Formula, *, every: bool = False) -> str:
    """Return the source of a function `(c) => ({ lines, value, terms })`: what leads to the number, and the number.

    Each line has its name, its value and the terms: of a sum the numbers that are added up, of a sum of products both
    factors, otherwise none. With `every` there is a line for every step, by its name in `steps`.

    >>> from attnviz.formula.reader import parse
    >>> print(javascript(parse("sum(abs(q))")))
    (c) => {
      const $t1 = listOf(c.sizes[1], (d) => Math.abs(c.q[d]));
      const $score = sumOf(c.sizes[1], (d1) => $t1[d1]);
      return { lines: [], value: $score, terms: [listOf(c.sizes[1], (d) => $t1[d])] };
    }
    """
    return CellWriter(formula, every=every).source()


def helpers(code: str) -> str:
    """Return the helpers that some functions call.

    >>> print(helpers("sumOf(3, (d) => x[d])"), end="")
    const sumOf = (n, f) => { let s = 0; for (let d = 0; d < n; d++) s += f(d); return s; };
    """
    called = ""
    for name, text in HELPERS.items():
        called += text if f"{name}(" in code + called else ""
    return called


class EntryWriter:
    """A writer of the expressions of entries; what was written before is called by its name, {d} where it is a list."""

    def __init__(self, formula: Formula) -> None:
        self._formula, self._over = formula, formula.kind.over
        self._names: dict[int, str] = {}

    def text(self, node: Node, d: str) -> str:
        """Return the expression of a node, at the entry `d` of lists."""
        if id(node) in self._names:
            return self._names[id(node)].replace("{d}", d)
        if node.is_leaf:
            return self._leaf(node, d)
        if node.op in (*REDUCTIONS, "@"):
            return self._reduced(node, d)
        args = [self.text(arg, d) for arg in node.args]
        if node.op in _SAME or node.op in _OTHER:
            return f"({args[0]} {_OTHER.get(node.op, node.op)} {args[1]})"
        return _WRITERS[node.op if node.op != "call" or node.value != "sigmoid" else "sigmoid"](args, node.name)

    def _leaf(self, node: Node, d: str) -> str:
        if node.op == "number":
            return f"({plain_number(node.number)})"
        if node.op == "text":
            return json.dumps(node.value).replace("<", "\\u003c")
        return self._given(node, d)

    def _given(self, node: Node, d: str) -> str:
        """Return the expression of a variable or a size."""
        raise NotImplementedError

    def _reduced(self, node: Node, d: str) -> str:
        """Return the expression of what goes over a list."""
        raise NotImplementedError


class CellWriter(EntryWriter):
    """A writer of the function of one cell."""

    def __init__(self, formula: Formula, *, every: bool) -> None:
        super().__init__(formula)
        self._every = every
        self._depth = 0

    def source(self) -> str:
        """Return the whole function; every name of the visitor's has a $ before it, so none is a reserved word."""
        code, lines, terms, name = [], [], "[]", ""
        nodes = steps(self._formula, every=True)
        summed = {id(node.args[0]) for _, node in nodes if node.op == "sum"} - set(
            map(id, self._formula.named.values())
        )
        for variable, node in nodes:
            name = f"${variable}"
            is_list = self._over in node.axes and node is not self._formula.root
            value = self._list(node) if is_list else self.text(node, "c.j" if self._over == "j" else "d")
            code.append(f"  const {name} = {value};")
            terms = self._terms(node)
            self._names[id(node)] = f"{name}[{{d}}]" if is_list else name
            if node is not self._formula.root and (self._every or id(node) not in summed):
                label = variable if self._every else _label(variable, node, self._formula)
                lines.append(f"[{json.dumps(label)}, {name}, {terms}]")
        result = f"  return {{ lines: [{', '.join(lines)}], value: {name}, terms: {terms} }};"
        return "\n".join(["(c) => {", *code, result, "}"])

    def _list(self, node: Node) -> str:
        return f"listOf({self._length(node)}, (d) => {self.text(node, 'd')})"

    def _terms(self, node: Node) -> str:
        """Return the terms of a sum, or the two rows whose products it adds up."""
        if node.op != "sum":
            return "[]"
        (x,) = node.args
        is_product = x.op == "*" and all(self._over in arg.axes for arg in x.args)
        return f"[{', '.join(self._list(each) for each in (x.args if is_product else (x,)))}]"

    def _length(self, node: Node) -> str:
        return "c.x.length" if self._over == "j" else f"c.sizes[{node.width}]"

    def _given(self, node: Node, d: str) -> str:
        if node.op == "size":
            return "c.n" if self._over == "j" else f"c.sizes[{node.width}]"
        if node.value == "x" or (node.value == "s" and self._over == "j"):
            return f"c.{node.value}[{d}]"
        if node.value == "j" and self._over == "j":
            return f"c.places[{d}]"
        base = {"token[i]": "c.token_i", "token[j]": "c.token_j"}.get(node.name, f"c.{node.name}")
        return f"{base}[{d}]" if "d" in node.axes else base

    def _reduced(self, node: Node, d: str) -> str:
        self._depth += 1
        inner = f"d{self._depth}"
        x, *power = node.args
        if node.op == "@":
            W = self._leaf(node.args[1], d)
            return f"sumOf(c.sizes[{x.width}], ({inner}) => {self.text(x, inner)} * {W}[{inner}][{d}])"
        value = self.text(power[0], d) if power else node.value
        return _REDUCED[node.op].format(n=self._length(x), d=inner, x=self.text(x, inner), value=value, at=d)


def _label(name: str, node: Node, formula: Formula) -> str:
    """Return the label of a line: its name in the formula or, where it has none, its kind."""
    names = {id(each): variable for variable, each in formula.named.items()}
    if id(node) in names or node.op not in REDUCTIONS:
        return name
    x, *_ = node.args
    inside = x.name if x.is_leaf else names.get(id(x), "")
    return f"{node.op}({inside})" if inside else name


_WRITERS: dict[str, Callable[[list[str], str], str]] = {
    "**": lambda args, name: f"Math.pow({args[0]}, {args[1]})",
    "//": lambda args, name: f"floorOf({args[0]}, {args[1]})",
    "%": lambda args, name: f"modOf({args[0]}, {args[1]})",
    "not": lambda args, name: f"(!{args[0]})",
    "neg": lambda args, name: f"(-{args[0]})",
    "truth_as_number": lambda args, name: f"({args[0]} ? 1 : 0)",
    "if": lambda args, name: f"({args[0]} ? {args[1]} : {args[2]})",
    "high": lambda args, name: f"Math.max({args[0]}, {args[1]})",
    "low": lambda args, name: f"Math.min({args[0]}, {args[1]})",
    "ratio": lambda args, name: f"({args[1]} === 0 ? 0 : {args[0]} / {args[1]})",
    "sigmoid": lambda args, name: f"(1 / (1 + Math.exp(-{args[0]})))",
    "call": lambda args, name: f"Math.{name}({args[0]})",
}
