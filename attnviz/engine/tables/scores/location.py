"""The query times a column of a matrix for each position."""

from __future__ import annotations

import numpy as np

from attnviz.arrays import Array, Keys, Queries, Scores
from attnviz.engine.numerics import buffer_pool
from attnviz.engine.rows.line_row import CellLine, LineRow
from attnviz.engine.tables.scores.slopes import Slopes, swap


def location(Q: Queries, K: Keys, *, W: Array | None = None) -> Scores:
    r"""$S_{ij} = q_i \cdot w_j$: column j of W (d_q, n_key) belongs to position j; what stands there is not looked at.

    >>> location(np.array([[1.0, 2.0]]), np.zeros((3, 5)), W=np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]))
    array([[1., 2., 4.]])
    """
    if W is None:
        W = np.eye(Q.shape[-1], K.shape[-2])
    return buffer_pool.product(Q, W)


def back(G: Scores, S: Scores, Q: Queries, K: Keys, *, W: Array) -> Slopes:
    r"""$\partial L / \partial Q = G W^\top, \quad \partial L / \partial W = Q^\top G$, and nothing for the keys."""
    return G @ swap(W), np.zeros(K.shape), {"W": swap(Q) @ G}


ROW = LineRow(
    kind="score",
    name="location",
    label="Location-based",
    line="sum(q * W[:, j])",
    note="The query alone decides which positions to read; what the keys say is not used.",
    source="Luong et al. 2015, arXiv:1508.04025, section 3.1, eq. 8",
    plain="q · w of the position",
    lines=(
        CellLine(
            "products",
            "products = q * W[:, j]",
            "The products",
            "Entry by entry, the query times column {j} of W; the content of the key plays no part.",
            brief="q · w of the position, entry by entry",
        ),
        CellLine("score", "sum(products)", "The score", "The products added up."),
    ),
    fast=location,
    back=back,
)
