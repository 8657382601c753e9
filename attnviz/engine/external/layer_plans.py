"""The plan of a layer of any trace, the rows and numbers that it chooses, and where what it reads was recorded."""

from __future__ import annotations

from attnviz.engine.external.traces import is_external
from attnviz.engine.plan.chosen import Chosen, chosen_by
from attnviz.engine.plan.plans import attention_plan, plan_of
from attnviz.engine.plan.tracing import Has, Plan
from attnviz.engine.pretrained.model_plans import chosen_by_model, model_plan
from attnviz.engine.pretrained.pretrained_config import PretrainedConfig, is_pretrained
from attnviz.engine.records.trace import Trace, result_of

LayerStep = tuple[int | None, str]
"""A layer and a step of it; None and a step around the layers."""


def plan_of_layer(trace: Trace, layer: int | None) -> Plan:
    """Return the plan of a layer; of vectors, scores or weights that were brought, that of attention alone.

    layer  counted from 0; None is what the first layer of a trained model reads
    """
    config = trace.config
    if isinstance(config, PretrainedConfig):
        return model_plan(config, layer)
    if is_external(trace):
        return attention_plan(Has(softcap=bool(config.softcap)))
    return plan_of(config, trace.given_in[layer or 0] if trace.given_in else ())


def chosen_in(trace: Trace, layer: int | None) -> Chosen:
    """Return the rows and numbers of a layer of a run; those of a model's layers may differ."""
    config = trace.config
    return chosen_by_model(config, layer) if isinstance(config, PretrainedConfig) else chosen_by(config)


def inputs_of(trace: Trace, layer: int) -> dict[str, LayerStep]:
    """Return where the inputs of a layer were recorded, by their names in its plan."""
    if layer:
        return {"X": (layer - 1, result_of(trace.layers[layer - 1]).name), "X_kv": (None, "embedded_kv")}
    is_one = is_pretrained(trace) and not trace.config.is_cross_attention
    return {"X": (None, "embedded_kv" if is_one else "embedded"), "X_kv": (None, "embedded_kv")}
