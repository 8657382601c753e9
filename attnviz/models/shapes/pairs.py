"""T5 and BART: models that have an encoder and a decoder."""

from __future__ import annotations

import math
from dataclasses import replace

from attnviz.models.shapes.facts import ACTIVATIONS, GATED, Facts, divided
from attnviz.models.shapes.shape import Shape

BLOCKS = {f"gated-{name}": row for name, row in GATED.items()} | {"gated-gelu": "geglu_tanh", "relu": "relu"}
"""The feed-forward blocks by what T5 calls them, whose GELU with a gate is the one by the hyperbolic tangent."""


def t5(facts: Facts) -> Shape:
    """Return the shape of T5's encoder: RMS norms before the blocks, no scale, numbers by distance, no positions.

    Source: Raffel et al. 2019, arXiv:1910.10683, section 2.1.
    """
    n, n_buckets = facts.size("num_heads", "heads"), facts.size("relative_attention_num_buckets", otherwise=32)
    furthest = facts.size("relative_attention_max_distance", otherwise=128)
    if n_buckets < 4 or n_buckets % 2:
        raise facts.odd("relative_attention_num_buckets", n_buckets, "an even number from 4 on")
    if furthest <= n_buckets // 4:
        raise facts.odd("relative_attention_max_distance", furthest, f"a number above {n_buckets // 4}")
    n_layers = facts.size("num_layers", "layers")
    return Shape(
        n_layers, n, n, facts.size("d_model"), facts.size("d_kv"), facts.size("d_ff"),
        facts.one_of("feed_forward_proj", BLOCKS, "relu"), "rms", "before", facts.number("layer_norm_epsilon", 1e-6),
        causal=False, n_positions=None, windows=(None,) * n_layers, scale=1.0, buckets=n_buckets, max_distance=furthest,
    )  # fmt: skip


def t5_decoder(facts: Facts) -> Shape:
    """Return the shape of T5's decoder: the encoder's but for the number of its layers.

    It looks one way, so that twice as many distances have a number of their own.
    """
    n_layers = facts.size("num_decoder_layers", "layers", otherwise=facts.size("num_layers", "layers"))
    shape = t5(facts)
    if shape.max_distance <= shape.buckets // 2:
        known = f"a number above {shape.buckets // 2} beside a decoder"
        raise facts.odd("relative_attention_max_distance", shape.max_distance, known)
    scales = facts.get("scale_decoder_outputs", facts.get("tie_word_embeddings", True))
    factor = 1.0 if scales is False else shape.d_model**-0.5
    return replace(shape, n_layers=n_layers, windows=(None,) * n_layers, causal=True, logits_factor=factor)


def bart_decoder(facts: Facts) -> Shape:
    return replace(bart(facts, "decoder"), causal=True)


def bart(facts: Facts, side: str = "encoder") -> Shape:
    """Return the shape of one side of BART: learned positions from the third row on, norms behind sums.

    Source: Lewis et al. 2019, arXiv:1910.13461, section 2.1.
    """
    for name, usual in (("normalize_before", False), ("normalize_embedding", True), ("add_final_layer_norm", False)):
        facts.only(name, usual)
    facts.only("static_position_embeddings", False)
    scales = facts.get("scale_embedding", False)
    if not isinstance(scales, bool):
        raise facts.odd("scale_embedding", scales, "true, false")
    n, d = facts.size(f"{side}_attention_heads", "heads"), facts.size("d_model")
    n_layers = facts.size(f"{side}_layers", "layers")
    return Shape(
        n_layers, n, n, d, divided(facts, d, n, "d_model"), facts.size(f"{side}_ffn_dim"),
        facts.one_of("activation_function", ACTIVATIONS, "gelu"), "layer", "after", 1e-5, causal=False,
        n_positions=facts.size("max_position_embeddings", otherwise=1024), windows=(None,) * n_layers,
        embedding_factor=math.sqrt(d) if scales else 1.0, first_position=2,
    )  # fmt: skip
