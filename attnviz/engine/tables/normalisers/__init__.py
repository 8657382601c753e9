r"""Normalisers, from the scores of a row to its weights.

Every normaliser works along the last axis on the scores over a temperature, z = x / T. It gets T apart, so that a
row's maximum can be subtracted before the division and nothing overflows. A forbidden cell is -inf and comes out as
exactly 0; a row with nothing allowed comes out as zeros.

Each normaliser is one file of this folder that holds its row as ROW: a new one is in the table by being listed here.
The function `back` of one that is written by hand takes G = dL/dA, the masked scores X, the weights A that they became,
and T, and returns dL/dX. What is forbidden has weight 0 and takes no part; on a kink the slope is 0.
"""

from __future__ import annotations

from attnviz.engine.tables.normalisers import (
    entmax,
    entmax15,
    hardmax,
    linear,
    quiet_softmax,
    relu_over_n,
    sigmoid,
    softmax,
    softmax_with_sink,
    sparsemax,
    squared_relu_over_n,
)
from attnviz.engine.tables.normalisers.row import Normaliser, of_formula, of_line
from attnviz.formula.evaluation.functions import normaliser_function, normaliser_slopes
from attnviz.formula.reader import parse
from attnviz.settings.rows import table

__all__ = ["FORMULA", "NORMALISERS", "Normaliser", "of_formula", "of_line"]

LISTED = (
    softmax,
    sparsemax,
    entmax15,
    sigmoid,
    hardmax,
    quiet_softmax,
    linear,
    entmax,
    relu_over_n,
    softmax_with_sink,
    squared_relu_over_n,
)
"""The files of the normalisers, in the order in which they are offered."""

FORMULA = "e = exp(x - max(x)); e / sum(e)"
"""The formula in the field before anything is typed."""

NORMALISERS = table(
    *(of_line(file.ROW) for file in LISTED),
    Normaliser(
        "formula",
        "Your own formula",
        normaliser_function(parse(FORMULA, "normaliser")),
        r"a_{ij} = f(z_{i\cdot})",
        "A normaliser that you type yourself, from the scores x of a row and learned numbers; forbidden keys take no "
        "part.",
        "-",
        uses=("normaliser_formula",),
        plain="f",
        back=normaliser_slopes(parse(FORMULA, "normaliser")),
    ),
)
