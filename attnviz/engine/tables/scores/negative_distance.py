"""The distance of query and key, negative."""

from __future__ import annotations

import numpy as np

from attnviz.arrays import Keys, Queries, Scores
from attnviz.engine.rows.line_row import CellLine, LineRow
from attnviz.engine.tables.scores import gaussian
from attnviz.engine.tables.scores.slopes import Slopes


def negative_distance(Q: Queries, K: Keys) -> Scores:
    r"""$S_{ij} = -|q_i - k_j|$

    >>> negative_distance(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[-5.]])
    """
    length = np.zeros((*Q.shape[:-1], K.shape[-2]))
    for d in range(Q.shape[-1]):
        length = np.hypot(length, Q[..., d, None] - K[..., None, :, d])
    return -length


def back(G: Scores, S: Scores, Q: Queries, K: Keys) -> Slopes:
    r"""Return the Gaussian's with $G_{ij} / |q_i - k_j|$; 0 where the two are one point, which is a kink."""
    apart = S < 0
    return gaussian.back(np.where(apart, G / np.where(apart, -S, 1.0), 0.0), S, Q, K)


ROW = LineRow(
    kind="score",
    name="negative_distance",
    label="Negative distance",
    line="-norm(q - k)",
    note="Near keys count more, and far ones are punished less than by the Gaussian.",
    source="Gulcehre et al. 2018, arXiv:1805.09786, section 3.2 (there with hyperbolic distance)",
    plain="−|q − k|",
    lines=(
        *gaussian.ROW.lines[:-1],
        CellLine(
            "score",
            "-sqrt(squared)",
            "The score",
            "Minus the distance, the root of the squared distance.",
            brief="− its root = {made}",
        ),
    ),
    fast=negative_distance,
    back=back,
    pairwise=18e-9,
)
