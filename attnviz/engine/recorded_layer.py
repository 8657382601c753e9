"""One layer computed as its plan says, every step kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.parameters import Parameters
from attnviz.engine.plan.chosen import Chosen, chosen_by
from attnviz.engine.plan.formulas import formulas_of
from attnviz.engine.plan.layer_arrays import LayerArrays
from attnviz.engine.plan.plans import plan_of
from attnviz.engine.plan.tracing import Plan, axes_of_mask
from attnviz.engine.plan.values import Value
from attnviz.engine.records import typed_rows
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Steps
from attnviz.engine.tables import masks
from attnviz.engine.tables.tokenisers import PAD

Leaf = Callable[[Value, LayerArrays], Array]


def record_layer(
    layer: Steps,
    parameters: Parameters,
    config: Config,
    X: Array,
    X_kv: Array,
    words: masks.Tokens,
    *,
    until: str | None = None,
) -> Array:
    """Record the steps of a layer in the order of its plan and return the last, or the one named by `until`.

    X (n, d_model), X_kv (m, d_model), which is read where the tokens attend to others; `words` are both sentences.
    """
    given = {"allowed": mask_of, "bias": bias_of}

    def leaf(value: Value, arrays: LayerArrays) -> Array:
        weight = value.op == "weight"
        return parameters.weight(value, arrays) if weight else given[value.name](layer, config, words)

    plan, inputs = plan_of(config, parameters.supplied), {"X": X, "X_kv": X_kv}
    return record_plan(layer, plan, config, chosen_by(config), inputs, leaf, until=until)


def record_plan(
    steps: Steps,
    plan: Plan,
    config: Config,
    chosen: Chosen,
    inputs: Mapping[str, Array],
    leaf: Leaf,
    *,
    until: str | None = None,
) -> Array:
    """Record the steps of a plan in their order, and return the last, or the one named by `until`.

    leaf  records a weight, or what is given, such as the mask; it gets the arrays that are known by then
    """
    arrays, formulas = LayerArrays(chosen, inputs), formulas_of(plan, config)
    for name, value in plan.items():
        if value.op == "step":
            array = arrays.of(value.args[0])
            array = steps.record(name, array, formula=formulas.get(name), widths=true_widths(config, value.axes))
        else:
            array = leaf(value, arrays)
        arrays.known[name] = array
        if name == until:
            break
    return array


def true_widths(config: Config, axes: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    """Return the true width of each head along the axes of a step where heads may differ."""
    widths = {"d_k": config.key_widths, "d_v": config.value_widths}
    repeats = config.group_size if axes[0] == "head" else 1
    return {axis: tuple(d for d in widths[axis]() for _ in range(repeats)) for axis in axes[1:] if axis in widths}


def mask_of(layer: Steps, config: Config, words: masks.Tokens, reach: int | None = None) -> Array:
    """Record who may attend to what, of a layer that looks `reach` positions back.

    Booleans (n_query, n_key), or (H, n_query, n_key) where a typed line looks at the head.
    """
    pad = np.array([token == PAD for token in words[1]], dtype=bool)
    settings: dict[str, dict[str, Any]] = {name: masks.settings_of(config, name, words) for name in config.mask}
    formulas = [typed_rows.mask_of(config, name).formula for name in config.mask]
    allowed = masks.allowed(config.mask, len(words[0]), pad, settings)
    if reach is not None:
        i, j = np.indices(allowed.shape[-2:])
        allowed, formulas = allowed & (i - j <= reach), [*formulas, rf"i - j \le {reach}"]
    axes = axes_of_mask(by_head=allowed.ndim > 2)
    return layer.record("allowed", allowed, formula=r"\;\text{and}\;".join(formulas), axes=axes)


def bias_of(layer: Steps, config: Config, words: masks.Tokens) -> Array:
    """Record what is added to the scores by distance. Shape (H, n_query, n_key)."""
    row, shape = typed_rows.bias_of(config), (config.n_heads, len(words[0]), len(words[1]))
    B = row.fn(*shape, **row.settings(config))
    return layer.record("bias", np.broadcast_to(B, shape), formula=row.formula)
