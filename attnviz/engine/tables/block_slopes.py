"""Slopes of what stands around attention: layer norm, the feed-forward block, and the rotation of RoPE."""

from __future__ import annotations

import math

import numpy as np

from attnviz.arrays import Array


def layer_norm(G: Array, X: Array, Y: Array, *, epsilon: float) -> Array:
    r"""$\partial L / \partial x = (G - \overline{G} - y\, \overline{G y}) / \sqrt{\sigma^2 + \epsilon}$, means over a
    row of Y, the normalised X."""
    centred = X - X.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + epsilon)
    return (G - G.mean(axis=-1, keepdims=True) - Y * (G * Y).mean(axis=-1, keepdims=True)) / spread


def rms_norm(G: Array, X: Array, Y: Array, *, epsilon: float) -> Array:
    r"""$\partial L / \partial x = (G - y\, \overline{G y}) / \sqrt{\overline{x^2} + \epsilon}$."""
    return (G - Y * (G * Y).mean(axis=-1, keepdims=True)) / np.sqrt((X**2).mean(axis=-1, keepdims=True) + epsilon)


def relu(G: Array, X: Array, F: Array) -> Array:
    r"""$G$ where $x > 0$, and 0 elsewhere."""
    return np.where(X > 0, G, 0.0)


def gelu(G: Array, X: Array, F: Array) -> Array:
    r"""$G\,(\Phi(x) + x\,\varphi(x))$, with $\Phi(x) = F / x$ as the block has computed it.

    >>> gelu(np.ones(2), np.array([0.0, 1.0]), np.array([0.0, 0.8413447460685429])).round(6)
    array([0.5     , 1.083315])
    """
    below = np.divide(F, X, out=np.full(X.shape, 0.5), where=X != 0)
    return G * (below + X * np.exp(-0.5 * X * X) / math.sqrt(2.0 * math.pi))


def gelu_tanh(G: Array, X: Array, F: Array) -> Array:
    r"""$G\,(\tfrac12 (1 + t) + \tfrac{x}{2} (1 - t^2)\, c\,(1 + 0.134145\,x^2))$ with $t$ the block's tanh."""
    c = math.sqrt(2.0 / math.pi)
    t = np.tanh(c * (X + 0.044715 * X**3))
    return G * (0.5 * (1.0 + t) + 0.5 * X * (1.0 - t * t) * c * (1.0 + 3 * 0.044715 * X * X))


def silu(G: Array, X: Array, F: Array) -> Array:
    r"""$G\,(\sigma + x\,\sigma\,(1 - \sigma))$ with $\sigma$ the sigmoid of x."""
    sigmoid = 0.5 * (1.0 + np.tanh(0.5 * X))
    return G * (sigmoid + X * sigmoid * (1.0 - sigmoid))


def clamped_silu(G: Array, X: Array, F: Array, *, alpha: float, limit: float) -> Array:
    r"""$G\,(\sigma + \alpha\,x\,\sigma\,(1 - \sigma))$ with $\sigma$ the sigmoid of $\alpha x$; 0 above the limit."""
    sigmoid = 0.5 * (1.0 + np.tanh(0.5 * alpha * X))
    return np.where(limit > X, G * (sigmoid + alpha * X * sigmoid * (1.0 - sigmoid)), 0.0)
