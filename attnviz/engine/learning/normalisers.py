"""The normalisers that learning knows, and their gradients, in exact arithmetic.

`forward` takes the scores, -inf where it is forbidden, and the temperature; `backward` the gradient of the weights.

They are written by hand, and once more in ui/session/worker/normalisers.js: every sum and exponential has to be
rounded in one order in two languages, which a line does not fix. NORMALISERS is the one table of them here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from attnviz.arrays import Array, Scores, Weights
from attnviz.engine.numerics.exact import exp, total
from attnviz.engine.tables.normalisers.hardmax import hardmax
from attnviz.engine.tables.normalisers.shared import row_max


def _exponentials(X: Array, T: float, largest: Array) -> Array:
    may = ~np.isneginf(X)
    return np.where(may, exp(np.where(may, X - largest, 0.0) / T), 0.0)


def _over(W: Array, sums: Array) -> Array:
    return W / np.where(sums == 0, 1.0, sums)


def _softmax(X: Scores, T: float) -> Weights:
    E = _exponentials(X, T, row_max(X))
    return _over(E, total(E, -1, keepdims=True))


def _quiet_softmax(X: Scores, T: float) -> Weights:
    largest = np.maximum(row_max(X), 0.0)
    E = _exponentials(X, T, largest)
    return E / (exp(-largest / T) + total(E, -1, keepdims=True))


def _softmax_back(G: Weights, X: Scores, A: Weights, T: float) -> Scores:
    """Return the Jacobian is diag(a) - a a^T, for the quiet softmax as well."""
    return A * (G - total(A * G, -1, keepdims=True)) / T


def _sigmoid(X: Scores, T: float) -> Weights:
    may = ~np.isneginf(X)
    Z = np.where(may, X, 0.0) / T
    small = exp(-np.abs(Z))
    return np.where(may, np.where(Z >= 0, 1.0, small) / (1.0 + small), 0.0)


def _sigmoid_back(G: Weights, X: Scores, A: Weights, T: float) -> Scores:
    return A * (1.0 - A) * G / T


def _linear(X: Scores, T: float) -> Weights:
    P = np.maximum(X, 0.0)
    return _over(P, total(P, -1, keepdims=True))


def _linear_back(G: Weights, X: Scores, A: Weights, T: float) -> Scores:
    sums = total(np.maximum(X, 0.0), -1, keepdims=True)
    return np.where(X > 0, _over(G - total(A * G, -1, keepdims=True), sums), 0.0)


def _hardmax_back(G: Weights, X: Scores, A: Weights, T: float) -> Scores:
    """Return a step has no slope: nothing tells queries and keys which way to go."""
    return np.zeros_like(G)


@dataclass(frozen=True)
class LearnedNormaliser:
    """A normaliser forward, and the gradient of the scores from that of the weights."""

    forward: Callable[[Scores, float], Weights]
    backward: Callable[[Weights, Scores, Weights, float], Scores]


NORMALISERS = {
    "softmax": LearnedNormaliser(_softmax, _softmax_back),
    "quiet_softmax": LearnedNormaliser(_quiet_softmax, _softmax_back),
    "sigmoid": LearnedNormaliser(_sigmoid, _sigmoid_back),
    "linear": LearnedNormaliser(_linear, _linear_back),
    "hardmax": LearnedNormaliser(hardmax, _hardmax_back),
}
