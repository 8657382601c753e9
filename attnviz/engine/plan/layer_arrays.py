"""A plan computed: the arrays of one layer, step after step, and the slopes the other way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attnviz.arrays import Array
from attnviz.engine.plan.chosen import Chosen
from attnviz.engine.plan.layer_facts import LayerFacts
from attnviz.engine.plan.operations import OPERATIONS, Operation
from attnviz.engine.plan.values import Value


class LayerArrays(LayerFacts):
    """The arrays of one layer, `known` by the names of its steps and inputs."""

    def __init__(self, chosen: Chosen, known: Mapping[str, Array]) -> None:
        super().__init__(chosen)
        self.known = dict(known)

    def operation(self, value: Value) -> Operation:
        """Return the operation that makes a value."""
        return OPERATIONS[value.op]

    def of(self, value: Value, kept: dict[Value, Array] | None = None) -> Any:
        """Return the array of a value, from the steps that are known; `kept` are inner values by the value."""
        if value.op == "number":
            return value.number
        if value.op == "setting":
            return getattr(self.chosen, value.name)
        if value.name:
            return self.known[value.name]
        if kept is not None and value in kept:
            return kept[value]
        array = self.operation(value).value(self, value, *(self.of(arg, kept) for arg in value.args))
        if kept is not None:
            kept[value] = array
        return array

    def into(self, value: Value, G: Array, add: Callable[[str, Array], None], kept: dict[Value, Array]) -> None:
        """Carry the slopes of a value back to the names that it is made from."""
        if value.name:
            add(value.name, G)
            return
        y, x = self.of(value, kept), [self.of(arg, kept) for arg in value.args]
        for arg, slopes in zip(value.args, self.operation(value).back(self, value, G, y, *x)):
            if slopes is not None:
                self.into(arg, slopes, add, kept)
