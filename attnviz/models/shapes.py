"""The parts of a model's layers, read from its config.json.

What a config.json can say beyond what is read here is refused, so that no model is computed almost right.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words

FAULTS = Words(
    {
        "missing": "config.json does not say {name}, which a {family} model needs",
        "value": "config.json says {name} is {given}; what is read here: {known}",
        "size": "config.json says {name} is {given}; a model has {least} to {most}",
    }
)
MAX_SIZES = {"layers": 256, "heads": 256, "width": 65_536}

ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "relu": "relu",
}
GATED = {"silu": "swiglu", "swish": "swiglu", "gelu": "geglu", "gelu_pytorch_tanh": "geglu_tanh"}
"""The rows of feed-forward blocks by what a config.json calls their activation."""


@dataclass(frozen=True)
class Shape:
    """The parts of the layers of one model.

    d_ff         width of the feed-forward block, 0 for none
    norm         layer or rms;  `norm_applied` before, after or both: on the way in and on the way out, before the sum
    windows      for each layer how many positions back it looks, None for all
    frequencies  the angle of RoPE a position for each pair of columns, None without RoPE
    gain         what is added to every stored gain
    parallel     whether the feed-forward block reads what attention read
    logits_softcap  what squeezes the logits of next words, 0 for nothing
    """

    n_layers: int
    n_heads: int
    n_kv_heads: int
    d_model: int
    d_head: int
    d_ff: int
    feed_forward: str
    norm: str
    norm_applied: str
    eps: float
    causal: bool
    n_positions: int | None
    windows: tuple[int | None, ...]
    scale: float | None = None
    softcap: float = 0.0
    frequencies: Array | None = None
    rope_base: float = 10_000.0
    embedding_factor: float = 1.0
    first_position: int = 0
    gain: float = 0.0
    parallel: bool = False
    logits_softcap: float = 0.0


def _shown(value: Any) -> str:
    """Return a value of a config.json in a sentence: numbers as they are, everything else in quotes and cut."""
    return repr(value) if isinstance(value, (int, float)) and abs(value) < 1e15 else shorten(str(value))


class Facts:
    """A config.json, asked for what is needed of it. Each question raises ConfigError for what cannot be."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._config = config
        self.family = str(config.get("model_type"))

    def get(self, name: str, otherwise: Any = None) -> Any:
        """Return the value of a name, or a default where there is none."""
        value = self._config.get(name)
        return otherwise if value is None else value

    def size(self, name: str, most: str = "width", otherwise: int | None = None, least: int = 1) -> int:
        """Return a whole number from `least` on."""
        value = self.get(name, otherwise)
        if value is None:
            raise ConfigError(FAULTS["missing"].format(name=name, family=self.family))
        if type(value) is not int or not least <= value <= MAX_SIZES[most]:
            raise ConfigError(FAULTS["size"].format(name=name, given=_shown(value), least=least, most=MAX_SIZES[most]))
        return value

    def number(self, name: str, otherwise: float | None = None) -> float:
        """Return a number above 0."""
        value = self.get(name, otherwise)
        if value is None:
            raise ConfigError(FAULTS["missing"].format(name=name, family=self.family))
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
            raise self.odd(name, value, "a number above 0")
        return float(value)

    def one_of(self, name: str, rows: Mapping[str, str], otherwise: str | None = None) -> str:
        """Return a row by what the file calls it."""
        value = self.get(name, otherwise)
        if not isinstance(value, str) or value not in rows:
            raise self.odd(name, value, ", ".join(rows))
        return rows[value]

    def only(self, name: str, *usual: Any) -> None:
        """Hold what is said, if anything is, to the values that are read here."""
        if name in self._config and self._config[name] not in usual:
            raise self.odd(name, self._config[name], ", ".join(map(repr, usual)))

    @staticmethod
    def odd(name: str, value: Any, known: str) -> ConfigError:
        return ConfigError(FAULTS["value"].format(name=name, given=_shown(value), known=known))


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
        n_layers, n, n, d, _divided(facts, d, n, name["width"]), facts.size(name["ff"]),
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


def distilbert(facts: Facts) -> Shape:
    facts.only("sinusoidal_pos_embds", False, True)  # either way a table that the file holds
    return bert(facts, layers="n_layers", heads="n_heads", width="dim", ff="hidden_dim", act="activation")


def gpt2(facts: Facts) -> Shape:
    facts.only("scale_attn_weights", True)
    facts.only("scale_attn_by_inverse_layer_idx", False)
    facts.only("add_cross_attention", False)
    n, d, n_layers = facts.size("n_head", "heads"), facts.size("n_embd"), facts.size("n_layer", "layers")
    return Shape(
        n_layers, n, n, d, _divided(facts, d, n, "n_embd"), facts.size("n_inner", otherwise=4 * d),
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
        n_layers, n, n, d, _divided(facts, d, n, "hidden_size"), facts.size("ffn_dim"),
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
        n_layers, n, n, d, _divided(facts, d, n, "hidden_size"), facts.size("intermediate_size", otherwise=4 * d),
        facts.one_of("activation_function", ACTIVATIONS, "gelu_new"), "layer", "before",
        facts.number("layer_norm_epsilon", 1e-5), causal=True, scale=1.0,
        n_positions=facts.size("max_position_embeddings", otherwise=2048),
        windows=tuple(window if kind == "local" else None for kind in kinds),
    )  # fmt: skip


