"""Half-way between softmax and sparsemax.

Found by sorting, which no line says: so what a cell, a workbook, a browser and a script say of it is written here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from attnviz.arrays import Array, Scores, Weights
from attnviz.engine.rows.line_row import CellLine, LineRow, Written
from attnviz.engine.tables.normalisers.shared import at_last, below_max, centred_slopes


def entmax15(X: Scores, T: float = 1.0) -> Weights:
    r"""$a_j = \max(z_j / 2 - \tau, 0)^2$ with a sum of 1: between softmax and sparsemax.

    >>> entmax15(np.array([0.0, 0.0, -9.0]))
    array([0.5, 0.5, 0. ])
    """
    Z, falling, allowed, rank = below_max(X / 2.0, T)
    kept = np.where(allowed, np.maximum(falling, -1.0), 0.0)  # what lies 1 below the maximum is never in the support
    mean = np.cumsum(kept, axis=-1) / rank
    spread = np.cumsum(kept**2, axis=-1) - rank * mean**2
    thresholds = mean - np.sqrt(np.maximum((1.0 - spread) / rank, 0.0))
    return np.maximum(Z - at_last(thresholds, allowed & (thresholds <= falling)), 0.0) ** 2


def back(G: Weights, X: Scores, A: Weights, T: float = 1.0) -> Scores:
    r"""$\partial L / \partial x_j = s_j\,(G_j - \sum_l s_l G_l / \sum_l s_l) / T$ with $s_j = \sqrt{a_j}$"""
    return centred_slopes(np.sqrt(A), G, T)


def cell(write: Any) -> None:
    """Write the threshold from mean and spread of the support, and the square of what lies above it."""
    fmt = write.fmt
    u, falling, allowed = write.below(2.0)
    k, total = write.support(falling, _support(falling, allowed))
    fraction = rf"\frac{{{fmt.number(total)}}}{{{fmt.number(k)}}}"
    mean = write.add("mean", r"\bar u", [fraction], total / k, {"sum": total, "k": k})
    inside = falling[: int(k)]
    *lines, last = fmt.sum([f"{fmt.base(x)}^2" for x in inside], inside**2)
    squares = [*lines, rf"{last} - {fmt.number(k)} \cdot {fmt.base(mean)}^2"]
    result = np.cumsum(inside**2)[-1] - k * mean**2
    spread = write.add("spread", r"\sigma", [squares], result, {"terms": inside, "k": k, "mean": mean}, size=1.0)
    root = rf"\sqrt{{\frac{{\max(1 - {fmt.factor(spread)},\, 0)}}{{{fmt.number(k)}}}}}"
    result = mean - np.sqrt(np.maximum((1.0 - spread) / k, 0.0))
    operands = {"mean": mean, "spread": spread, "k": k}
    tau = write.add("threshold", r"\tau", [f"{fmt.number(mean)} - {root}"], result, operands)
    member = rf"\max({fmt.difference(u[write.at], tau)},\, 0)^2"
    write.weight([member], np.maximum(u[write.at] - tau, 0.0) ** 2, {"u": u[write.at], "threshold": tau})


def _support(falling: Array, allowed: Array) -> Array:
    rank = np.arange(1.0, len(falling) + 1)
    kept = np.where(allowed, np.maximum(falling, -1.0), 0.0)
    mean = np.cumsum(kept) / rank
    spread = np.cumsum(kept**2) - rank * mean**2
    return allowed & (mean - np.sqrt(np.maximum((1.0 - spread) / rank, 0.0)) <= falling)


def workbook(lines: Any) -> Any:
    """Return the threshold of one, two, three ... keys: the true one is the largest not above the last of them."""
    z = lines.below("half_below", 2.0)
    falling = lines.sorted(z)
    u, rank = falling.array, lines.ranks()
    mean = np.cumsum(u, axis=lines.axis) / rank
    spread = np.cumsum(u**2, axis=lines.axis) - rank * mean**2
    t = mean - np.sqrt(np.maximum((1.0 - spread) / rank, 0.0))

    def root(i: int, j: int) -> str:
        line = lines.upto(falling, i, j)
        t = f"AVERAGE({line})-SQRT(MAX((1-DEVSQ({line}))/{lines.rank(i, j)},0))"
        return f'IF(ISNUMBER({falling.at(i, j)}),{t},"{lines.nothing}")'

    roots = lines.block("roots", t, root)

    def holding(i: int, j: int) -> str:
        t = roots.at(i, j)
        return f'IF({t}<={falling.at(i, j)},{t},"{lines.nothing}")'

    return lines.above(z, lines.block("holding", np.where(t <= u, t, np.nan), holding), "^2")


FUNCTION = '''
def entmax15(x):
    """max(z / 2 - tau, 0)^2 along the last axis, tau such that the sum is 1."""
    z = $half
    falling = $falling
    rank = $np.arange(1, z.shape[-1] + 1)
    kept = falling.clip(min=-1)  # what lies 1 below the largest never gets anything
    mean = $np.cumsum(kept, $axis=-1) / rank
    spread = $np.cumsum(kept**2, $axis=-1) - rank * mean**2
    tau = mean - $np.sqrt(((1 - spread) / rank).clip(min=0))  # if the first 1, 2, 3 ... get something
    k = (tau <= falling).sum($over)  # so many do
    return (z - $along(tau, k - 1, $axis=-1)).clip(min=0) ** 2
'''

ROW = LineRow(
    kind="normaliser",
    name="entmax15",
    label="Entmax 1.5",
    line="",
    note="Half-way between softmax and sparsemax.",
    source="Peters et al. 2019, arXiv:1905.05702, section 3 and algorithm 2",
    plain="entmax₁.₅",
    fast=entmax15,
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
                "Half of each score minus half of the largest, over the temperature.",
            ),
            CellLine(
                "support", "", "The support", "How many of the {line} get more than 0: those above the threshold."
            ),
            CellLine("sum_of_support", "", "The sum of the support", "What the support holds, added up."),
            CellLine("mean", "", "The mean of the support", "The sum divided by their number."),
            CellLine(
                "spread",
                "",
                "The spread of the support",
                "The sum of their squares minus what the mean alone would make.",
            ),
            CellLine("threshold", "", "The threshold", "Set so that the weights add to 1."),
            CellLine("weight", "", "The weight", "What lies above the threshold, squared; nothing below it."),
        ),
        workbook=workbook,
        browser="above(x, place, 2)",
        live="help.above(x, w, n, 2)",
        weights="entmax15({x})",
        function=FUNCTION,
        turn=True,
    ),
    masked_as_0="A score of 0 gets no weight only if it lies far below the largest. Setting weights to 0 and dividing "
    "each row by its sum is not the same as −∞ here: a forbidden key in the support has shifted the threshold for all "
    "keys.",
    latex=r"a_{ij} = \max(z_{ij}/2 - \tau_i,\, 0)^2",
)
