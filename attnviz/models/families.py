"""The families of models that can be read, and where each matrix of a layer lies in their files.

A family is a `Family`, a row of FAMILIES by the `model_type` of a config.json.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from attnviz.models.shapes import decoders, encoders, llamas, pairs
from attnviz.models.shapes.facts import Facts
from attnviz.models.shapes.shape import Shape
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words

FAULTS = Words(
    {
        "family": "model_type {given} is not read here; the families that are: {known}; of_model shows any other that "
        "PyTorch has in memory"
    }
)


@dataclass(frozen=True)
class Names:
    """The names of the parts of a layer behind `layer`, in which {i} is its number; each has .weight and maybe .bias.

    fused    how queries, keys and values share one matrix: not, by columns, or head by head
    up       the second matrix of a gate, of the same name as the first where one holds both
    ungated  what the first matrix is called in a model of the family that has no gate, where `up` names one
    norm_over_heads  whether the norm of queries, and that of keys, is one of all heads
    router   the matrix that says which experts suit a token;  `experts` what stands before the number of an expert,
             behind which hidden, up and down are named
    interleaved  whether the matrices of all experts are one each, whose columns are of gate and up in turn
    sinks    the scores of the sinks, one for each head
    linear   whether a matrix is stored as (out, in), as nn.Linear does
    """

    layer: str
    queries: str
    keys: str
    values: str
    output: str
    norm_1: str
    norm_2: str
    hidden: str
    down: str
    up: str = ""
    ungated: str = ""
    norm_1_out: str = ""
    norm_2_out: str = ""
    norm_queries: str = ""
    norm_keys: str = ""
    norm_over_heads: bool = False
    fused: str = ""
    router: str = ""
    experts: str = ""
    interleaved: bool = False
    sinks: str = ""
    linear: bool = True


@dataclass(frozen=True)
class Family:
    """The fields of a family's config.json, and the names of its arrays.

    base    what stands before all names where the file holds a model with a head
    tokens, positions, types, norm   the tables of vectors, and the norm of their sum
    final   the norm behind the last layer
    buckets  the table of the numbers that are added to the scores by distance, a row a range of distances
    unused  what a config.json may only say in the usual way
    patches, first  the projection of patches and the vector before them, of a family that reads images
    """

    read: Callable[[Facts], Shape]
    names: Names
    base: str
    tokens: str
    positions: str = ""
    types: str = ""
    norm: str = ""
    final: str = ""
    patches: str = ""
    first: str = ""
    buckets: str = ""


def family_of(config: Mapping[str, Any]) -> tuple[Family, Shape]:
    """Return the family of a config.json and the shape of its layers. Raises ConfigError for what is not read here."""
    facts = Facts(config)
    if facts.family not in FAMILIES:
        raise ConfigError(FAULTS["family"].format(given=shorten(facts.family), known=", ".join(FAMILIES)))
    family = FAMILIES[facts.family]
    return family, family.read(facts)


_BERT = Names(
    "encoder.layer.{i}.", "attention.self.query", "attention.self.key", "attention.self.value",
    "attention.output.dense", "attention.output.LayerNorm", "output.LayerNorm", "intermediate.dense", "output.dense",
)  # fmt: skip
_DISTILBERT = Names(
    "transformer.layer.{i}.", "attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin",
    "sa_layer_norm", "output_layer_norm", "ffn.lin1", "ffn.lin2",
)  # fmt: skip
_VIT = Names(
    "encoder.layer.{i}.", "attention.attention.query", "attention.attention.key", "attention.attention.value",
    "attention.output.dense", "layernorm_before", "layernorm_after", "intermediate.dense", "output.dense",
)  # fmt: skip
_GPT_2 = Names(
    "h.{i}.", "attn.c_attn", "", "", "attn.c_proj", "ln_1", "ln_2", "mlp.c_fc", "mlp.c_proj",
    fused="columns", linear=False,
)  # fmt: skip
_GPT_NEO = Names(
    "h.{i}.", "attn.attention.q_proj", "attn.attention.k_proj", "attn.attention.v_proj", "attn.attention.out_proj",
    "ln_1", "ln_2", "mlp.c_fc", "mlp.c_proj",
)  # fmt: skip
_GPT_NEOX = Names(
    "layers.{i}.", "attention.query_key_value", "", "", "attention.dense", "input_layernorm",
    "post_attention_layernorm", "mlp.dense_h_to_4h", "mlp.dense_4h_to_h", fused="heads",
)  # fmt: skip
_LLAMA = Names(
    "layers.{i}.", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "input_layernorm",
    "post_attention_layernorm", "mlp.gate_proj", "mlp.down_proj", up="mlp.up_proj",
    norm_queries="self_attn.q_norm", norm_keys="self_attn.k_norm",
)  # fmt: skip
_GEMMA_2 = Names(
    "layers.{i}.", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "input_layernorm",
    "pre_feedforward_layernorm", "mlp.gate_proj", "mlp.down_proj", up="mlp.up_proj",
    norm_1_out="post_attention_layernorm", norm_2_out="post_feedforward_layernorm",
)  # fmt: skip

_GEMMA_3 = replace(_GEMMA_2, norm_queries="self_attn.q_norm", norm_keys="self_attn.k_norm")
_MIXTRAL = replace(
    _LLAMA, norm_queries="", norm_keys="", router="block_sparse_moe.gate", experts="block_sparse_moe.experts.",
    hidden="w1", up="w3", down="w2",
)  # fmt: skip
_QWEN_3_MOE = replace(
    _LLAMA, router="mlp.gate", experts="mlp.experts.", hidden="gate_proj", up="up_proj", down="down_proj"
)
_GPT_OSS = replace(
    _LLAMA, norm_queries="", norm_keys="", router="mlp.router", experts="mlp.experts.", interleaved=True,
    sinks="self_attn.sinks",
)  # fmt: skip
_OLMO_2 = replace(
    _LLAMA, norm_1="", norm_2="", norm_1_out="post_attention_layernorm", norm_2_out="post_feedforward_layernorm",
    norm_over_heads=True,
)  # fmt: skip
_PHI_3 = replace(
    _LLAMA, queries="self_attn.qkv_proj", keys="", values="", hidden="mlp.gate_up_proj", up="mlp.gate_up_proj",
    norm_queries="", norm_keys="", fused="columns",
)  # fmt: skip
_STARCODER_2 = replace(_LLAMA, hidden="mlp.c_fc", down="mlp.c_proj", up="", norm_queries="", norm_keys="")
_OPT = Names(
    "decoder.layers.{i}.", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.out_proj",
    "self_attn_layer_norm", "final_layer_norm", "fc1", "fc2",
)  # fmt: skip

_T5 = Names(
    "encoder.block.{i}.", "layer.0.SelfAttention.q", "layer.0.SelfAttention.k", "layer.0.SelfAttention.v",
    "layer.0.SelfAttention.o", "layer.0.layer_norm", "layer.1.layer_norm", "layer.1.DenseReluDense.wi_0",
    "layer.1.DenseReluDense.wo", up="layer.1.DenseReluDense.wi_1", ungated="layer.1.DenseReluDense.wi",
)  # fmt: skip
_T5_DECODER = replace(_T5, layer="decoder.block.{i}.")
_T5_CROSS = Names(
    "decoder.block.{i}.", "layer.1.EncDecAttention.q", "layer.1.EncDecAttention.k", "layer.1.EncDecAttention.v",
    "layer.1.EncDecAttention.o", "layer.1.layer_norm", "layer.2.layer_norm", "layer.2.DenseReluDense.wi_0",
    "layer.2.DenseReluDense.wo", up="layer.2.DenseReluDense.wi_1", ungated="layer.2.DenseReluDense.wi",
)  # fmt: skip
_BART = replace(_OPT, layer="encoder.layers.{i}.")
_BART_CROSS = Names(
    "decoder.layers.{i}.", "encoder_attn.q_proj", "encoder_attn.k_proj", "encoder_attn.v_proj", "encoder_attn.out_proj",
    "encoder_attn_layer_norm", "final_layer_norm", "fc1", "fc2",
)  # fmt: skip

_WORDS = {"tokens": "embeddings.word_embeddings", "positions": "embeddings.position_embeddings"}
_TYPED = _WORDS | {"types": "embeddings.token_type_embeddings", "norm": "embeddings.LayerNorm"}
_PATCHES = {"patches": "embeddings.patch_embeddings.projection", "first": "embeddings.cls_token"}
_LLAMAS = {"tokens": "embed_tokens", "final": "norm"}

FAMILIES = {
    "bert": Family(encoders.bert, _BERT, "bert.", **_TYPED),
    "roberta": Family(encoders.roberta, _BERT, "roberta.", **_TYPED),
    "xlm-roberta": Family(encoders.roberta, _BERT, "roberta.", **_TYPED),
    "camembert": Family(encoders.roberta, _BERT, "roberta.", **_TYPED),
    "electra": Family(encoders.electra, _BERT, "electra.", **_TYPED),
    "distilbert": Family(encoders.distilbert, _DISTILBERT, "distilbert.", **_WORDS, norm="embeddings.LayerNorm"),
    "gpt2": Family(decoders.gpt2, _GPT_2, "transformer.", "wte", "wpe", final="ln_f"),
    "gpt_neo": Family(decoders.gpt_neo, _GPT_NEO, "transformer.", "wte", "wpe", final="ln_f"),
    "gpt_neox": Family(decoders.gpt_neox, _GPT_NEOX, "gpt_neox.", "embed_in", final="final_layer_norm"),
    "opt": Family(
        decoders.opt,
        _OPT,
        "model.",
        "decoder.embed_tokens",
        "decoder.embed_positions",
        final="decoder.final_layer_norm",
    ),
    "llama": Family(llamas.llama, _LLAMA, "model.", **_LLAMAS),
    "mistral": Family(llamas.llama, _LLAMA, "model.", **_LLAMAS),
    "qwen2": Family(llamas.llama, _LLAMA, "model.", **_LLAMAS),
    "qwen3": Family(llamas.llama, _LLAMA, "model.", **_LLAMAS),
    "qwen3_moe": Family(llamas.qwen3_moe, _QWEN_3_MOE, "model.", **_LLAMAS),
    "mixtral": Family(llamas.mixtral, _MIXTRAL, "model.", **_LLAMAS),
    "gpt_oss": Family(llamas.gpt_oss, _GPT_OSS, "model.", **_LLAMAS),
    "phi3": Family(llamas.llama, _PHI_3, "model.", **_LLAMAS),
    "starcoder2": Family(llamas.starcoder2, _STARCODER_2, "model.", **_LLAMAS),
    "olmo2": Family(llamas.olmo2, _OLMO_2, "model.", **_LLAMAS),
    "gemma": Family(llamas.gemma, _LLAMA, "model.", **_LLAMAS),
    "gemma3_text": Family(llamas.gemma3, _GEMMA_3, "model.", **_LLAMAS),
    "gemma2": Family(llamas.gemma2, _GEMMA_2, "model.", **_LLAMAS),
    "vit": Family(encoders.vit, _VIT, "vit.", "", "embeddings.position_embeddings", final="layernorm", **_PATCHES),
    "t5": Family(
        pairs.t5,
        _T5,
        "",
        "shared",
        final="encoder.final_layer_norm",
        buckets="encoder.block.0.layer.0.SelfAttention.relative_attention_bias",
    ),
    "bart": Family(
        pairs.bart, _BART, "model.", "shared", "encoder.embed_positions", norm="encoder.layernorm_embedding"
    ),
}

T5_BUCKETS = "decoder.block.0.layer.0.SelfAttention.relative_attention_bias"
DECODERS = {
    "t5": (
        Family(pairs.t5_decoder, _T5_DECODER, "", "shared", final="decoder.final_layer_norm", buckets=T5_BUCKETS),
        Family(pairs.t5_decoder, _T5_CROSS, "", "shared"),
    ),
    "bart": (
        Family(
            pairs.bart_decoder,
            _OPT,
            "model.",
            "shared",
            "decoder.embed_positions",
            norm="decoder.layernorm_embedding",
        ),
        Family(pairs.bart_decoder, _BART_CROSS, "model.", "shared"),
    ),
}
"""The two halves of each layer of a decoder beside an encoder: attention to itself, then to the encoder, and the
feed-forward block.
"""
