"""The decoder of T5 and BART by its files: attention to its own text, and cross-attention to the encoder's.

A layer is two of the page of trained models: one without a feed-forward block, in which the decoder attends to itself,
and one that attends to what the encoder returns. A trace shows one of the two in all layers, so it begins with their
queries, keys and values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.external.traces import of_scores, of_vectors
from attnviz.engine.plan.chosen import Chosen, chosen_by
from attnviz.engine.plan.layer_arrays import LayerArrays
from attnviz.engine.plan.plans import embedding_plan, trained_plan
from attnviz.engine.plan.tracing import Plan
from attnviz.engine.pretrained.model_facts import ModelFacts
from attnviz.engine.pretrained.model_plans import norm_of
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.tables.biases import t5_buckets
from attnviz.engine.tables.blocks import FEED_FORWARDS
from attnviz.models import forward
from attnviz.models.families import DECODERS, Family
from attnviz.models.layer_arrays import Arrays
from attnviz.models.shapes.facts import Facts
from attnviz.models.shapes.shape import Shape
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words

PARTS = ("encoder", "decoder", "cross")

NOTES = Words(
    {
        "vectors": "The part {part} of a model with an encoder and a decoder: queries, keys and values are computed "
        "from its file, as is all that leads to them, which this trace does not show. part= chooses another: {parts}.",
        "scores": "The part {part} of a model with an encoder and a decoder: scores, with what the model adds to them "
        "by distance, are computed from its file, as is all that leads to them, which this trace does not show. "
        "part= chooses another: {parts}.",
    }
)
FAULTS = Words(
    {
        "target": "target is a second text, for the decoder of a model that has an encoder as well; this one has not "
        "both",
        "second": "{part} needs a second text, that of the decoder: model(text, target)",
        "part": "part is {given}; this model has {parts}",
        "free": "{name} can be chosen for the encoder alone; leave it out, or choose part='encoder'",
    }
)


@dataclass(frozen=True)
class Target:
    """The tokens that a decoder reads: a start, and a text but for its last token."""

    ids: Sequence[int]
    tokens: Sequence[str]
    notes: Sequence[str]


def asked(decoder: Decoder | None, target: str | None, part: str | None, changed: Sequence[str]) -> str:
    """Return the part of a model that is asked for.

    changed  the names of what else is to be other than it is

    Raises ConfigError for a part that there is not, and for a decoder without its text or with anything changed.
    """
    if decoder is None and (target is not None or part is not None):
        raise ConfigError(FAULTS["target"])
    part = part or ("encoder" if target is None else "cross")
    if part not in PARTS:
        raise ConfigError(FAULTS["part"].format(given=shorten(part), parts=", ".join(PARTS)))
    if part != "encoder" and target is None:
        raise ConfigError(FAULTS["second"].format(part=part))
    if part != "encoder" and changed:
        raise ConfigError(FAULTS["free"].format(name=changed[0]))
    return part


def of_model(tensors: Mapping[str, Array], config: Mapping[str, Any]) -> Decoder | None:
    """Return the decoder beside a model's encoder; None where the family or the file has none."""
    halves = DECODERS.get(str(config.get("model_type")))
    if halves is None:
        return None
    names, base = halves[0].names, halves[0].base
    first = f"{names.layer.format(i=0)}{names.queries}.weight"
    return Decoder(tensors, config, *halves) if {first, base + first} & set(tensors) else None


