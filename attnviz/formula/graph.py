"""A formula as a graph of arithmetic, in which the same arithmetic is one node.

Every array has four axes, (heads, i, j, d), each full or of length 1, so that NumPy's own broadcasting is the only rule
of alignment:

            heads   i (query)  j (key)   d (column)
    q         H        n          1         d_q
    k         H        1          m         d_k
    q * k     H        n          m         d_k         sum(q * k) has lost the last axis
    i         1        n          1         1

A node says which of i, j and d it has. How long its d is, is not a name but a class, which unification finds: q and k
have classes 1 and 2, `q * k` makes them one, and `q @ W` has the class of W's columns. So the shape of every parameter
follows from its use, and so does whether queries and keys may differ in width.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from attnviz.formula.faults import WANTED, fault
from attnviz.formula.text import MAX_LEVELS, MAX_PARTS

AXES = "ijd"
LEAVES = ("number", "text", "variable", "matrix", "size")
ALONG = ("cumsum", "top")
"""Operations over a whole row that give each key a number, or a truth, of its own."""

REDUCTIONS = ("sum", "max", "min", "norm", "level", *ALONG)
"""Operations that go over an axis."""

HIGHEST_POWER = 100
HIDDEN = ("d_a", "d_b", "d_c", "d_e", "d_f", "d_g", "d_h")
"""The names of widths that are neither the query's nor the key's."""

QUERY, KEY = 1, 2
"""The classes of the widths of queries and keys."""


@dataclass(frozen=True, eq=False)
class Node:
    """One operation. Nodes are compared by identity: a graph makes each but once.

    op     number text variable matrix size | call neg not truth_as_number | + - * / // % ** ratio high low
           < <= > >= == != and or | if | @ @T | sum max min norm level cumsum top (over `over`) | outer (only in
           gradients)
    value  the number, the text, or the name of a variable, a matrix or a function; the power of a level; how many
           are on top
    axes   those of i, j and d that it has;  width  the class of its d;  columns  of an outer product: its columns'
    truth  whether it is true or false;  over  the axis that it goes over
    span   where it is typed
    """

    op: str
    args: tuple[Node, ...] = ()
    value: float | str = ""
    axes: str = ""
    width: int = 0
    truth: bool = False
    over: str = ""
    span: tuple[int, int] = (0, 1)
    columns: int = 0

    @property
    def name(self) -> str:
        """The name of a variable, a matrix or a function."""
        return str(self.value)

    @property
    def number(self) -> float:
        """The value of a number."""
        return float(self.value)

    @property
    def is_leaf(self) -> bool:
        return self.op in LEAVES

    @property
    def is_big(self) -> bool:
        """True if there is an entry for every query, key and column: such arrays are never held whole."""
        return self.axes == AXES

    @property
    def is_square(self) -> bool:
        """True if this is x ** 2, which is cheaper than other powers."""
        return self.op == "**" and self.args[1].op == "number" and self.args[1].value == 2.0

    @property
    def is_token(self) -> bool:
        """True if this is a text or a token, with which no arithmetic can be done."""
        return self.op == "text" or (self.op == "variable" and self.name.startswith("token["))


@dataclass(frozen=True)
class Kind:
    """The rules for one field to type in: variables with their axes, what `sum` goes over, and what has to come out."""

    name: str
    variables: Mapping[str, str]
    over: str = "d"
    truth: bool = False

    @property
    def wanted(self) -> str:
        return WANTED[self.name]


_PLACES = {"i": "i", "j": "j", "n": "", "n_query": "", "n_key": ""}
_HEADS = {"h": "", "n_heads": ""}

KINDS = {
    "score": Kind("score", {"q": "id", "k": "jd", "d_q": "", "d_k": "", **_PLACES, **_HEADS}),
    "mask": Kind("mask", {**_PLACES, **_HEADS, "token[i]": "i", "token[j]": "j"}, truth=True),
    "bias": Kind("bias", {**_PLACES, **_HEADS}),
    "normaliser": Kind("normaliser", {"x": "ij", **_PLACES, **_HEADS}, over="j"),
    "normaliser_lines": Kind("normaliser", {"x": "ij", "s": "ij", "T": "", **_PLACES, **_HEADS}, over="j"),
}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a score: its role, and the classes of its widths (of its columns only where it is a matrix)."""

    role: str
    rows: int
    columns: int


