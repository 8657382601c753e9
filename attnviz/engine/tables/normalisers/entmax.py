"""Entmax of any order between softmax and sparsemax."""

import numpy as np

from attnviz.arrays import Scores, Weights
from attnviz.engine.rows.line_row import CellLine, LineRow
from attnviz.settings.rows import Knob

STEPS, ROUNDING = 100, 1e-16


def entmax(X: Scores, T: float = 1.0, *, alpha: float = 1.5) -> Weights:
    """Return the weights by Newton's method on the length of what lies above the level, which is convex in it.

    From below the level every step goes towards it and never beyond.

    >>> entmax(np.array([0.0, 0.0, -9.0]), alpha=2.0)
    array([0.5, 0.5, 0. ])
    """
    largest = np.max(X, axis=-1, keepdims=True, initial=-np.inf)
    largest = np.select([np.isneginf(largest), np.isposinf(largest)], [0.0, np.nan], largest)
    Z = (alpha - 1.0) * ((X - largest) / T)
    power, level = 1.0 / (alpha - 1.0), np.full(largest.shape, -1.0)
    for _ in range(STEPS):
        above = np.maximum(Z - level, 0.0)
        slope = np.where(above > 0, above ** (power - 1.0), 0.0)
        total = (above * slope).sum(axis=-1, keepdims=True)
        step = (total - total ** (1.0 - 1.0 / power)) / np.where(total > 0, slope.sum(axis=-1, keepdims=True), 1.0)
        step = np.where(step > ROUNDING, step, 0.0)  # so that what a row is does not depend on how long others take
        if not step.any():
            break
        level = level + step
    return np.maximum(Z - level, 0.0) ** power


ROW = LineRow(
    kind="normaliser",
    name="entmax",
    label="Entmax",
    line="z = (alpha - 1) * (x - max(x)); relu(z - level(z, 1 / (alpha - 1)))**(1 / (alpha - 1))",
    note="Shares that add to 1, with exact zeros. The order α goes from near softmax (1) over entmax 1.5 to "
    "sparsemax (2): the larger it is, the fewer keys get anything.",
    source="Peters et al. 2019, arXiv:1905.05702",
    plain="entmax",
    knobs=(Knob("alpha", "Order α", 1.25, 1.05, 2.0),),
    fast=entmax,
    lines=(
        CellLine(
            "largest",
            "m = max(s)",
            "The largest of the {line}",
            "It will be subtracted: no weight changes, and the numbers stay small.",
            symbol="m",
        ),
        CellLine(
            "below",
            "below = (alpha - 1) * (s - m) / T",
            "Below the largest",
            "Each score of the {line} minus the largest, times α − 1, over the temperature.",
            symbol="u_{@}",
        ),
        CellLine(
            "threshold",
            "low = level(below, 1 / (alpha - 1))",
            "The threshold",
            "Set so that the weights add to 1.",
            symbol=r"\tau",
        ),
        CellLine(
            "weight",
            "relu(below - low)**(1 / (alpha - 1))",
            "The weight",
            "What lies above the threshold, to the power 1 / (α − 1); nothing below it.",
        ),
    ),
)
