"""The dot product of query and key."""

from __future__ import annotations

from attnviz.arrays import Keys, Queries, Scores
from attnviz.engine.numerics import buffer_pool
from attnviz.engine.rows.line_row import CellLine, LineRow
from attnviz.engine.tables.scores.slopes import Slopes, swap


def dot(Q: Queries, K: Keys) -> Scores:
    r"""$S_{ij} = q_i \cdot k_j$

    >>> import numpy as np
    >>> dot(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [0.0, 1.0]]))
    array([[11.,  2.]])
    """
    return buffer_pool.product(Q, swap(K))


def back(G: Scores, S: Scores, Q: Queries, K: Keys) -> Slopes:
    r"""$\partial L / \partial q_i = \sum_j G_{ij}\, k_j, \quad \partial L / \partial k_j = \sum_i G_{ij}\, q_i$

    >>> import numpy as np
    >>> back(np.array([[2.0]]), np.zeros((1, 1)), np.array([[1.0, 0.0]]), np.array([[3.0, 4.0]]))[0]
    array([[6., 8.]])
    """
    return G @ K, swap(G) @ Q, {}


ROW = LineRow(
    kind="score",
    name="dot",
    label="Dot product",
    line="sum(q * k)",
    note="The products of the entries, added up, and nothing more: wide heads give large scores.",
    source="Luong et al. 2015, arXiv:1508.04025, section 3.1",
    plain="q · k",
    lines=(
        CellLine(
            "products",
            "products = q * k",
            "The products",
            "Entry by entry, the query times the key.",
            brief="q · k, entry by entry",
        ),
        CellLine("score", "sum(products)", "The score", "The products added up."),
    ),
    fast=dot,
    back=back,
    by_hand=True,
)
