"""A feed-forward block of several experts, of which each token takes a few: how it is routed.

All experts stand side by side as one block, whose hidden units are multiplied by the share of their expert: that is the
sum of the outputs of the experts, each times its share. Every expert is computed; a share of 0 leaves it out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.arrays import Array


@dataclass(frozen=True)
class Experts:
    """The experts of a block.

    n_chosen  how many a token takes
    adds_up   whether the shares of these are divided by their sum
    units     the hidden units of each
    """

    n_chosen: int
    adds_up: bool
    units: int

    def shares(self, scores: Array) -> Array:
        """Return the softmax of each row, of which the largest stay; of equal ones the earlier.

        Source: Jiang et al. 2024, Mixtral, arXiv:2401.04088, section 2.1; Shazeer et al. 2017, arXiv:1701.06538.

        >>> Experts(1, False, 2).shares(np.array([[0.0, np.log(3.0)]]))
        array([[0.  , 0.75]])
        """
        e = np.exp(scores - scores.max(axis=-1, keepdims=True))
        places = np.argsort(np.argsort(-scores, axis=-1, kind="stable"), axis=-1)
        kept = np.where(places < self.n_chosen, e, 0.0)
        return kept / (kept if self.adds_up else e).sum(axis=-1, keepdims=True)

    def back(self, G: Array, scores: Array, shares: Array) -> Array:
        """Return the slopes of the scores from those of the shares; which are chosen does not change."""
        e = np.exp(scores - scores.max(axis=-1, keepdims=True))
        whole = shares if self.adds_up else e / e.sum(axis=-1, keepdims=True)
        into = G * shares
        return into - whole * into.sum(axis=-1, keepdims=True)

    def each_unit(self, shares: Array) -> Array:
        """Return the share of every hidden unit, which is that of its expert."""
        return np.repeat(shares, self.units, axis=-1)

    def added_up(self, G: Array) -> Array:
        """Return slopes of hidden units added up by expert."""
        return G.reshape(*G.shape[:-1], -1, self.units).sum(axis=-1)
