"""A softmax with one more in the denominator."""

from __future__ import annotations

import numpy as np

from attnviz.arrays import Scores, Weights
from attnviz.engine.rows.line_row import CellLine, LineRow
from attnviz.engine.tables.normalisers import softmax
from attnviz.engine.tables.normalisers.shared import row_max


def quiet_softmax(X: Scores, T: float = 1.0) -> Weights:
    r"""$a_j = e^{z_j} / (1 + \sum_l e^{z_l})$: a row can say that nothing fits. Its sum is below 1.

    >>> quiet_softmax(np.array([0.0, 0.0])).round(4)
    array([0.3333, 0.3333])
    """
    largest = np.maximum(row_max(X), 0.0)  # the 1 in the denominator is a key with score 0
    E = np.exp((X - largest) / T)
    return E / (np.exp(-largest / T) + E.sum(axis=-1, keepdims=True))


ROW = LineRow(
    kind="normaliser",
    name="quiet_softmax",
    label="Quiet softmax",
    line="top = max(max(x), 0); e = exp(x - top); e / (exp(-top) + sum(e))",
    note="A softmax that can stay silent: the row adds to less than 1, and to almost 0 if nothing fits.",
    source="Miller 2023, Attention Is Off By One",
    plain="quiet softmax",
    lines=(
        CellLine(
            "largest",
            "m = max(max(s), 0)",
            "The largest of the {line}, at least 0",
            "It will be subtracted from all, and from the 0 whose exponential is the 1.",
            symbol="m",
        ),
        *softmax.ROW.lines[1:3],
        CellLine(
            "one",
            "one = exp(-m / T)",
            "The 1",
            "The 1 of the denominator, a key with score 0, after the same subtraction.",
            symbol="e^{u_0}",
        ),
        CellLine(
            "sum",
            "total = sum(e) + one",
            "Their sum",
            "The exponentials of the whole {line} and the 1 added up.",
        ),
        CellLine(
            "weight",
            "e / total",
            "The weight",
            "This exponential divided by the sum.",
            brief="e^{{{exponent}}} = {e} of {total} in the {line}, with the 1",
        ),
    ),
    fast=quiet_softmax,
    back=softmax.back,
    sums_to_one=False,
    comments={"top": "the 1 in the denominator is a key with score 0"},
    latex=r"a_{ij} = \frac{e^{z_{ij}}}{1 + \sum_l e^{z_{il}}}",
    masked_as_0="exp(0) = 1: a score of 0 counts as much as the 1 in the denominator. Divided by its sum, the row "
    "adds to 1 and can no longer stay silent.",
)