class Decoder:
    """The decoder of a model, `own` and `other` being the two halves of each of its layers."""

    def __init__(self, tensors: Mapping[str, Array], config: Mapping[str, Any], own: Family, other: Family) -> None:
        shape = own.read(Facts(config))
        self._start = config.get("decoder_start_token_id") or 0
        self._own_shape, self._other_shape = replace(shape, d_ff=0), replace(shape, buckets=0)
        arrays = Arrays(tensors, own, self._own_shape)
        self._own = [arrays.layer(i) for i in range(shape.n_layers)]
        self._buckets = arrays.buckets()
        parts = {"tokens": own.tokens, "positions": own.positions}
        self._tables = {part: arrays.table(part, name) for part, name in parts.items() if name}
        self._norm = arrays.norm(own.norm, "e", shape.d_model, adds=True)
        arrays = Arrays(tensors, other, self._other_shape)
        self._other = [arrays.layer(i) for i in range(shape.n_layers)]
        scale = shape.d_head**-0.5 if shape.scale is None else shape.scale
        facts = ModelFacts(eps=shape.eps, centred=shape.norm == "layer")
        activation = FEED_FORWARDS[forward.activation_of(shape)]
        self._chosen = replace(
            chosen_by(Config()),
            scale=scale,
            key_widths=None,
            value_widths=None,
            norm=norm_of(facts),
            activation=activation,
        )

    def shifted(
        self, ids: Sequence[int], tokens: Sequence[str], notes: Sequence[str], piece: Callable[[int], str]
    ) -> Target:
        """Return what the decoder reads of a text: behind its start, as it predicts each token from those before."""
        n = len(ids)
        return Target([self._start, *ids][:n], [piece(self._start), *tokens][:n], notes)

    @np.errstate(all="ignore")
    def trace(self, part: str, encoded: Trace, target: Target) -> Trace:
        """Return attention in every layer of the decoder: to its own text, or of `cross` to the encoder's.

        encoded  the run of the first text
        """
        X, X_kv, half = self._embedded(target.ids), encoded.result.array, list[Mapping[str, Any]]()
        for own, other in zip(self._own, self._other):
            n, m = len(X), len(X_kv)
            at_self = self._half(
                self._own_shape, own, {"X": X, "allowed": np.tri(n, dtype=bool), "bias": self._bias(n)}
            )
            X = list(at_self.values())[-1]
            at_other = self._half(self._other_shape, other, {"X": X, "X_kv": X_kv, "allowed": np.ones((n, m), bool)})
            X = list(at_other.values())[-1]
            half.append(at_other if part == "cross" else at_self)
        has_bias = part == "decoder" and self._buckets is not None
        said = NOTES["scores" if has_bias else "vectors"].format(
            part=part, parts=", ".join(each for each in PARTS if each != part)
        )
        columns = encoded.query_tokens if part == "cross" else target.tokens
        mask: Any = "none" if part == "cross" else "causal"
        config = Config(score="dot", scale=float(self._chosen.scale), mask=mask)
        if has_bias:
            S = np.stack([each["scores"] * self._chosen.scale + each["bias"] for each in half])
            found = of_scores(S, target.tokens, columns, config=replace(config, scale=1.0))
        else:
            Q, K, V = (np.stack([each[name] for each in half]) for name in ("queries", "keys", "values"))
            found = of_vectors(Q, K, V, target.tokens, columns, config=config)
        return replace(found, notes=(said, *encoded.notes, *target.notes, *found.notes))

    def _embedded(self, ids: Sequence[int]) -> Array:
        """Return what the first layer reads: (n, d_model)."""
        shape, tables = self._own_shape, self._tables
        known = dict(self._norm)
        known["token_embeddings"] = np.asarray(tables["tokens"][list(ids)], dtype=float) * shape.embedding_factor
        if "positions" in tables:
            first = shape.first_position
            known["positions"] = np.asarray(tables["positions"][first : first + len(ids)], dtype=float)
        plan = embedding_plan(forward.around_of(tables, self._norm))
        return list(_computed(plan, self._chosen, known).values())[-1]

    def _bias(self, n: int) -> Array | None:
        """Return what is added to the scores of n tokens with each other by distance, (H, n, n)."""
        if self._buckets is None:
            return None
        i, j = np.indices((n, n))
        shape = self._own_shape
        bucket = t5_buckets(j - i, bidirectional=False, buckets=shape.buckets, max_distance=shape.max_distance)
        return np.asarray(self._buckets[:, bucket], dtype=float)

    def _half(self, shape: Shape, parameters: Mapping[str, Array], given: Mapping[str, Any]) -> dict[str, Any]:
        """Return every array of one half of a layer, by the names of its steps, the result last."""
        has = replace(forward.parts_of(shape, 0, parameters), cross="X_kv" in given)
        return _computed(trained_plan(has), self._chosen, {**parameters, **given})


def _computed(plan: Plan, chosen: Chosen, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return every array of a plan whose inputs and weights are known."""
    arrays = LayerArrays(chosen, known)
    for name, value in plan.items():
        if value.op == "step":
            arrays.known[name] = arrays.of(value.args[0])
    return arrays.known
