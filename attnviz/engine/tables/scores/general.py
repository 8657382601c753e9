"""A matrix between query and key."""

from __future__ import annotations

import numpy as np

from attnviz.arrays import Array, Keys, Queries, Scores
from attnviz.engine.numerics import buffer_pool
from attnviz.engine.rows.line_row import CellLine, LineRow
from attnviz.engine.tables.scores.slopes import Slopes, swap


def general(Q: Queries, K: Keys, *, W: Array | None = None) -> Scores:
    r"""$S_{ij} = q_i W k_j^\top$, with W (d_q, d_k) the identity if not given.

    >>> general(np.array([[1.0, 2.0]]), np.array([[3.0]]), W=np.array([[1.0], [10.0]]))
    array([[63.]])
    """
    if W is None:
        W = np.eye(Q.shape[-1], K.shape[-1])
    return buffer_pool.product(buffer_pool.product(Q, W), swap(K))


def back(G: Scores, S: Scores, Q: Queries, K: Keys, *, W: Array) -> Slopes:
    r"""$\partial L / \partial Q = G K W^\top, \quad \partial L / \partial K = G^\top Q W, \quad
    \partial L / \partial W = Q^\top G K$"""
    GK = G @ K
    return GK @ swap(W), swap(G) @ (Q @ W), {"W": swap(Q) @ GK}


ROW = LineRow(
    kind="score",
    name="general",
    label="General (bilinear)",
    line="q @ W @ k",
    note="A matrix between query and key says which entry meets which.",
    source="Luong et al. 2015, arXiv:1508.04025, section 3.1",
    plain="q W kᵀ",
    lines=(
        CellLine(
            "transformed_query",
            "left = q @ W",
            "The query through W",
            "W says which entry of the query meets which entry of the key.",
        ),
        CellLine(
            "products",
            "products = left * k",
            "The products",
            "Entry by entry, the transformed query times the key.",
            brief="q W · k, entry by entry",
        ),
        CellLine("score", "sum(products)", "The score", "The products added up."),
    ),
    fast=general,
    back=back,
)
