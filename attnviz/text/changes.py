"""The differences between two runs: the first step that differs, how far its numbers moved, and which moved furthest.

A is the first run and B the second; every difference is B - A.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.analysis.token_alignment import Pair, aligned, shared
from attnviz.arrays import Array
from attnviz.engine.external.traces import are_shares
from attnviz.engine.records.trace import Step, Trace
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words, translate
from attnviz.text.captions import NAMES
from attnviz.text.cell_sentence import percent
from attnviz.text.format.number_format import DIGITS, short
from attnviz.text.format.sentence_parts import Sentence, fill, name_token, rounded_number, within_sentence
from attnviz.text.format.sentence_parts import plain as plain_text
from attnviz.text.position_label import where_in_both
from attnviz.text.step_names import plain, steps

WORDS = Words(
    {
        "same": "A and B are the same, number for number.",
        "parted": "The first step that differs: {step}.",
        "deeper": "A and B are the same in layer {layer}. Layers in all: {a} in A, {b} in B.",
        "parted_at_once": "A and B differ from the very first step: {step}.",
        "other_shape": "{step} are {a} in A and {b} in B, so there is no difference to draw.",
        "absent": "absent",
        "fewer_heads": "Heads compared: the first {n}, of {a} in A and {b} in B.",
        "unmoved": "{step}: the same in A and B, number for number ({n:,}).",
        "moved": "{step}: {moved:,} of {n:,} numbers moved, by {mean} on average and {most} at most.",
        "furthest": "They differ most at {where}.",
        "furthest_share": "They differ most in head {n}: “{query}” attends to “{key}” {a} in A, and {b} in B.",
        "rounding": "{step}: the {n:,} numbers differ by rounding only, {most} at most.",
        "forbidden": "In {n:,} cells one of them is minus infinity and the other is not.",
        "tokens": "The words differ, so rows and columns are compared by position.",
        "aligned": "There are {a} tokens in A and {b} in B. Only the {n} that both have in the same order are "
        "compared; the others are hatched in the difference.",
    }
)
MOVED = "{where}: {a} in A, {b} in B ({change})"
EQUAL = 1e-12
"""Below this, relative to the largest number of a step, a difference is how a machine sums."""


@dataclass(frozen=True)
class Move:
    """One number that differs: where it stands (counted from 0), and what it is in A and in B.

    in_b  its row and column in B, where the two are not those of A
    """

    head: int
    row: int
    column: int
    a: float
    b: float
    in_b: tuple[int, int] | None = None

    @property
    def change(self) -> float:
        return self.b - self.a


def pair(a: Trace, b: Trace, layer: int, name: str) -> tuple[Array, Array] | None:
    """Return a step's numbers in both runs, of the heads and tokens that both have.

    None if there are none to compare.
    """
    one, other = step_of(a, layer, name), step_of(b, layer, name)
    if one is None or other is None or one.axes != other.axes or one.widths != other.widths:
        return None
    n = min(len(one.array), len(other.array)) if one.axes[0].endswith("head") else None
    left, right = (step.array[:n].astype(float) for step in (one, other))
    for at, axis in enumerate(one.axes):
        pairs = pairs_along(a, b, axis)
        if pairs is not None:
            left_index, right_index = shared(pairs)
            left, right = left.take(left_index, axis=at), right.take(right_index, axis=at)
    return (left, right) if left.shape == right.shape and left.size else None


def pairs_along(a: Trace, b: Trace, axis: str) -> tuple[Pair, ...] | None:
    """Align the tokens of A and B along an axis; None where they are as many, or where there are none."""
    left, right = _tokens(a, axis), _tokens(b, axis)
    return None if left is None or right is None or len(left) == len(right) else aligned(left, right)


def _tokens(trace: Trace, axis: str) -> Sequence[str] | None:
    return {"query": trace.query_tokens, "key": trace.key_tokens}.get(axis)


def difference(left: Array, right: Array) -> Array:
    """Return B - A; 0 where both are the same infinity."""
    with np.errstate(invalid="ignore"):
        return np.where(left == right, 0.0, right - left)


def first_difference(a: Trace, b: Trace, layer: int) -> str:
    """Return the first step of a layer that differs between two runs, in a sentence."""
    for position, (name, step) in enumerate(steps(a, layer).items()):
        both = pair(a, b, layer, name)
        other = step_of(b, layer, name)
        if both is None or other is None or step.shape != other.shape or not _equal(*both):
            return WORDS["parted" if position else "parted_at_once"].format(step=_named(step))
    if len(a.layers) != len(b.layers):
        return WORDS["deeper"].format(layer=ordinal(layer), a=len(a.layers), b=len(b.layers))
    return WORDS["same"]


def _named(step: Step) -> str:
    """Return a step in the middle of a sentence: scores S."""
    return f"{within_sentence(NAMES[step.name])} {plain(step.symbol)}"


def _equal(left: Array, right: Array) -> bool:
    return bool((_moved(left, right) == 0).all())


def _moved(left: Array, right: Array) -> Array:
    """Return the distance that each number moved; 0 where it is rounding, infinite where only one side has a number."""
    apart = np.abs(difference(left, right))
    return np.where(apart <= _rounding(left), 0.0, apart)


def _rounding(left: Array) -> float:
    """Return how far numbers like these in A may be from B and still be the same."""
    return EQUAL * max(1.0, float(np.abs(left[np.isfinite(left)]).max(initial=0.0)))


def is_rounding(change: float, left: Array) -> bool:
    """Return whether a change is no more than rounding, beside all numbers of A."""
    return abs(change) <= _rounding(left)


def difference_of(a: Trace, b: Trace, layer: int, name: str) -> tuple[int, int, float, int]:
    """Return how many numbers of a step moved, of how many, how far at most, and how many are infinite in one alone.

    Where none moved, how far rounding moved them at most.
    """
    both = pair(a, b, layer, name)
    if both is None:
        return 0, 0, 0.0, 0
    apart, raw = _moved(*both), np.abs(difference(*both))
    finite, rounded = apart[np.isfinite(apart)], raw[np.isfinite(raw)]
    most = float(finite.max(initial=0.0)) or float(rounded.max(initial=0.0))
    return int((finite > 0).sum()), apart.size, most, apart.size - finite.size


def change_summary(a: Trace, b: Trace, layer: int, name: str, digits: int = DIGITS) -> list[str]:
    """Describe the change of a step, and whatever keeps the two runs from being compared as they stand."""
    both = pair(a, b, layer, name)
    if both is None:
        shapes = (_shape(step_of(trace, layer, name)) for trace in (a, b))
        return [WORDS["other_shape"].format(step=NAMES[name], **dict(zip("ab", shapes)))]
    apart, raw = _moved(*both), np.abs(difference(*both))
    finite = apart[np.isfinite(apart)]
    moved, most = int((finite > 0).sum()), float(finite.max(initial=0.0))
    verdict = "moved" if moved else "rounding" if raw[np.isfinite(raw)].any() else "unmoved"
    most = most or float(raw[np.isfinite(raw)].max(initial=0.0))
    words = {"n": finite.size, "moved": moved, "mean": short(finite.mean() if moved else 0.0, digits)}
    lines = [WORDS[verdict].format(step=NAMES[name], most=short(most, digits), **words)] if finite.size else []
    if finite.size < apart.size:
        lines.append(WORDS["forbidden"].format(n=apart.size - finite.size))
    sizes = [len(step.array) for step in (step_of(a, layer, name), step_of(b, layer, name)) if step is not None]
    if sizes[0] != sizes[-1]:
        lines.append(WORDS["fewer_heads"].format(n=len(both[0]), a=sizes[0], b=sizes[-1]))
    step = step_of(a, layer, name)
    apart_by_length = _length_notes(a, b, step.axes if step is not None else ())
    if not apart_by_length and (a.query_tokens, a.key_tokens) != (b.query_tokens, b.key_tokens):
        lines.append(WORDS["tokens"])
    return lines + apart_by_length


def _length_notes(a: Trace, b: Trace, axes: Sequence[str]) -> list[str]:
    """Describe the tokens that are compared, where the sentences differ in length."""
    lines = []
    for axis in axes:
        pairs = pairs_along(a, b, axis)
        if pairs is not None:
            n, counts = len(shared(pairs)[0]), (sum(each[side] is not None for each in pairs) for side in (0, 1))
            lines.append(WORDS["aligned"].format(n=n, **dict(zip("ab", counts))))
    return list(dict.fromkeys(lines))


def moves(a: Trace, b: Trace, layer: int, name: str, most: int = 5) -> tuple[Move, ...]:
    """Return the largest changes, the largest first; equal ones in reading order."""
    both = pair(a, b, layer, name)
    if both is None:
        return ()
    left, right = (_by_head(array) for array in both)
    rows, columns = (_shared(a, b, axis) for axis in ("", *steps(a, layer)[name].axes)[-2:])
    apart = np.nan_to_num(_moved(left, right), nan=0.0, posinf=0.0)
    order = np.argsort(-apart, axis=None, kind="stable")[:most]
    largest = []
    for at in (at for at in order if apart.flat[at] > 0):
        head, row, column = (int(number) for number in np.unravel_index(at, apart.shape))
        (row, other_row), (column, other_column) = rows.get(row, (row, row)), columns.get(column, (column, column))
        other = (other_row, other_column) if (other_row, other_column) != (row, column) else None
        largest.append(Move(head, row, column, float(left.flat[at]), float(right.flat[at]), other))
    return tuple(largest)


def finding(a: Trace, b: Trace, layer: int, name: str) -> str:
    """Return where a step of two runs differs most and by how much, in a sentence; empty where it does not.

    >>> from attnviz import Config, run
    >>> a, b = (run(Config(sentence="the cat sat", mask=mask)) for mask in ("none", "causal"))
    >>> finding(a, b, 0, "weights")
    'They differ most in head 2: “the” attends to “the” 5 % in A, and 100 % in B.'
    >>> finding(a, a, 0, "weights")
    ''
    """
    furthest = moves(a, b, layer, name, most=1)
    if not furthest:
        return ""
    (move,) = furthest
    queries, keys = a.query_tokens, a.key_tokens
    same_words = (queries, keys) == (b.query_tokens, b.key_tokens)
    if name != "weights" or not same_words or not all(are_shares(each, layer) for each in (a, b)):
        return WORDS["furthest"].format(where=plain_text(describe_move(a, b, layer, name, move)))
    named = {"query": name_token(queries, move.row), "key": name_token(keys, move.column)}
    words = {end: "".join(part for _, part in token) for end, token in named.items()}
    amounts = {"a": percent(move.a), "b": percent(move.b)}
    return WORDS["furthest_share"].format(n=ordinal(move.head), **words, **amounts)


def _shared(a: Trace, b: Trace, axis: str) -> dict[int, tuple[int, int]]:
    """Return the positions in A and in B of the tokens that both have."""
    pairs = pairs_along(a, b, axis)
    return {} if pairs is None else dict(enumerate(zip(*shared(pairs))))


def describe_move(a: Trace, b: Trace, layer: int, name: str, move: Move) -> Sentence:
    """Return one move in words, as head 2, cat → sat: 0.12 in A, 0.61 in B (+0.49).

    Where the words differ, those of both.
    """
    step = step_of(a, layer, name)
    if step is None:
        raise ValueError(f"layer {layer} of A has no step {name!r}")
    n = len(step.axes)
    left, right = (
        (move.head, move.row, move.column)[3 - n :],
        (move.head, *(move.in_b or (move.row, move.column)))[3 - n :],
    )
    sign = "+" if move.change > 0 else ""
    numbers = {"a": rounded_number(move.a), "b": rounded_number(move.b), "change": sign + rounded_number(move.change)}
    return fill(translate(MOVED), where=where_in_both(a, b, step, left, right), **numbers)


def _by_head(array: Array) -> Array:
    """Return any step as (heads, rows, columns)."""
    return array.reshape((1,) * (3 - array.ndim) + array.shape)


def step_of(trace: Trace, layer: int, name: str) -> Step | None:
    """Return a step of a layer by its name; None where the run lacks either."""
    return steps(trace, layer).get(name) if layer < len(trace.layers) else None


def _shape(step: Step | None) -> str:
    return WORDS["absent"] if step is None else " × ".join(map(str, step.shape))
