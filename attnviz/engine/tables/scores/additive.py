"""Query and key added, squeezed and weighed: a network with one hidden layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from attnviz.arrays import Array, Keys, Queries, Scores
from attnviz.engine.numerics import buffer_pool
from attnviz.engine.rows.line_row import CellLine, LineRow
from attnviz.engine.tables.scores.slopes import Slopes, swap

REACH = 150.0
"""Sizes up to which e^2x and e^-2x, and their sums and products, are far from overflow and underflow."""

NEAR = 2**15
"""Numbers of which three arrays fit into the cache of one core, as most processors have it."""


def additive(
    Q: Queries,
    K: Keys,
    *,
    W_q: Array | None = None,
    W_k: Array | None = None,
    v: Array | None = None,
    b: Array | None = None,
) -> Scores:
    r"""$S_{ij} = v \cdot \tanh(q_i W_q + k_j W_k + b)$

    W_q (d_q, d_a), W_k (d_k, d_a), v (d_a,), b (d_a,); if not given: identity, identity, ones, zeros.

    >>> additive(np.array([[0.5]]), np.array([[0.5], [-0.5]])).round(4)
    array([[0.7616, 0.    ]])
    """
    width = next((p.shape[-1] for p in (W_q, W_k, v, b) if p is not None), max(Q.shape[-1], K.shape[-1]))
    left = buffer_pool.product(Q, np.eye(Q.shape[-1], width) if W_q is None else W_q)
    right = buffer_pool.product(K, np.eye(K.shape[-1], width) if W_k is None else W_k)
    if b is not None:
        left = left + b[..., None, :]
    v = np.ones(width) if v is None else v
    return _tanh_sum(left, right, v)


def _tanh_sum(left: Queries, right: Keys, v: Array) -> Scores:
    """Sum over a of v_a tanh(left_ia + right_ja), one query at a time: no (n_query, n_key, d_a) array is ever held.

    tanh(x + y) = (e^2y - e^-2x) / (e^2y + e^-2x): the exponentials are taken once a query and once a key, and what is
    left for each pair is a subtraction, an addition and a division, each exact to the last bits. Hidden units with an
    entry beyond REACH, where the exponentials could overflow, take the plain tanh.
    """
    stack = left.shape[:-2]
    right, v = np.broadcast_to(right, stack + right.shape[-2:]), np.broadcast_to(v, stack + v.shape[-1:])[..., None, :]
    left, right = left[..., None], np.ascontiguousarray(swap(right))
    far = ~((np.abs(left) <= REACH).all(axis=(-3, -1)) & (np.abs(right) <= REACH).all(axis=-1))[..., None]
    falling, rising = np.exp(-2.0 * np.clip(left, -REACH, REACH)), np.exp(2.0 * np.clip(right, -REACH, REACH))
    scores, has_far = buffer_pool.empty((*left.shape[:-2], right.shape[-1])), bool(far.any())
    for h in _within_reach(rising):
        r, hidden, total = rising[h], np.empty(rising[h].shape), np.empty(rising[h].shape)
        for i in range(left.shape[-3]):
            f = falling[h][..., i, :, :]
            np.divide(np.subtract(r, f, out=hidden), np.add(r, f, out=total), out=hidden)
            if has_far:
                np.copyto(hidden, np.tanh(left[h][..., i, :, :] + right[h]), where=far[h])
            scores[h][..., i, :] = buffer_pool.product(v[h], hidden)[..., 0, :]
    return scores


def _within_reach(hidden: Array) -> list[Any]:
    """Return the indices of heads whose hidden values of one query stay in the memory that a core has for itself."""
    if hidden.ndim < 3:
        return [...]
    step = max(1, NEAR * len(hidden) // max(hidden.size, 1))
    return [slice(start, start + step) for start in range(0, len(hidden), step)]


def back(
    G: Scores, S: Scores, Q: Queries, K: Keys, *, W_q: Array, W_k: Array, v: Array, b: Array | None = None
) -> Slopes:
    r"""With $h_{ij} = \tanh(q_i W_q + k_j W_k + b)$ and $D_{ij} = G_{ij}\, v\, (1 - h_{ij}^2)$:

    $\partial L / \partial q_i = \sum_j D_{ij} W_q^\top, \quad \partial L / \partial k_j = \sum_i D_{ij} W_k^\top, \quad
    \partial L / \partial v = \sum_{ij} G_{ij} h_{ij}, \quad \partial L / \partial b = \sum_{ij} D_{ij}$
    """
    left, right = Q @ W_q, K @ W_k
    if b is not None:
        left = left + b[..., None, :]
    d_left, d_right, d_v = _tanh_slopes(G, left, right, v)
    of_parameters = {"W_q": swap(Q) @ d_left, "W_k": swap(K) @ d_right, "v": d_v, "b": d_left.sum(axis=-2)}
    return d_left @ swap(W_q), d_right @ swap(W_k), of_parameters


def _tanh_slopes(G: Scores, left: Queries, right: Keys, v: Array) -> tuple[Array, Array, Array]:
    """Return the slopes of the sum over a of v_a tanh(left_ia + right_ja), one query at a time, as the sum is made.

    With p = 1 / (1 + e^2x), tanh x = 1 - 2p and its slope is 4 (p - p^2); e^2x is a product of what is taken once a
    query and once a key. Hidden units with an entry beyond REACH take the plain tanh.
    """
    left, right = left[..., None], np.ascontiguousarray(swap(right))
    far = ~((np.abs(left) <= REACH).all(axis=(-3, -1)) & (np.abs(right) <= REACH).all(axis=-1))[..., None]
    falling, rising = np.exp(-2.0 * np.clip(left, -REACH, REACH)), np.exp(2.0 * np.clip(right, -REACH, REACH))
    p, slope, d_right = np.empty(right.shape), np.empty(right.shape), np.zeros(right.shape)
    d_left, d_v = np.empty(left.shape), np.zeros((*v.shape, 1))
    has_far = bool(far.any())
    for i in range(left.shape[-3]):
        f, g = falling[..., i, :, :], G[..., i, :, None]
        np.divide(f, np.add(rising, f, out=p), out=p)
        if has_far:
            np.copyto(p, 0.5 - 0.5 * np.tanh(left[..., i, :, :] + right), where=far)
        np.subtract(p, np.multiply(p, p, out=slope), out=slope)
        d_v += g.sum(axis=-2, keepdims=True) - 2.0 * (p @ g)
        d_left[..., i, :, :] = slope @ g
        d_right += np.multiply(slope, swap(g), out=slope)
    return d_left[..., 0] * (4.0 * v[..., None, :]), swap(d_right) * (4.0 * v[..., None, :]), d_v[..., 0]


ROW = LineRow(
    kind="score",
    name="additive",
    label="Additive (Bahdanau)",
    line="hidden = tanh(q @ W_q + b + k @ W_k); sum(hidden * v)",
    note="Query and key are added, not multiplied: a small network with one hidden layer scores the pair.",
    source="Bahdanau et al. 2014, arXiv:1409.0473, appendix A.1.2",
    plain="v · tanh(q W_q + k W_k)",
    lines=(
        CellLine(
            "hidden_query",
            "left = q @ W_q",
            "The query's part",
            "The query times W_q: one number for each hidden unit.",
        ),
        CellLine(
            "hidden_key",
            "right = k @ W_k",
            "The key's part",
            "The key times W_k: one number for each hidden unit.",
        ),
        CellLine("hidden", "hidden = left + right + b", "The hidden units", "Both parts{plus} are added.", symbol="h"),
        CellLine(
            "squashed", "t = tanh(hidden)", "The tanh", "Each hidden unit is squeezed between -1 and 1.", symbol="t"
        ),
        CellLine(
            "products",
            "products = v * t",
            "The products",
            "The tanh of each hidden unit times its entry of v.",
            brief="v · tanh of q and k, unit by unit",
        ),
        CellLine("score", "sum(products)", "The score", "The products added up."),
    ),
    fast=additive,
    back=back,
    uses=("d_a",),
    pairwise=12e-9,
)
