"""GPT-2 and the decoders of its time."""

from __future__ import annotations

from attnviz.models.shapes.facts import ACTIVATIONS, Facts, divided
from attnviz.models.shapes.rotation import rotation
from attnviz.models.shapes.shape import Shape


def gpt2(facts: Facts) -> Shape:
    facts.only("scale_attn_weights", True)
    facts.only("scale_attn_by_inverse_layer_idx", False)
    facts.only("add_cross_attention", False)
    n, d, n_layers = facts.size("n_head", "heads"), facts.size("n_embd"), facts.size("n_layer", "layers")
    return Shape(
        n_layers, n, n, d, divided(facts, d, n, "n_embd"), facts.size("n_inner", otherwise=4 * d),
        facts.one_of("activation_function", ACTIVATIONS, "gelu_new"), "layer", "before",
        facts.number("layer_norm_epsilon", 1e-5), causal=True,
        n_positions=facts.size("n_positions", otherwise=1024), windows=(None,) * n_layers,
    )  # fmt: skip


def opt(facts: Facts) -> Shape:
    n, d = facts.size("num_attention_heads", "heads"), facts.size("hidden_size")
    n_layers = facts.size("num_hidden_layers", "layers")
    for name, usual in (("do_layer_norm_before", True), ("_remove_final_layer_norm", False)):
        facts.only(name, usual)
    facts.only("word_embed_proj_dim", d, None)
    facts.only("layer_norm_elementwise_affine", True)
    return Shape(
        n_layers, n, n, d, divided(facts, d, n, "hidden_size"), facts.size("ffn_dim"),
        facts.one_of("activation_function", ACTIVATIONS, "relu"), "layer", "before", 1e-5, causal=True,
        n_positions=facts.size("max_position_embeddings", otherwise=2048), windows=(None,) * n_layers,
        first_position=2,
    )  # fmt: skip


def gpt_neo(facts: Facts) -> Shape:
    n, d, n_layers = facts.size("num_heads", "heads"), facts.size("hidden_size"), facts.size("num_layers", "layers")
    kinds = facts.get("attention_layers")
    if not isinstance(kinds, list) or len(kinds) != n_layers or not {*map(str, kinds)} <= {"global", "local"}:
        raise facts.odd("attention_layers", kinds, "global or local for each layer")
    window = facts.size("window_size", otherwise=256) - 1
    return Shape(
        n_layers, n, n, d, divided(facts, d, n, "hidden_size"), facts.size("intermediate_size", otherwise=4 * d),
        facts.one_of("activation_function", ACTIVATIONS, "gelu_new"), "layer", "before",
        facts.number("layer_norm_epsilon", 1e-5), causal=True, scale=1.0,
        n_positions=facts.size("max_position_embeddings", otherwise=2048),
        windows=tuple(window if kind == "local" else None for kind in kinds),
    )  # fmt: skip


def gpt_neox(facts: Facts) -> Shape:
    n, d = facts.size("num_attention_heads", "heads"), facts.size("hidden_size")
    n_layers, width = facts.size("num_hidden_layers", "layers"), divided(facts, d, n, "hidden_size")
    share = {"partial_rotary_factor": facts.get("rotary_pct", 1.0), "rope_theta": facts.get("rotary_emb_base", 1e4)}
    frequencies, by = rotation(facts, width, share)
    return Shape(
        n_layers, n, n, d, width, facts.size("intermediate_size"), facts.one_of("hidden_act", ACTIVATIONS), "layer",
        "before", facts.number("layer_norm_eps", 1e-5), causal=True,
        n_positions=facts.size("max_position_embeddings", otherwise=2048), windows=(None,) * n_layers,
        frequencies=(frequencies,) * n_layers, rotated_by=(by,) * n_layers,
        parallel=facts.get("use_parallel_residual", True) is True,
    )  # fmt: skip
