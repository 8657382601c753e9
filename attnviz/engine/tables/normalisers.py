"""Normalisers, from the scores of a row to its weights.

Every normaliser works along the last axis on the scores over a temperature, z = x / T. It gets T apart, so that a
row's maximum can be subtracted before the division and nothing overflows. A forbidden cell is -inf and comes out as
exactly 0; a row with nothing allowed comes out as zeros.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from attnviz.engine.numerics import scratch
from attnviz.engine.rows import line_rows
from attnviz.engine.slopes import normalisers as slopes
from attnviz.formula.degree import cancels
from attnviz.formula.functions import leaves_a_rest, normaliser_function, normaliser_slopes, sums_to_one
from attnviz.formula.graph import Formula
from attnviz.formula.patterns import is_cell_by_cell, is_softmax
from attnviz.formula.reader import parse
from attnviz.readings.latex import latex
from attnviz.settings.rows import Choice, KnobValue, LineRow, table

Array = np.ndarray


def row_max(X: Array) -> Array:
    """Return the largest score of each row, last axis kept.

    0 where nothing is allowed, so that it can be subtracted.
    """
    largest = np.max(X, axis=-1, keepdims=True, initial=-np.inf)
    return np.where(np.isneginf(largest), 0.0, largest)


def _over_sum(W: Array) -> Array:
    """Return each row over its sum, in place; a row of zeros stays."""
    total = W.sum(axis=-1, keepdims=True)
    W /= np.where(total == 0, 1.0, total)
    return W


def softmax(X: Array, T: float = 1.0) -> Array:
    r"""$a_j = e^{z_j} / \sum_l e^{z_l}$

    >>> softmax(np.array([0.0, 0.0, -np.inf]))
    array([0.5, 0.5, 0. ])
    """
    E = np.subtract(X, row_max(X), out=scratch.empty(X.shape))
    if T != 1.0:
        E /= T
    np.exp(E, out=E)
    return _over_sum(E)


def quiet_softmax(X: Array, T: float = 1.0) -> Array:
    r"""$a_j = e^{z_j} / (1 + \sum_l e^{z_l})$: a row can say that nothing fits. Its sum is below 1.

    >>> quiet_softmax(np.array([0.0, 0.0])).round(4)
    array([0.3333, 0.3333])
    """
    largest = np.maximum(row_max(X), 0.0)  # the 1 in the denominator is a key with score 0
    E = np.exp((X - largest) / T)
    return E / (np.exp(-largest / T) + E.sum(axis=-1, keepdims=True))


def sigmoid(X: Array, T: float = 1.0) -> Array:
    r"""$a_j = 1 / (1 + e^{-z_j})$: every key is judged alone. The sum of a row can be anything from 0 to n.

    >>> sigmoid(np.array([0.0, -np.inf]))
    array([0.5, 0. ])
    """
    small = np.exp(-np.abs(X / T))
    return np.where(X >= 0, 1.0, small) / (1.0 + small)


TIE = 1e-9
"""Scores that are this much of their row's spread below the largest are equal to it but for rounding."""

ROUNDING = 2.0**-44
"""So are those that are this much of what was added up below it: where all scores are equal, rounding is the spread."""


def size_of_terms(Q: Array, K: Array, scale: float | Array = 1.0) -> Array:
    """Return the size of the terms that the scores of each head are sums of, (..., 1, 1).

    It is |scale| |Q| |K|, with the root of the sum of all squares of a matrix, which no score exceeds (Cauchy-Schwarz).

    >>> size_of_terms(np.array([[3.0, 4.0]]), np.array([[0.0, 2.0]])).item()
    10.0
    """
    squares = [np.square(X).sum(axis=(-2, -1), keepdims=True) for X in (Q, K)]
    size = np.abs(scale) * np.sqrt(squares[0]) * np.sqrt(squares[1])
    return np.where(np.isfinite(size), size, 0.0)


def least_winner(X: Array, size: float | Array = 0.0) -> Array:
    """Return the least score of each row that counts as the largest, last axis kept: equal but for rounding is equal.

    size  that of the numbers whose sums the scores are; what they cancel to is rounding, however small the scores are

    >>> least_winner(np.array([1.0, 3.0, 2.0])).item()
    2.999999998
    """
    largest = np.max(X, axis=-1, keepdims=True, initial=-np.inf)
    least = np.min(np.where(np.isneginf(X), np.inf, X), axis=-1, keepdims=True, initial=np.inf)
    with np.errstate(invalid="ignore"):  # infinities are no spread
        spread = TIE * largest - TIE * least  # each made small first, so that the difference cannot overflow
        sizes = np.maximum(np.maximum(np.abs(largest), np.abs(least)), size)
        below = np.maximum(spread, ROUNDING * sizes)
    return largest - np.where(np.isfinite(below), below, 0.0)


