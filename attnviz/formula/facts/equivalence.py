"""Is this the same as ...? Found by numbers and not by algebra: on fresh random inputs, to 1e-12.

Numbers tell what is the same everywhere only of formulas without corners: an analytic function that is another one on
a piece is so everywhere. So a formula is compared in general only where its conditions, corners and waves are those of
the row, and where it names no position and hardly a width; of every other one is said what holds on the sentence that
is there. Terms that are small beside others are found by vectors of very different sizes.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from attnviz.arrays import Array
from attnviz.formula.evaluation.arrays import of_score
from attnviz.formula.evaluation.numbers import scores
from attnviz.formula.graph import Formula
from attnviz.settings.language import Words

SHAPES = ((2, 6, 7, 3), (1, 5, 9, 4), (2, 4, 6, 7))
"""Heads, queries, keys and width of each draw: three widths, or q @ k / 2 would be taken for scaled dot product."""

WIDTHS = ((1, 3, 4, 2), (1, 4, 3, 5), (1, 3, 3, 9), (1, 3, 2, 11))
SIZES = ((1e6, 1e-6, 1.0), (1e-6, 1e6, 1.0), (1e-3, 1e-3, 1e-3), (1e3, 1e3, 1e3))
"""More widths, and how large queries, keys and parameters are: what was found has to hold there, too."""

MOST_OF_WIDTH = 4
"""Operations with a width: so few have no more zeros than there are widths tried."""

SMOOTH = ("+", "-", "*", "/", "@", "neg", "sum", "norm", "ratio", "outer")
"""Operations without corners; the length has one, at vectors of zeros, which are tried apart."""

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
        "zeros": ", except for vectors of zeros",
    }
)


@dataclass(frozen=True)
class Relation:
    """The relation of scores to those of a row: its `name`, and the factor where there is one.

    but_zeros  whether it holds only where neither query nor key is a vector of zeros
    """

    name: str
    row: str
    factor: float = 1.0
    but_zeros: bool = False

    def in_words(self, label: str) -> str:
        """Return the relation in words; `label` is what the row is called."""
        relation = self._in_words(label)
        return f"{relation}{RELATIONS['zeros']}" if self.but_zeros else relation

    def _in_words(self, label: str) -> str:
        facts = {"factor": _written(self.factor), "temperature": _written(1 / self.factor)}
        return RELATIONS[self.name].format(row=label, **facts)


def _written(x: float) -> str:
    """Return a number in four digits, marked where they do not say it all."""
    return f"{x:.4g}" if abs(float(f"{x:.4g}") - x) <= 1e-8 * abs(x) else f"≈ {x:.4g}"


def relation(a: Array, b: Array, row: str = "") -> Relation | None:
    """Return the relation of the scores a to the scores b; None if there is none that the softmax would keep."""
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return None
    if _near(a, b):
        return Relation("same", row)
    factor = _slope(a, b)
    if abs(factor) > 1e-9 and _near(a, factor * b):
        return None if _is_nearly_one(factor) else Relation("times", row, _snapped(factor))
    x, y = a - a[..., :1], b - b[..., :1]
    factor = _slope(x, y)
    if factor <= 1e-9 or not _near(x, factor * y):
        return None
    if _near(x, y):
        return Relation("shifted", row)
    return None if _is_nearly_one(factor) else Relation("tempered", row, _snapped(factor))


def holds(claim: Relation, a: Array, b: Array) -> bool:
    """Return whether a relation that was found elsewhere is that of these scores, too."""
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return False
    if claim.name in ("same", "times"):
        return _near(a, claim.factor * b, 1e-8)
    # What is added to a row may be far larger than what is compared, which then is known to fewer digits.
    beside = max(float(np.abs(a).max()), float(np.abs(claim.factor * b).max())) * 1e-4
    return _near(a - a[..., :1], claim.factor * (b - b[..., :1]), 1e-8, beside)


def _near(a: Array, b: Array, close: float = CLOSE, beside: float = 0.0) -> bool:
    """Return whether the rows are equal, each beside its own size, so that none hides behind a larger one."""
    size = np.maximum(np.abs(a).max(axis=-1, initial=0.0), np.abs(b).max(axis=-1, initial=0.0))
    return bool((np.abs(a - b).max(axis=-1, initial=0.0) <= close * np.maximum(size, max(beside, 1e-300))).all())


def _slope(a: Array, b: Array) -> float:
    return float((a * b).sum() / max(float((b * b).sum()), 1e-300))


def _is_nearly_one(factor: float) -> bool:
    """Return whether a factor would be read as 1, which it is not."""
    return abs(factor - 1.0) < 1e-4


def _snapped(factor: float) -> float:
    return float(f"{factor:.9g}")


def same(formula: Formula, rows: Mapping[str, Formula]) -> Relation | None:
    """Return the row to which a formula comes closest, in general: the same, a multiple, or alike to the softmax.

    The parameters of a row may have other names: all pairings of equal shapes are tried.
    """
    relations = [likeness for name, row in rows.items() if (likeness := _related(formula, name, row))]
    order = ("same", "times", "shifted", "tempered")
    return min(relations, key=lambda each: order.index(each.name), default=None)


def _related(formula: Formula, name: str, row: Formula) -> Relation | None:
    ours, of_row = ({each: f.axes_of(each) for each in f.parameters} for f in (formula, row))
    if len(ours) != len(of_row) or len(ours) > MOST_PARAMETERS:
        return None
    for order in itertools.permutations(ours):
        pairs = dict(zip(of_row, order))
        if all(_shape(ours[pairs[each]], SHAPES[0]) == _shape(of_row[each], SHAPES[0]) for each in of_row):
            drawn = [relation(*_draw(formula, row, pairs, seed, shape), name) for seed, shape in enumerate(SHAPES)]
            if drawn[0] and all(number == drawn[0] for number in drawn) and _everywhere(formula, row, pairs, drawn[0]):
                zeros = holds(drawn[0], *_draw(formula, row, pairs, 0, SHAPES[0], empty=True))
                return replace(drawn[0], but_zeros=not zeros)
    return None


def _everywhere(formula: Formula, row: Formula, pairs: Mapping[str, str], claim: Relation) -> bool:
    """Return whether what was found has to hold for all numbers, and does for vectors of other widths and sizes."""
    if _corners(formula) != _corners(row) or _uses_of_width(formula) > MOST_OF_WIDTH:
        return False
    if formula.variables() & PLACES:
        return False
    others = [(shape, (1.0, 1.0, 1.0)) for shape in WIDTHS] + [(SHAPES[0], sizes) for sizes in SIZES]
    return all(holds(claim, *_draw(formula, row, pairs, 9, shape, sizes)) for shape, sizes in others)


PLACES = {"i", "j", "h", "n", "n_query", "n_key", "n_heads"}


def _corners(formula: Formula) -> Counter[str]:
    """Return how often each operation stands in a formula that is not smooth, or smooth and no algebra."""
    counts: Counter[str] = Counter()
    for node in formula.nodes:
        whole = node.op == "**" and node.args[1].op == "number" and float(node.args[1].value).is_integer()
        if not (node.is_leaf or node.op in SMOOTH or whole or (node.op == "call" and node.value == "sqrt")):
            counts[f"{node.op} {node.name if node.op == 'call' else ''}"] += 1
    return counts


def _uses_of_width(formula: Formula) -> int:
    """Count the operations with a width, or with a number that is made of widths alone."""
    of_width: set[int] = set()
    uses = 0
    for node in formula.nodes:
        are_widths = [id(arg) in of_width for arg in node.args]
        uses += any(are_widths)
        is_width = node.op == "size" or (node.op == "variable" and node.name in ("d_q", "d_k"))
        plain = all(is_one or arg.op == "number" for is_one, arg in zip(are_widths, node.args))
        if is_width or (any(are_widths) and plain):
            of_width.add(id(node))
    return uses


def _draw(
    formula: Formula,
    row: Formula,
    pairs: Mapping[str, str],
    seed: int,
    shape: tuple[int, int, int, int],
    sizes: tuple[float, float, float] = (1.0, 1.0, 1.0),
    *,
    empty: bool = False,
) -> tuple[Array, Array]:
    """Return the scores of both on random inputs; `empty` makes one query and one key vectors of zeros."""
    draws = np.random.default_rng(seed)
    heads, n, m, d = shape
    Q, K = sizes[0] * draws.normal(size=(heads, n, d)), sizes[1] * draws.normal(size=(heads, m, d))
    if empty:
        Q[:, 0], K[:, -1] = 0.0, 0.0
    parameters = {
        each: sizes[2] * draws.normal(size=(heads, *_shape(formula.axes_of(each), shape)))
        for each in formula.parameters
    }
    parameters_of_row = {each: parameters[ours] for each, ours in pairs.items()}
    with np.errstate(all="ignore"):
        return scores(formula, of_score(formula, Q, K, parameters)), scores(row, of_score(row, Q, K, parameters_of_row))


def _shape(axes: tuple[str, ...], sizes: tuple[int, int, int, int]) -> tuple[int, ...]:
    known = {"d_q": sizes[3], "d_k": sizes[3], "key": sizes[2]}
    return tuple(known.get(axis, HIDDEN) for axis in axes)
