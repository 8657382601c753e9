"""The nearest shares to a row of scores.

Found by sorting, which no line says: so what a cell, a workbook, a browser and a script say of it is written here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from attnviz.arrays import Scores, Weights
from attnviz.engine.rows.line_row import CellLine, LineRow, Written
from attnviz.engine.tables.normalisers.shared import at_last, below_max, centred_slopes


def sparsemax(X: Scores, T: float = 1.0) -> Weights:
    r"""$a = \arg\min_{p \in \Delta} |p - z|^2$, that is $a_j = \max(z_j - \tau, 0)$ with a sum of 1.

    >>> sparsemax(np.array([1.0, 0.5, -1.0]))
    array([0.75, 0.25, 0.  ])
    """
    Z, falling, allowed, rank = below_max(X, T)
    sums = np.cumsum(np.where(allowed, falling, 0.0), axis=-1)
    support = allowed & (1.0 + rank * falling > sums)
    return np.maximum(Z - at_last((sums - 1.0) / rank, support), 0.0)


def back(G: Weights, X: Scores, A: Weights, T: float = 1.0) -> Scores:
    r"""$\partial L / \partial x_j = (G_j - \bar G) / T$ with the mean over the keys of weight above 0; 0 for others."""
    return centred_slopes((A > 0).astype(float), G, T)


def cell(write: Any) -> None:
    """Add the threshold that makes what lies above it add to 1, and what lies above it."""
    u, falling, allowed = write.below(1.0)
    rank = np.arange(1.0, len(u) + 1)
    inside = allowed & (1.0 + rank * falling > np.cumsum(np.where(allowed, falling, 0.0)))
    k, total = write.support(falling, inside)
    fraction = rf"\frac{{{write.fmt.number(total)} - 1}}{{{write.fmt.number(k)}}}"
    tau = write.add("threshold", r"\tau", [fraction], (total - 1.0) / k, {"sum": total, "k": k})
    member = rf"\max({write.fmt.difference(u[write.at], tau)},\, 0)"
    write.weight([member], np.maximum(u[write.at] - tau, 0.0), {"u": u[write.at], "threshold": tau})


def workbook(lines: Any) -> Any:
    """Return the threshold that one, two, three ... keys would share: the true one is the largest of these."""
    z = lines.below("below", 1.0)
    falling = lines.sorted(z)
    t = (np.cumsum(falling.array, axis=lines.axis) - 1.0) / lines.ranks()

    def formula(i: int, j: int) -> str:
        line = lines.upto(falling, i, j)
        return f'IF(ISNUMBER({falling.at(i, j)}),(SUM({line})-1)/{lines.rank(i, j)},"{lines.nothing}")'

    return lines.above(z, lines.block("thresholds", t, formula), "")


FUNCTION = '''
def sparsemax(x):
    """max(z - tau, 0) along the last axis, tau such that the sum is 1."""
    z = $z
    falling = $falling
    rank = $np.arange(1, z.shape[-1] + 1)
    sums = $np.cumsum(falling, $axis=-1)
    k = (1 + rank * falling > sums).sum($over)  # so many get something
    tau = ($along(sums, k - 1, $axis=-1) - 1) / k
    return (z - tau).clip(min=0)
'''

ROW = LineRow(
    kind="normaliser",
    name="sparsemax",
    label="Sparsemax",
    line="",
    note="Shares that add to 1; keys far below the best get exactly 0.",
    source="Martins and Astudillo 2016, arXiv:1602.02068, section 2",
    plain="sparsemax",
    fast=sparsemax,
    back=back,
    sums_to_one=True,
    written=Written(
        cell=cell,
        words=(
            CellLine(
                "largest",
                "",
                "The largest of the {line}",
                "It will be subtracted: no weight changes, and the numbers stay small.",
            ),
            CellLine(
                "exponents",
                "",
                "Below the largest",
                "Each score of the {line} minus the largest, over the temperature.",
            ),
            CellLine(
                "support", "", "The support", "How many of the {line} get more than 0: those above the threshold."
            ),
            CellLine("sum_of_support", "", "The sum of the support", "What the support holds, added up."),
            CellLine("threshold", "", "The threshold", "Set so that the weights add to 1."),
            CellLine("weight", "", "The weight", "What lies above the threshold, and nothing below it."),
        ),
        workbook=workbook,
        browser="above(x, place, 1)",
        live="help.above(x, w, n, 1)",
        weights="sparsemax({x})",
        function=FUNCTION,
        turn=True,
    ),
    masked_as_0="A score of 0 gets no weight only if it lies far below the largest. Setting weights to 0 and dividing "
    "each row by its sum is not the same as −∞ here: a forbidden key in the support has shifted the threshold for all "
    "keys.",
    latex=r"a_i = \arg\min_{p \in \Delta} |p - z_i|^2",
)
