"""From a typed line to its graph."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache

from attnviz.formula import names, unknown_names
from attnviz.formula.calls import Calls, Knob, folded
from attnviz.formula.faults import CONSTRUCTS, ROLES, FormulaError, fault
from attnviz.formula.graph import (
    KEY,
    KINDS,
    QUERY,
    Formula,
    Graph,
    Kind,
    Node,
    Parameter,
    ordered,
    sizes_of,
)
from attnviz.formula.suggestions import suggestion
from attnviz.formula.text import LONGEST_TOKEN, is_number, span, tree
from attnviz.formula.unsummed import unsummed

_BRACKETS = {("matrix", "j"): "rows", ("matrix", ":,j"): "columns", ("vector", "j"): "list"}


def _construct(n: ast.AST) -> str:
    return CONSTRUCTS.get(type(n).__name__, CONSTRUCTS[""])


def parse(text: str, kind: str = "score", knobs: Mapping[str, Knob] | None = None) -> Formula:
    """Parse a line into a formula; raises FormulaError with the position of the fault.

    knobs  names that stand for numbers, such as the reach of a window, or for a number for each head; the last repeats.
           A name that stands for a name stays one, as in a script

    >>> found = parse("sum(v * tanh(q@W + k@U))")
    >>> {name: found.axes_of(name) for name in found.parameters}
    {'v': ('d_a',), 'W': ('d_q', 'd_a'), 'U': ('d_k', 'd_a')}
    >>> found.any_widths
    True
    """
    frozen = tuple(sorted((knobs or {}).items()))
    try:
        return _read(text, kind, frozen)
    except FormulaError as error:
        if isinstance(text, str):
            error.suggestion = suggestion(text, kind, error, lambda line: _read(line, kind, frozen))
        raise


@lru_cache(maxsize=256)
def _read(text: str, kind: str, knobs: tuple[tuple[str, Knob], ...]) -> Formula:
    return _Reader(text, KINDS[kind], dict(knobs)).read()


class _Reader:
    def __init__(self, text: str, kind: Kind, knobs: Mapping[str, Knob]) -> None:
        self.text, self.kind, self.knobs, self.graph = text, kind, knobs, Graph()
        self.calls = Calls(self.graph, kind)
        self.parameters: dict[str, Parameter] = {}
        self.named: dict[str, Node] = {}
        self.spans: dict[str, tuple[int, int]] = {}
        self.used: set[str] = set()

    def read(self) -> Formula:
        """Read every line, check what comes out, and find the sizes of all widths."""
        *before, last = tree(self.text, self.kind.wanted, truth=self.kind.truth).body
        for statement in before:
            self._assigned(statement)
        if not isinstance(last, ast.Expr):
            raise unknown_names.of_last(last, self.kind, self.text)
        root = self.node(last.value)
        self._check_outcome(root, last.value)
        for name, where in self.spans.items():
            if name not in self.used:
                raise fault("unused", where, name=name)
        sizes = sizes_of(self.graph, list(self.parameters.values()), self.text)
        nodes = ordered([*self.named.values(), root])
        return Formula(self.text, self.kind, root, self.named, self.parameters, sizes, nodes)

    def _fault(self, which: str, at: ast.AST | Node, **facts: object) -> FormulaError:
        return fault(which, at.span if isinstance(at, Node) else span(self.text, at), **facts)

    def make(self, op: str, args: tuple[Node, ...], at: ast.AST, *, truth: bool = False) -> Node:
        """Return the node of an operation that stands at this part of the line."""
        return self.graph.make(op, args, truth=truth, span=span(self.text, at))

    def _assigned(self, statement: ast.stmt) -> None:
        if not (isinstance(statement, ast.Assign) and len(statement.targets) == 1):
            raise self._fault("assignment", statement)
        target = statement.targets[0]
        if not isinstance(target, ast.Name):
            raise self._fault("assignment", statement)
        name = target.id
        is_function = name in names.CALLED and name not in names.NAMES_TOO
        is_taken = name in self.kind.variables or is_function or name in self.named or name == "token"
        is_taken = is_taken or name in self.knobs
        if is_taken or names.role(name) or len(name) > names.MAX_NAME_CHARACTERS:
            raise self._fault("taken", target, name=name)
        self.named[name] = self.node(statement.value)
        self.spans[name] = span(self.text, target)

    def node(self, n: ast.expr) -> Node:
        """Return the node of any part of the line."""
        match n:
            case ast.Constant():
                return self._constant(n)
            case ast.Name():
                return self._name(n)
            case ast.Subscript():
                return self._subscript(n)
            case ast.Call():
                return self._call(n)
            case ast.BinOp(op=ast.MatMult()):
                return self._through(n)
            case ast.BinOp():
                return self._binary(n)
            case ast.UnaryOp():
                return self._unary(n)
            case ast.BoolOp():
                return self._joined(n)
            case ast.Compare():
                return self._compared(n)
            case ast.IfExp():
                test, yes, no = self._truth(self.node(n.test)), self.number(n.body), self.number(n.orelse)
                return self.make("if", (test, yes, no), n)
            case ast.Attribute() | ast.Tuple():
                raise unknown_names.of_sign(n, self.kind, self.text)
            case _:
                raise self._fault("construct", n, what=_construct(n))

    def number(self, n: ast.expr) -> Node:
        """Return the node of a part that has to be a number; what is true or false counts as 1 or 0."""
        return self._as_number(self.node(n))

    def _as_number(self, node: Node) -> Node:
        if node.is_token:
            raise self._fault("token_alone", node)
        return self.graph.make("truth_as_number", (node,), span=node.span) if node.truth else node

    def _truth(self, node: Node) -> Node:
        if not node.truth:
            raise self._fault("truth", node)
        return node

    def _constant(self, n: ast.Constant) -> Node:
        at, until = where = span(self.text, n)
        if type(n.value) in (int, float) and is_number(self.text[at:until]):
            return self.graph.make("number", value=float(self.text[at:until]), span=where)
        if isinstance(n.value, str) and self.kind.truth and len(n.value) <= LONGEST_TOKEN:
            return self.graph.make("text", value=n.value, span=where)
        if isinstance(n.value, str) and not self.kind.truth:
            raise fault("quoted", where, (*where, n.value))
        raise fault("number", where)

    def _name(self, n: ast.Name) -> Node:
        name, where = n.id, span(self.text, n)
        if name in self.named:
            self.used.add(name)
            return self.named[name]
        if name in self.knobs:
            node = self.calls.knob(self.knobs[name], where)
            if not node.is_leaf:
                self.named[name] = node
            return node
        if name == "n" and self.kind.name == "normaliser":
            return self.graph.make("size", value="j", axes="i", span=where)  # as many keys as take part
        if name in self.kind.variables:
            axes, width = self.kind.variables[name], {"q": QUERY, "k": KEY}.get(name, 0)
            return self.graph.make("variable", value=name, axes=axes, width=width, span=where)
        role = "" if self.kind.truth else names.role(name)
        role = role if self.kind.name == "score" or role == "number" else ""  # the others read no queries and keys
        if role == "matrix":
            raise fault("matrix", where, name=name)
        if not role:
            raise unknown_names.of_name(name, self.kind, (*self.kind.variables, *self.named), where)
        width = self._parameter(n, name, role).rows
        return self.graph.make("variable", value=name, axes="d" if role == "vector" else "", width=width, span=where)

    def _parameter(self, at: ast.AST, name: str, role: str) -> Parameter:
        have = self.parameters.get(name)
        if have and have.role != role:
            raise self._fault("two_roles", at, name=name, one=ROLES[have.role], other=ROLES[role])
        if not have:
            have = self.parameters[name] = Parameter(role, self.graph.fresh(), self.graph.fresh())
        return have

    def _subscript(self, n: ast.Subscript) -> Node:
        name = n.value.id if isinstance(n.value, ast.Name) else ""
        is_read = isinstance(n.slice, (ast.Name, ast.Tuple, ast.BinOp))
        inside = ast.unparse(n.slice).replace(" ", "").strip("()") if is_read else ""
        token = f"token[{inside}]"
        if name == "token" and self.kind.truth and names.TOKEN.fullmatch(token):
            axis, after = names.place_of(token)
            token = f"token[{axis}{after:+}]" if after else f"token[{axis}]"
            return self.graph.make("variable", value=token, axes=axis, span=span(self.text, n))
        role = _BRACKETS.get((names.role(name), inside), "")
        if not role or self.kind.name != "score":
            raise unknown_names.of_brackets(n, self.kind, self.text)
        width = self._parameter(n, name, role).rows
        axes = "j" if role == "list" else "jd"
        return self.graph.make("variable", value=name, axes=axes, width=width, span=span(self.text, n))

    def _call(self, n: ast.Call) -> Node:
        slip = unknown_names.of_call(n, self.kind, (*self.kind.variables, *self.named, *names.STEPS), self.text)
        if slip or not isinstance(n.func, ast.Name):
            raise slip or self._fault("construct", n, what=_construct(n))
        name = n.func.id
        if name in names.COMES_AFTER and self.kind.name == "score":
            raise unknown_names.of_softmax(n, self.text)
        if name not in names.CALLED or len(n.args) not in names.ARGUMENTS.get(name, (1,)):
            raise unknown_names.of_function(n, name, self.kind, self.text)
        return self.calls.applied(name, tuple(self.number(arg) for arg in n.args), span(self.text, n))

    def _binary(self, n: ast.BinOp) -> Node:
        op = names.BINARY.get(type(n.op))
        if not op:
            raise self._fault("construct", n, what=_construct(n.op))
        slip = unknown_names.of_power(n, self.text)
        if slip:
            raise slip
        left, right = self.number(n.left), self.number(n.right)
        value = folded(op, left, right) if self.knobs and left.op == right.op == "number" else None
        if value is not None:
            return self.graph.make("number", value=value, span=span(self.text, n))
        return self.make(op, (left, right), n)

    def _through(self, n: ast.BinOp) -> Node:
        """Return a vector through a matrix, or the sum of the products with another vector."""
        if self.kind.over != "d":
            raise self._fault("at_row", n)
        x, where = self.number(n.left), span(self.text, n)
        if "d" not in x.axes:
            raise self._fault("at_left", n.left)
        name = n.right.id if isinstance(n.right, ast.Name) else ""
        if self.kind.name == "score" and names.role(name) == "matrix" and name not in self.named:
            parameter = self._parameter(n.right, name, "matrix")
            W = self.graph.make("matrix", value=name, span=span(self.text, n.right))
            self.graph.unify(x.width, parameter.rows)
            return self.graph.make("@", (x, W), axes=x.axes, width=parameter.columns, span=where)
        y = self.number(n.right)
        if "d" not in y.axes:
            raise self._fault("at_right", n.right)
        return self.calls.over("sum", self.graph.make("*", (x, y), span=where), where)

    def _unary(self, n: ast.UnaryOp) -> Node:
        if isinstance(n.op, ast.Not):
            return self.make("not", (self._truth(self.node(n.operand)),), n, truth=True)
        if isinstance(n.op, ast.Invert):
            raise self._fault("invert", n, sign="~")
        x = self.number(n.operand)
        if isinstance(n.op, ast.UAdd):
            return x
        if x.op == "number":
            return self.graph.make("number", value=-x.number, span=span(self.text, n))
        return self.make("neg", (x,), n)

    def _joined(self, n: ast.BoolOp) -> Node:
        op = "and" if isinstance(n.op, ast.And) else "or"
        node, *others = [self._truth(self.node(value)) for value in n.values]
        for other in others:
            node = self.make(op, (node, other), n, truth=True)
        return node

    def _compared(self, n: ast.Compare) -> Node:
        """Return a chain of comparisons: 0 <= i - j < 3 is both of them."""
        pairs, left = [], self.node(n.left)
        for op, other in zip(n.ops, n.comparators):
            if isinstance(op, (ast.In, ast.NotIn)):
                pairs.append(self._member(n, left, op, other))
                continue
            if left.is_token and isinstance(other, ast.Name) and other.id not in self.kind.variables:
                where = span(self.text, other)
                raise fault("quotes", where, (*where, f'"{other.id}"'), name=other.id)
            right = self.node(other)
            pairs.append(self._pair(n, left, op, right))
            left = right
        node = pairs[0]
        for pair in pairs[1:]:
            node = self.make("and", (node, pair), n, truth=True)
        return node

    def _pair(self, n: ast.Compare, left: Node, op: ast.cmpop, right: Node) -> Node:
        sign = names.COMPARED.get(type(op))
        if not sign:
            raise self._fault("comparison", n)
        if not (left.is_token or right.is_token):
            left, right = self._as_number(left), self._as_number(right)
        elif not (left.is_token and right.is_token) or sign not in ("==", "!="):
            raise self._fault("token_compared", n)
        return self.make(sign, (left, right), n, truth=True)

    def _member(self, n: ast.Compare, left: Node, op: ast.cmpop, right: ast.expr) -> Node:
        if not isinstance(right, (ast.Tuple, ast.List)) or not right.elts:
            raise self._fault("membership", right)
        node, *others = [self._pair(n, left, ast.Eq(), self.node(each)) for each in right.elts]
        for other in others:
            node = self.make("or", (node, other), n, truth=True)
        return self.make("not", (node,), n, truth=True) if isinstance(op, ast.NotIn) else node

    def _check_outcome(self, root: Node, n: ast.expr) -> None:
        if "d" in root.axes:
            raise self._fault("vector_left", unsummed(n, lambda part: "d" in self.node(part).axes))
        if root.is_token:
            raise self._fault("token_alone", n)
        if root.truth != self.kind.truth:
            raise self._fault("outcome_truth" if root.truth else "outcome_number", n, wanted=self.kind.wanted)
