"""Attention layers in exact arithmetic, forward and backward: what `run` computes, for many sentences at once.

Arrays are (batch, head, token, width). Products round their operands to 20 bits, so a weight is that of `run` but for
about a millionth; the parameters are the very same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.learning.normalisers import NORMALISERS
from attnviz.engine.learning.scores import SCORES
from attnviz.engine.numerics.exact import product, tanh, total
from attnviz.engine.tables.scores.slopes import swap

Layer = Mapping[str, Array]
"""The parameters of one layer by the names that `run` knows them by."""


@dataclass(frozen=True)
class Network:
    """The fixed part of a network, constant while its parameters are learned.

    embeddings           (words, d_model), the vector of each word of the vocabulary
    positions            (queries, d_model) and (keys, d_model), which are added
    rotations            cosines and sines of RoPE for queries and for keys, (tokens, pairs) each; None without
    allowed, bias        (queries, keys) and (heads, queries, keys), the latter None where there is none
    """

    n_layers: int
    group_size: int
    residual: bool
    is_cross: bool
    score: str
    normaliser: str
    temperature: float
    scale: float
    softcap: float
    embeddings: Array
    positions: tuple[Array, Array]
    rotations: tuple[tuple[Array, Array], tuple[Array, Array]] | None
    allowed: Array
    bias: Array | None

    def forward(self, layers: Sequence[Layer], queries: Array, keys: Array) -> tuple[Array, list[dict[str, Any]]]:
        """Compute the output of the last layer, (batch, queries, d_model), and the intermediates of each layer."""
        X = self.embeddings[queries] + self.positions[0]
        X_kv = self.embeddings[keys] + self.positions[1] if self.is_cross else None
        kept, Y = [], X
        for p in layers:
            Y, steps = self._layer(p, X, X if X_kv is None else X_kv)
            kept.append(steps)
            X = X + Y if self.residual else Y
        return Y, kept

    def backward(self, layers: Sequence[Layer], kept: Sequence[dict[str, Any]], G: Array) -> list[dict[str, Array]]:
        """Return the gradient of every parameter, from that of what the last layer writes."""
        slopes: list[dict[str, Array]] = [{} for _ in layers]
        of_stream: Array | float = 0.0  # the gradient of what the layers above read by way of the residual connections
        for n in reversed(range(len(layers))):
            slopes[n], of_input = self._layer_back(layers[n], kept[n], G, first=n == 0)
            of_stream = of_stream + of_input if self.residual else of_input
            G = np.asarray(of_stream)
        return slopes

    def _layer(self, p: Layer, X: Array, X_kv: Array) -> tuple[Array, dict[str, Any]]:
        Q, K, V = (_projected(x, p, letter) for x, letter in ((X, "q"), (X_kv, "k"), (X_kv, "v")))
        if self.rotations:
            Q, K = (_rotated(x, *rotation) for x, rotation in zip((Q, K), self.rotations))
        K, V = (np.repeat(x, self.group_size, axis=1) for x in (K, V))
        S, kept = SCORES[self.score].forward(Q, K, p)
        capped = tanh(S * self.scale / self.softcap) if self.softcap else None
        S = S * self.scale if capped is None else self.softcap * capped
        S = np.where(self.allowed, S if self.bias is None else S + self.bias, -np.inf)
        A = NORMALISERS[self.normaliser].forward(S, self.temperature)
        C = _joined(product(A, V))
        Y = product(C, p["w_o"])
        steps = {"X": X, "X_kv": X_kv, "Q": Q, "K": K, "V": V, "S": S, "A": A, "C": C, "kept": kept, "capped": capped}
        return Y + p["b_o"] if "b_o" in p else Y, steps

    def _layer_back(
        self, p: Layer, t: dict[str, Any], G: Array, *, first: bool
    ) -> tuple[dict[str, Array], Array | float]:
        """Return the gradients of the parameters and, but for the first layer, that of what the layer reads."""
        d = G.shape[-1]
        slopes = {"w_o": product(t["C"].reshape(-1, t["C"].shape[-1]).T, G.reshape(-1, d))}
        if "b_o" in p:
            slopes["b_o"] = total(G, (0, 1))
        of_heads = _split(product(G, p["w_o"].T), t["Q"].shape[1])
        of_scores = self._scores_back(t, product(of_heads, swap(t["V"])))
        of_q, of_k, of_parameters = SCORES[self.score].backward(of_scores, t["Q"], t["K"], p, t["kept"])
        slopes |= of_parameters
        of_k, of_v = (self._of_groups(g) for g in (of_k, product(swap(t["A"]), of_heads)))
        if self.rotations:
            of_q, of_k = (_rotated(g, cos, -sin) for g, (cos, sin) in zip((of_q, of_k), self.rotations))
        of_input: Array | float = 0.0
        for letter, x, g in (("q", t["X"], of_q), ("k", t["X_kv"], of_k), ("v", t["X_kv"], of_v)):
            rows = _joined(g).reshape(x.shape[0] * x.shape[1], -1)
            W = p[f"w_{letter}"]
            slopes[f"w_{letter}"] = _by_head(product(x.reshape(-1, x.shape[-1]).T, rows), len(W))
            if f"b_{letter}" in p:
                slopes[f"b_{letter}"] = total(g, (0, 2))
            if not first and (letter == "q" or not self.is_cross):
                of_input = of_input + product(rows, _side_by_side(W).T).reshape(x.shape)
        return slopes, of_input

    def _scores_back(self, t: dict[str, Any], of_weights: Array) -> Array:
        """Return the gradient of the scores before their scale."""
        G = NORMALISERS[self.normaliser].backward(of_weights, t["S"], t["A"], self.temperature)
        G = np.where(self.allowed, G, 0.0)
        return (G if t["capped"] is None else G * (1.0 - t["capped"] * t["capped"])) * self.scale

    def _of_groups(self, G: Array) -> Array:
        """Return the gradient of what heads share, added up over those that share it."""
        if self.group_size == 1:
            return G
        batch, heads, n, d = G.shape
        return total(G.reshape(batch, heads // self.group_size, self.group_size, n, d), 2)


def _side_by_side(W: Array) -> Array:
    """Return the matrices of all heads as one, (d_model, heads * width)."""
    return np.swapaxes(W, 0, 1).reshape(W.shape[1], -1)


def _by_head(W: Array, heads: int) -> Array:
    return np.ascontiguousarray(np.swapaxes(W.reshape(len(W), heads, -1), 0, 1))


def _projected(X: Array, p: Layer, letter: str) -> Array:
    """Return the queries, keys or values of every head."""
    W = p[f"w_{letter}"]
    Y = _split(product(X, _side_by_side(W)), len(W))
    return Y + p[f"b_{letter}"][:, None, :] if f"b_{letter}" in p else Y


def _split(Y: Array, heads: int) -> Array:
    """Return the columns of each head as matrices of their own: (batch, n, heads * d) -> (batch, heads, n, d)."""
    return np.swapaxes(Y.reshape(*Y.shape[:-1], heads, -1), 1, 2)


def _joined(Z: Array) -> Array:
    """Return the heads side by side, which undoes `_split`."""
    return np.swapaxes(Z, 1, 2).reshape(Z.shape[0], Z.shape[2], -1)


def _rotated(x: Array, cos: Array, sin: Array) -> Array:
    """Return x with each pair of columns rotated; an odd last column stays."""
    even, odd = x[..., 0 : 2 * cos.shape[-1] : 2], x[..., 1 : 2 * cos.shape[-1] : 2]
    y = x.copy()
    y[..., 0 : 2 * cos.shape[-1] : 2] = even * cos - odd * sin
    y[..., 1 : 2 * cos.shape[-1] : 2] = even * sin + odd * cos
    return y
