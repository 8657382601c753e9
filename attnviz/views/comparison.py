"""Two runs beside each other: where they part, by how much, and what moved furthest, in words.

A is the first run and B the second; every difference is B - A.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from attnviz.core.language import Words, say
from attnviz.core.trace import Step, Trace
from attnviz.views import stages
from attnviz.views.captions import NAMES
from attnviz.views.figures import Stage
from attnviz.views.flow import plain, steps
from attnviz.views.sentences import Sentence, filled, inside, rounded
from attnviz.views.whereabouts import where

WORDS = Words(
    {
        "a": "A",
        "b": "B",
        "difference": "B − A",
        "a_phrase": "the setting at the left",
        "b_phrase": "the same but for what is changed",
        "difference_phrase": "red is more in B, blue is less",
        "same": "A and B are the same, number for number.",
        "parted": "A and B are the same up to {before}; the first step that differs is {step}.",
        "deeper": "A and B are the same in layer {layer}. Layers in all: {a} in A, {b} in B.",
        "parted_at_once": "A and B differ from the first step on, {step}.",
        "other_shape": "{step} are {a} in A and {b} in B, so there is no difference to draw.",
        "absent": "absent",
        "fewer_heads": "Compared are the first {n} of {a} heads in A and {b} in B.",
        "unmoved": "{step}: the same in A and B, number for number ({n:,}).",
        "moved": "{step}: {moved:,} of {n:,} numbers moved, by {mean} on average and {most} at most.",
        "rounding": "{step}: the {n:,} numbers differ by rounding only, {most} at most.",
        "forbidden": "In {n:,} cells one of them is minus infinity and the other is not.",
        "tokens": "The words differ, so rows and columns are compared by their places.",
    }
)
MOVED = "{where}: {a} in A, {b} in B ({change})"
EQUAL = 1e-12
"""Below this, relative to the largest number of a step, a difference is how a machine sums."""


@dataclass(frozen=True)
class Move:
    """One number that differs: where it stands (counted from 0), and what it is in A and in B."""

    head: int
    row: int
    column: int
    a: float
    b: float

    @property
    def change(self) -> float:
        return self.b - self.a


def pair(a: Trace, b: Trace, layer: int, name: str) -> tuple[np.ndarray, np.ndarray] | None:
    """A step's numbers in both runs, of the heads that both have; None if the step or its shape is not in both."""
    one, other = _step(a, layer, name), _step(b, layer, name)
    if one is None or other is None or one.axes != other.axes or one.widths != other.widths:
        return None
    n = min(len(one.array), len(other.array)) if one.axes[0].endswith("head") else None
    left, right = (step.array[:n].astype(float) for step in (one, other))
    return (left, right) if left.shape == right.shape else None


