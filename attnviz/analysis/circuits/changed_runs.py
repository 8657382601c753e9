"""A run computed again from the first number that is put otherwise; its parameters stay as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.backward.gradients import Gradients
from attnviz.engine.external.layer_plans import LayerStep, chosen_in, plan_of_layer
from attnviz.engine.external.traces import is_external
from attnviz.engine.numerics import cancellation
from attnviz.engine.plan.layer_arrays import LayerArrays
from attnviz.engine.pretrained.pretrained_config import is_pretrained
from attnviz.engine.records.edits import Edit
from attnviz.engine.records.trace import Step, Trace, result_of
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words

MOST_NUMBERS = 2**18
"""The most numbers that are put otherwise in one run: each is kept in its record."""

FAULTS = Words(
    {
        "trace": "{name} takes a run, as in {name}(model(text), ...), not {given}",
        "external": "{name} needs a run from a sentence; these numbers were uploaded, and nothing follows from them",
        "many": "this changes {n:,} numbers; at most {most:,} can be changed at a time: name positions or fewer heads",
    }
)


@dataclass(frozen=True)
class Change:
    """The numbers of a step that are put otherwise: where `mask` is True, those of `values`, both of its shape."""

    mask: Array
    values: Array


def check(trace: Trace, name: str) -> None:
    """Raise ConfigError, for a function of this name, for what is no run that can be computed again."""
    if not isinstance(trace, Trace) or isinstance(trace, Gradients):
        raise ConfigError(FAULTS["trace"].format(name=name, given=shorten(trace, 60)))
    if is_external(trace):
        raise ConfigError(FAULTS["external"].format(name=name))


def changed(trace: Trace, changes: Mapping[LayerStep, Change]) -> Trace:
    """Return the run with some numbers put otherwise, and all that follows from them computed again.

    changes  by layer and step; the layer is None for "embedded", which the first layer reads

    Layers before the first change are those of the run itself. What was changed in it before stays changed. Each
    number stands among the edits of the run, so that its arithmetic and its slopes say that it was put there.

    Raises ConfigError for more than `MOST_NUMBERS` numbers.
    """
    n = sum(int(change.mask.sum()) for change in changes.values())
    if n > MOST_NUMBERS:
        raise ConfigError(FAULTS["many"].format(n=n, most=MOST_NUMBERS))
    edits = (edit for at, change in changes.items() for edit in _edits(at, change))
    return replace(recomputed(trace, changes), edits=(*trace.edits, *edits))


def recomputed(trace: Trace, changes: Mapping[LayerStep, Change]) -> Trace:
    """Return the same for one who reads its arrays alone: no number stands among its edits, and there is no limit."""
    around, begun = dict(trace.around), any(layer is None for layer, _ in changes)
    for (layer, name), change in changes.items():
        if layer is None:
            is_one = is_pretrained(trace) and not trace.config.is_cross_attention
            for each in (name, f"{name}_kv") if is_one else (name,):
                around[each] = _with(around[each], _put(around[each].array, change))
    layers, X = list[Mapping[str, Step]](), around["embedded"].array
    for i, steps in enumerate(trace.layers):
        begun = begun or any(at == i for at, _ in changes)
        layers.append(_layer(trace, i, X, around["embedded_kv"].array, changes) if begun else steps)
        X = result_of(layers[-1]).array
    return replace(trace, around=around, layers=tuple(layers), result=result_of(layers[-1]))


@np.errstate(all="ignore")
def _layer(trace: Trace, i: int, X: Array, X_kv: Array, changes: Mapping[LayerStep, Change]) -> dict[str, Step]:
    """Return the steps of a layer that reads X; parameters, the mask and a bias by distance are those of the run."""
    plan, chosen = plan_of_layer(trace, i), chosen_in(trace, i)
    arrays, made = LayerArrays(chosen, {"X": X, "X_kv": X_kv}), dict[str, Step]()
    for name, value in plan.items():
        cancellation.check()
        step = trace.layers[i][name]
        array = arrays.of(value.args[0]) if value.op == "step" else step.array
        before = [edit for edit in trace.edits if edit[:2] == (i, name)] if value.op == "step" else []
        array = array.copy() if before else array
        for *_, index, number in before:
            array[index] = number
        if (i, name) in changes:
            array = _put(array, changes[i, name])
        made[name] = _with(step, array)
        arrays.known[name] = made[name].array
    return made


def _put(array: Array, change: Change) -> Array:
    return np.where(change.mask, change.values, array)


def _with(step: Step, array: Array) -> Step:
    array = array.view()
    array.flags.writeable = False
    return replace(step, array=array)


def _edits(at: LayerStep, change: Change) -> list[Edit]:
    places, values = np.argwhere(change.mask).tolist(), change.values[change.mask].tolist()
    return [(*at, tuple(place), float(value)) for place, value in zip(places, values)]
