"""The exponentials of a row over their sum."""

from __future__ import annotations

import numpy as np

from attnviz.arrays import Scores, Weights
from attnviz.engine.numerics import buffer_pool
from attnviz.engine.rows.line_row import CellLine, LineRow
from attnviz.engine.tables.normalisers.shared import over_sum, row_max


def softmax(X: Scores, T: float = 1.0) -> Weights:
    r"""$a_j = e^{z_j} / \sum_l e^{z_l}$

    >>> softmax(np.array([0.0, 0.0, -np.inf]))
    array([0.5, 0.5, 0. ])
    """
    E = np.subtract(X, row_max(X), out=buffer_pool.empty(X.shape))
    if T != 1.0:
        E /= T
    np.exp(E, out=E)
    return over_sum(E)


def back(G: Weights, X: Scores, A: Weights, T: float = 1.0) -> Scores:
    r"""$\partial L / \partial x_j = a_j\,(G_j - \sum_l a_l G_l) / T$

    The same holds for the quiet softmax, where the weights add to less than 1. A weight of nearly 0 or 1 has nearly no
    slope: a head that is sure stops learning.

    >>> back(np.array([1.0, 0.0]), np.zeros(2), np.array([0.5, 0.5]))
    array([ 0.25, -0.25])
    """
    D = A * G
    D -= A * D.sum(axis=-1, keepdims=True)
    return D if T == 1.0 else np.divide(D, T, out=D)


ROW = LineRow(
    kind="normaliser",
    name="softmax",
    label="Softmax",
    line="e = exp(x - max(x)); e / sum(e)",
    note="Shares that add to 1; every allowed key gets something.",
    source="Vaswani et al. 2017, arXiv:1706.03762, section 3.2.1",
    plain="softmax",
    lines=(
        CellLine(
            "largest",
            "m = max(s)",
            "The largest of the {line}",
            "It will be subtracted: no weight changes, and the numbers stay small.",
            symbol="m",
        ),
        CellLine(
            "exponents",
            "below = (s - m) / T",
            "Below the largest",
            "Each score of the {line} minus the largest, over the temperature.",
            symbol="u_{@}",
        ),
        CellLine(
            "exponentials",
            "e = exp(below)",
            "The exponentials",
            "e to the power of each; a difference of 0 gives 1.",
            symbol="e^{u_{@}}",
        ),
        CellLine("sum", "total = sum(e)", "Their sum", "The exponentials of the whole {line} added up."),
        CellLine(
            "weight",
            "e / total",
            "The weight",
            "This exponential divided by the sum.",
            brief="e^{{{exponent}}} = {e} of {total} in the {line}",
        ),
    ),
    fast=softmax,
    back=back,
    latex=r"a_{ij} = \frac{e^{z_{ij}}}{\sum_l e^{z_{il}}}",
    masked_as_0="exp(0) = 1: a score of 0 is a score like any other. Setting weights to 0 afterwards and dividing "
    "each row by its sum gives the same as −∞, as softmax keeps the ratios of what is left; of a row with nothing left "
    "it makes 0 / 0.",
)