def gpt_neox(facts: Facts) -> Shape:
    n, d = facts.size("num_attention_heads", "heads"), facts.size("hidden_size")
    n_layers, width = facts.size("num_hidden_layers", "layers"), _divided(facts, d, n, "hidden_size")
    share = {"partial_rotary_factor": facts.get("rotary_pct", 1.0), "rope_theta": facts.get("rotary_emb_base", 1e4)}
    base, frequencies = _rotation(facts, width, share)
    return Shape(
        n_layers, n, n, d, width, facts.size("intermediate_size"), facts.one_of("hidden_act", ACTIVATIONS), "layer",
        "before", facts.number("layer_norm_eps", 1e-5), causal=True,
        n_positions=facts.size("max_position_embeddings", otherwise=2048), windows=(None,) * n_layers,
        frequencies=frequencies, rope_base=base, parallel=facts.get("use_parallel_residual", True) is True,
    )  # fmt: skip


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
    base, frequencies = _rotation(facts, width, {})
    act = "hidden_activation" if facts.get("hidden_activation") else "hidden_act"
    d_ff = facts.size("intermediate_size", least=0)
    fields: dict[str, Any] = {
        "feed_forward": facts.one_of(act, GATED, "silu") if d_ff else "none", "norm": "rms", "norm_applied": "before",
        "eps": facts.number("rms_norm_eps", 1e-6), "causal": True, "frequencies": frequencies, "rope_base": base,
        "n_positions": facts.size("max_position_embeddings", otherwise=65_536) if _fits(facts) else None,
        "windows": _windows(facts, n_layers),
    }  # fmt: skip
    return Shape(n_layers, n, n_kv, d, width, d_ff, **(fields | changes))


def starcoder2(facts: Facts) -> Shape:
    changes = {"norm": "layer", "eps": facts.number("norm_epsilon", 1e-5)}
    return llama(facts, feed_forward=facts.one_of("hidden_act", ACTIVATIONS, "gelu_pytorch_tanh"), **changes)


def gemma(facts: Facts) -> Shape:
    facts.only("use_bidirectional_attention", None, False)
    gated = {"feed_forward": "geglu_tanh"} if facts.get("hidden_act", "gelu") == "gelu" else {}
    return llama(facts, gain=1.0, embedding_factor=math.sqrt(facts.size("hidden_size")), **gated)


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
    if not facts.get("sliding_window") or facts.get("use_sliding_window") is False:
        return (None,) * n_layers
    reach, kinds = facts.size("sliding_window", otherwise=None) - 1, facts.get("layer_types")
    if kinds is None:
        if facts.family in ("mistral", "phi3", "starcoder2"):
            return (reach,) * n_layers
        if facts.family == "gemma2":
            return tuple(None if layer % 2 else reach for layer in range(n_layers))
        first = facts.get("max_window_layers", n_layers)
        return tuple(reach if layer >= first else None for layer in range(n_layers))
    if not isinstance(kinds, list) or len(kinds) != n_layers or not {*map(str, kinds)} <= {
        "full_attention", "sliding_attention",
    }:  # fmt: skip
        raise facts.odd("layer_types", kinds, "full_attention or sliding_attention for each layer")
    return tuple(reach if kind == "sliding_attention" else None for kind in kinds)


def _divided(facts: Facts, d: int, n: int, name: str) -> int:
    if d % n:
        raise facts.odd(name, d, f"a multiple of {n}, the number of heads")
    return d // n


def _rotation(facts: Facts, width: int, before: Mapping[str, Any]) -> tuple[float, Array]:
    """Return RoPE's base, and its angle a position for each pair of columns.

    Source: Su et al. 2021, arXiv:2104.09864; the scaling of Llama 3.1 is that of its model card and of Transformers.
    """
    config = dict(before) | {"rope_theta": facts.get("rope_theta", before.get("rope_theta", 1e4))}
    for name in ("rope_scaling", "rope_parameters"):
        config |= facts.get(name, {}) if isinstance(facts.get(name, {}), dict) else {}
    rope = Facts({"model_type": facts.family} | config)
    base = rope.number("rope_theta")
    rotated = int(width * rope.number("partial_rotary_factor", 1.0))
    frequencies = base ** (-np.arange(0, rotated - rotated % 2, 2) / max(rotated, 1))
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind == "default":
        return base, frequencies
    if kind == "linear":
        return base, frequencies / rope.number("factor")
    if kind != "llama3":
        raise facts.odd("rope_type", kind, "default, linear, llama3")
    low, high, old = (rope.number(name) for name in LLAMA_3)
    smooth = np.clip((old * frequencies / (2 * math.pi) - low) / (high - low), 0.0, 1.0)
    return base, (1.0 - smooth) * frequencies / rope.number("factor") + smooth * frequencies


LLAMA_3 = ("low_freq_factor", "high_freq_factor", "original_max_position_embeddings")
