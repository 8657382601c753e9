"""The cost of a run's last word with a cache of keys and values: numbers computed, kept, and not needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from attnviz.engine.records.trace import Step, Trace
from attnviz.models.model import Model

CACHED = ("keys", "values")


@dataclass(frozen=True)
class StepCost:
    """The numbers of one step in all layers together.

    new     those of the last word's row, which are computed for it
    kept    those of the words before that a cache keeps, since the last word reads them: keys and values
    spared  those of the words before that need not be there at all
    """

    new: int
    kept: int
    spared: int


def cost_of_last_word(trace: Trace) -> Mapping[str, StepCost]:
    """Return what each step of the layers costs for the last word of a run, by name; parameters are no part of it.

    >>> from attnviz import load
    >>> found = cost_of_last_word(load("small")("when mary and john"))
    >>> found["keys"], found["queries"]
    (StepCost(new=192, kept=768, spared=0), StepCost(new=192, kept=0, spared=768))
    """
    costs: dict[str, StepCost] = {}
    for layer in trace.layers:
        for name, step in layer.items():
            row = _row_axis(step)
            if row is None or step.kind == "allowed":
                continue
            new = step.array.size // step.shape[row]
            before, rest = costs.get(name, StepCost(0, 0, 0)), step.array.size - new
            kept = rest if name in CACHED else 0
            costs[name] = StepCost(before.new + new, before.kept + kept, before.spared + rest - kept)
    return costs


def largest_change(trace: Trace, model: Model) -> float:
    """Return by how much any key or value of the words before differs from that of the run without the last word.

    In a causal model nothing before a word depends on it, so this is 0, or what rounding leaves. The run has two tokens
    or more.
    """
    n = len(trace.query_tokens) - 1
    before = model.run(replace(trace.config.chosen, max_tokens=n))
    pairs = [(layer[name].array[:, :n], other[name].array) for layer, other in zip(trace.layers, before.layers)
             for name in CACHED]  # fmt: skip
    return max(float(np.abs(one - other).max()) for one, other in pairs)


def _row_axis(step: Step) -> int | None:
    return next((at for at, axis in enumerate(step.axes) if axis in ("query", "key")), None)
