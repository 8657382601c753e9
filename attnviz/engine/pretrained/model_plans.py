"""The plans of a trained model, and the rows and numbers that it chooses: what its arrays and slopes follow from."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.plan.chosen import Chosen, Turn, chosen_by
from attnviz.engine.plan.plans import embedding_plan, trained_plan
from attnviz.engine.plan.tracing import Plan
from attnviz.engine.pretrained.model_facts import ModelFacts
from attnviz.engine.pretrained.pretrained_config import PretrainedConfig
from attnviz.engine.records.typed_rows import check_nothing_learned, masks_by_head
from attnviz.engine.tables import block_slopes as slopes
from attnviz.engine.tables.blocks import FEED_FORWARDS_OF_MODELS, NORMS, Norm, layer_norm, rms_norm


def model_plan(config: PretrainedConfig, layer: int | None) -> Plan:
    """Return the plan of a layer of a model; None is what its first layer reads."""
    facts = config.facts
    if layer is None:
        return embedding_plan(facts.around)
    return trained_plan(replace(facts.parts[layer], mask_by_head=masks_by_head(config)))


@lru_cache(maxsize=512)
def chosen_by_model(config: PretrainedConfig, layer: int | None) -> Chosen:
    """Return the rows and numbers of a layer of a model; None is what its first layer reads.

    Raises ConfigError for a normaliser with learned numbers, which a model has none of.
    """
    check_nothing_learned(config)  # type: ignore[arg-type]  # to a checker its fields are descriptors
    facts, turn = config.facts, None
    frequencies = facts.rotation(layer)
    if frequencies is not None:
        fn, back = (partial(rotated, frequencies=each) for each in (frequencies, -frequencies))
        turn = Turn(fn, back, frequencies)
    activation = FEED_FORWARDS_OF_MODELS[facts.activation]
    return replace(
        chosen_by(config), key_widths=None, norm=norm_of(facts), activation=activation, turn=turn, experts=facts.experts
    )


def norm_of(facts: ModelFacts) -> Norm:
    """Return the norm of a model, which adds what the model does to the mean square."""
    fn, back = (layer_norm, slopes.layer_norm) if facts.centred else (rms_norm, slopes.rms_norm)
    row = NORMS["pre" if facts.centred else "rms"]
    epsilon = facts.eps
    return replace(row, fn=partial(fn, epsilon=epsilon), back=partial(back, epsilon=epsilon), epsilon=epsilon)


def rotated(Y: Array, *, frequencies: Array) -> Array:
    """Return the first columns turned in pairs (i, i + half of them) by an angle a position; the others stay.

    Source: Su et al. 2021, arXiv:2104.09864, in the layout of Llama's files; a part of a head: Black et al. 2022,
    arXiv:2204.06745, section 2.1.
    """
    n = len(frequencies)
    angle = np.arange(Y.shape[-2])[:, None] * frequencies
    cos, sin, Z = np.cos(angle), np.sin(angle), Y.copy()
    left, right = Y[..., :n], Y[..., n : 2 * n]
    Z[..., :n] = left * cos - right * sin
    Z[..., n : 2 * n] = right * cos + left * sin
    return Z
