"""Is this the same as ...? Found by numbers and not by algebra: on fresh random inputs, to 1e-12."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from attnviz.arrays import Array
from attnviz.formula.arrays import of_score
from attnviz.formula.graph import Formula
from attnviz.formula.numbers import scores
from attnviz.settings.language import Words

SHAPES = ((2, 6, 7, 3), (1, 5, 9, 4), (2, 4, 6, 7))
"""Heads, queries, keys and width of each draw: three widths, or q @ k / 2 would be taken for scaled dot product."""

HIDDEN = 5
CLOSE = 1e-12
MOST_PARAMETERS = 5

RELATIONS = Words(
    {
        "same": "the same as {row}",
        "times": "{factor} times {row}",
        "shifted": "{row} but for one number added to each row, which the softmax does not notice",
        "tempered": "{factor} times {row} but for one number added to each row: "
        "the softmax is that of {row} at temperature {temperature}",
    }
)


@dataclass(frozen=True)
class Relation:
    """The relation of scores to those of a row: its `name`, and the factor where there is one."""

    name: str
    row: str
    factor: float = 1.0

    def in_words(self, label: str) -> str:
        """Return the relation in words; `label` is what the row is called."""
        return RELATIONS[self.name].format(row=label, factor=f"{self.factor:.4g}", temperature=f"{1 / self.factor:.4g}")


def relation(a: Array, b: Array, row: str = "") -> Relation | None:
    """Return the relation of the scores a to the scores b; None if there is none that the softmax would keep."""
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return None
    if _near(a, b):
        return Relation("same", row)
    factor = _slope(a, b)
    if abs(factor) > 1e-9 and _near(a, factor * b):
        return Relation("times", row, _snapped(factor))
    x, y = a - a[..., :1], b - b[..., :1]
    factor = _slope(x, y)
    if factor <= 1e-9 or not _near(x, factor * y):
        return None
    return Relation("shifted", row) if abs(factor - 1.0) < 1e-9 else Relation("tempered", row, _snapped(factor))


def _near(a: Array, b: Array) -> bool:
    size = max(float(np.abs(a).max(initial=0.0)), float(np.abs(b).max(initial=0.0)), 1e-300)
    return bool(np.abs(a - b).max(initial=0.0) <= CLOSE * size)


def _slope(a: Array, b: Array) -> float:
    return float((a * b).sum() / max(float((b * b).sum()), 1e-300))


def _snapped(factor: float) -> float:
    return float(f"{factor:.9g}")


def same(formula: Formula, rows: Mapping[str, Formula]) -> Relation | None:
    """Return the row to which a formula comes closest, in general: the same, a multiple, or alike to the softmax.

    The parameters of a row may have other names: all pairings of equal shapes are tried.
    """
    found = [made for name, row in rows.items() if (made := _related(formula, name, row))]
    order = ("same", "times", "shifted", "tempered")
    return min(found, key=lambda each: order.index(each.name), default=None)


def _related(formula: Formula, name: str, row: Formula) -> Relation | None:
    ours, theirs = ({each: f.axes_of(each) for each in f.parameters} for f in (formula, row))
    if len(ours) != len(theirs) or len(ours) > MOST_PARAMETERS:
        return None
    for order in itertools.permutations(ours):
        pairs = dict(zip(theirs, order))
        if all(_shape(ours[pairs[each]], SHAPES[0]) == _shape(theirs[each], SHAPES[0]) for each in theirs):
            drawn = [_drawn(formula, name, row, pairs, seed) for seed in range(len(SHAPES))]
            if drawn[0] and all(made == drawn[0] for made in drawn):
                return drawn[0]
    return None


def _drawn(formula: Formula, name: str, row: Formula, pairs: Mapping[str, str], seed: int) -> Relation | None:
    draws = np.random.default_rng(seed)
    heads, n, m, d = SHAPES[seed]
    Q, K = draws.normal(size=(heads, n, d)), draws.normal(size=(heads, m, d))
    own = {
        each: draws.normal(size=(heads, *_shape(formula.axes_of(each), SHAPES[seed]))) for each in formula.parameters
    }
    theirs = {each: own[ours] for each, ours in pairs.items()}
    return relation(scores(formula, of_score(formula, Q, K, own)), scores(row, of_score(row, Q, K, theirs)), name)


def _shape(axes: tuple[str, ...], sizes: tuple[int, int, int, int]) -> tuple[int, ...]:
    known = {"d_q": sizes[3], "d_k": sizes[3], "key": sizes[2]}
    return tuple(known.get(axis, HIDDEN) for axis in axes)
