"""The score functions that learning knows, and their gradients, in exact arithmetic.

Queries are (batch, head, query, d), keys (batch, head, key, d); parameters have an axis of heads in front. `forward`
returns the scores and what `backward` needs again; `backward` gets the gradient of the scores.

They are written by hand, and once more in ui/session/worker/scores.js: every product and sum has to be rounded in
one order in two languages, which a line does not fix. SCORES is the one table of them here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.arrays import Array, Keys, Queries, Scores
from attnviz.engine.numerics.exact import exp, product, total
from attnviz.engine.tables.scores.slopes import swap

Named = Mapping[str, Array]
Back = tuple[Queries, Keys, dict[str, Array]]
"""The gradients of the queries, of the keys, and of the parameters."""


def summed(A: Array, B: Array) -> Array:
    """Return A^T B for each head, added up over the batch: (batch, head, n, a), (batch, head, n, b) -> (head, a, b)."""
    a, b = (np.swapaxes(x, 0, 1).reshape(x.shape[1], -1, x.shape[-1]) for x in (A, B))
    return product(swap(a), b)


def _dot(Q: Queries, K: Keys, p: Named) -> tuple[Scores, Any]:
    return product(Q, swap(K)), None


def _dot_back(G: Scores, Q: Queries, K: Keys, p: Named, kept: Any) -> Back:
    return product(G, K), product(swap(G), Q), {}


def _general(Q: Queries, K: Keys, p: Named) -> tuple[Scores, Any]:
    left = product(Q, p["score_w"])
    return product(left, swap(K)), left


def _general_back(G: Scores, Q: Queries, K: Keys, p: Named, left: Any) -> Back:
    of_left = product(G, K)
    return product(of_left, swap(p["score_w"])), product(swap(G), left), {"score_w": summed(Q, of_left)}


REACH = 150.0
"""Sizes up to which e^2x, and sums and products of two such numbers, are far from overflow."""


def _additive(Q: Queries, K: Keys, p: Named) -> tuple[Scores, Any]:
    """Compute tanh(x + y) = (e^2y - e^-2x) / (e^2y + e^-2x), with an exponential for each token, not each pair."""
    left, right = product(Q, p["score_w_q"]), product(K, p["score_w_k"])
    if "score_b" in p:
        left = left + p["score_b"][:, None, :]
    falling = exp(-2.0 * np.clip(left, -REACH, REACH))[..., :, None, :]
    rising = exp(2.0 * np.clip(right, -REACH, REACH))[..., None, :, :]
    hidden = (rising - falling) / (rising + falling)
    pairs = hidden.reshape(*hidden.shape[:2], -1, hidden.shape[-1])
    return product(pairs, p["score_v"][:, :, None]).reshape(hidden.shape[:-1]), hidden


def _additive_back(G: Scores, Q: Queries, K: Keys, p: Named, hidden: Any) -> Back:
    D = G[..., None] * p["score_v"][:, None, None, :] * (1.0 - hidden * hidden)
    of_left, of_right = total(D, -2), total(D, -3)
    of_parameters = {"score_w_q": summed(Q, of_left), "score_w_k": summed(K, of_right)}
    pairs = hidden.reshape(*hidden.shape[:2], -1, hidden.shape[-1])
    of_parameters["score_v"] = summed(G.reshape(*pairs.shape[:-1], 1), pairs)[:, 0, :]
    if "score_b" in p:
        of_parameters["score_b"] = total(of_left, (0, 2))
    return product(of_left, swap(p["score_w_q"])), product(of_right, swap(p["score_w_k"])), of_parameters


def _gaussian(Q: Queries, K: Keys, p: Named) -> tuple[Scores, Any]:
    lengths = total(Q * Q, -1)[..., :, None] + total(K * K, -1)[..., None, :]
    return product(Q, swap(K)) - 0.5 * lengths, None


def _gaussian_back(G: Scores, Q: Queries, K: Keys, p: Named, kept: Any) -> Back:
    of_queries = product(G, K) - total(G, -1)[..., None] * Q
    return of_queries, product(swap(G), Q) - total(G, -2)[..., None] * K, {}


def _location(Q: Queries, K: Keys, p: Named) -> tuple[Scores, Any]:
    return product(Q, p["score_w"]), None


def _location_back(G: Scores, Q: Queries, K: Keys, p: Named, kept: Any) -> Back:
    return product(G, swap(p["score_w"])), np.zeros_like(K), {"score_w": summed(Q, G)}


@dataclass(frozen=True)
class LearnedScore:
    """A score function forward, and the gradients of what it took."""

    forward: Callable[[Queries, Keys, Named], tuple[Scores, Any]]
    backward: Callable[[Scores, Queries, Keys, Named, Any], Back]


SCORES = {
    "scaled_dot": LearnedScore(_dot, _dot_back),
    "dot": LearnedScore(_dot, _dot_back),
    "general": LearnedScore(_general, _general_back),
    "additive": LearnedScore(_additive, _additive_back),
    "gaussian": LearnedScore(_gaussian, _gaussian_back),
    "location": LearnedScore(_location, _location_back),
}
