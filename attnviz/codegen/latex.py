"""A formula in LaTeX: as it stands, entry by entry, and with the numbers of one cell in it."""

from __future__ import annotations

import re
from collections.abc import Callable

from attnviz.codegen.steps import plain_number, steps
from attnviz.formula.graph import ALONG, REDUCTIONS, Formula, Node
from attnviz.formula.names import place_of

Text = tuple[str, float]
"""LaTeX, and how tightly its last operation binds: 10 needs no brackets anywhere."""

ATOM, POWER, FRACTION, TIMES, DOT, MANY, REST = 10.0, 9.0, 8.0, 7.0, 6.8, 6.5, 6.2
PLUS, COMPARE, AND, OR = 6.0, 4.0, 2.0, 1.0
MAX_PARTS = 60
"""Parts that a formula in one piece may have; a longer one is written line by line."""

_CALLS = {
    "tanh": r"\tanh\left({}\right)",
    "exp": "e^{{{}}}",
    "log": r"\ln\left({}\right)",
    "abs": r"\left|{}\right|",
    "sqrt": r"\sqrt{{{}}}",
    "sin": r"\sin\left({}\right)",
    "cos": r"\cos\left({}\right)",
    "sigmoid": r"\sigma\left({}\right)",
    "sign": r"\operatorname{{sgn}}\left({}\right)",
}
_SIGNS = {
    "<": ("<", COMPARE),
    ">": (">", COMPARE),
    "<=": (r"\le", COMPARE),
    ">=": (r"\ge", COMPARE),
    "==": ("=", COMPARE),
    "!=": (r"\ne", COMPARE),
    "and": (r"\;\text{and}\;", AND),
    "or": (r"\;\text{or}\;", OR),
    "%": (r"\bmod", REST),
}
_GREEK = ("alpha", "beta", "gamma", "tau")
_PLAIN = ("i", "j", "n", "h", "d_k", "d_q")
COMMANDS = (
    r"\left\right\frac\sqrt\tanh\ln\sin\cos\sigma\operatorname\mathrm\texttt\text\begin\end\cdot\odot\,\;\le\ge\ne"
    r"\in\bmod\lfloor\rfloor\max\min\sum\top\|\\\#\$\%\&\_\{\}\alpha\beta\gamma\tau"
)
"""Every command that a formula can be written with."""

_RESULT = {"score": "s_{ij} = ", "bias": "B_{ij} = ", "normaliser": "a_{ij} = ", "mask": ""}


def latex(formula: Formula) -> str:
    """Return a formula in one piece where that is short, otherwise with a line for each name.

    >>> from attnviz.formula.reader import parse
    >>> print(latex(parse("q @ W @ k")))
    s_{ij} = q_{i}\\, W\\, k_{j}^\\top
    """
    writer = Latex()
    if _written_out(formula) <= MAX_PARTS:
        return _RESULT[formula.kind.name] + writer.text(formula.root)
    lines = []
    for name, node in steps(formula, every=False):
        entry = "d" if "d" in node.axes else ""
        lines.append(f"{writer.called(name, node, entry)} &= {writer.text(node, entry)}")
        writer.names[id(node)] = name
    return r"\begin{aligned} " + r" \\ ".join(lines) + r" \end{aligned}"


def _written_out(formula: Formula) -> int:
    """Count the parts of the formula with every name written out; names can double it again and again."""
    size: dict[int, int] = {}
    for node in formula.nodes:
        size[id(node)] = 1 + sum(size[id(arg)] for arg in node.args)
    return size[id(formula.root)]


