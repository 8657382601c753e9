"""The lines in which a formula is written: each a name and a node, the last of them the result."""

from __future__ import annotations

from collections.abc import Collection

from attnviz.formula.graph import REDUCTIONS, Formula, Node

NamedNode = tuple[str, Node]

RESULTS = {"score": "score", "mask": "allowed", "bias": "bias", "normaliser": "weight"}
_COSTLY = ("call", *REDUCTIONS, "@", "**", "ratio", "high", "low", "if")


def steps(formula: Formula, *, every: bool, reserved: Collection[str] = ()) -> list[NamedNode]:
    """Return the named nodes of the line and those used twice, and with `every` each vector and sum on the way too.

    taken  names that the reading uses itself: a line of that name gets a _ behind it

    >>> from attnviz.formula.reader import parse
    >>> [name for name, _ in steps(parse("sum(tanh(q*k)) * sum(tanh(q*k))"), every=False)]
    ['s1', 'score']
    """
    typed_names = {id(node): name for name, node in formula.named.items()}
    names = set(reserved) | {RESULTS[formula.kind.name]}
    named: list[NamedNode] = []
    for node in _lines(formula, set(typed_names), every=every):
        name = typed_names.get(id(node)) or _short(node, len(named) + 1)
        while name in names:
            name += "_"
        names.add(name)
        named.append((name, node))
    return [*named, (RESULTS[formula.kind.name], formula.root)]


def _lines(formula: Formula, named: set[int], *, every: bool) -> list[Node]:
    uses: dict[int, int] = {}
    costly: set[int] = set()
    fed: set[int] = set()
    for node in formula.nodes:
        for arg in node.args:
            uses[id(arg)] = uses.get(id(arg), 0) + 1
        if node.op in _COSTLY or any(id(arg) in costly for arg in node.args):
            costly.add(id(node))
        if node.op in REDUCTIONS:
            fed.add(id(node.args[0]))
    nodes = []
    for node in formula.nodes:
        if node is formula.root or node.is_leaf:
            continue
        is_twice = uses.get(id(node), 0) > 1 and node.op != "neg" and id(node) in costly
        on_the_way = every and (node.op in (*REDUCTIONS, "@") or id(node) in fed)
        if id(node) in named or is_twice or on_the_way:
            nodes.append(node)
    return nodes


def _short(node: Node, number: int) -> str:
    """Return a name for what has none: qW for q @ W, otherwise t (a vector) or s (a number) with the line's number."""
    if node.op == "@" and node.args[0].op == "variable":
        return f"{node.args[0].name}{node.args[1].name}"
    return f"{'t' if 'd' in node.axes else 's'}{number}"


def plain_number(value: float) -> str:
    """Return a number as a person writes it.

    >>> plain_number(2.0), plain_number(0.1)
    ('2', '0.1')
    """
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
