"""The positive scores over their sum."""

from __future__ import annotations

import numpy as np

from attnviz.arrays import Scores, Weights
from attnviz.engine.rows.line_row import CellLine, LineRow
from attnviz.engine.tables.normalisers.shared import over_sum


def linear(X: Scores, T: float = 1.0) -> Weights:
    r"""$a_j = \max(z_j, 0) / \sum_l \max(z_l, 0)$; zeros where no score is positive. The temperature cancels.

    >>> linear(np.array([[1.0, 3.0, -2.0], [-1.0, -1.0, -1.0]]))
    array([[0.25, 0.75, 0.  ],
           [0.  , 0.  , 0.  ]])
    """
    P = np.maximum(X, 0.0)
    largest = np.max(P, axis=-1, keepdims=True, initial=0.0)
    return over_sum(P / np.where((largest == 0) | np.isinf(largest), 1.0, largest))  # so that the sum cannot overflow


def back(G: Weights, X: Scores, A: Weights, T: float = 1.0) -> Scores:
    r"""$\partial L / \partial x_j = (G_j - \sum_l a_l G_l) / \sum_l \max(x_l, 0)$ where $x_j > 0$, and 0 elsewhere."""
    total = np.maximum(X, 0.0).sum(axis=-1, keepdims=True)
    return np.where(X > 0, (G - (A * G).sum(axis=-1, keepdims=True)) / np.where(total == 0, 1.0, total), 0.0)


ROW = LineRow(
    kind="normaliser",
    name="linear",
    label="Linear",
    line="p = relu(x); ratio(p, sum(p))",
    note="The positive scores divided by their sum; a row without any is all zeros.",
    source="Zhang et al., Dive into Deep Learning, section 11.2 (kernel weights over their sum)",
    plain="linear",
    lines=(
        CellLine("positive", "p = relu(s)", "The positive parts", "Scores below 0 count as 0.", symbol="p_{@}"),
        CellLine("sum", "total = sum(p)", "Their sum", "The positive parts of the whole {line} added up."),
        CellLine(
            "weight",
            "ratio(p, total)",
            "The weight",
            "This positive part divided by the sum.",
            brief="{p} of {total} in the {line}; below 0 counts as 0",
            zero="No score of the {line} is positive, so all weights are 0.",
        ),
    ),
    fast=linear,
    back=back,
    sums_to_one=True,
    masked_as_0="max(s, 0) is 0 for a score of 0 and for any negative number: neither leaks. Setting weights to 0 "
    "afterwards and dividing each row by its sum gives the same as −∞, but 0 / 0 where nothing is left.",
)
