"""BERT and similar models."""

from __future__ import annotations

from dataclasses import replace

from attnviz.models.shapes.facts import ACTIVATIONS, MAX_SIZES, Facts, divided
from attnviz.models.shapes.shape import Shape


def bert(facts: Facts, **other: str) -> Shape:
    """Return the shape of BERT and similar models; `other` are the names that differ."""
    name = {
        "layers": "num_hidden_layers", "heads": "num_attention_heads", "width": "hidden_size",
        "ff": "intermediate_size", "act": "hidden_act",
    } | other  # fmt: skip
    facts.only("position_embedding_type", "absolute")
    facts.only("is_decoder", False)
    n, d = facts.size(name["heads"], "heads"), facts.size(name["width"])
    n_layers = facts.size(name["layers"], "layers")
    return Shape(
        n_layers, n, n, d, divided(facts, d, n, name["width"]), facts.size(name["ff"]),
        facts.one_of(name["act"], ACTIVATIONS), "layer", "after", facts.number("layer_norm_eps", 1e-12),
        causal=False, n_positions=facts.size("max_position_embeddings", otherwise=512), windows=(None,) * n_layers,
    )  # fmt: skip


def roberta(facts: Facts) -> Shape:
    shape, pad = bert(facts), facts.get("pad_token_id", 1)
    if type(pad) is not int or not 0 <= pad < MAX_SIZES["width"]:
        raise facts.odd("pad_token_id", pad, "a number from 0 on")
    first = pad + 1
    return replace(shape, first_position=first, n_positions=(shape.n_positions or first + 1) - first)


def electra(facts: Facts) -> Shape:
    shape = bert(facts)
    if (width := facts.size("embedding_size", otherwise=128)) != shape.d_model:  # a matrix would lead to the layers
        raise facts.odd("embedding_size", width, str(shape.d_model))
    return shape


def vit(facts: Facts) -> Shape:
    """Return the shape of a ViT: norms stand before the blocks; it has as many positions as its table has rows."""
    facts.only("num_channels", 3)
    return replace(bert(facts), norm_applied="before", n_positions=None)


def distilbert(facts: Facts) -> Shape:
    facts.only("sinusoidal_pos_embds", False, True)  # either way a table that the file holds
    return bert(facts, layers="n_layers", heads="n_heads", width="dim", ff="hidden_dim", act="activation")