def hardmax(X: Array, T: float = 1.0, size: float | Array = 0.0) -> Array:
    """Give all to the largest score; equal ones share equally. The temperature changes nothing.

    >>> hardmax(np.array([1.0, 3.0, 3.0]))
    array([0. , 0.5, 0.5])
    """
    least = least_winner(X, size)
    wins = np.where(np.isnan(least), np.nan, least <= X)
    return _over_sum(np.where(np.isneginf(X), 0.0, wins))


def _below_max(X: Array, T: float) -> tuple[Array, Array, Array, Array]:
    """Return each row minus its maximum, over T.

    The same in falling order; which of those are allowed; their ranks 1..n.
    """
    Z = (X - row_max(X)) / T
    falling = -np.sort(-Z, axis=-1)
    return Z, falling, ~np.isneginf(falling), np.arange(1, X.shape[-1] + 1, dtype=float)


def sparsemax(X: Array, T: float = 1.0) -> Array:
    r"""$a = \arg\min_{p \in \Delta} |p - z|^2$, that is $a_j = \max(z_j - \tau, 0)$ with a sum of 1.

    >>> sparsemax(np.array([1.0, 0.5, -1.0]))
    array([0.75, 0.25, 0.  ])
    """
    Z, falling, allowed, rank = _below_max(X, T)
    sums = np.cumsum(np.where(allowed, falling, 0.0), axis=-1)
    support = allowed & (1.0 + rank * falling > sums)
    return np.maximum(Z - _last((sums - 1.0) / rank, support), 0.0)


def entmax15(X: Array, T: float = 1.0) -> Array:
    r"""$a_j = \max(z_j / 2 - \tau, 0)^2$ with a sum of 1: between softmax and sparsemax.

    >>> entmax15(np.array([0.0, 0.0, -9.0]))
    array([0.5, 0.5, 0. ])
    """
    Z, falling, allowed, rank = _below_max(X / 2.0, T)
    kept = np.where(allowed, np.maximum(falling, -1.0), 0.0)  # what lies 1 below the maximum is never in the support
    mean = np.cumsum(kept, axis=-1) / rank
    spread = np.cumsum(kept**2, axis=-1) - rank * mean**2
    thresholds = mean - np.sqrt(np.maximum((1.0 - spread) / rank, 0.0))
    return np.maximum(Z - _last(thresholds, allowed & (thresholds <= falling)), 0.0) ** 2


def _last(thresholds: Array, support: Array) -> Array:
    """In each row the threshold at the last place that is in the support."""
    place = np.maximum(support.sum(axis=-1, keepdims=True) - 1, 0)
    return np.take_along_axis(thresholds, place, axis=-1) if thresholds.shape[-1] else np.zeros(place.shape)


def linear(X: Array, T: float = 1.0) -> Array:
    r"""$a_j = \max(z_j, 0) / \sum_l \max(z_l, 0)$; zeros where no score is positive. The temperature cancels.

    >>> linear(np.array([[1.0, 3.0, -2.0], [-1.0, -1.0, -1.0]]))
    array([[0.25, 0.75, 0.  ],
           [0.  , 0.  , 0.  ]])
    """
    P = np.maximum(X, 0.0)
    largest = np.max(P, axis=-1, keepdims=True, initial=0.0)
    return _over_sum(P / np.where(largest == 0, 1.0, largest))  # so that the sum cannot overflow


FORMULA = "e = exp(x - max(x)); e / sum(e)"
"""What stands in the field before anything is typed."""


@dataclass(frozen=True)
class Normaliser(Choice):
    """`fn(X, T)` along the last axis; `sums_to_one` says whether the rows that have something allowed add to one.

    typed     the formula that was typed, where it is one
    comments  what a script says behind lines of the formula, by their names
    """

    sums_to_one: bool = True
    typed: Formula | None = None
    comments: Mapping[str, str] = field(default_factory=dict)

    @property
    def definition(self) -> Formula | None:
        """The line from which every reading follows; None where no line can say what the row does."""
        return self.typed or (parse(self.line, "normaliser") if self.line else None)

    @property
    def is_softmax(self) -> bool:
        return self.definition is not None and is_softmax(self.definition)

    @property
    def is_indifferent(self) -> bool:
        """Whether the weights are the same at every temperature."""
        return self.definition is not None and cancels(self.definition)

    @property
    def judges_alone(self) -> bool:
        """Whether the weight of a key follows from its own score, whatever the others are."""
        return self.definition is not None and is_cell_by_cell(self.definition)

    @property
    def leaves_a_rest(self) -> bool:
        """Whether the weights of a row are shares of 1 that never add up to it."""
        return self.definition is not None and leaves_a_rest(self.definition)


