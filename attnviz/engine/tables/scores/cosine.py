"""The cosine of the angle between query and key."""

from __future__ import annotations

import numpy as np

from attnviz.arrays import Array, Keys, Queries, Scores
from attnviz.engine.numerics import buffer_pool
from attnviz.engine.rows.line_row import CellLine, LineRow
from attnviz.engine.tables.scores.slopes import Slopes, swap


def unit(x: Array) -> Array:
    """Return each row over its length; a row of zeros stays.

    Dividing by the largest entry first keeps the square in range.
    """
    largest = np.max(np.abs(x), axis=-1, keepdims=True, initial=0.0)
    x = x / np.where(largest > 0, largest, 1.0)
    length = np.sqrt(np.sum(x * x, axis=-1, keepdims=True))
    return x / np.where(largest > 0, length, 1.0)


def cosine(Q: Queries, K: Keys) -> Scores:
    r"""$S_{ij} = q_i \cdot k_j / (|q_i|\,|k_j|)$, and 0 where either is zero.

    >>> cosine(np.array([[3.0, 4.0]]), np.array([[6.0, 8.0], [0.0, 0.0]])).round(12)
    array([[1., 0.]])
    """
    return buffer_pool.product(unit(Q), swap(unit(K)))


def back(G: Scores, S: Scores, Q: Queries, K: Keys) -> Slopes:
    r"""With $u = q / |q|$ and $g_i = \sum_j G_{ij}\, k_j / |k_j|$: $\partial L / \partial q_i = (g_i - u_i\,
    (u_i \cdot g_i)) / |q_i|$, and likewise for the keys; 0 for a vector of zeros."""
    (u_q, long_q), (u_k, long_k) = _unit_and_length(Q), _unit_and_length(K)
    return _across(G @ u_k, u_q, long_q), _across(swap(G) @ u_q, u_k, long_k), {}


def _unit_and_length(x: Array) -> tuple[Array, Array]:
    """Return each row over its length, and the length; the largest entry is taken out so that no square overflows."""
    largest = np.max(np.abs(x), axis=-1, keepdims=True, initial=0.0)
    x = x / np.where(largest > 0, largest, 1.0)
    length = np.sqrt(np.sum(x * x, axis=-1, keepdims=True))
    return x / np.where(largest > 0, length, 1.0), largest * length


def _across(g: Array, u: Array, length: Array) -> Array:
    """Return the part of g across u, over the length: along u a direction does not change."""
    return np.where(length > 0, (g - u * np.sum(u * g, axis=-1, keepdims=True)) / np.where(length > 0, length, 1), 0)


ROW = LineRow(
    kind="score",
    name="cosine",
    label="Cosine",
    line="dot(unit(q), unit(k))",
    note="Only the directions count; a larger scale (1 over the temperature) sharpens what lies between -1 and 1.",
    source="Graves et al. 2014, arXiv:1410.5401, section 3.3.1",
    plain="q · k / (|q| |k|)",
    lines=(
        CellLine("query_length", "left = norm(q)", "The length of the query", "The root of the sum of its squares."),
        CellLine("key_length", "right = norm(k)", "The length of the key", "The root of the sum of its squares."),
        CellLine(
            "products",
            "products = q * k",
            "The products",
            "Entry by entry, the query times the key.",
            brief="q · k, entry by entry",
        ),
        CellLine("dot", "total = sum(products)", "The dot product", "The products added up."),
        CellLine(
            "score",
            "ratio(total, left * right)",
            "The score",
            "The dot product over both lengths: the cosine of the angle between query and key.",
            brief="÷ ({left} × {right}), both lengths = {made}",
            zero="A vector of zeros has no direction; its cosine with anything counts as 0.",
        ),
    ),
    fast=cosine,
    back=back,
)
