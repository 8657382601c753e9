"""The entries of the steps of attention, and what each is made of, as a browser reads it: `Tree` in types.d.ts.

A tree is a list of an operation and what it reads; a name is a step, and a number of the setting is marked as one. The
browser computes and writes single entries by it (`entry.js`), so that it says nothing of its own about a layer.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

from attnviz.engine.external.layer_plans import chosen_in, plan_of_layer
from attnviz.engine.plan.tracing import Plan
from attnviz.engine.plan.values import Value
from attnviz.engine.records.trace import Trace

Tree = list[Any] | str | float

FIRST = ("queries", "keys", "values", "bias")
"""Steps that a browser is handed, whatever they are made of."""

BY_ENTRY = ("+", "*", "/", "tanh", "only_where", "setting")
"""Operations of which an entry follows from the same entry of what they read: `OF_ENTRIES` in entry.js."""


def trees_of(plan: Plan, recorded: Container[str]) -> dict[str, Tree]:
    """Return the tree of each step on the way to what the heads return, as far as all is there that it reads.

    recorded  the names of the steps of the run

    >>> from attnviz import Config, plan_of
    >>> plan = plan_of(Config(softcap=2.0))
    >>> trees_of(plan, plan)["capped"]
    ['*', ['setting', 'softcap'], ['tanh', ['/', 'scaled', ['setting', 'softcap']]]]
    """
    made = {name: value.args[0] for name, value in plan.items() if value.op == "step" and name not in FIRST}
    wanted = ["heads"]
    for name in wanted:  # what is read is wanted, too
        wanted += [each for each in _names(made[name]) if each not in wanted] if name in made else []
    found: dict[str, Tree] = {}
    for name in plan:
        if name in made and name in wanted and all(each in recorded or each in found for each in _names(made[name])):
            found[name] = tree_of(made[name])
    return found


def trees_of_layer(trace: Trace, layer: int) -> dict[str, Tree]:
    """Return the trees of a layer of a run, counted from 0."""
    return trees_of(plan_of_layer(trace, layer), trace.layers[layer])


def named_numbers(trace: Trace) -> dict[str, Any]:
    """Return the numbers of the setting that trees of a run read by name, but for the scale of each head."""
    trees = (tree for layer in range(len(trace.layers)) for tree in trees_of_layer(trace, layer).values())
    names = {name for tree in trees for name in settings_in(tree)} - {"scale"}
    return {name: getattr(chosen_in(trace, 0), name) for name in sorted(names)}


def tree_of(value: Value) -> Tree:
    """Return what a value is made of, up to what has a name."""
    if value.op == "number":
        return value.number
    if value.op == "setting":
        return ["setting", value.name]
    return value.name or [value.op, *map(tree_of, value.said)]


def operations_of(tree: Tree) -> Iterator[str]:
    """Yield the operations of a tree.

    >>> [*operations_of(["+", "capped", ["*", 2.0, "bias"]])]
    ['+', '*']
    """
    if isinstance(tree, list):
        yield tree[0]
        for part in tree[1:]:
            yield from operations_of(part)


def settings_in(tree: Tree) -> Iterator[str]:
    """Yield the numbers of the setting that a tree reads.

    >>> [*settings_in(["*", "scores", ["setting", "scale"]])]
    ['scale']
    """
    if isinstance(tree, list):
        parts = tree[1:]
        yield from parts if tree[0] == "setting" else (name for part in parts for name in settings_in(part))


def _names(value: Value) -> Iterator[str]:
    """Yield the names of what a value is made of, without where a query may attend, which every browser knows."""
    if value.name and not value.is_number:
        yield from () if value.name == "allowed" else (value.name,)
        return
    for arg in value.said:
        yield from _names(arg)
