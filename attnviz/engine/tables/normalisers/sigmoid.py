"""The sigmoid of each score alone."""

from __future__ import annotations

import numpy as np

from attnviz.arrays import Scores, Weights
from attnviz.engine.rows.line_row import CellLine, LineRow


def sigmoid(X: Scores, T: float = 1.0) -> Weights:
    r"""$a_j = 1 / (1 + e^{-z_j})$: every key is judged alone. The sum of a row can be anything from 0 to n.

    >>> sigmoid(np.array([0.0, -np.inf]))
    array([0.5, 0. ])
    """
    small = np.exp(-np.abs(X / T))
    return np.where(X >= 0, 1.0, small) / (1.0 + small)


def back(G: Weights, X: Scores, A: Weights, T: float = 1.0) -> Scores:
    r"""$\partial L / \partial x_j = a_j\,(1 - a_j)\,G_j / T$: every key is judged alone."""
    return A * (1.0 - A) * G / T


ROW = LineRow(
    kind="normaliser",
    name="sigmoid",
    label="Sigmoid",
    line="sigmoid(x)",
    note="Each key is weighted by its own score alone; the weights of a row need not add to 1.",
    source="Ramapuram et al. 2024, arXiv:2409.04431, section 2",
    plain="sigmoid",
    lines=(
        CellLine(
            "weight",
            "1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))",  # the same, and neither can overflow
            "The weight",
            "The weight depends on this score alone, not on other keys.",
            brief="1 ÷ (1 + e^{{−({x})}})",
        ),
    ),
    fast=sigmoid,
    back=back,
    sums_to_one=False,
    latex=r"a_{ij} = \frac{1}{1 + e^{-z_{ij}}}",
    masked_as_0="Each key is weighted by its own score alone: a score of 0 gives a weight of 0.5; setting weights to "
    "0 afterwards is the same as −∞. Divided by its sum, the row adds to 1, which a sigmoid's row does not.",
)
