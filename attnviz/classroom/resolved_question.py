"""A question resolved for a run: the possible answers, and the right one.

Until it is shown, nothing of the answer leaves this file but the options.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attnviz.arithmetic.notation.derivation import ArithmeticLine
from attnviz.arrays import Array
from attnviz.engine.records.trace import Step, Trace
from attnviz.engine.run import run
from attnviz.settings.counting import index_of, ordinal
from attnviz.settings.faults import shorten
from attnviz.settings.language import Words
from attnviz.text import step_names
from attnviz.text.format.number_format import short
from attnviz.text.format.sentence_parts import Sentence

PRINTED = 2
"""Decimals of a number in a picture."""

NEAR = 0.002
"""Of its size: how far from the number of a mistake an answer may be and still be taken for it."""

SETS = ("some", "mask")  # all that is right has to be chosen, and nothing else
SAME = 1e-9
"""Numbers this near are the same: further apart than any order of summing can bring them."""

WORDS = Words({"right": "Right.", "wrong": "Not quite.", "hint": "Not quite. {hint}"})
HINTS = Words(
    {
        "scale": "That is what comes out without the scale: the scores have to be divided first.",
        "columns": "That is a softmax over the column: it has to run along the row, over the keys.",
        "mask": "That is what comes out without the mask: forbidden keys take no part in the sum.",
        "no_softmax": "That is the score: softmax makes a weight of it.",
        "no_sum": "That is the exponential of the score: it still has to be divided by the sum of the row's.",
        "transposed": "That is the number across the diagonal: rows are queries, columns are keys.",
        "scaled_already": "That is divided already: what is asked for is the score itself.",
        "by_width": "That is divided by d_k: it has to be divided by the root of d_k.",
        "sign": "The size is right and the sign is not.",
        "unweighted": "That counts every value alike: each has to be multiplied by its weight.",
        "columns_of_weights": "That takes the weights from the column of the query: they stand in its row.",
        "crossed": "That is the sum along the other axis.",
        "mean": "That is the mean: the sum is asked for.",
        "one_head": "That is one head: count the numbers of all of them.",
        "sides": "That adds the lengths of the axes: they have to be multiplied.",
        "variance": "That is the variance: the standard deviation is its root.",
        "twice": "That is divided once too often.",
        "by_root": "That is divided by the root of the divisor only.",
        "side_by_side": "That is the number where heads are put side by side: here they are taken as they lie in "
        "memory.",
        "no_exponential": "That is the difference of the logits: a ratio of shares is e to the power of it.",
        "no_temperature": "That is the ratio at temperature 1: the difference has to be divided by the temperature "
        "first.",
        "times_temperature": "That multiplies the difference by the temperature: it has to be divided by it.",
        "halved_ratio": "That divides the ratio by the temperature: the difference has to be divided, before the "
        "exponential.",
        "one_side": "That grows with one side only: more words are more rows and more columns.",
        "from_one": "That is the position counted from 1: here the first word stands at position 0.",
        "other_wave": "That takes the sine for the cosine, or the cosine for the sine: they take turns along a row.",
        "no_root": "That divides by the mean of the squares: its root is missing.",
        "by_length": "That divides by the root of the sum: the mean of the squares is asked for.",
        "unnormed": "That is the number before the norm.",
        "no_residual": "That is what attention writes: what the word was before has to be added.",
        "only_before": "That is the word before attention: what attention writes has to be added.",
        "as_they_lie": "That takes the heads as they lie in memory: they have to be put side by side.",
    }
)
"""The feedback on a known mistake, by its name."""

HOW = Words(
    {
        "queries": "Multiply the row of the input by the column of the matrix, entry by entry, and add the products.",
        "scores": "Multiply the query and the key entry by entry, and add the products.",
        "scaled": "Multiply the score by the scale.",
        "weights": "Compute eˢ for every score s of the row, and divide the one asked for by their sum.",
        "heads": "Multiply each value by its weight, and add them up.",
        "allowed": "Ask which keys the mask leaves to the query of that row.",
        "concat": "Lay the rows of the heads side by side: those of head 1, then those of head 2, and so on.",
        "reshaped": "Count through the numbers of the heads in memory order: all of head 1, then all of head 2.",
        "highest_key": "Look along the row of the query: the largest score that is allowed gets the largest weight.",
        "read": "Find the row of the query, and go along it to the largest weight.",
        "shape": "One number for each axis: the heads, if they are still apart, then rows, then columns.",
        "sum": "Add up all numbers of that row or column, with their signs.",
        "size": "Multiply the lengths of all axes.",
        "spread": "A sum of n independent products spreads as the root of n; a divisor divides the spread.",
        "largest_weight": "The wider the scores of a row are spread, the nearer its largest weight is to 1.",
        "next_word": "Look where the heads attend at the last word: which word would they bring here?",
        "times_as_likely": "Shares are exponentials of the logits, over one sum: divide one by the other.",
        "head_owed": "A weight says where a head looks. Ask what is lost without it, not how dark its cells are.",
        "added": "Add what attention writes to what the word was before, number by number.",
        "normed": "Square the numbers of the row, take the root of their mean, and divide by it.",
        "positions": "Divide the position by the wavelength of its pair of columns, and take the sine or the cosine.",
        "symmetric": "Compare the score of row i and column j with that of row j and column i: each is a query times "
        "a key.",
        "rows_sum_to_one": "Add up the weights of a row, from left to right.",
        "columns_sum_to_one": "Think of the sum that each weight was divided by: is it the same down a column?",
        "same": "Go through what this step is computed from: does the change reach any of it?",
        "looks_ahead": "Look above the diagonal, where keys come later than the query.",
        "mostly_one_key": "Look along the rows of the scores: by how much does the largest exceed the others?",
        "padding_is_not_read": "Look at the columns of the padding before softmax, in the rows of the words.",
        "heads_add_up": "Write a row of C out as the numbers of head 1, then those of head 2, and multiply it by W_O.",
        "groups_agree": "A row of scores is made of a query and the keys: compare both between the heads of a group.",
        "product_has_full_rank": "Compare the shapes: the rank of a product is at most that of either factor.",
        "scores_within_v": "Look at what goes through the tanh, and at the values that a tanh can take.",
        "values_within_limit": "Look for the largest entry of W_V, without its sign, and compare it with the limit.",
        "scores_of_queries": "Work out one score from the query and the key that are shown, and compare.",
        "scores_follow_distance": "Rotate query and key further by the same angle: what becomes of their product?",
    }
)
"""The hint for a wrong answer that no known mistake leads to."""
PROBLEMS = Words(
    {
        "needs": "the question needs {name!r} in `at`",
        "outside": "{name} is {given}; {step} has 1 to {n} there",
        "shapes": "the {step} have different shapes in the two runs, so they cannot be compared",
        "no_step": "this run has no step {given}",
        "no_layer": "layer is {given}; this run has 1 to {n}",
        "two_runs": "a question about what differs needs `change`, or the run of the lesson's own setting",
    }
)


@dataclass(frozen=True)
class Mistake:
    """A known mistake, a row of HINTS, and the number that it leads to."""

    name: str
    value: float


def _nothing(chosen: object) -> None:
    """Say nothing of what was chosen."""


@dataclass(frozen=True, eq=False)
class ResolvedQuestion:
    """A question in a run.

    form       "one" or "some" of the options, their "order", one "cell", a "mask", a stop of a "slider", a "number", or
               a "text" that a person judges
    words      the question; `options` what can be chosen, counted from 0 in an answer
    right      the options that are right: any of them for "one", all of them for "some"
    value      the number that is right, and how far from it an answer may be
    solution   the answer in sentences;  `lines` the arithmetic of this very cell
    axis       the axis whose words the options are, one after another; "" where they are none
    hides      the first step that gives the answer away; "" where any step may
    inputs     the steps that the answer follows from: they are drawn while the question is open
    mistakes   what is known to go wrong, with the numbers that it leads to;  `how` the way to the answer, a row of HOW
    said_of    what is said of wrong options, by those that were chosen;  `said_in_order` of a wrong order
    in_order   the options that are right, in the order that is;  `start` the stop at which a slider stands unmoved
    covered    True where a number of the step `hides` is not to be drawn yet, so that its others may be; None where
               none of it may
    """

    form: str
    options: tuple[Sentence, ...] = ()
    right: frozenset[int] = frozenset()
    value: float = 0.0
    tolerance: float = 0.0
    solution: tuple[Sentence, ...] = ()
    lines: tuple[ArithmeticLine, ...] = ()
    axis: str = ""
    hides: str = ""
    inputs: tuple[str, ...] = ()
    covered: Array | None = None
    in_order: tuple[int, ...] = ()
    start: int | None = None
    said_in_order: Callable[[Sequence[int]], str | None] = _nothing
    mistakes: tuple[Mistake, ...] = ()
    said_of: Callable[[frozenset[int]], str | None] = _nothing
    how: str = ""
    words: Sentence = ()
    why: str = ""

    def is_right(self, answer: float | Collection[int]) -> bool:
        """Return whether an answer is right: the number, or the chosen options."""
        if isinstance(answer, Collection):
            if self.form == "order":
                return tuple(answer) == self.in_order
            chosen = frozenset(answer)
            return chosen == self.right if self.form in SETS else len(chosen) == 1 and chosen <= self.right
        return self.form == "number" and abs(answer - self.value) <= self.tolerance * (1 + 1e-9)

    @property
    def refused(self) -> str:
        """The right number as pictures or the answer print it, where it would be refused; empty as a rule."""
        printed = (f"{self.value:.{PRINTED}f}", short(self.value)) if self.form == "number" else ()
        return next((text for text in printed if not self.is_right(float(text.replace("−", "-")))), "")

    def feedback(self, answer: float | Collection[int]) -> str:
        """Return the feedback on an answer, without the right one."""
        if self.is_right(answer):
            return WORDS["right"]
        hint = self.mistake(answer) or HOW.get(self.how, "")
        return WORDS["hint"].format(hint=hint) if hint else WORDS["wrong"]

    def mistake(self, answer: float | Collection[int]) -> str:
        """Return what is said of the known mistake that leads to a wrong answer; empty where none does."""
        if self.is_right(answer):
            return ""
        if isinstance(answer, Collection):
            said = self.said_in_order(tuple(answer)) if self.form == "order" else self.said_of(frozenset(answer))
            return said or ""
        known = self.known(answer)
        return HINTS[known.name] if known else ""

    def known(self, answer: float) -> Mistake | None:
        """Return the first known mistake that leads to a wrong number; None where none does."""
        return next((each for each in self.mistakes if self._is_near(answer, each.value)), None)

    def _is_near(self, answer: float, mistaken: float) -> bool:
        """Return whether a number is that of a mistake, and the mistake is far enough from what is right to be told."""
        near = self.nearness(mistaken)
        return near > 0 and abs(answer - mistaken) <= near

    def nearness(self, mistaken: float) -> float:
        """Return how near to the number of a mistake an answer is taken for it; 0 if it cannot be known from the right
        one.
        """
        apart = abs(mistaken - self.value)
        near = max(min(self.tolerance, apart / 2), NEAR * abs(mistaken))
        return near if not self.is_right(mistaken) and near < apart else 0.0


@dataclass(frozen=True)
class QuestionContext:
    """The run that is asked about, that of the lesson's own setting, and the layer, counted from 0.

    worked  whether the arithmetic of an answer is written out, which takes longer than all else
    """

    trace: Trace
    own: Trace | None
    layer: int
    worked: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.layer < len(self.trace.layers):
            raise ValueError(PROBLEMS["no_layer"].format(given=ordinal(self.layer), n=len(self.trace.layers)))

    @property
    def steps(self) -> dict[str, Step]:
        return step_names.steps(self.trace, self.layer)

    def own_step(self, name: str) -> Step | None:
        """Return a step of the lesson's own run, where it has one."""
        if self.own is None or self.layer >= len(self.own.layers):
            return None
        return step_names.steps(self.own, self.layer).get(name)

    def step(self, name: str) -> Step:
        if name not in self.steps:
            raise ValueError(PROBLEMS["no_step"].format(given=shorten(name)))
        return self.steps[name]

    def index(self, step: Step, at: Mapping[str, Any], axes: Sequence[str]) -> tuple[int, ...]:
        """Return the indices of a number along some axes of its step, counted from 0; a head need not be named."""
        return tuple(self._along(step, at, axis) for axis in axes)

    def _along(self, step: Step, at: Mapping[str, Any], axis: str) -> int:
        shared = self.trace.config.group_size if axis == "kv_head" else 1
        n = step.shape[step.axes.index(axis)] * shared
        if axis in ("head", "kv_head"):
            name, number = "head", at.get("head", 1)
        else:
            name = axis if axis in at or axis in ("query", "key") else "column"
            number = required(name, at)
        if not 1 <= number <= n:
            raise ValueError(PROBLEMS["outside"].format(name=name, given=shorten(number), step=step.name, n=n))
        return index_of(int(number)) // shared

    def of_head(self, name: str, at: Mapping[str, Any]) -> Array:
        """Return the numbers of a step in the head that is asked about, the first if none is named."""
        step = self.step(name)
        return step.head(self.index(step, at, step.axes[:1])[0])

    def compared(self, name: str, at: Mapping[str, Any]) -> Array:
        """Return the difference of each number of a step from the other run's: the changed one, or the lesson's.

        Raises ValueError if there is no other run, or if the shapes differ.
        """
        other = run(replace(self.trace.config, **at["change"])) if "change" in at else self.own
        if other is None:
            raise ValueError(PROBLEMS["two_runs"])
        left, right = self.step(name).array, replace(self, trace=other).step(name).array
        if len(other.query_tokens) < len(self.trace.query_tokens) and left.ndim == right.ndim:
            left, right = _alike(left, right)
        if left.shape != right.shape:
            raise ValueError(PROBLEMS["shapes"].format(step=name))
        with np.errstate(invalid="ignore"):
            return np.where(left == right, 0.0, np.abs(right.astype(float) - left))


def _alike(left: Array, right: Array) -> tuple[Array, Array]:
    """Return a step of a sentence and that of its beginning: new rows are nowhere the same.

    A key that only one of them has counts as one that gets nothing.
    """
    rows, columns = (max(left.shape[axis], right.shape[axis]) for axis in (-2, -1))
    filled = list[Array]()
    for array, number in ((left, np.inf), (right, -np.inf)):
        more = [(0, 0)] * (array.ndim - 2)
        wide = np.pad(array.astype(float), [*more, (0, 0), (0, columns - array.shape[-1])])
        missing = rows - wide.shape[-2]
        filled.append(np.pad(wide, [*more, (0, missing), (0, 0)], constant_values=number))
    return filled[0], filled[1]


def required(name: str, at: Mapping[str, Any]) -> Any:
    """Return the values that the question must name."""
    if name not in at:
        raise ValueError(PROBLEMS["needs"].format(name=name))
    return at[name]
