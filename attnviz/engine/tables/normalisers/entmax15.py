"""Half-way between softmax and sparsemax."""

from __future__ import annotations

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.tables.normalisers.shared import at_last, below_max, centred_slopes
from attnviz.settings.rows import LineRow


def entmax15(X: Array, T: float = 1.0) -> Array:
    r"""$a_j = \max(z_j / 2 - \tau, 0)^2$ with a sum of 1: between softmax and sparsemax.

    >>> entmax15(np.array([0.0, 0.0, -9.0]))
    array([0.5, 0.5, 0. ])
    """
    Z, falling, allowed, rank = below_max(X / 2.0, T)
    kept = np.where(allowed, np.maximum(falling, -1.0), 0.0)  # what lies 1 below the maximum is never in the support
    mean = np.cumsum(kept, axis=-1) / rank
    spread = np.cumsum(kept**2, axis=-1) - rank * mean**2
    thresholds = mean - np.sqrt(np.maximum((1.0 - spread) / rank, 0.0))
    return np.maximum(Z - at_last(thresholds, allowed & (thresholds <= falling)), 0.0) ** 2


def back(G: Array, X: Array, A: Array, T: float = 1.0) -> Array:
    r"""$\partial L / \partial x_j = s_j\,(G_j - \sum_l s_l G_l / \sum_l s_l) / T$ with $s_j = \sqrt{a_j}$"""
    return centred_slopes(np.sqrt(A), G, T)


ROW = LineRow(
    kind="normaliser",
    name="entmax15",
    label="Entmax 1.5",
    line="",
    note="Half-way between softmax and sparsemax.",
    source="Peters et al. 2019, arXiv:1905.05702, section 3 and algorithm 2",
    plain="entmax₁.₅",
    fast=entmax15,
    back=back,
    sums_to_one=True,
    latex=r"a_{ij} = \max(z_{ij}/2 - \tau_i,\, 0)^2",
)