class Latex:
    """A writer of nodes.

    known   the numbers, in LaTeX, that stand for nodes;  names  the names that do
    positions  how query and key are written where they are an index
    """

    def __init__(self, positions: tuple[str, str] = ("i", "j")) -> None:
        self.known: dict[int, str] = {}
        self.names: dict[int, str] = {}
        self._index_names = dict(zip("ij", positions))
        self._between = "" if max(map(len, positions)) == 1 and not "".join(positions).isdigit() else ","

    def text(self, node: Node, entry: str = "", level: float = 0.0) -> str:
        """Return the LaTeX of a node, of one `entry` of each vector or of the vectors themselves."""
        code, have = self._text(node, entry)
        return code if have >= level else _closed(code)

    def known_as(self, node: Node, entry: str) -> str:
        """Return what stands for a node that is known."""
        return self.known[id(node)]

    def called(self, name: str, node: Node, entry: str = "") -> str:
        """Return a name with the positions that the node depends on as its index.

        >>> from attnviz.formula.graph import Node
        >>> Latex().called("hidden", Node("variable", axes="ijd"), "d")
        '\\\\mathrm{hidden}_{ij,d}'
        """
        base, _, low = name.rstrip("_").partition("_")
        numbered = re.fullmatch(r"([a-z])(\d+)", base)
        base, low = (numbered[1], numbered[2]) if numbered and not low else (base, low)
        is_key = _is_key(entry)
        each = [entry if is_key and axis == "j" else self._index_names[axis] for axis in node.axes if axis != "d"]
        positions = self._between.join(each)
        index = ",".join(filter(None, [positions, entry if "d" in node.axes and not is_key else ""]))
        letter = base if len(base) == 1 else rf"\{base}" if base in _GREEK else rf"\mathrm{{{base}}}"
        low = low if len(low) < 2 else rf"\mathrm{{{low}}}"
        index = ",".join(filter(None, [low, index]))
        return letter + (f"_{{{index}}}" if index else "")

    def _text(self, node: Node, entry: str) -> Text:
        if id(node) in self.names:
            return self.called(self.names[id(node)], node, entry), ATOM
        if id(node) in self.known:
            known = self.known_as(node, entry)
            return known, PLUS if known.startswith("-") else ATOM
        if node.is_leaf:
            return self._leaf(node, entry)
        if node.op in REDUCTIONS:
            return self._reduced(node, entry)
        if node.op in _SIGNS:
            return self._sign(node, entry)
        return _WRITERS[node.op](self, node, entry)

    def _leaf(self, node: Node, entry: str) -> Text:
        if node.op == "number":
            return plain_number(node.number), ATOM if node.number >= 0 else PLUS
        if node.op == "text":
            return rf"\texttt{{{_escaped(str(node.value))}}}", ATOM
        if node.op == "size":
            return ("d" if node.value == "d" else "n"), ATOM
        if node.name in ("i", "j"):
            return (entry if node.name == "j" and _is_key(entry) else node.name), ATOM
        if node.name.startswith("token["):
            axis, after = place_of(node.name)
            return rf"\mathrm{{token}}_{{{self._index_names[axis]}{f'{after:+}' if after else ''}}}", ATOM
        name = node.name.lower() if node.axes == "jd" and node.name[0].isupper() else node.name  # a row of a matrix
        return (name if name in _PLAIN else self.called(name, node, entry)), ATOM

    def _sign(self, node: Node, entry: str) -> Text:
        sign, level = _SIGNS[node.op]
        left = level if node.args[0].op == node.op and node.op in ("and", "or") else level + 1
        return f"{self.text(node.args[0], entry, left)} {sign} {self.text(node.args[1], entry, level + 1)}", level

    def added(self, node: Node, entry: str) -> Text:
        one, other = node.args
        right = self._text(other, entry)
        if node.op == "+" and id(other) in self.known and _is_number(right[0]) and right[0].startswith("-"):
            return f"{self.text(one, entry, PLUS)} - {right[0][1:]}", PLUS
        closed = right[0].startswith("-") or (node.op == "-" and right[1] <= PLUS) or right[1] < PLUS
        code = _closed(right[0]) if closed else right[0]
        return f"{self.text(one, entry, PLUS)} {node.op} {code}", PLUS

    def times(self, node: Node, entry: str) -> Text:
        one, other = node.args
        right, level = self._text(other, entry)
        is_number = one.op == "number" or other.op == "number" or not {id(one), id(other)}.isdisjoint(self.known)
        sign = r" \cdot " if is_number else r"\, "
        if not entry and "d" in one.axes and "d" in other.axes:
            sign = r" \odot "
        is_vector = not entry and "d" in one.axes  # beside it a dot product would be read from the left
        closed = _closed(right) if right.startswith("-") or level < (TIMES if is_vector else MANY) else right
        is_first = one.op == "number" or (id(one) in self.known and _is_number(self.known[id(one)]))
        return self.text(one, entry, 0.0 if is_first else TIMES) + sign + closed, min(TIMES, max(MANY, level))

    def over(self, node: Node, entry: str) -> Text:
        fraction = rf"\frac{{{self.text(node.args[0], entry)}}}{{{self.text(node.args[1], entry)}}}"
        return (rf"\left\lfloor {fraction} \right\rfloor", ATOM) if node.op == "//" else (fraction, FRACTION)

    def power(self, node: Node, entry: str) -> Text:
        each = r"\odot " if not entry and "d" in node.axes else ""
        return f"{self.text(node.args[0], entry, ATOM)}^{{{each}{self.text(node.args[1], entry)}}}", POWER

    def negative(self, node: Node, entry: str) -> Text:
        return f"-{self.text(node.args[0], entry, DOT)}", PLUS

    def truth(self, node: Node, entry: str) -> Text:
        return rf"\left[{self.text(node.args[0], entry)}\right]", ATOM

    def denied(self, node: Node, entry: str) -> Text:
        return rf"\text{{not}}\; {self.text(node.args[0], entry, 5.0)}", 3.0

    def cases(self, node: Node, entry: str) -> Text:
        rows: list[str] = []
        while node.op == "if" and (not rows or id(node) not in {*self.names, *self.known}):
            test, yes, node = node.args
            rows.append(rf"{self.text(yes, entry)} & {self.text(test, entry)} \\ ")
        return rf"\begin{{cases}} {''.join(rows)}{self.text(node, entry)} & \text{{otherwise}} \end{{cases}}", ATOM

    def larger(self, node: Node, entry: str) -> Text:
        one, other = (self.text(arg, entry) for arg in node.args)
        return rf"\{'max' if node.op == 'high' else 'min'}\left({one},\, {other}\right)", ATOM

    def call(self, node: Node, entry: str) -> Text:
        return _CALLS[node.name].format(self.text(node.args[0], entry)), ATOM

    def through(self, node: Node, entry: str) -> Text:
        x, W = node.args
        transposed = r"^\top" if node.op == "@T" else ""
        code = rf"{self.text(x, '', TIMES if x.op == '@' else FRACTION)}\, {self.text(W)}{transposed}"
        return (rf"\left({code}\right)_{{{entry}}}", ATOM) if entry else (code, TIMES)

    def outer(self, node: Node, entry: str) -> Text:
        return rf"\sum_{{ij}} {self.text(node.args[0], '', TIMES)}^\top {self.text(node.args[1], '', TIMES)}", MANY

    def _reduced(self, node: Node, entry: str) -> Text:
        (x,) = node.args
        if node.over == "d":
            if node.op == "norm":
                return rf"\left\|{self.text(x)}\right\|", ATOM
            is_here = node.op == "sum" and id(x) not in {*self.known, *self.names}
            if is_here and x.op == "*" and all("d" in arg.axes for arg in x.args):
                return self._dot(*x.args), DOT
            if is_here and x.is_square and "d" in x.args[0].axes:
                return rf"\left\|{self.text(x.args[0])}\right\|^2", POWER
        if node.op in ALONG:
            return self._along(node, entry)
        index = "l" if node.over == "j" else node.over
        body = self.text(x, index, TIMES)
        if node.op == "level":
            return rf"\tau_{{{plain_number(node.number)}}}\left({self.text(x, index)}\right)", ATOM
        if node.op == "norm":
            return rf"\sqrt{{\sum_{{{index}}} {self.text(x, index, ATOM)}^2}}", ATOM
        return rf"\{node.op}_{{{index}}} {body}", MANY

    def _along(self, node: Node, entry: str) -> Text:
        """Return what each key of a row gets: `entry` is another key than the cell's, where one is meant."""
        (x,) = node.args
        if node.op == "cumsum":
            here = entry or self._index_names["j"]
            inner = f"{entry}'" if entry else "l"
            return rf"\sum_{{{inner} \le {here}}} {self.text(x, inner, TIMES)}", MANY
        top = rf"\operatorname{{top}}_{{{node.number:g}}}\left({self.text(x, 'l')}\right)"
        return rf"{self.text(x, entry, COMPARE + 1)} \in {top}", COMPARE

    def _dot(self, one: Node, other: Node) -> str:
        """Return the products of two vectors added up; behind a matrix stands a column."""
        if one.op == "@" and id(one) not in {*self.known, *self.names} and other.is_leaf:
            return rf"{self.text(one, '', TIMES)}\, {self.text(other, '', ATOM)}^\top"
        return rf"{self.text(one, '', TIMES)} \cdot {self.text(other, '', FRACTION)}"


