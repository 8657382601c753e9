r"""Slopes of the score functions: from dL/dS to dL/dQ, dL/dK and those of a score's own matrices.

Every function takes G = dL/dS (heads, n_query, n_key), the scores S, the queries Q and keys K that made them, and the
parameters by keyword; it returns (dL/dQ, dL/dK, {parameter: dL/dparameter}), each of the shape of what it belongs to.
On a kink, such as the distance of a point to itself, the slope is 0.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray
Slopes = tuple[Array, Array, dict[str, Array]]

REACH = 150.0
"""Sizes up to which e^2x and e^-2x, and their sums, are far from overflow and underflow."""


def _transposed(x: Array) -> Array:
    return np.swapaxes(x, -1, -2)


def dot(G: Array, S: Array, Q: Array, K: Array) -> Slopes:
    r"""$\partial L / \partial q_i = \sum_j G_{ij}\, k_j, \quad \partial L / \partial k_j = \sum_i G_{ij}\, q_i$

    >>> dot(np.array([[2.0]]), np.zeros((1, 1)), np.array([[1.0, 0.0]]), np.array([[3.0, 4.0]]))[0]
    array([[6., 8.]])
    """
    return G @ K, _transposed(G) @ Q, {}


def general(G: Array, S: Array, Q: Array, K: Array, *, W: Array) -> Slopes:
    r"""$\partial L / \partial Q = G K W^\top, \quad \partial L / \partial K = G^\top Q W, \quad
    \partial L / \partial W = Q^\top G K$"""
    GK = G @ K
    return GK @ _transposed(W), _transposed(G) @ (Q @ W), {"W": _transposed(Q) @ GK}


def additive(
    G: Array, S: Array, Q: Array, K: Array, *, W_q: Array, W_k: Array, v: Array, b: Array | None = None
) -> Slopes:
    r"""With $h_{ij} = \tanh(q_i W_q + k_j W_k + b)$ and $D_{ij} = G_{ij}\, v\, (1 - h_{ij}^2)$:

    $\partial L / \partial q_i = \sum_j D_{ij} W_q^\top, \quad \partial L / \partial k_j = \sum_i D_{ij} W_k^\top, \quad
    \partial L / \partial v = \sum_{ij} G_{ij} h_{ij}, \quad \partial L / \partial b = \sum_{ij} D_{ij}$
    """
    left, right = Q @ W_q, K @ W_k
    if b is not None:
        left = left + b[..., None, :]
    d_left, d_right, d_v = _tanh_sum(G, left, right, v)
    own = {"W_q": _transposed(Q) @ d_left, "W_k": _transposed(K) @ d_right, "v": d_v, "b": d_left.sum(axis=-2)}
    return d_left @ _transposed(W_q), d_right @ _transposed(W_k), own


def _tanh_sum(G: Array, left: Array, right: Array, v: Array) -> tuple[Array, Array, Array]:
    """Return the slopes of the sum over a of v_a tanh(left_ia + right_ja), one query at a time, as the sum is made.

    With p = 1 / (1 + e^2x), tanh x = 1 - 2p and its slope is 4 (p - p^2); e^2x is a product of what is taken once a
    query and once a key. Hidden units with an entry beyond REACH take the plain tanh.
    """
    left, right = left[..., None], np.ascontiguousarray(_transposed(right))
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
        d_right += np.multiply(slope, _transposed(g), out=slope)
    return d_left[..., 0] * (4.0 * v[..., None, :]), _transposed(d_right) * (4.0 * v[..., None, :]), d_v[..., 0]


def cosine(G: Array, S: Array, Q: Array, K: Array) -> Slopes:
    r"""With $u = q / |q|$ and $g_i = \sum_j G_{ij}\, k_j / |k_j|$: $\partial L / \partial q_i = (g_i - u_i\,
    (u_i \cdot g_i)) / |q_i|$, and likewise for the keys; 0 for a vector of zeros."""
    (u_q, long_q), (u_k, long_k) = _unit(Q), _unit(K)
    return _across(G @ u_k, u_q, long_q), _across(_transposed(G) @ u_q, u_k, long_k), {}


def _unit(x: Array) -> tuple[Array, Array]:
    """Return each row over its length, and the length; the largest entry is taken out so that no square overflows."""
    largest = np.max(np.abs(x), axis=-1, keepdims=True, initial=0.0)
    x = x / np.where(largest > 0, largest, 1.0)
    length = np.sqrt(np.sum(x * x, axis=-1, keepdims=True))
    return x / np.where(largest > 0, length, 1.0), largest * length


def _across(g: Array, u: Array, length: Array) -> Array:
    """Return the part of g across u, over the length: along u a direction does not change."""
    return np.where(length > 0, (g - u * np.sum(u * g, axis=-1, keepdims=True)) / np.where(length > 0, length, 1), 0)


def gaussian(G: Array, S: Array, Q: Array, K: Array) -> Slopes:
    r"""$\partial L / \partial q_i = \sum_j G_{ij}\,(k_j - q_i), \quad
    \partial L / \partial k_j = \sum_i G_{ij}\,(q_i - k_j)$"""
    middle = K.mean(axis=-2, keepdims=True)  # differences are kept where all points lie together far from 0
    Q, K = Q - middle, K - middle
    return G @ K - G.sum(axis=-1)[..., None] * Q, _transposed(G) @ Q - G.sum(axis=-2)[..., None] * K, {}


def negative_distance(G: Array, S: Array, Q: Array, K: Array) -> Slopes:
    r"""That of the Gaussian with $G_{ij} / |q_i - k_j|$; 0 where the two are one point, which is a kink."""
    apart = S < 0
    return gaussian(np.where(apart, G / np.where(apart, -S, 1.0), 0.0), S, Q, K)


def location(G: Array, S: Array, Q: Array, K: Array, *, W: Array) -> Slopes:
    r"""$\partial L / \partial Q = G W^\top, \quad \partial L / \partial W = Q^\top G$, and nothing for the keys."""
    return G @ _transposed(W), np.zeros(K.shape), {"W": _transposed(Q) @ G}