def difference(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """B - A; 0 where both are the same infinity."""
    with np.errstate(invalid="ignore"):
        return np.where(left == right, 0.0, right - left)


def parting(a: Trace, b: Trace, layer: int) -> str:
    """The first step of a layer that differs between two runs, in a sentence."""
    before, former = None, None
    for name, step in steps(a, layer).items():
        both = pair(a, b, layer, name)
        other = _step(b, layer, name)
        if both is None or other is None or step.shape != other.shape or not _equal(*both):
            words = WORDS["parted" if before else "parted_at_once"]
            return words.format(before=before, step=_named(step))
        if former is None or not np.array_equal(former, step.array):  # a scale of 1, or no cap: nothing to name
            before = _named(step)
        former = step.array
    if len(a.layers) != len(b.layers):
        return WORDS["deeper"].format(layer=layer + 1, a=len(a.layers), b=len(b.layers))
    return WORDS["same"]


def _named(step: Step) -> str:
    """A step in the middle of a sentence: scores S."""
    return f"{inside(NAMES[step.name])} {plain(step.symbol)}"


def _equal(left: np.ndarray, right: np.ndarray) -> bool:
    return bool((_moved(left, right) == 0).all())


def _moved(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """How far each number moved; 0 where it is how a machine sums, infinite where one alone is."""
    apart = np.abs(difference(left, right))
    sizes = np.abs(left[np.isfinite(left)])
    return np.where(apart <= EQUAL * max(1.0, sizes.max(initial=0.0)), 0.0, apart)


def pictures(a: Trace, b: Trace, layer: int, name: str) -> tuple[Stage, ...]:
    """A step in A and in B under one colour scale, and what B has more; the last is missing where shapes differ."""
    both = [_picture(trace, layer, name) for trace in (a, b)]
    found = [picture for picture in both if picture is not None]
    reach = max(_reach(picture) for picture in found)
    shown = [
        replace(picture, name=side, title=WORDS[side], phrase=WORDS[f"{side}_phrase"], formula="", reach=reach)
        for side, picture in zip("ab", both)
        if picture is not None
    ]
    arrays = pair(a, b, layer, name)
    return tuple(shown) if arrays is None else (*shown, _apart(shown, *arrays))


def _apart(shown: Sequence[Stage], left: np.ndarray, right: np.ndarray) -> Stage:
    """The difference as a picture; masked where a cell is open in neither."""
    one, other = shown
    n = min(len(one.array), len(other.array))
    rows, columns = (_both(*words) for words in ((one.rows, other.rows), (one.columns, other.columns)))
    hidden = None
    if one.masked is not None and other.masked is not None:
        apart = difference(left, right)
        hidden = (one.masked[:n] & other.masked[:n]) | ~np.isfinite(apart.reshape(one.array[:n].shape))
    return replace(
        one,
        name="difference",
        title=WORDS["difference"],
        phrase=WORDS["difference_phrase"],
        array=difference(left, right).reshape(one.array[:n].shape),
        kind="signed",
        rows=rows or one.rows,
        columns=columns,
        masked=hidden,
        heads=one.names[:n],
        widths=one.true_widths[:n],
        alt=WORDS["difference"],
        reach=None,
    )


def _both(one: Sequence[str] | None, other: Sequence[str] | None) -> list[str] | None:
    """The words along an axis; where they differ, both."""
    if one is None or other is None:
        return None
    return [left if left == right else f"{left} / {right}" for left, right in zip(one, other)]


def _reach(picture: Stage) -> float:
    """The largest size that is drawn."""
    drawn = picture.array if picture.masked is None else picture.array[~picture.masked]
    return float(np.abs(drawn[np.isfinite(drawn)]).max(initial=0.0))


def said(a: Trace, b: Trace, layer: int, name: str, digits: int = 3) -> list[str]:
    """How far a step moved, and what keeps the two from being compared as they stand."""
    both = pair(a, b, layer, name)
    if both is None:
        shapes = (_shape(_step(trace, layer, name)) for trace in (a, b))
        return [WORDS["other_shape"].format(step=NAMES[name], **dict(zip("ab", shapes)))]
    apart, raw = _moved(*both), np.abs(difference(*both))
    finite = apart[np.isfinite(apart)]
    moved, most = int((finite > 0).sum()), float(finite.max(initial=0.0))
    said = "moved" if moved else "rounding" if raw[np.isfinite(raw)].any() else "unmoved"
    most = most or float(raw[np.isfinite(raw)].max(initial=0.0))
    words = {"n": finite.size, "moved": moved, "mean": f"{finite.mean() if moved else 0.0:.{digits}g}"}
    lines = [WORDS[said].format(step=NAMES[name], most=f"{most:.{digits}g}", **words)] if finite.size else []
    if finite.size < apart.size:
        lines.append(WORDS["forbidden"].format(n=apart.size - finite.size))
    sizes = [len(step.array) for step in (_step(a, layer, name), _step(b, layer, name)) if step is not None]
    if sizes[0] != sizes[-1]:
        lines.append(WORDS["fewer_heads"].format(n=len(both[0]), a=sizes[0], b=sizes[-1]))
    if (a.query_tokens, a.key_tokens) != (b.query_tokens, b.key_tokens):
        lines.append(WORDS["tokens"])
    return lines


def moves(a: Trace, b: Trace, layer: int, name: str, most: int = 5) -> tuple[Move, ...]:
    """What moved furthest, the furthest first; equal moves in reading order."""
    both = pair(a, b, layer, name)
    if both is None:
        return ()
    left, right = (_by_head(array) for array in both)
    apart = np.nan_to_num(_moved(left, right), nan=0.0, posinf=0.0)
    order = np.argsort(-apart, axis=None, kind="stable")[:most]
    found = []
    for at in (at for at in order if apart.flat[at] > 0):
        head, row, column = (int(number) for number in np.unravel_index(at, apart.shape))
        found.append(Move(head, row, column, float(left.flat[at]), float(right.flat[at])))
    return tuple(found)


def told(a: Trace, layer: int, name: str, move: Move) -> Sentence:
    """One move in words: head 2, cat → sat: 0.12 in A, 0.61 in B (+0.49)."""
    step = _step(a, layer, name)
    if step is None:
        raise ValueError(f"layer {layer} of A has no step {name!r}")
    place = (move.head, move.row, move.column)[3 - len(step.axes) :]
    sign = "+" if move.change > 0 else ""
    numbers = {"a": rounded(move.a), "b": rounded(move.b), "change": sign + rounded(move.change)}
    return filled(say(MOVED), where=where(a, step, place), **numbers)


def _has_heads(trace: Trace, layer: int, name: str) -> bool:
    step = _step(trace, layer, name)
    return step is not None and step.axes[0].endswith("head")


def _by_head(array: np.ndarray) -> np.ndarray:
    """Any step as (heads, rows, columns)."""
    return array.reshape((1,) * (3 - array.ndim) + array.shape)


def _picture(trace: Trace, layer: int, name: str) -> Stage | None:
    step = _step(trace, layer, name)
    return None if step is None else stages.stage(trace, step, step.symbol)


def _step(trace: Trace, layer: int, name: str) -> Step | None:
    return steps(trace, layer).get(name) if layer < len(trace.layers) else None


def _shape(step: Step | None) -> str:
    return WORDS["absent"] if step is None else " × ".join(map(str, step.shape))
