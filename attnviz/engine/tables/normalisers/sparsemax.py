"""The nearest shares to a row of scores."""

from __future__ import annotations

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.tables.normalisers.shared import at_last, below_max, centred_slopes
from attnviz.settings.rows import LineRow


def sparsemax(X: Array, T: float = 1.0) -> Array:
    r"""$a = \arg\min_{p \in \Delta} |p - z|^2$, that is $a_j = \max(z_j - \tau, 0)$ with a sum of 1.

    >>> sparsemax(np.array([1.0, 0.5, -1.0]))
    array([0.75, 0.25, 0.  ])
    """
    Z, falling, allowed, rank = below_max(X, T)
    sums = np.cumsum(np.where(allowed, falling, 0.0), axis=-1)
    support = allowed & (1.0 + rank * falling > sums)
    return np.maximum(Z - at_last((sums - 1.0) / rank, support), 0.0)


def back(G: Array, X: Array, A: Array, T: float = 1.0) -> Array:
    r"""$\partial L / \partial x_j = (G_j - \bar G) / T$ with the mean over the keys of weight above 0; 0 for others."""
    return centred_slopes((A > 0).astype(float), G, T)


ROW = LineRow(
    kind="normaliser",
    name="sparsemax",
    label="Sparsemax",
    line="",
    note="Shares that add to 1; keys far below the best get exactly 0.",
    source="Martins and Astudillo 2016, arXiv:1602.02068, section 2",
    plain="sparsemax",
    fast=sparsemax,
    back=back,
    sums_to_one=True,
    latex=r"a_i = \arg\min_{p \in \Delta} |p - z_i|^2",
)