def of_formula(row: Normaliser, formula: Formula, knobs: Mapping[str, KnobValue] | None = None) -> Normaliser:
    """Return the row with all that follows from its formula, whose knobs have these values."""
    return row.changed(
        fn=partial(row.fast, **(knobs or {})) if row.fast else normaliser_function(formula),
        back=normaliser_slopes(formula),
        formula=latex(formula),
        sums_to_one=sums_to_one(formula),
        typed=formula,
    )


def of_line(line: LineRow) -> Normaliser:
    """Return the row of a normaliser that is nothing but its line."""
    values = {knob.name: knob.default for knob in line.knobs}
    formula = parse(line.line, "normaliser", values)
    row = Normaliser(line.name, line.label, normaliser_function(formula), "", line.note, line.source, plain=line.plain)
    return of_formula(row.changed(line=line.line, knobs=line.knobs, fast=line.fast), formula, values)


NORMALISERS = table(
    Normaliser(
        "softmax",
        "Softmax",
        softmax,
        r"a_{ij} = \frac{e^{z_{ij}}}{\sum_l e^{z_{il}}}",
        "Shares that add to 1; every allowed key gets something.",
        "Vaswani et al. 2017, arXiv:1706.03762, section 3.2.1",
        plain="softmax",
        line="e = exp(x - max(x)); e / sum(e)",
        back=slopes.softmax,
    ),
    Normaliser(
        "sparsemax",
        "Sparsemax",
        sparsemax,
        r"a_i = \arg\min_{p \in \Delta} |p - z_i|^2",
        "Shares that add to 1; keys far below the best get exactly 0.",
        "Martins and Astudillo 2016, arXiv:1602.02068, section 2",
        plain="sparsemax",
        back=slopes.sparsemax,
    ),
    Normaliser(
        "entmax15",
        "Entmax 1.5",
        entmax15,
        r"a_{ij} = \max(z_{ij}/2 - \tau_i,\, 0)^2",
        "Half-way between softmax and sparsemax.",
        "Peters et al. 2019, arXiv:1905.05702, section 3 and algorithm 2",
        plain="entmax₁.₅",
        back=slopes.entmax15,
    ),
    Normaliser(
        "sigmoid",
        "Sigmoid",
        sigmoid,
        r"a_{ij} = \frac{1}{1 + e^{-z_{ij}}}",
        "Every key is judged alone; the weights of a row need not add to 1.",
        "Ramapuram et al. 2024, arXiv:2409.04431, section 2",
        sums_to_one=False,
        plain="sigmoid",
        line="sigmoid(x)",
        back=slopes.sigmoid,
    ),
    Normaliser(
        "hardmax",
        "Hardmax",
        hardmax,
        r"a_{ij} = \frac{[\, z_{ij} = \max_l z_{il} \,]}{\#\{ l : z_{il} = \max \}}",
        "All to the best key; equal ones share equally (equal but for rounding, a billionth of the row's spread). What "
        "softmax tends to as the temperature falls to 0.",
        "ONNX operators, Hardmax (there the first of equal ones wins)",
        plain="hardmax",
        line="best = x == max(x); best / sum(best)",
        back=slopes.hardmax,
    ),
    Normaliser(
        "quiet_softmax",
        "Quiet softmax",
        quiet_softmax,
        r"a_{ij} = \frac{e^{z_{ij}}}{1 + \sum_l e^{z_{il}}}",
        "A softmax that can stay silent: the row adds to less than 1, and to almost 0 if nothing fits.",
        "Miller 2023, Attention Is Off By One",
        sums_to_one=False,
        plain="quiet softmax",
        line="top = max(max(x), 0); e = exp(x - top); e / (exp(-top) + sum(e))",
        comments={"top": "the 1 in the denominator is a key with score 0"},
        back=slopes.softmax,
    ),
    Normaliser(
        "linear",
        "Linear",
        linear,
        r"a_{ij} = \frac{\max(z_{ij}, 0)}{\sum_l \max(z_{il}, 0)}",
        "The positive scores over their sum; a row without any is all zeros.",
        "Zhang et al., Dive into Deep Learning, section 11.2 (kernel weights over their sum)",
        plain="linear",
        line="p = relu(x); ratio(p, sum(p))",
        back=slopes.linear,
    ),
    *map(of_line, line_rows("normaliser")),
    Normaliser(
        "formula",
        "Your own formula",
        normaliser_function(parse(FORMULA, "normaliser")),
        r"a_{ij} = f(z_{i\cdot})",
        "A normaliser that you type yourself, from the scores x of a row; forbidden keys take no part.",
        "-",
        uses=("normaliser_formula",),
        plain="f",
        back=normaliser_slopes(parse(FORMULA, "normaliser")),
    ),
)
