"""Write a trained network as a folder that Hugging Face Transformers and `attnviz.load` read."""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from attnviz.models.safetensors import Tensors
from tools.corpus.documents import LONGEST
from tools.corpus.words import NUMBER, SPARE, START, UNKNOWN, VOCABULARY
from tools.training.network import BASE, EPS, Network, Sizes

LAYER = {
    "norm_1": "input_layernorm",
    "q": "self_attn.q_proj",
    "k": "self_attn.k_proj",
    "v": "self_attn.v_proj",
    "o": "self_attn.o_proj",
    "norm_2": "post_attention_layernorm",
    "gate": "mlp.gate_proj",
    "up": "mlp.up_proj",
    "down": "mlp.down_proj",
}
"""The parts of a layer of the network, by the names that Llama's files have for them."""


def save(net: Network, folder: Path) -> str:
    """Write the files of a model; return the SHA-256 of its weights."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = _safetensors(_arrays(net))
    (folder / "model.safetensors").write_bytes(weights)
    _write(folder / "config.json", _config(net.sizes), indent=1)
    _write(folder / "tokenizer.json", _tokeniser())
    _write(folder / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", "spare_tokens": SPARE})
    return hashlib.sha256(weights).hexdigest()


def _write(path: Path, what: Any, indent: int | None = None) -> None:
    separators = None if indent else (",", ":")
    path.write_text(json.dumps(what, indent=indent, separators=separators) + "\n", encoding="utf-8")


def _arrays(net: Network) -> dict[str, NDArray[np.float16]]:
    """Return the network's weights by Llama's names."""
    arrays = net.state_dict()
    named = _names(net.sizes)
    return {name: arrays[ours].numpy().astype(np.float16) for ours, name in named.items() if ours in arrays}


def _names(sizes: Sizes) -> dict[str, str]:
    """Return Llama's names of the network's weights, by its own."""
    named = {"words.weight": "model.embed_tokens.weight", "norm.weight": "model.norm.weight"}
    named |= {} if sizes.tied else {"out.weight": "lm_head.weight"}
    for i in range(sizes.n_layers):
        named |= {f"layers.{i}.{ours}.weight": f"model.layers.{i}.{name}.weight" for ours, name in LAYER.items()}
    return named


def opened(folder: Path, sizes: Sizes) -> Network:
    """Return the network of a shipped file."""
    net, file = Network(sizes, len(VOCABULARY), LONGEST), Tensors(folder)
    arrays = {ours: file[name] for ours, name in _names(sizes).items() if name in file}
    arrays |= {"out.weight": arrays["words.weight"]} if sizes.tied else {}
    net.load_state_dict({ours: torch.tensor(np.asarray(x, dtype=np.float32)) for ours, x in arrays.items()})
    return net


def _safetensors(arrays: dict[str, NDArray[np.float16]]) -> bytes:
    """Return arrays as a file of Hugging Face's format: the length of a header, the header, the numbers."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    parts, at = [], 0
    for name, array in sorted(arrays.items()):
        numbers = array.astype("<f2").tobytes()
        header[name] = {"dtype": "F16", "shape": array.shape, "data_offsets": [at, at + len(numbers)]}
        parts.append(numbers)
        at += len(numbers)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(parts)


def _config(sizes: Sizes) -> dict[str, Any]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": len(VOCABULARY),
        "hidden_size": sizes.d_model,
        "intermediate_size": sizes.d_ff,
        "num_hidden_layers": sizes.n_layers,
        "num_attention_heads": sizes.n_heads,
        "num_key_value_heads": sizes.n_heads,
        "head_dim": sizes.d_head,
        "hidden_act": "silu",
        "rms_norm_eps": EPS,
        "rope_theta": BASE,
        "max_position_embeddings": LONGEST,
        "tie_word_embeddings": sizes.tied,
        "bos_token_id": NUMBER[START],
        "eos_token_id": NUMBER[START],
    }


def _tokeniser() -> dict[str, Any]:
    """Return a tokeniser of whole words, as a WordPiece whose vocabulary has no parts of words."""
    start = {"SpecialToken": {"id": START, "type_id": 0}}
    first, second = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    added = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": NUMBER[word], "content": word, **added} for word in (START, UNKNOWN, *SPARE)],
        "normalizer": {
            "type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": False, "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing", "single": [start, first], "pair": [start, first, second],
            "special_tokens": {START: {"id": START, "ids": [NUMBER[START]], "tokens": [START]}},
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece", "unk_token": UNKNOWN, "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": NUMBER,
        },
    }  # fmt: skip
