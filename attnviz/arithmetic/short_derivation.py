"""A cell, a row or an output in a few lines: the numbers of the full arithmetic that tell how it came to be.

Nothing is computed here but the sum of what a picture has no room for: every number is one that a line of
`attnviz.arithmetic.cell` or a step of the run holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from attnviz.arithmetic.cell import Cell
from attnviz.arithmetic.notation.derivation import ArithmeticLine, largest
from attnviz.arithmetic.notation.latex_numbers import LARGE, ZERO
from attnviz.arrays import Array
from attnviz.engine.records.trace import Trace

CHANGES = ("scale", "softcap", "bias", "mask", "temperature")
"""Lines between the score and what enters the normaliser, in their order."""

ROUNDING = 1e-9
"""The part of all that is added up by which two orders of adding it may differ."""

VECTORS = tuple(f"{before}{name}" for name in ("query", "key") for before in ("", "given_", "normed_", "turned_"))
"""Lines that make a query or a key."""


@dataclass(frozen=True, eq=False)
class Terms:
    """The entries that are summed, or joined in another way.

    left, right  what each entry is made of; None where the formula of an entry is longer
    values       one for each entry;  total  what they come to
    sign         between left and right;  brief  what is joined, in a few symbols; both empty where nothing says it
    """

    left: Array | None
    right: Array | None
    values: Array
    total: float
    sign: str = ""
    brief: str = ""


@dataclass(frozen=True)
class Change:
    """A step of a score on its way: `by` is the scale, the cap, the bias or the temperature; `made` comes out."""

    name: str
    by: float
    made: float


@dataclass(frozen=True, eq=False)
class FourLines:
    """The four lines from a query and a key to a weight, and to its part of the output.

    terms    entry by entry from q and k; None where the score was given, or is no sum
    score    as the score function returns it, None where there is none;  `changes` what happens to it then
    scores   what is normalised together with it;  `at` its position there
    weight   its share, of `weights`;  `lines` those of the full arithmetic that lead from the scores to it, by name
    value    of the key, None where there are none;  `added` the weight times it;  `output` the sum over all keys
    """

    cell: Cell
    terms: Terms | None
    score: float | None
    changes: tuple[Change, ...]
    scores: Array | None
    at: int
    weight: float
    weights: Array
    lines: Mapping[str, ArithmeticLine]
    value: Array | None
    added: Array | None
    output: Array | None

    @property
    def enters(self) -> float | None:
        """The score as it enters the normaliser."""
        return self.changes[-1].made if self.changes else self.score

    @property
    def score_line(self) -> ArithmeticLine | None:
        """The line of the full arithmetic that makes the score."""
        return next((line for line in self.cell.score if line.name == "score"), None)

    @property
    def computed(self) -> float | None:
        """The score as its formula gives it, where a person has set it; None where none has."""
        line = self.score_line
        return float(line.computed) if line and line.edited and np.isfinite(line.computed) else None

    @property
    def is_sum(self) -> bool:
        """Return whether the score is what is added up entry by entry."""
        return self.terms is not None and self.terms.total == self.score


def four_lines(trace: Trace, cell: Cell) -> FourLines:
    """Return the numbers of a cell that its full arithmetic holds.

    >>> from attnviz import Config, run
    >>> from attnviz.arithmetic.cell import derive
    >>> trace = run(Config())
    >>> found = four_lines(trace, derive(trace, 0, head=1, query=3, key=2))
    >>> float(found.weight) == float(trace["weights"].array[1, 3, 2]), len(found.terms.values)
    (True, 4)
    """
    steps, over_keys = trace.layers[cell.layer], cell.over == "keys"
    at = cell.key if over_keys else cell.query
    named = {line.name: line for line in cell.lines}
    share = named.get("share")
    masked = steps["masked"].array[cell.head] if "masked" in steps else None
    weights = steps["weights"].array[cell.head]
    return FourLines(
        cell=cell,
        terms=_terms(cell),
        score=float(named["score"].result) if "score" in named else None,
        changes=_changes(cell),
        scores=None if masked is None else masked[cell.query] if over_keys else masked[:, cell.key],
        at=at,
        weight=float(weights[cell.query, cell.key]),
        weights=weights[cell.query] if over_keys else weights[:, cell.key],
        lines={line.name: line for line in cell.weight},
        value=None if share is None else share.operands["value"],
        added=None if share is None else share.result,
        output=None if share is None else named["output"].result,
    )


def _terms(cell: Cell) -> Terms | None:
    """Return the last vector on the way to the score, and the number that its entries come to.

    That is the result of the line after it; but where this line is the score itself and does more than add them up, as
    in -sum(x), it is their sum, and the score stands below it.
    """
    vectors = [position for position, line in enumerate(cell.score) if line.bars]
    if not vectors or vectors[-1] + 1 >= len(cell.score):
        return None
    line, after = cell.score[vectors[-1]], cell.score[vectors[-1] + 1]
    joined = line if line.sign else cell.score[vectors[-1] - 1]  # such as the differences that are then squared
    if after.result.ndim or line.name in VECTORS:
        return None
    left, right = tuple(joined.operands.values())[:2] if joined.sign else (None, None)
    added, rounding = float(line.result.sum()), ROUNDING * float(np.abs(line.result).sum())
    does_more = after.name == "score" and abs(added - float(after.computed)) > rounding
    return Terms(left, right, line.result, added if does_more else float(after.result), joined.sign, line.brief)


def _changes(cell: Cell) -> tuple[Change, ...]:
    """Return the lines that change the score here, or that a person has edited."""
    operand = {"scale": "scale", "softcap": "softcap", "bias": "bias", "mask": "allowed", "temperature": "T"}
    return tuple(
        Change(line.name, float(line.operands.get(operand[line.name], 0.0)), float(line.result))
        for line in cell.score
        if line.name in CHANGES and (line.active or line.edited) and not _leaves(line)
    )


def _leaves(line: ArithmeticLine) -> bool:
    """Return whether a mask lets the score pass."""
    return line.name == "mask" and not line.edited and bool(np.isfinite(line.result))


@dataclass(frozen=True, eq=False)
class Mixture:
    """The output of a query as a sum over its weights: `values` has a row for each key.

    scores  of the row, None where there are none
    """

    weights: Array
    values: Array
    output: Array
    scores: Array | None

    def terms(self, dimension: int) -> Terms:
        """Return the part of each key in one entry of the output."""
        v = self.values[:, dimension]
        return Terms(self.weights, v, self.weights * v, float(self.output[dimension]))


def mixture(trace: Trace, cell: Cell) -> Mixture | None:
    """Return the row of a cell from the weights' side; None where there are no values.

    >>> from attnviz import Config, run
    >>> from attnviz.arithmetic.cell import derive
    >>> trace = run(Config())
    >>> mixture(trace, derive(trace, 0, head=1, query=3, key=2)).terms(0).total == float(trace["heads"].array[1, 3, 0])
    True
    """
    output = next((line for line in cell.output if line.name == "output"), None)
    if output is None:
        return None
    steps = trace.layers[cell.layer]
    scores = steps["masked"].array[cell.head, cell.query] if "masked" in steps else None
    return Mixture(output.operands["x"], output.operands["W"], output.result, scores)


def settled(values: Array) -> Array:
    """Return the numbers with 0 for what is zero but for rounding beside the largest of them.

    >>> settled(np.array([2.0, 1e-16]))
    array([2., 0.])
    """
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(values) <= ZERO * min(largest(values), LARGE), 0.0, values)


@dataclass(frozen=True)
class Fold:
    """The entries of many that are shown, in their order; the number of the others, and their sum."""

    shown: tuple[int, ...]
    hidden: int
    rest: float


def fold(values: Array, most: int) -> Fold:
    """Return all entries if there are at most so many, else the largest by size and the sum of the others.

    >>> fold(np.array([1.0, -5.0, 2.0, 0.5]), 3)
    Fold(shown=(1, 2), hidden=2, rest=1.5)
    """
    if len(values) <= most:
        return Fold(tuple(range(len(values))), 0, 0.0)
    size = np.where(np.isnan(values), np.inf, np.abs(values))
    shown = np.sort(np.argsort(-size, kind="stable")[: most - 1])
    hidden = np.delete(values, shown)
    return Fold(tuple(int(position) for position in shown), len(hidden), float(hidden.sum()))
