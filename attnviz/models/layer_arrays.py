"""The arrays of one layer of a model, by the names that they have in a trace; all are views of what the file holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.pretrained.model_facts import TensorSlice
from attnviz.models import experts
from attnviz.models.families import Family
from attnviz.models.safetensors import Tensors, of_floats, shaped
from attnviz.models.shapes.shape import Shape
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words

OUTPUTS = ("lm_head.weight", "embed_out.weight")
"""Names of the matrix that turns a vector into the next word."""

TIED = ("encoder.embed_tokens", "decoder.embed_tokens")
"""Other names of the table of tokens where an encoder and a decoder share it."""

OLD_NAMES = {"weight": "gamma", "bias": "beta"}
"""The names of the gain of a norm and of what it adds in files that were converted from TensorFlow, as BERT's own."""

APART = ("gpt_neox", "gpt_oss", "llama", "mistral", "mixtral", "olmo2", "phi3", "qwen2", "qwen3", "qwen3_moe")
"""The families in which it is not the table of tokens unless a config.json says so."""


FAULTS = Words(
    {
        "table": "a table of vectors has shape {shape}; config.json makes its rows {d} wide",
        "kernel": "the projection of patches has shape {shape}; config.json makes it ({d}, 3, height, width)",
    }
)


class Arrays:
    """The arrays of a model by what they are for. Raises ConfigError for one that is missing or misshapen.

    `positions` says where in the files those that were asked for last lie.
    """

    def __init__(self, tensors: Mapping[str, Array], family: Family, shape: Shape) -> None:
        self._tensors, self._family, self._shape = tensors, family, shape
        self.slices: dict[str, TensorSlice] = {}
        self._base = family.base if any(name.startswith(family.base) for name in tensors) else ""

    def _locate(self, symbol: str, tensor: str, axis: str, **more: float) -> None:
        file = self._tensors.file(tensor) if isinstance(self._tensors, Tensors) else ""
        self.slices[symbol] = TensorSlice(tensor, axis, file, **more)  # type: ignore[arg-type]

    def tables(self) -> dict[str, Array]:
        """Return the tables of vectors, a row a token or a position; of a model of images also what reads patches."""
        family = self._family
        if family.patches:
            return self._of_images()
        parts = {"tokens": family.tokens, "positions": family.positions, "types": family.types}
        return {part: self.table(part, name) for part, name in parts.items() if name}

    def table(self, part: str, name: str) -> Array:
        """Return a table of vectors, a row a token or a position."""
        tensor = f"{self._base}{name}.weight"
        if part == "tokens" and tensor not in self._tensors:  # of the tables that are one, a file may keep another
            tensor = next((each for each in (f"{self._base}{n}.weight" for n in TIED) if each in self._tensors), tensor)
        self._locate(part, tensor, "row")
        array = of_floats(self._tensors, tensor)
        if array.ndim != 2 or array.shape[1] != self._shape.d_model:
            raise ConfigError(FAULTS["table"].format(shape=array.shape, d=self._shape.d_model))
        return array

    def _of_images(self) -> dict[str, Array]:
        """Return the vectors of positions, that of [CLS], and the projection of patches (numbers of one, d_model)."""
        family, d = self._family, self._shape.d_model
        positions = of_floats(self._tensors, f"{self._base}{family.positions}")
        if positions.ndim != 3 or positions.shape[0] != 1 or positions.shape[2] != d:
            raise ConfigError(FAULTS["table"].format(shape=positions.shape, d=d))
        self._locate("positions", f"{self._base}{family.positions}[0]", "row")
        kernel = of_floats(self._tensors, f"{self._base}{family.patches}.weight")
        if kernel.ndim != 4 or kernel.shape[:2] != (d, 3):
            raise ConfigError(FAULTS["kernel"].format(shape=kernel.shape, d=d))
        return {
            "positions": positions[0],
            "first": shaped(self._tensors, f"{self._base}{family.first}", 1, 1, d)[0],
            "patches": kernel.reshape(d, -1).T,
            "patch_bias": shaped(self._tensors, f"{self._base}{family.patches}.bias", d)[None],
        }

    def buckets(self) -> Array | None:
        """Return what each head adds to the scores in each range of distances, (H, ranges); None for no such table."""
        name = self._family.buckets
        if not name:
            return None
        return shaped(self._tensors, f"{self._base}{name}.weight", self._shape.buckets, self._shape.n_heads).T

    def head(self, config: Mapping[str, Any]) -> Array | None:
        """Return the matrix that turns a vector into the next word, a row a word; None where the file has none.

        config  of the model's folder: where it ties this matrix to the table of tokens, files leave it out
        """
        name = next((name for name in OUTPUTS if name in self._tensors), "")
        if name:
            return of_floats(self._tensors, name)
        tied = config.get("tie_word_embeddings", config["model_type"] not in APART)
        return self._tensors[f"{self._base}{self._family.tokens}.weight"] if tied else None

    def norm(self, name: str, symbol: str, width: int, *, adds: bool = False) -> dict[str, Array]:
        """Return the gain of a norm, and what it adds if it does or must; nothing where the family has no such norm."""
        arrays = {}
        if name:
            gain_name, added = self._of_norm(name, "weight"), self._of_norm(name, "bias")
            gain = shaped(self._tensors, gain_name, width)
            arrays[f"g_{symbol}"] = gain + np.float64(self._shape.gain) if self._shape.gain else gain
            self._locate(f"g_{symbol}", gain_name, "entry", plus=self._shape.gain)
            if adds or added in self._tensors:
                arrays[f"c_{symbol}"] = shaped(self._tensors, added, width)
                self._locate(f"c_{symbol}", added, "entry")
        return arrays

    def _of_norm(self, name: str, part: str) -> str:
        """Return the name that an array of a norm has in the files, its old one where only that is there."""
        now, old = (f"{self._base}{name}.{each}" for each in (part, OLD_NAMES[part]))
        return old if old in self._tensors and now not in self._tensors else now

    def layer(self, i: int) -> dict[str, Array]:
        """Return every matrix, bias and gain of a layer."""
        self.slices = {}
        shape, names = self._shape, self._family.names
        at = names.layer.format(i=i)
        d, joined = shape.d_model, shape.n_heads * shape.d_head
        arrays = self._fused(at) if names.fused else self._apart(at)
        arrays |= self._block(at + names.output, "o", joined, d)
        arrays |= self.norm(at + names.norm_1, "1", d) if names.norm_1 else {}
        arrays |= self._sinks(at + names.sinks) if names.sinks else {}
        arrays |= self._feed_forward(at) if shape.d_ff else {}
        for name, symbol in ((names.norm_1_out, "1_out"), (names.norm_2_out, "2_out")):
            arrays |= self.norm(at + name, symbol, d) if name else {}
        for name, symbol, n in (
            (names.norm_queries, "q", shape.n_heads),
            (names.norm_keys, "k", shape.n_kv_heads),
        ):
            if names.norm_over_heads:
                gain = self.norm(at + name, f"{symbol}_heads", n * shape.d_head)
                arrays |= {key: _by_head(array, (n, shape.d_head)) for key, array in gain.items()}
                self.slices |= {key: replace(self.slices[key], stride=shape.d_head) for key in gain}
            elif name and self._of_norm(at + name, "weight") in self._tensors:
                arrays |= self.norm(at + name, symbol, shape.d_head)
        return arrays

    def _feed_forward(self, at: str) -> dict[str, Array]:
        """Return the matrices and biases of the feed-forward block, and the gain of the norm before or after it."""
        shape, names = self._shape, self._family.names
        if names.router:
            return self._experts(at)
        if names.up == names.hidden:
            arrays = self._gated(at + names.hidden)
        else:
            hidden, up = (names.hidden, names.up) if shape.gated else (names.ungated or names.hidden, "")
            arrays = self._block(at + hidden, "1", shape.d_model, shape.d_ff)
            arrays |= self._block(at + up, "3", shape.d_model, shape.d_ff) if up else {}
        arrays |= self._block(at + names.down, "2", shape.d_ff, shape.d_model)
        return arrays | (self.norm(at + names.norm_2, "2", shape.d_model) if names.norm_2 else {})

    def _experts(self, at: str) -> dict[str, Array]:
        """Return the matrices of a block of experts, joined, that of its router, and the gain of the norm before it."""
        shape, names = self._shape, self._family.names
        router = names.router
        if f"{self._base}{at}{router}.weight" not in self._tensors:
            router = "mlp.gate"  # as Transformers 5 has it in memory
        arrays = self._block(at + router, "router", shape.d_model, shape.n_experts)
        whole, each = f"{self._base}{at}{names.experts}", {"gate": names.hidden, "up": names.up, "down": names.down}
        if names.interleaved:
            joined, slices = experts.interleaved(self._tensors, whole, shape)
        else:
            joined, slices = experts.joined(self._tensors, whole, each, shape)
        self.slices |= slices
        return arrays | joined | self.norm(at + names.norm_2, "2", shape.d_model)

    def _sinks(self, name: str) -> dict[str, Array]:
        """Return the scores of the sinks, one for each head."""
        self._locate("sinks", f"{self._base}{name}", "entry", stride=1)
        return {"sinks": shaped(self._tensors, f"{self._base}{name}", self._shape.n_heads)[:, None]}

    def _gated(self, name: str) -> dict[str, Array]:
        """Return the matrices of a gate from the one that holds both, that of the activation first."""
        d_ff = self._shape.d_ff
        block, arrays = self._block(name, "", self._shape.d_model, 2 * d_ff), {}
        for key, array in block.items():
            whole = self.slices.pop(key)
            for symbol, first in (("1", 0), ("3", d_ff)):
                arrays[key + symbol] = array[..., first : first + d_ff]
                self.slices[key + symbol] = replace(whole, first=first)
        return arrays

    def _block(self, name: str, symbol: str, n_in: int, n_out: int) -> dict[str, Array]:
        """Return a matrix (n_in, n_out) and its bias, if it has one."""
        sizes = (n_out, n_in) if self._family.names.linear else (n_in, n_out)
        W = shaped(self._tensors, f"{self._base}{name}.weight", *sizes)
        arrays = {f"w_{symbol}": W.T if self._family.names.linear else W}
        self._locate(f"w_{symbol}", f"{self._base}{name}.weight", "row" if self._family.names.linear else "column")
        if f"{self._base}{name}.bias" in self._tensors:
            arrays[f"b_{symbol}"] = shaped(self._tensors, f"{self._base}{name}.bias", n_out)
            self._locate(f"b_{symbol}", f"{self._base}{name}.bias", "entry")
        return arrays

    def _apart(self, at: str) -> dict[str, Array]:
        """Return queries, keys and values from three matrices, head by head."""
        shape, names = self._shape, self._family.names
        arrays: dict[str, Array] = {}
        for letter, name, n in (
            ("q", names.queries, shape.n_heads),
            ("k", names.keys, shape.n_kv_heads),
            ("v", names.values, shape.n_kv_heads),
        ):
            block = self._block(at + name, letter, shape.d_model, n * shape.d_head)
            arrays |= {key: _by_head(array, (n, shape.d_head)) for key, array in block.items()}
            self.slices |= {key: replace(self.slices[key], stride=shape.d_head) for key in block}
        return arrays

    def _fused(self, at: str) -> dict[str, Array]:
        """Return queries, keys and values from one matrix: its columns are theirs in turn, of all heads or in each."""
        shape, names = self._shape, self._family.names
        width, by_head = shape.d_head, names.fused == "heads"
        heads = (shape.n_heads, shape.n_kv_heads, shape.n_kv_heads)
        block = self._block(at + names.queries, "", shape.d_model, sum(heads) * width)
        arrays: dict[str, Array] = {}
        for key, array in block.items():
            whole, first = self.slices.pop(key), 0
            for letter, n in zip("qkv", heads):
                if by_head:
                    parts = array.reshape(*array.shape[:-1], n, 3 * width)[..., first : first + width]
                    step, stride = width, 3 * width
                else:
                    parts = array[..., first : first + n * width].reshape(*array.shape[:-1], n, width)
                    step, stride = n * width, width
                arrays[f"{key}{letter}"] = parts if parts.ndim == 2 else parts.transpose(1, 0, 2)
                self.slices[f"{key}{letter}"] = replace(whole, first=first, stride=stride)
                first += step
        return arrays


def _by_head(array: Array, sizes: tuple[int, int]) -> Array:
    """Return the columns of a matrix, or the numbers of a bias, head by head."""
    parts = array.reshape(*array.shape[:-1], *sizes)
    return parts if parts.ndim == 2 else parts.transpose(1, 0, 2)
