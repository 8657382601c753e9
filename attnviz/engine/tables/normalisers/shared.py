"""The functions that the normalisers written by hand share."""

from __future__ import annotations

import numpy as np

from attnviz.arrays import Array, Scores, Weights


def row_max(X: Scores) -> Array:
    """Return the largest score of each row, last axis kept.

    0 where nothing is allowed, so that it can be subtracted.
    """
    largest = np.max(X, axis=-1, keepdims=True, initial=-np.inf)
    return np.where(np.isneginf(largest), 0.0, largest)


def over_sum(W: Weights) -> Weights:
    """Return each row over its sum, in place; a row of zeros stays."""
    total = W.sum(axis=-1, keepdims=True)
    W /= np.where(total == 0, 1.0, total)
    return W


def below_max(X: Scores, T: float) -> tuple[Array, Array, Array, Array]:
    """Return each row minus its maximum, over T.

    The same in falling order; which of those are allowed; their ranks 1..n.
    """
    largest = row_max(X)
    Z = (X - np.where(np.isposinf(largest), np.nan, largest)) / T  # nothing lies below infinity by a number
    falling = -np.sort(-Z, axis=-1)
    return Z, falling, ~np.isneginf(falling), np.arange(1, X.shape[-1] + 1, dtype=float)


def at_last(thresholds: Array, support: Array) -> Array:
    """Return in each row the threshold at the last position that is in the support."""
    position = np.maximum(support.sum(axis=-1, keepdims=True) - 1, 0)
    return np.take_along_axis(thresholds, position, axis=-1) if thresholds.shape[-1] else np.zeros(position.shape)


def centred_slopes(s: Weights, G: Weights, T: float) -> Scores:
    r"""$s_j\,(G_j - \sum_l s_l G_l / \sum_l s_l) / T$"""
    total = s.sum(axis=-1, keepdims=True)
    return s * (G - (s * G).sum(axis=-1, keepdims=True) / np.where(total == 0, 1.0, total)) / T
