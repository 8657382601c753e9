"""One run through a trained model, every step of every layer kept under the names that it has in any run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.plan.experts import Experts
from attnviz.engine.plan.layer_arrays import LayerArrays
from attnviz.engine.plan.tracing import Has
from attnviz.engine.plan.values import Value
from attnviz.engine.pretrained.image import Image
from attnviz.engine.pretrained.model_plans import chosen_by_model, model_plan
from attnviz.engine.pretrained.pretrained_config import PretrainedConfig
from attnviz.engine.pretrained.read_text import read_text
from attnviz.engine.recorded_layer import mask_of, record_plan
from attnviz.engine.records.trace import Steps
from attnviz.engine.tables import masks
from attnviz.engine.tables.biases import BIASES
from attnviz.engine.tables.masks import MASKS
from attnviz.models.shapes.shape import Shape

ModelParameters = Mapping[str, Array]


def parts_of(shape: Shape, i: int, parameters: ModelParameters) -> Has:
    """Return the parts that a layer of a model has."""
    return Has(
        weights=frozenset(parameters),
        norm_before=shape.norm_applied in ("before", "both"),
        norm_behind=shape.norm_applied in ("behind", "both"),
        norm_after=shape.norm_applied == "after",
        rope=shape.rotates(i),
        rotated_by=shape.rotated_by[i] if shape.rotated_by else 1.0,
        softcap=bool(shape.softcap),
        bias=bool(shape.buckets),
        residual=True,
        feed_forward=bool(shape.d_ff),
        gate="w_3" in parameters,
        clipped=shape.feed_forward == "clamped_swiglu",
        parallel=shape.parallel,
    )


def activation_of(shape: Shape) -> str:
    """Return the row of FEED_FORWARDS_OF_MODELS whose activation the hidden units of a model have."""
    return "gelu_tanh" if shape.feed_forward == "geglu_tanh" else shape.feed_forward


def experts_of(shape: Shape) -> Experts | None:
    """Return the experts of the feed-forward blocks, None where each is one block."""
    return Experts(shape.n_chosen, shape.shares_add_up, shape.units) if shape.n_experts else None


def around_of(tables: Mapping[str, Array], parameters: ModelParameters) -> Has:
    """Return the parts of what the first layer of a model reads."""
    return Has(frozenset(parameters), positions="positions" in tables, token_types="types" in tables)


@dataclass(frozen=True)
class Beside:
    """The text that a decoder attends to beside its own: the tokens, and what the encoder returned for them.

    X_kv  (tokens of both, d_model), those of its own text as zeros, which nothing reads
    """

    X_kv: Array
    tokens: tuple[str, ...]


def layer(
    steps: Steps,
    i: int,
    config: PretrainedConfig,
    parameters: ModelParameters,
    X: Array,
    tokens: tuple[str, ...],
    beside: Beside | None = None,
) -> Array:
    """Record the steps of a layer that reads X, (n, d_model), and return what it hands on."""
    first = len(beside.tokens) if beside else 0

    def leaf(value: Value, _: LayerArrays) -> Array:
        if value.name == "shift":
            return steps.record("shift", np.eye(first + len(tokens))[:, first:])
        if value.op == "weight":
            return steps.record(value.name, parameters[value.name])
        if value.name == "bias":
            said = _counted_from(first, BIASES[config.bias].formula)
            return steps.record("bias", config.facts.bias(len(tokens), first), formula=said)
        if beside:
            return _mask_of_decoder(steps, i, config, tokens, beside)
        return mask_of(steps, config, (tokens, tokens), config.facts.reach(i))

    inputs = {"X": X} | ({"X_kv": beside.X_kv} if beside else {})
    return record_plan(steps, model_plan(config, i), config, chosen_by_model(config, i), inputs, leaf)


def _mask_of_decoder(steps: Steps, i: int, config: PretrainedConfig, tokens: tuple[str, ...], beside: Beside) -> Array:
    """Record who may attend to what in a layer of a decoder: to one of the two texts, as the masks have it there."""
    read = read_text(config, i, tokens, (*beside.tokens, *tokens))
    assert read is not None  # noqa: S101  # a decoder reads one
    names = read.masks or ("none",)
    settings = {name: masks.settings_of(config, name, (tokens, read.tokens)) for name in names}
    pad = np.zeros(len(read.tokens), dtype=bool)
    whole = np.zeros((len(tokens), len(beside.tokens) + len(tokens)), dtype=bool)
    whole[:, read.start : read.start + len(read.tokens)] = masks.allowed(names, len(tokens), pad, settings)
    where = rf"j {'>' if read.is_own else '<='} {len(beside.tokens)}".replace("<=", r"\le")
    formulas = [where, *(_counted_from(read.start, MASKS[name].formula) for name in read.masks)]
    return steps.record("allowed", whole, formula=r"\;\text{and}\;".join(formulas))


def _counted_from(first: int, formula: str) -> str:
    r"""Return a formula of the columns of one text, in which the columns of another stand before them.

    >>> _counted_from(4, r"j \le i")
    '(j - 4) \\le i'
    """
    return re.sub(r"(?<![A-Za-z\\])j(?![A-Za-z])", f"(j - {first})", formula) if first else formula


def embedded(
    around: Steps,
    config: PretrainedConfig,
    shape: Shape,
    tables: Mapping[str, Array],
    parameters: ModelParameters,
    ids: Sequence[int],
) -> Array:
    """Return the input of the first layer: a vector for each token, with what the model adds before the first norm."""
    E = _of_image(config.image, tables) if config.image is not None else _of_tokens(tables["tokens"], ids, shape)
    first, n = shape.first_position, len(E)
    rows = {"positions": list(range(first, first + n)), "types": [0] * n}

    def leaf(value: Value, _: LayerArrays) -> Array:
        if value.op == "weight":
            return around.record(value.name, parameters[value.name])
        table = value.name.removeprefix("token_")
        return around.record(value.name, np.asarray(tables[table][rows[table]], dtype=float))

    inputs = {"token_embeddings": around.record("token_embeddings", E)}
    return record_plan(around, model_plan(config, None), config, chosen_by_model(config, None), inputs, leaf)


def _of_tokens(table: Array, ids: Sequence[int], shape: Shape) -> Array:
    return np.asarray(table[list(ids)], dtype=float) * shape.embedding_factor


def _of_image(image: Image, tables: Mapping[str, Array]) -> Array:
    """Return the vector of [CLS] and a vector for each patch: a projection of its numbers.

    Source: Dosovitskiy et al. 2021, arXiv:2010.11929, equation 1.
    """
    first, W, b = (np.asarray(tables[name], dtype=float) for name in ("first", "patches", "patch_bias"))
    return np.concatenate([first, image.patches @ W + b])
