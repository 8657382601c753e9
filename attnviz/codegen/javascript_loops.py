"""A formula as loops of JavaScript that fill whole arrays: scores, masks and biases of all pairs, rows of weights.

What depends on the query alone is computed once a query, what on the key alone once a key; sums are written where they
are needed. Nothing is called for each number but the functions of mathematics.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from attnviz.codegen.javascript import EntryWriter, helpers
from attnviz.codegen.steps import steps
from attnviz.formula.evaluation.numbers import factors
from attnviz.formula.graph import ALONG, HIDDEN, REDUCTIONS, Formula, Node
from attnviz.formula.names import place_of

Knobs = Mapping[str, str]
"""The names of numbers that a person may set, as the line has them, each with the name of its setting."""


def of_pairs(formula: Formula, knobs: Knobs | None = None, absent: Sequence[str] = ()) -> str:
    """Return the source of a function that fills the scores, the mask or the bias of some queries of some heads.

    It is `(help) => (given, z, out, h0, h1, i0, i1)`: `given` the arrays of q, k and the parameters of all heads, one
    after the other; z the sizes, settings and words; the heads h0 to h1 and queries i0 to i1 are written.

    absent  parameters that are not there, and count as 0

    >>> from attnviz.formula.reader import parse
    >>> "help.products(" in of_pairs(parse("sum(q * k)"))
    True
    """
    return _PairWriter(formula, knobs or {}, absent).source()


def of_row(formula: Formula, knobs: Knobs | None = None) -> str:
    """Return the source of a function that computes the weights of a row of scores.

    It is `(help) => (size) => (x, w, n, c)`: `size` the most scores that a row has, x its open scores over the
    temperature, w what is written, n how many there are, c the row's place, the sizes and the settings.

    >>> from attnviz.formula.reader import parse
    >>> print(of_row(parse("e = exp(x - max(x)); e / sum(e)", "normaliser")))
    (help) => (size) => {
    const $e = new Float64Array(size);
    return (x, w, n, c) => {
    let $s1 = -Infinity; for (let d = 0; d < n; d++) $s1 = Math.max($s1, x[d]);
    for (let d = 0; d < n; d++) $e[d] = help.exp((x[d] - $s1));
    let $s3 = 0; for (let d = 0; d < n; d++) $s3 += $e[d];
    for (let d = 0; d < n; d++) w[d] = ($e[d] / $s3);
    };
    }
    """
    return _RowWriter(formula, knobs or {}).source()


class _LoopWriter(EntryWriter):
    """A writer of loops; `_length` is how long the list of a node is."""

    def __init__(self, formula: Formula, knobs: Knobs) -> None:
        super().__init__(formula)
        self._knobs = {name: key for name, key in knobs.items() if name in formula.variables()}
        self._uses: dict[int, int] = {}
        for node in formula.nodes:
            for arg in node.args:
                self._uses[id(arg)] = self._uses.get(id(arg), 0) + 1

    def text(self, node: Node, d: str) -> str:
        """Return the expression of a node; a square is one product, and exponentials are the quick ones."""
        if id(node) not in self._names and node.is_square:
            return f"help.square({self.text(node.args[0], d)})"
        code = super().text(node, d)
        is_exponential = node.op == "call" and node.value in ("exp", "sigmoid") and id(node) not in self._names
        return code.replace("Math.exp(", "help.exp(", 1) if is_exponential else code

    def _length(self, node: Node) -> str:
        raise NotImplementedError

    def _statement(self, name: str, node: Node, *, declare: bool = True) -> str:
        """Return the code that computes what is one number: from a list where the node goes over one."""
        if node.op not in REDUCTIONS:
            return f"{'const ' if declare else ''}{name} = {self.text(node, 'd')};"
        (x, *power), let = node.args, "let " if declare else ""
        loop, each = f"for (let d = 0; d < {self._length(x)}; d++)", self.text(x, "d")
        if node.op == "sum":
            return f"{let}{name} = 0; {loop} {name} += {each};"
        if node.op in ("max", "min"):
            start = "-Infinity" if node.op == "max" else "Infinity"
            return f"{let}{name} = {start}; {loop} {name} = Math.{node.op}({name}, {each});"
        if node.op == "level":
            return f"{let}{name} = levelOf({self._row(x)}, {self.text(power[0], 'd') if power else node.value});"
        return (
            f"{let}{name} = 0; {{ let most = 0; {loop} most = Math.max(most, Math.abs({each})); "
            f"const safe = most > 0 && most < Infinity ? most : 1; let total = 0; "
            f"{loop} total += help.square({each} / safe); {name} = safe * Math.sqrt(total); }}"
        )

    def _row(self, x: Node) -> str:
        """Return the list of a node that has a place of its own, as long as the row is."""
        list_of = self._names[id(x)].replace("[{d}]", "") if id(x) in self._names else x.name
        return f"{'c.places' if list_of == 'j' else list_of}.subarray(0, n)"

    def _inlined(self, node: Node) -> bool:
        """Return whether a list is only run through once, and so needs no place of its own."""
        is_list = self._over in node.axes and node.op not in (*REDUCTIONS, "@")
        is_handed_on = any(user.op in ("level", "top") and user.args[0] is node for user in self._formula.nodes)
        return is_list and self._uses.get(id(node)) == 1 and not is_handed_on

    def _knob_lines(self, each: str) -> list[str]:
        return [f"const knob_{name} = help.each(set[{json.dumps(key)}], {each});" for name, key in self._knobs.items()]


class _RowWriter(_LoopWriter):
    """A writer of the weights of one row at once."""

    def source(self) -> str:
        """Return the whole function."""
        lists, code = [], ["const { set } = c;", *self._knob_lines("c.h - 1")] if self._knobs else []
        for variable, node in steps(self._formula, every=True):
            name = f"${variable}"
            if node is self._formula.root:
                is_one = node.op in REDUCTIONS and node.op not in ALONG
                code += [self._statement(name, node)] if is_one else []
                code.append(self._filled("w", node, name if is_one else ""))
            elif self._inlined(node):
                continue
            elif "j" in node.axes:
                lists.append(f"const {name} = new Float64Array(size);")
                code.append(self._filled(name, node))
                self._names[id(node)] = f"{name}[{{d}}]"
            else:
                code.append(self._statement(name, node))
                self._names[id(node)] = name
        before = [*helpers("".join(code)).splitlines(), *lists]
        head = "(help) => (size) => {"
        return "\n".join([head, *before, "return (x, w, n, c) => {", *code, "};", "}"])

    def _filled(self, name: str, node: Node, value: str = "") -> str:
        """Return the loop that fills a list with a node, or with one value."""
        loop = "for (let d = 0; d < n; d++)"
        if node.op == "cumsum":
            return f"{{ let total = 0; {loop} {name}[d] = total += {self.text(node.args[0], 'd')}; }}"
        if node.op == "top":
            row = self._row(node.args[0])
            return f"{{ const row = {row}; {loop} {name}[d] = isTop(row, d, {node.value}) ? 1 : 0; }}"
        return f"{loop} {name}[d] = {value or self.text(node, 'd')};"

    def _length(self, node: Node) -> str:
        return "n"

    def _given(self, node: Node, d: str) -> str:
        if node.op == "size" or node.value == "n":
            return "n"
        known = {"x": f"x[{d}]", "j": f"c.places[{d}]"} | {name: f"knob_{name}" for name in self._knobs}
        known |= {name: f"c.own.{name}[c.h - 1]" for name in self._formula.parameters}
        return known.get(node.name, f"c.{node.name}")


class _PairWriter(_LoopWriter):
    """A writer of what belongs to a query and a key: sections of code for a head, its keys, its queries, its pairs."""

    _CALLED: Mapping[str, str] = {
        **{"d_q": "w", "d_k": "w", "h": "(h + 1)", "i": "i", "j": "j", "n": "m", "n_query": "n", "n_key": "m"},
        **{"n_heads": "z.heads"},
        **{"q": "q[qi + {d}]", "k": "k[kj + {d}]"},
    }
    _AT: Mapping[str, str] = {"": "", "i": "i", "j": "j", "ij": ""}
    _OF_HEAD = "const w = z.widths[h], qh = h * n * D, kh = Math.floor(h / z.group) * m * D;"

    def __init__(self, formula: Formula, knobs: Knobs, absent: Sequence[str]) -> None:
        super().__init__(formula, knobs)
        self._absent, self._has_vectors = absent, formula.kind.name == "score"
        self._places: list[str] = []
        self._code: dict[str, list[str]] = {section: [] for section in ("", "j", "i", "product", "ij")}

    def source(self) -> str:
        """Return the whole function."""
        for variable, node in steps(self._formula, every=True):
            self._add(variable, node)
        code = self._code
        keys = ["for (let j = 0; j < m; j++) {", "const kj = kh + j * D;", *code["j"], "}"] if code["j"] else []
        queries = ["for (let i = i0; i < i1; i++) {", "const qi = qh + i * D;", *code["i"], "}"] if code["i"] else []
        pairs = [
            "for (let i = i0, o = (h * n + i0) * m; i < i1; i++) {",
            *(["const qi = qh + i * D;"] if self._has_vectors else []),
            "for (let j = 0; j < m; j++, o++) {",
            *(["const kj = kh + j * D;"] if self._has_vectors else []),
            *code["ij"],
            "}",
            "}",
        ]
        inside = [*code[""], *keys, *queries, *code["product"], *(pairs if code["ij"] else [])]
        return "\n".join([*self._head(), *self._knob_lines("h"), *inside, "}", "};", "}"])

    def _head(self) -> list[str]:
        given = [f"p_{name} = given.{name}" for name in self._formula.parameters if name not in self._absent]
        everything = " ".join(line for lines in self._code.values() for line in lines)
        return [
            "(help) => {",
            *helpers(everything).splitlines(),
            "return (given, z, out, h0, h1, i0, i1) => {",
            "const { n, m, D, A, set } = z, { q, k } = given;" if self._has_vectors else "const { n, m, set } = z;",
            *([f"const {', '.join(given)};"] if given else []),
            *self._places,
            "for (let h = h0; h < h1; h++) {",
            *([self._OF_HEAD] if self._has_vectors else []),
        ]

    def _add(self, variable: str, node: Node) -> None:
        """Add the code of a node where it belongs: for what its axes say."""
        name, where = f"${variable}", "".join(axis for axis in "ij" if axis in node.axes)
        is_root, is_list = node is self._formula.root, "d" in node.axes
        product = self._product(node) if node.op == "sum" and where == "ij" else None
        if product:
            self._code["product"].append(self._multiplied(name, node, *product, is_root=is_root))
        elif is_root and node.op in REDUCTIONS:
            self._code["ij"] += [self._statement(name, node), f"out[o] = {name};"]
        elif is_root:
            code = self.text(node, "d")
            self._code["ij"].append(f"out[o] = {f'{code} ? 1 : 0' if node.truth else code};")
        elif is_list and where == "ij" and self._inlined(node):
            return
        elif is_list:
            self._list(name, node, where)
        elif where in ("i", "j"):
            self._places.append(f"const {name} = new Float64Array({'n' if where == 'i' else 'm'});")
            place = f"{name}[{where}]"
            self._code[where].append(f"{{ {self._statement('value', node)} {place} = value; }}")
            self._names[id(node)] = place
        else:
            self._code[where].append(self._statement(name, node))
            self._names[id(node)] = name

    def _list(self, name: str, node: Node, where: str) -> None:
        """Add a list: one, or one for each query or key, which lie behind each other."""
        stride, at = self._stride(node), self._AT[where]
        place = f"{name}[{at} * {stride} + {{d}}]" if at else f"{name}[{{d}}]"
        rows = {"i": "n * ", "j": "m * "}.get(at, "")
        self._places.append(f"const {name} = new Float64Array({rows}{stride});")
        entry = place.replace("{d}", "d")
        code = self._through(node, entry) if node.op == "@" else f"{entry} = {self.text(node, 'd')};"
        self._code[where].append(f"for (let d = 0; d < {self._length(node)}; d++) {code}")
        self._names[id(node)] = place

    def _through(self, node: Node, entry: str) -> str:
        """Return the code of one entry of a vector through a matrix."""
        x, W = node.args
        at = f"(h * {self._stride(x)} + e) * {self._stride(node)} + d"
        return (
            f"{{ let total = 0; for (let e = 0; e < {self._length(x)}; e++) "
            f"total += {self.text(x, 'e')} * p_{W.name}[{at}]; {entry} = total; }}"
        )

    def _product(self, node: Node) -> tuple[list[Node], list[Node]] | None:
        """Return the factors of a sum that belong to queries and those that belong to keys, where each does."""
        each = factors(node.args[0])
        left, right = [x for x in each if "j" not in x.axes], [x for x in each if "j" in x.axes]
        if any("i" in x.axes for x in right) or not any("d" in x.axes for x in left):
            return None
        return (left, right) if any("d" in x.axes for x in right) else None

    def _multiplied(self, name: str, node: Node, left: list[Node], right: list[Node], *, is_root: bool) -> str:
        """Return the code of a matrix product: of all queries with all keys at once."""
        width = node.args[0]
        rows = self._rows(f"{name}_left", left, "i", width), self._rows(f"{name}_right", right, "j", width)
        target = "out, h * n * m" if is_root else f"{name}, 0"
        if not is_root:
            self._places.append(f"const {name} = new Float64Array(n * m);")
            self._names[id(node)] = f"{name}[i * m + j]"
        return f"help.products({rows[0]}, {rows[1]}, i0, i1, m, {self._length(width)}, {target});"

    def _rows(self, name: str, nodes: list[Node], at: str, width: Node) -> str:
        """Return an array, its first entry and its stride, in which the product of some nodes lies row by row."""
        if len(nodes) == 1 and nodes[0].op == "variable" and nodes[0].name in "qk":
            return "q, qh, D" if at == "i" else "k, kh, D"
        stride = self._stride(width)
        self._places.append(f"const {name} = new Float64Array({'n' if at == 'i' else 'm'} * {stride});")
        code = " * ".join(self.text(node, "d") for node in nodes)
        loop = f"for (let d = 0; d < {self._length(width)}; d++)"
        self._code[at].append(f"{loop} {name}[{at} * {stride} + d] = {code};")
        return f"{name}, 0, {stride}"

    def _length(self, node: Node) -> str:
        return "w" if self._is_of_head(node) else self._stride(node)

    def _stride(self, node: Node) -> str:
        """Return how many numbers a row has with its padding: D of queries and keys, A of all hidden widths."""
        hidden = "A" if self._formula.sizes[node.width] in HIDDEN else "1"
        return "D" if self._is_of_head(node) else hidden

    def _is_of_head(self, node: Node) -> bool:
        return self._formula.sizes[node.width] in ("d_q", "d_k")

    def _given(self, node: Node, d: str) -> str:
        if node.op == "size":
            return self._length(node)
        if node.name in self._knobs:
            return f"knob_{node.name}"
        if node.is_token:
            axis, after = place_of(node.name)
            return f'(z.{"queries" if axis == "i" else "keys"}[{axis} + {after}] ?? "")'  # beyond them is no word
        if node.name not in self._formula.parameters:
            return self._CALLED[node.name].replace("{d}", d)
        if node.name in self._absent:
            return "0"
        S = self._stride(node)
        place = {
            "vector": f"h * {S} + {d}",
            "rows": f"(h * m + j) * {S} + {d}",
            "columns": f"(h * {S} + {d}) * m + j",
            "list": "h * m + j",
            "number": "h",
        }[self._formula.parameters[node.name].role]
        return f"p_{node.name}[{place}]"