@dataclass(frozen=True, eq=False)
class Formula:
    """A typed line that was read.

    root        what comes out;  named  the nodes that have a name in the line
    parameters  by their names;  sizes  for each class of width the name of its size: d_q, d_k, d_a ...
    nodes       each once, after those that it needs
    """

    text: str
    kind: Kind
    root: Node
    named: Mapping[str, Node]
    parameters: Mapping[str, Parameter]
    sizes: Mapping[int, str]
    nodes: Sequence[Node]

    @property
    def any_widths(self) -> bool:
        """True if queries and keys may differ in width: unless they meet entry by entry."""
        return self.sizes[QUERY] != self.sizes[KEY]

    @property
    def by_head(self) -> bool:
        """True if the line looks at the head, so that heads may differ though nothing else of theirs is read."""
        return any(node.op == "variable" and node.value == "h" for node in self.nodes)

    @property
    def hidden(self) -> tuple[str, ...]:
        """The names of the hidden widths."""
        return tuple(name for name in HIDDEN if name in self.sizes.values())

    def axes_of(self, name: str) -> tuple[str, ...]:
        """Return the axes of a parameter in one head, as a row of SCORES declares them."""
        parameter = self.parameters[name]
        rows, columns = self.sizes.get(parameter.rows, ""), self.sizes.get(parameter.columns, "")
        return {
            "matrix": (rows, columns),
            "rows": ("key", rows),
            "columns": (rows, "key"),
            "vector": (rows,),
            "list": ("key",),
            "number": (),
        }[parameter.role]

    def variables(self) -> set[str]:
        """Return the names of the variables and parameters that the formula uses."""
        return {node.name for node in self.nodes if node.op in ("variable", "matrix")}


@dataclass
class Graph:
    """The nodes of a formula, each made once; it finds the widths that must be the same."""

    most: int = MAX_PARTS
    known: dict[tuple[object, ...], Node] = field(default_factory=dict)
    _same: dict[int, int] = field(default_factory=dict)
    _classes: int = KEY

    def fresh(self) -> int:
        """Return a new class of width."""
        self._classes += 1
        return self._classes

    def root(self, width: int) -> int:
        """Return the class that stands for all that were found to be the same as this one."""
        while width in self._same:
            width = self._same[width]
        return width

    def unify(self, one: int, other: int) -> int:
        """Make two classes of width the same, and return it."""
        low, high = sorted((self.root(one), self.root(other)))
        if low != high:
            self._same[high] = low
        return low

    def classes(self) -> range:
        return range(1, self._classes + 1)

    def make(
        self,
        op: str,
        args: tuple[Node, ...] = (),
        value: float | str = "",
        *,
        axes: str | None = None,
        width: int = 0,
        truth: bool = False,
        over: str = "",
        span: tuple[int, int] = (0, 1),
        columns: int = 0,
    ) -> Node:
        """Return the node for this operation; without `axes` it has those of its arguments."""
        if axes is None:
            axes = "".join(axis for axis in AXES if any(axis in arg.axes for arg in args))
            for arg in args:
                if "d" in arg.axes:
                    width = self.unify(width, arg.width) if width else arg.width
        typed = width if op in ("variable", "size", "outer") else 0
        key = (op, tuple(map(id, args)), value, type(value), over, axes, typed, columns)
        if key not in self.known:
            if len(self.known) >= self.most:
                raise fault("deep", span, levels=MAX_LEVELS, parts=self.most)
            self.known[key] = Node(op, args, value, axes, width, truth, over, span, columns)
        return self.known[key]


def ordered(roots: Sequence[Node]) -> list[Node]:
    """Return every node that these need, each once and after those that it needs itself."""
    order: list[Node] = []
    seen: set[int] = set()

    def visit(node: Node) -> None:
        if id(node) not in seen:
            seen.add(id(node))
            for arg in node.args:
                visit(arg)
            order.append(node)

    for root in roots:
        visit(root)
    return order


def sizes_of(graph: Graph, parameters: Sequence[Parameter], text: str) -> dict[int, str]:
    """Return the name of the size of each class of width; raises FormulaError for more hidden widths than names."""
    query, key = graph.root(QUERY), graph.root(KEY)
    names = {query: "d_k" if query == key else "d_q", key: "d_k"}
    hidden = iter(HIDDEN)
    used = [c for p in parameters for c in (p.rows, p.columns) if _counts(p, c)]
    for each in sorted(used):
        root = graph.root(each)
        if root not in names:
            name = next(hidden, None)
            if name is None:
                raise fault("widths", (0, len(text)), most=len(HIDDEN))
            names[root] = name
    return {each: names.get(graph.root(each), "") for each in graph.classes()}


def _counts(parameter: Parameter, width: int) -> bool:
    """Return whether a parameter of this role has this width at all."""
    if parameter.role == "matrix":
        return True
    return parameter.role in ("rows", "columns", "vector") and width == parameter.rows
