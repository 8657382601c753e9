"""A small BERT encoder in NumPy, float32: enough to turn many texts of equal length into vectors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

Array = np.ndarray
CLS, SEP = 101, 102
HEADS = 12
AT_ONCE = 256
"""The number of texts in one batch."""


def read_safetensors(path: Path) -> dict[str, Array]:
    """Return the float32 arrays of a .safetensors file by name: 8 bytes of length, a JSON header, raw numbers.

    Tensors of another type are left out.
    """
    whole = path.read_bytes()
    start = 8 + int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8:start])
    tensors = {}
    for name, item in header.items():
        if item.get("dtype") == "F32":
            begin, end = (start + offset for offset in item["data_offsets"])
            tensors[name] = np.frombuffer(whole[begin:end], "<f4").reshape(item["shape"])
    return tensors


def erf(x: Array) -> Array:
    """Return the error function to 1.5e-7, by Abramowitz and Stegun's formula 7.1.26."""
    t = 1.0 / (1.0 + np.float32(0.3275911) * np.abs(x))
    tail = 0.0
    for a in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        tail = (tail + np.float32(a)) * t
    return np.sign(x) * (1.0 - tail * np.exp(-x * x))


def layer_norm(X: Array, gain: Array, bias: Array) -> Array:
    """Return the rows of X with mean 0 and deviation 1, times the gain, plus the bias."""
    X = X - X.mean(axis=-1, keepdims=True)
    return X / np.sqrt((X * X).mean(axis=-1, keepdims=True) + 1e-12) * gain + bias


class Encoder:
    """The layers of a BERT model whose weights lie in one .safetensors file."""

    def __init__(self, path: Path) -> None:
        self._tensors = read_safetensors(path)
        self.n_layers = sum(name.endswith("attention.self.query.weight") for name in self._tensors)

    def vectors(self, ids: Array) -> Array:
        """Return the mean of the last layer's rows for each row of token ids. Shape (texts, width)."""
        return np.concatenate(list(self._batches(ids)))

    def _batches(self, ids: Array) -> Iterator[Array]:
        for start in range(0, len(ids), AT_ONCE):
            X = self._embedded(ids[start : start + AT_ONCE])
            for i in range(self.n_layers):
                X = self._layer(X, f"encoder.layer.{i}.")
            yield X.mean(axis=1)

    def _embedded(self, ids: Array) -> Array:
        name = "embeddings.{}_embeddings.weight".format
        words, positions, types = (self._tensors[name(which)] for which in ("word", "position", "token_type"))
        return self._normed(words[ids] + positions[: ids.shape[1]] + types[0], "embeddings.")

    def _layer(self, X: Array, at: str) -> Array:
        q, k, v = (self._heads(self._linear(X, f"{at}attention.self.{x}")) for x in ("query", "key", "value"))
        S = q @ k.swapaxes(-1, -2) / np.float32(np.sqrt(q.shape[-1]))
        A = np.exp(S - S.max(axis=-1, keepdims=True))
        A /= A.sum(axis=-1, keepdims=True)
        Z = (A @ v).swapaxes(1, 2).reshape(X.shape)
        X = self._normed(X + self._linear(Z, f"{at}attention.output.dense"), f"{at}attention.output.")
        F = self._linear(X, f"{at}intermediate.dense")
        F = F * np.float32(0.5) * (1.0 + erf(F * np.float32(np.sqrt(0.5))))
        return self._normed(X + self._linear(F, f"{at}output.dense"), f"{at}output.")

    def _linear(self, X: Array, at: str) -> Array:
        flat = X.reshape(-1, X.shape[-1]) @ self._tensors[f"{at}.weight"].T + self._tensors[f"{at}.bias"]
        return flat.reshape(*X.shape[:-1], -1)

    def _normed(self, X: Array, at: str) -> Array:
        return layer_norm(X, self._tensors[f"{at}LayerNorm.weight"], self._tensors[f"{at}LayerNorm.bias"])

    def _heads(self, X: Array) -> Array:
        return X.reshape(*X.shape[:-1], HEADS, -1).swapaxes(1, 2)
