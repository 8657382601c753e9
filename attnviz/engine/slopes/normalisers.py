r"""Slopes of the normalisers: from dL/dA to dL/dX along the last axis.

Every function takes G = dL/dA, the masked scores X, the weights A that they became, and the temperature T, and returns
dL/dX. What is forbidden has weight 0 and takes no part; on a kink the slope is 0.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def softmax(G: Array, X: Array, A: Array, T: float = 1.0) -> Array:
    r"""$\partial L / \partial x_j = a_j\,(G_j - \sum_l a_l G_l) / T$

    The same holds for the quiet softmax, where the weights add to less than 1. A weight of nearly 0 or 1 has nearly no
    slope: a head that is sure stops learning.

    >>> softmax(np.array([1.0, 0.0]), np.zeros(2), np.array([0.5, 0.5]))
    array([ 0.25, -0.25])
    """
    D = A * G
    D -= A * D.sum(axis=-1, keepdims=True)
    return D if T == 1.0 else np.divide(D, T, out=D)


def sigmoid(G: Array, X: Array, A: Array, T: float = 1.0) -> Array:
    r"""$\partial L / \partial x_j = a_j\,(1 - a_j)\,G_j / T$: every key is judged alone."""
    return A * (1.0 - A) * G / T


def hardmax(G: Array, X: Array, A: Array, T: float = 1.0) -> Array:
    """Zeros: the best key stays the best for any small change, and a tie is a kink."""
    return np.zeros(G.shape)


def _centred(s: Array, G: Array, T: float) -> Array:
    r"""$s_j\,(G_j - \sum_l s_l G_l / \sum_l s_l) / T$"""
    total = s.sum(axis=-1, keepdims=True)
    return s * (G - (s * G).sum(axis=-1, keepdims=True) / np.where(total == 0, 1.0, total)) / T


def sparsemax(G: Array, X: Array, A: Array, T: float = 1.0) -> Array:
    r"""$\partial L / \partial x_j = (G_j - \bar G) / T$ with the mean over the keys of weight above 0; 0 for others."""
    return _centred((A > 0).astype(float), G, T)


def entmax15(G: Array, X: Array, A: Array, T: float = 1.0) -> Array:
    r"""$\partial L / \partial x_j = s_j\,(G_j - \sum_l s_l G_l / \sum_l s_l) / T$ with $s_j = \sqrt{a_j}$"""
    return _centred(np.sqrt(A), G, T)


def linear(G: Array, X: Array, A: Array, T: float = 1.0) -> Array:
    r"""$\partial L / \partial x_j = (G_j - \sum_l a_l G_l) / \sum_l \max(x_l, 0)$ where $x_j > 0$, and 0 elsewhere."""
    total = np.maximum(X, 0.0).sum(axis=-1, keepdims=True)
    return np.where(X > 0, (G - (A * G).sum(axis=-1, keepdims=True)) / np.where(total == 0, 1.0, total), 0.0)
