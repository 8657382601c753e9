"""Half the squared distance of query and key, negative."""

from __future__ import annotations

import numpy as np

from attnviz.arrays import Keys, Queries, Scores
from attnviz.engine.rows.line_row import CellLine, LineRow
from attnviz.engine.tables.scores.slopes import Slopes, swap


def gaussian(Q: Queries, K: Keys) -> Scores:
    r"""$S_{ij} = -\tfrac12 |q_i - k_j|^2$; the softmax of it is kernel regression with a Gaussian kernel.

    >>> gaussian(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[-12.5]])
    """
    squared = np.zeros((*Q.shape[:-1], K.shape[-2]))
    for d in range(Q.shape[-1]):  # differences, not |q|^2 + |k|^2 - 2 q.k, which cancels for neighbours far from 0
        squared += (Q[..., d, None] - K[..., None, :, d]) ** 2
    return -0.5 * squared


def back(G: Scores, S: Scores, Q: Queries, K: Keys) -> Slopes:
    r"""$\partial L / \partial q_i = \sum_j G_{ij}\,(k_j - q_i), \quad
    \partial L / \partial k_j = \sum_i G_{ij}\,(q_i - k_j)$"""
    middle = K.mean(axis=-2, keepdims=True)  # differences are kept where all points lie together far from 0
    Q, K = Q - middle, K - middle
    return G @ K - G.sum(axis=-1)[..., None] * Q, swap(G) @ Q - G.sum(axis=-2)[..., None] * K, {}


ROW = LineRow(
    kind="score",
    name="gaussian",
    label="Gaussian (Nadaraya-Watson)",
    line="-0.5 * sum((q - k)**2)",
    note="Near keys count more: with the softmax this is kernel regression.",
    source="Zhang et al., Dive into Deep Learning, section 11.2",
    plain="−½ |q − k|²",
    lines=(
        CellLine("differences", "apart = q - k", "The differences", "Entry by entry, the query minus the key."),
        CellLine(
            "squares",
            "squares = apart**2",
            "The squares",
            "Each difference squared.",
            brief="(q − k)², entry by entry",
        ),
        CellLine("squared_distance", "squared = sum(squares)", "The squared distance", "The squares added up."),
        CellLine("score", "-0.5 * squared", "The score", "Minus half the squared distance.", brief="× −½ = {made}"),
    ),
    fast=gaussian,
    back=back,
    by_hand=True,
    pairwise=4e-9,
)