_WRITERS: dict[str, Callable[[Latex, Node, str], Text]] = {
    "+": Latex.added,
    "-": Latex.added,
    "*": Latex.times,
    "/": Latex.over,
    "//": Latex.over,
    "ratio": Latex.over,
    "**": Latex.power,
    "neg": Latex.negative,
    "truth_as_number": Latex.truth,
    "not": Latex.denied,
    "if": Latex.cases,
    "high": Latex.larger,
    "low": Latex.larger,
    "call": Latex.call,
    "@": Latex.through,
    "@T": Latex.through,
    "outer": Latex.outer,
}


def _is_key(entry: str) -> bool:
    """Return whether an entry is that of another key, l or l', and not of a vector."""
    return entry.startswith("l")


def _is_number(code: str) -> bool:
    return re.fullmatch(r"-?\d[\d.]*( \\times 10\^\{-?\d+\})?", code) is not None


def _closed(code: str) -> str:
    return f"({code})" if _is_number(code) else rf"\left({code}\right)"


def _escaped(text: str) -> str:
    """Return a token as LaTeX holds it; what no font of typewriters has becomes a question mark."""
    special = {"\\": "?", "^": "?", "~": "?"} | {c: f"\\{c}" for c in "#$%&_{}"}
    return "".join(special.get(c, c) for c in text)
