"""A formula as lines of NumPy or PyTorch, written as a teacher would: `Q @ W @ K.T`.

The arrays of a script do not all have four axes. What a node really has as axes is its layout:

    with heads      Q (h, i, d)   K (h, j, d)   W (h, d, d)   v (h, d)   i (i, 1)   b[j] (h, j)   d_k a number
    one head        Q (i, d)      K (j, d)      W (d, d)      v (d)      i (i, 1)   b[j] (j)      d_k a number

Where two layouts meet, each is brought to the axes of both by an index: Q[:, :, None, :] * K[:, None, :, :]. A sum of
products in which query and key never meet before the sum is a product of matrices and needs none of that.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from attnviz.codegen.axis_order import Layouts, broadcasts, is_integral
from attnviz.codegen.calls import call, compared_words
from attnviz.codegen.forbidden import MINUS, NEUTRAL, at_forbidden
from attnviz.codegen.plain_numbers import is_careful, may_fail
from attnviz.codegen.precedence import ATOM, COMPARE, JOIN, LEVELS, MATRIX, PLUS, POWER, SIGN, TIMES, Text, within
from attnviz.codegen.steps import plain_number, steps
from attnviz.codegen.words import NUMPY, RESERVED, Words
from attnviz.formula.evaluation.numbers import factors
from attnviz.formula.facts.degree import ANY, degrees
from attnviz.formula.facts.patterns import softmax_of
from attnviz.formula.graph import REDUCTIONS, Formula, Node

PAIRS = "  # for every pair"
"""The comment on a line with vectors for every query and key."""


class Script:
    """A writer of a formula, line by line.

    heads    whether arrays have an axis for the heads in front, as in an exported script, or it is one head
    named    what variables, parameters and sizes are called where that is not their own name
    allowed  the name of the mask, where a normaliser has to leave something out
    zero     parameters that are zero: where one is merely added, it is left out
    axis     of a normaliser, along which it goes;  divisor  what x is over, divided by as late as it can be
    comments what is said behind lines, by their names
    """

    def __init__(
        self,
        formula: Formula,
        words: Words = NUMPY,
        *,
        heads: bool = False,
        named: Mapping[str, str] | None = None,
        allowed: str = "",
        zero: Collection[str] = (),
        axis: int = -1,
        divisor: str = "",
        comments: Mapping[str, str] | None = None,
    ) -> None:
        self._zero, self._axis, self._divisor, self._comments = zero, axis, divisor, comments or {}
        self._degrees = degrees(formula) if divisor else {}
        self._is_undivided = False
        self._formula, self._words, self._heads, self._allowed = formula, words, heads, allowed
        self._named = {"q": "Q", "k": "K"} | dict(named or {})
        self._axes = "hijd" if heads else "ijd"
        self._frame = self._axes[:-1]
        self._lines: dict[int, str] = {}
        self.layout = Layouts(self._axes, has_mask=bool(allowed)).of

    def lines(self, result: str) -> list[str]:
        """Return the lines; the last one gives `result`, with all of its axes, though some may be of length 1."""
        inside = softmax_of(self._formula.root) if self._words.softmax else None
        if inside is not None and (not self._allowed or at_forbidden(inside) == MINUS):
            softmax = self._words.softmax.format(self._text(inside)[0], axis=self._axis)
            return [f"{result} = {softmax}"]
        lines = []
        reserved = RESERVED | set(self._named.values()) | set(self._formula.parameters)
        for name, node in steps(self._formula, every=False, reserved=reserved):
            is_last = node is self._formula.root
            self._is_undivided = not is_last and not self._is_used_divided(node)
            code = self._fitted(node, self._frame) if is_last and self.layout(node) else self._text(node)[0]
            if not self._is_undivided:
                self._degrees[id(node)] = None  # it is divided where it is made
            comment = PAIRS if node.is_big and not is_last else ""
            comment = f"  # {self._comments[name]}" if name in self._comments else comment
            lines.append(f"{result if is_last else name} = {code}{comment}")
            self._lines[id(node)] = name
        return lines

    def covers(self) -> bool:
        """Return whether the result has its full shape, or has to be spread over queries, keys and heads."""
        root = self._formula.root
        return set(self._frame) <= set(self.layout(root)) and "i" in root.axes and "j" in root.axes

    def _fitted(self, node: Node, frame: str, level: float = 0.0) -> str:
        """Return the code of a node with the axes of `frame`, in brackets where its operation binds too loosely."""
        code, have = self._text(node)
        layout = self.layout(node)
        if layout and not broadcasts(layout, frame):
            index = ", ".join(":" if axis in layout else "None" for axis in frame)
            return f"{code if have >= ATOM else f'({code})'}[{index}]"
        return code if have >= level else f"({code})"

    def _text(self, node: Node) -> Text:
        """Return the code of a node; what grows with the scores is made of them first, and divided then."""
        if not self._divisor:
            return self._code(node)
        before, degree = self._is_undivided, self._degrees[id(node)]
        self._is_undivided = degree == 1 or self._cancels(node)
        code, level = self._code(node)
        self._is_undivided = before
        if degree != 1 or before:
            return code, level
        return f"{within((code, level), TIMES)} / {self._divisor}", TIMES

    def _is_used_divided(self, node: Node) -> bool:
        """Return whether every use of a node needs it over the divisor."""
        uses = [each for each in self._formula.nodes if any(arg is node for arg in each.args)]
        return bool(self._divisor) and not any(self._degrees[id(each)] == 1 or self._cancels(each) for each in uses)

    def _cancels(self, node: Node) -> bool:
        """Return whether a node of degree 0 is made of what grows with the scores, and so needs no division at all."""
        of = {self._degrees[id(arg)] for arg in node.args}
        return self._degrees[id(node)] == 0 and 1 in of and of <= {1, ANY}

    def _code(self, node: Node) -> Text:
        if id(node) in self._lines:
            return self._lines[id(node)], ATOM
        if node.op == "+" and self._zero:
            node = self._without_zero(node)
        if node.is_leaf:
            return self._leaf(node)
        if node.op in REDUCTIONS:
            return self._reduced(node)
        if node.op == "@":
            return self._through(node)
        if node.op in LEVELS:
            return self._arithmetic(node)
        if node.truth:
            return self._truth(node)
        return self._called(node)

    def _without_zero(self, node: Node) -> Node:
        """Return the other term of a sum with a parameter that is zero, where it has all the axes of the sum."""
        for one, other in (node.args, node.args[::-1]):
            if other.op == "variable" and other.name in self._zero and self.layout(one) == self.layout(node):
                return one
        return node

    def _leaf(self, node: Node) -> Text:
        if node.op == "number":
            return plain_number(node.number), ATOM if node.number >= 0 else SIGN
        if node.op == "text":
            return repr(node.value), ATOM
        if node.op == "size":
            return self._size(node)
        code = self._named.get(node.name, node.name)
        if self._role(node) == "columns":
            code = self._words.transposed.format(code) if self._heads else f"{code}.T"
        return code, ATOM

    def _role(self, node: Node) -> str:
        parameter = self._formula.parameters.get(node.name) if node.op in ("variable", "matrix") else None
        return parameter.role if parameter else ""

    def _size(self, node: Node) -> Text:
        if node.value == "j":
            whole = f"{self._named.get('x', 'x')}.shape[{self._axis}]"
            return (f"{self._allowed}.sum({self._along})" if self._allowed else whole), ATOM
        name = self._formula.sizes[node.width] or "d_k"
        return self._named.get(name, name), ATOM

    def _arithmetic(self, node: Node) -> Text:
        one, other = node.args
        frame, op = self.layout(node), node.op
        left = self._fitted(one, frame, {"+": PLUS, "-": PLUS, "**": ATOM}.get(op, MATRIX))
        right = self._fitted(other, frame, {"+": PLUS, "**": SIGN}.get(op, LEVELS[op] + 1))
        is_plain = other.op == "number" and other.number > 0
        if not frame and may_fail(node):
            return f"{self._words.number.format(self._fitted(one, frame))} {op} {right}", LEVELS[op]
        if op in ("**", "//", "%") and is_integral(node) and not is_plain:
            left = f"{one.number!r}" if one.op == "number" and one.number >= 0 else f"(1.0 * {left})"
        return f"{left} {op} {right}", LEVELS[op]

    def _truth(self, node: Node) -> Text:
        frame = self.layout(node)
        if node.op == "not":
            return f"{'~' if frame else 'not '}{self._fitted(node.args[0], frame, POWER)}", SIGN if frame else 3.0
        if node.op in ("and", "or"):
            sign = "&" if node.op == "and" else "|"
            return f" {sign} ".join(
                self._fitted(arg, frame, POWER if arg.op != node.op else JOIN) for arg in node.args
            ), JOIN
        if node.args[0].is_token:
            return compared_words(node, self._named, self._words), ATOM
        one, other = (self._fitted(arg, frame, PLUS) for arg in node.args)
        return f"{one} {node.op} {other}", COMPARE

    def _called(self, node: Node) -> Text:
        frame, m = self.layout(node), self._words.np
        args = [self._fitted(arg, frame) for arg in node.args]
        if node.op == "neg":
            return f"-{self._fitted(node.args[0], frame, SIGN)}", SIGN
        if node.op == "truth_as_number":
            return f"1.0 * {self._fitted(node.args[0], frame, POWER)}", TIMES
        if node.op == "if":
            test, yes, no = map(self.layout, node.args)
            if test:
                return f"{m}.where({', '.join(args)})", ATOM
            if yes == no:
                return f"({args[1]} if {args[0]} else {args[2]})", ATOM
            return f"{m}.where({self._array(node.args[0], args[0])}, {args[1]}, {args[2]})", ATOM  # an array either way
        if node.op in ("high", "low"):
            return self._larger(node, frame), ATOM
        if node.op == "ratio":
            one, other = node.args
            if not frame:
                over = f"{self._fitted(one, frame, TIMES)} / {self._fitted(other, frame, SIGN)}"
                return f"({over} if {args[1]} else 0.0)", ATOM
            is_unit = other.op == "norm" and other.args[0] is one and self._formula.kind.over == "d"
            return (f"unit({args[0]})" if is_unit else f"ratio({', '.join(self._arrays(node.args, args))})"), ATOM
        return call(node, args[0], self._words, is_array=bool(frame))

    def _arrays(self, nodes: tuple[Node, ...], args: list[str]) -> list[str]:
        """Return the argument of a library's function: plain numbers become arrays."""
        return [arg if self.layout(node) else self._array(node, arg) for node, arg in zip(nodes, args)]

    def _array(self, node: Node, code: str) -> str:
        return f"{self._words.as_array if is_careful(node) else self._words.array}({code})"

    def _larger(self, node: Node, frame: str) -> str:
        one, other = node.args
        if not frame and not any(map(is_careful, node.args)):
            return f"{'max' if node.op == 'high' else 'min'}({self._fitted(one, frame)}, {self._fitted(other, frame)})"
        if other.op == "number" and self.layout(one):
            side = "min" if node.op == "high" else "max"
            return f"{self._fitted(one, frame, ATOM)}.clip({side}={plain_number(other.number)})"
        args = self._arrays(node.args, [self._fitted(arg, frame) for arg in node.args])
        return f"{self._words.np}.{'maximum' if node.op == 'high' else 'minimum'}({', '.join(args)})"

    def _through(self, node: Node) -> Text:
        x, W = node.args
        frame, name = self.layout(node), self._text(W)[0]
        if frame == "hd":
            return f"({self._fitted(x, frame, ATOM)}[:, None, :] @ {name})[:, 0, :]", ATOM
        name = f"{name}[:, None]" if frame == "hijd" else name
        return f"{self._fitted(x, frame, MATRIX if x.op == '@' else SIGN)} @ {name}", MATRIX

    def _reduced(self, node: Node) -> Text:
        (x,) = node.args
        if node.over == "j":
            return self._over_row(node, x)
        if node.op == "sum" and id(x) not in self._lines:
            product = self._product(x)
            if product:
                return product, MATRIX
        code = self._closed(x)
        if node.op == "norm":
            return f"{self._words.np}.linalg.norm({self._text(x)[0]}, {self._words.axis}=-1)", ATOM
        return f"{code}.{self._reduction(node.op)}({self._words.axis}=-1)", ATOM

    def _reduction(self, op: str) -> str:
        return {"max": self._words.largest, "min": self._words.smallest}.get(op, op)

    def _closed(self, node: Node) -> str:
        return within(self._text(node), ATOM)

    def _over_row(self, node: Node, x: Node) -> Text:
        """Return a reduction along the row of scores; what is forbidden is taken out where it is not harmless."""
        m = self._words.np
        if x.op == "truth_as_number" and node.op != "top" and id(x) not in self._lines and not self._allowed:
            x = x.args[0]
        code = self._closed(x) if self.layout(x) == self._frame else f"({self._spread(x)})"
        if self._allowed and at_forbidden(x) != NEUTRAL[node.op]:
            other = {MINUS: f"-{m}.inf", "inf": f"{m}.inf"}.get(NEUTRAL[node.op], "0.0")
            code = f"{m}.where({self._allowed}, {code}, {other})"
        if node.op in ("level", "top"):
            return self._called_along({"top": "is_top"}.get(node.op, node.op), code, node.number), ATOM
        if node.op == "norm":
            return f"{m}.linalg.norm({code}, {self._along})", ATOM
        along = f"{self._words.axis}={self._axis}" if node.op == "cumsum" else self._along
        return f"{code}.{self._reduction(node.op)}({along})", ATOM

    @property
    def _along(self) -> str:
        return self._words.along_axis(self._axis)

    def _called_along(self, name: str, code: str, number: float) -> str:
        """Return the call of a function that goes along the last axis."""
        turned = "{}" if self._axis == -1 else self._words.transposed
        return turned.format(f"{name}({turned.format(code)}, {plain_number(number)})")

    def _spread(self, node: Node) -> str:
        """Broadcast a value that does not have every position of the row yet, such as j."""
        return f"{self._fitted(node, self._frame, TIMES)} + 0.0 * {self._named.get('x', 'x')}"

    def _product(self, x: Node) -> str:
        """Return a sum of products as `Q @ K.T`; nothing where it is none."""
        members = factors(x)
        if not all("d" in f.axes for f in members):
            return ""
        left, right = [f for f in members if "j" not in f.axes], [f for f in members if "j" in f.axes]
        is_pair = right and not any("i" in self.layout(f) for f in right) and any("i" in f.axes for f in left)
        if is_pair and not any("j" in self.layout(f) for f in left):
            return f"{within(self._times(left), MATRIX)} @ {self._transposed(right)}"
        vectors, others = [f for f in members if f.axes == "d"], [f for f in members if f.axes != "d"]
        if not self._heads and len(vectors) == 1 and others:
            return f"{within(self._times(others), SIGN)} @ {within(self._text(vectors[0]), SIGN)}"
        return ""

    def _transposed(self, nodes: list[Node]) -> str:
        if len(nodes) == 1 and self._role(nodes[0]) == "columns":
            return self._named.get(nodes[0].name, nodes[0].name)
        code, level = self._times(nodes)
        if self._heads:
            is_call = self._words.transposed.startswith(self._words.np)
            return self._words.transposed.format(code if is_call or level >= ATOM else f"({code})")
        return f"{within((code, level), ATOM)}.T"

    def _times(self, nodes: list[Node]) -> Text:
        if len(nodes) == 1:
            return self._text(nodes[0])
        frame = "".join(axis for axis in self._axes if any(axis in self.layout(node) for node in nodes))
        return " * ".join(self._fitted(node, frame, SIGN) for node in nodes), TIMES
