"""The way back through one layer: its plan, walked from the last step to the first."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.backward.accumulated_slopes import Slopes
from attnviz.engine.external.layer_plans import LayerStep, chosen_in, inputs_of, plan_of_layer
from attnviz.engine.plan.layer_arrays import LayerArrays
from attnviz.engine.plan.values import Value
from attnviz.engine.records.trace import Trace


class LayerBack:
    """One layer, walked from its end to what it reads; None is what stands before the layers of a trained model."""

    def __init__(self, trace: Trace, slopes: Slopes, i: int | None) -> None:
        self._slopes, self._i = slopes, i
        self._plan = plan_of_layer(trace, i)
        self._inputs = {} if i is None else inputs_of(trace, i)
        steps = trace.around if i is None else trace.layers[i]
        known = {name: step.array for name, step in steps.items()}
        known |= {name: slopes.array(at) for name, at in self._inputs.items()}
        self._arrays = LayerArrays(chosen_in(trace, i), known)

    def _at(self, name: str) -> LayerStep:
        return self._inputs.get(name, (self._i, name))

    def _add(self, name: str, G: Array) -> None:
        self._slopes.add(self._at(name), G)

    def walk(self) -> None:
        """Hand the slopes of each step on to what it was made from."""
        for name, value in reversed(list(self._plan.items())):
            self._share(name)
            G = self._slopes.through(self._at(name))
            if G is None:
                continue
            if value.op == "step":
                made = value.args[0]
                kept = {made: self._slopes.unedited(self._at(name), partial(self._arrays.of, made))}
                self._arrays.into(made, G, self._add, kept)
            elif value.op == "weight" and value.args:
                self._tied(value.args[0], G)

    def _share(self, name: str) -> None:
        """Give the heads of a group, which have one matrix where keys are made by it too, the slopes of all."""
        keys = self._plan.get(name.replace("q", "k"))
        if keys is None or not keys.args or keys.args[0].name != name or keys.op != "weight":
            return
        whole = self._slopes.of(self._at(name))
        if whole is not None:
            group = self._arrays.chosen.group
            self._slopes.replace(self._at(name), np.repeat(self._arrays.added_up(whole), group, axis=0))

    def _tied(self, queries: Value, G: Array) -> None:
        """Go back through W_K = W_Q: the keys' matrix is that of the first head of each group."""
        first = np.zeros(self._arrays.known[queries.name].shape)
        first[:: self._arrays.chosen.group] = G
        self._add(queries.name, first)
