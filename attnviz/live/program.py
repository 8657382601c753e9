"""The program of a run: its plans and lines as the browser carries them out; see `types.d.ts` and `live.js`.

Nothing here says what a layer computes: the steps are those of `engine/plan`, and scores, masks, biases and normalisers
are their rows' lines. What needs random numbers, a solver or the words is given, and not computed anew.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.external.layer_plans import LayerStep, chosen_in, inputs_of, plan_of_layer
from attnviz.engine.external.traces import is_external
from attnviz.engine.plan.plans import embedding_plan
from attnviz.engine.plan.tracing import Has, Plan
from attnviz.engine.plan.values import Axes, Value
from attnviz.engine.pretrained.model_plans import model_plan
from attnviz.engine.pretrained.pretrained_config import PretrainedConfig
from attnviz.engine.records.trace import Step, Trace
from attnviz.live.lines import Line, bias_line, mask_lines, normaliser_line, score_line
from attnviz.live.operations import OperationWriter, three_axes

Data = dict[str, Any]

MOST_NUMBERS = 6_000_000
"""Numbers of all steps of a run that a browser is asked to hold, so that it can compute what follows."""


def program_of(trace: Trace) -> Data:
    """Return the program of a run, as it travels: `Program` in types.d.ts.

    A step has the name that it has in the trace, with the layer behind it, counted from 0: `scores.0`.

    Raises ValueError for numbers that were uploaded, of which nothing says what they are made of.
    """
    if is_external(trace):
        raise ValueError("these numbers were uploaded: no plan says what follows from them; give a run of a sentence")
    lines: dict[str, Line] = {}
    steps = [*_around(trace), *(step for i in range(len(trace.layers)) for step in _layer(trace, i, lines))]
    chosen = chosen_in(trace, 0)
    config = trace.config
    named = {name for i in range(len(trace.layers)) for name in plan_of_layer(trace, i).settings}
    settings: Data = {
        "temperature": config.temperature,
        "softcap": config.softcap,
        "rope_base": config.rope_base,
        "scale": np.broadcast_to(np.ravel(chosen.scale), config.n_heads).tolist(),
    }
    settings |= {name: getattr(chosen, name) for name in sorted(named - settings.keys())}
    for name, line in lines.items():
        settings |= {**line.settings, name: line.source}
    edits = [_entry(trace, *edit) for edit in trace.edits]
    words = {"queries": list(trace.query_tokens), "keys": list(trace.key_tokens)}
    return {"steps": steps, "settings": settings, "edits": edits, **words}


def arrays_of(trace: Trace, names: Container[str] | None = None) -> dict[str, Array]:
    """Return every array of a run, or those of some names, under the name that it has in the program, as float64."""
    found = {key(at): step.array for at, step in _steps(trace) if names is None or key(at) in names}
    return {name: np.ascontiguousarray(array, dtype=float) for name, array in found.items()}


def key(at: LayerStep) -> str:
    """Return the name of a step in the program.

    >>> key((0, "scores")), key((None, "embedded"))
    ('scores.0', 'embedded')
    """
    layer, name = at
    return name if layer is None else f"{name}.{layer}"


def _steps(trace: Trace) -> Iterator[tuple[LayerStep, Step]]:
    for layer, steps in ((None, trace.around), *enumerate(trace.layers)):
        yield from (((layer, name), step) for name, step in steps.items())


def _entry(trace: Trace, layer: int | None, name: str, index: tuple[int, ...], value: float) -> Data:
    step = (trace.around if layer is None else trace.layers[layer])[name]
    return {"step": key((layer, name)), "at": int(np.ravel_multi_index(index, step.shape)), "value": value}


def _step(at: LayerStep, step: Step, made: Data | None) -> Data:
    lengths = dict(zip(step.axes, step.shape))
    return {"name": key(at), "axes": step.axes, "shape": three_axes(step.axes, lengths), "made": made}


def _around(trace: Trace) -> Iterator[Data]:
    """Yield the steps before the first layer."""
    for name, step in trace.around.items():
        yield _step((None, name), step, _around_made(trace, name))


def _around_made(trace: Trace, name: str) -> Data | None:
    """Return what a step before the first layer is made of; each sentence of two has its own sum."""
    config, of_keys = trace.config, trace.config.is_cross_attention and name == "embedded_kv"
    own = embedding_plan(Has(positions=True))
    plan = model_plan(config, None) if isinstance(config, PretrainedConfig) else own
    of_keys = of_keys and not isinstance(config, PretrainedConfig)  # what an encoder returns is given
    value = plan.get("embedded" if of_keys else name)
    if value is None or value.op != "step":
        return None
    if not of_keys:
        return OperationWriter(trace, None, str, {}).data(value.args[0])
    return OperationWriter(trace, None, "{}_kv".format, {}).data(_with_axes(value.args[0], ("key", "model")))


def _with_axes(value: Value, axes: Axes) -> Value:
    """Return what stands before the first layer for the other sentence."""
    return replace(value, axes=axes, args=tuple(_with_axes(arg, axes) for arg in value.args))


def _layer(trace: Trace, i: int, lines: dict[str, Line]) -> Iterator[Data]:
    """Yield the steps of a layer; their lines are added to `lines`, by the names of their settings."""
    plan = plan_of_layer(trace, i)
    masks, bias = mask_lines(trace, i), bias_line(trace)
    lines |= {"score": score_line(trace, plan), "normaliser": normaliser_line(trace)}
    lines |= {"bias": bias} if bias else {}
    lines |= masks or {}
    inputs = inputs_of(trace, i)
    writer = OperationWriter(trace, i, lambda name: key(inputs.get(name, (i, name))), lines)
    tables = {"allowed": list(masks or ()), "bias": ["bias"] if bias else []}
    for name, value in plan.items():
        step = trace.layers[i][name]
        if value.op == "given":
            made = writer.table("mask" if name == "allowed" else "bias", value, tables[name])
        elif value.op == "weight":
            made = writer.tied(value) if value.args else None
        else:
            made = writer.data(value.args[0])
        yield _step((i, name), step, made) | _shared(trace, plan, name)


def _shared(trace: Trace, plan: Plan, name: str) -> Data:
    """Return how many heads in a row have one matrix of queries, where it makes their keys too."""
    keys = plan.get(name.replace("q", "k"))
    is_tied = keys is not None and keys.op == "weight" and bool(keys.args) and keys.args[0].name == name
    return {"shared": trace.config.group_size} if is_tied else {}
