"""Llama and similar decoders."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from attnviz.models.shapes.facts import ACTIVATIONS, GATED, MAX_SIZES, Facts
from attnviz.models.shapes.rotation import Rotation, rotation
from attnviz.models.shapes.shape import Shape


def llama(facts: Facts, **changes: Any) -> Shape:
    """Return the shape of Llama and similar models; `changes` is what differs.

    A block of width 0 is none: such a model has attention alone.
    """
    facts.only("pretraining_tp", 1)
    n, d = facts.size("num_attention_heads", "heads"), facts.size("hidden_size")
    n_layers, n_kv = facts.size("num_hidden_layers", "layers"), facts.size("num_key_value_heads", "heads", otherwise=n)
    if n % n_kv:
        raise facts.odd("num_key_value_heads", n_kv, f"a divisor of {n}")
    width = facts.size("head_dim", otherwise=max(d // n, 1))
    act = "hidden_activation" if facts.get("hidden_activation") else "hidden_act"
    d_ff = facts.size("intermediate_size", least=0)
    fields: dict[str, Any] = {
        "feed_forward": facts.one_of(act, GATED, "silu") if d_ff else "none", "norm": "rms", "norm_applied": "before",
        "eps": facts.number("rms_norm_eps", 1e-6), "causal": True,
        "n_positions": facts.size("max_position_embeddings", otherwise=65_536) if _fits(facts) else None,
        "windows": _windows(facts, n_layers),
    }  # fmt: skip
    turns = _rotations(facts, width, fields["windows"])
    fields["frequencies"], fields["rotated_by"] = (tuple(each) for each in zip(*turns))
    return Shape(n_layers, n, n_kv, d, width, d_ff, **(fields | changes))


def starcoder2(facts: Facts) -> Shape:
    changes = {"norm": "layer", "eps": facts.number("norm_epsilon", 1e-5)}
    return llama(facts, feed_forward=facts.one_of("hidden_act", ACTIVATIONS, "gelu_pytorch_tanh"), **changes)


def olmo2(facts: Facts) -> Shape:
    return llama(facts, norm_applied="behind", eps=facts.number("rms_norm_eps", 1e-5))


def mixtral(facts: Facts) -> Shape:
    """Return the shape of Mixtral: a block of experts, the shares of the chosen ones divided by their sum."""
    return _with_experts(llama(facts, eps=facts.number("rms_norm_eps", 1e-5)), facts, 8, 2)


def qwen3_moe(facts: Facts) -> Shape:
    facts.only("decoder_sparse_step", 1)
    facts.only("mlp_only_layers", None, [])
    add_up = facts.get("norm_topk_prob", False)
    if not isinstance(add_up, bool):
        raise facts.odd("norm_topk_prob", add_up, "true, false")
    units = facts.size("moe_intermediate_size", otherwise=768)
    shape = replace(llama(facts), d_ff=units, shares_add_up=add_up)
    return _with_experts(shape, facts, 128, 8)


def gpt_oss(facts: Facts) -> Shape:
    """Return the shape of GPT-OSS: sinks, a window in every other layer, YaRN, and experts with a clamped SwiGLU."""
    facts.only("swiglu_limit", None, 7.0)  # Transformers has it as a number of its code
    facts.only("hidden_act", "silu")
    shape = llama(facts, feed_forward="clamped_swiglu", eps=facts.number("rms_norm_eps", 1e-5), sinks=True)
    return _with_experts(shape, facts, 128, 4)


def _with_experts(shape: Shape, facts: Facts, usual: int, usually_chosen: int) -> Shape:
    """Return a shape whose blocks are made of experts, each as wide as its block is."""
    n = facts.size("num_experts" if facts.get("num_experts") else "num_local_experts", "experts", otherwise=usual)
    chosen = facts.size("num_experts_per_tok", "experts", otherwise=usually_chosen)
    if chosen > n:
        raise facts.odd("num_experts_per_tok", chosen, f"1 to {n}, the number of experts")
    return replace(shape, d_ff=n * shape.d_ff, n_experts=n, n_chosen=chosen)


def gemma(facts: Facts) -> Shape:
    facts.only("use_bidirectional_attention", None, False)
    gated = {"feed_forward": "geglu_tanh"} if facts.get("hidden_act", "gelu") == "gelu" else {}
    return llama(facts, gain=1.0, embedding_factor=math.sqrt(facts.size("hidden_size")), **gated)


def gemma3(facts: Facts) -> Shape:
    """Return the shape of Gemma 3: a norm of queries and keys, and another base of RoPE in layers with a window."""
    facts.only("attn_logit_softcapping", None, 0.0)  # Transformers reads it and uses nothing of it
    return gemma2(facts)


def _fits(facts: Facts) -> bool:
    """Return whether the longest sentence is one that the page's widths can hold; some models take a million tokens."""
    most = facts.get("max_position_embeddings", 0)
    return type(most) is int and 1 <= most <= MAX_SIZES["width"]


def gemma2(facts: Facts) -> Shape:
    cap = facts.get("attn_logit_softcapping", 0.0)
    facts.only("use_bidirectional_attention", None, False)
    changes = {"norm_applied": "both", "gain": 1.0, "embedding_factor": math.sqrt(facts.size("hidden_size"))}
    scale = facts.number("query_pre_attn_scalar", 256.0) ** -0.5
    if facts.get("final_logit_softcapping", 0.0):
        changes["logits_softcap"] = facts.number("final_logit_softcapping")
    return llama(facts, softcap=facts.number("attn_logit_softcapping") if cap else 0.0, scale=scale, **changes)


def _windows(facts: Facts, n_layers: int) -> tuple[int | None, ...]:
    """Return the number of positions back that each layer may attend to."""
    usual = {"gemma3_text": 4096, "gpt_oss": 128}.get(facts.family)
    if not facts.get("sliding_window", usual) or facts.get("use_sliding_window") is False:
        return (None,) * n_layers
    reach, kinds = facts.size("sliding_window", otherwise=usual) - 1, facts.get("layer_types")
    if kinds is None:
        if facts.family in ("mistral", "mixtral", "phi3", "qwen3_moe", "starcoder2"):
            return (reach,) * n_layers
        if facts.family == "gemma3_text":
            pattern = facts.size("sliding_window_pattern", otherwise=6)
            return tuple(None if layer % pattern == pattern - 1 else reach for layer in range(n_layers))
        if facts.family in ("gemma2", "gpt_oss"):
            return tuple(None if layer % 2 else reach for layer in range(n_layers))
        first = facts.get("max_window_layers", n_layers)
        return tuple(reach if layer >= first else None for layer in range(n_layers))
    if not isinstance(kinds, list) or len(kinds) != n_layers or not {*map(str, kinds)} <= {
        "full_attention", "sliding_attention",
    }:  # fmt: skip
        raise facts.odd("layer_types", kinds, "full_attention or sliding_attention for each layer")
    return tuple(reach if kind == "sliding_attention" else None for kind in kinds)


GPT_OSS_ROTATION = {"rope_type": "yarn", "factor": 32.0, "truncate": False, "original_max_position_embeddings": 4096}
"""RoPE of a model of GPT-OSS whose config.json says nothing of it."""


def _rotations(facts: Facts, width: int, windows: tuple[int | None, ...]) -> tuple[Rotation, ...]:
    """Return the rotation of each layer: the same in all, but in Gemma 3 layers with a window have their own base."""
    if facts.family != "gemma3_text":
        before = {"rope_theta": 150_000.0} if facts.family == "gpt_oss" else {}
        if before and not (facts.get("rope_scaling") or facts.get("rope_parameters")):
            return (rotation(facts, width, before | GPT_OSS_ROTATION),) * len(windows)
        return (rotation(facts, width, before),) * len(windows)
    given = facts.get("rope_parameters", {})
    given = given if isinstance(given, dict) else {}
    wide = {"rope_theta": facts.get("rope_theta", 1e6)} | (facts.get("rope_scaling") or {})
    near = {"rope_theta": facts.get("rope_local_base_freq", 1e4)}
    said = {"model_type": facts.family, "max_position_embeddings": facts.get("max_position_embeddings", 131_072)}
    whole, window = (
        rotation(Facts(said | {"rope_parameters": _without_truncate(before | (given.get(kind) or {}))}), width, {})
        for kind, before in (("full_attention", wide), ("sliding_attention", near))
    )
    return tuple(whole if reach is None else window for reach in windows)


def _without_truncate(rope: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is said of one kind of layer without `truncate`, which Transformers does not look up there."""
    return {name: value for name, value in rope.items() if name != "truncate"}
