"""The words on a wrong choice: the rule by which a learner comes to it.

A rule is told only where the choice follows from it in this run, so that what is said is true; of several rules the
first one is told. Nothing that is said names what is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from attnviz.arrays import Array
from attnviz.classroom.resolved_question import QuestionContext
from attnviz.engine.records.trace import Step
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words
from attnviz.text import step_names
from attnviz.text.captions import NAMES
from attnviz.text.format.sentence_parts import within_sentence

SHAPES = Words(
    {
        "swapped": "That has the last two axes swapped: rows come before columns.",
        "step": "That is the shape of the {step}.",
        "no_heads": "That is one head alone: there is an axis for the heads in front.",
        "less": "That leaves the first axis away: this step has {n} axes.",
        "one_more": "The last axis is longer by one there: count its columns again.",
        "doubled": "The last axis has twice its length there: count its columns again.",
    }
)
KEYS = Words(
    {
        "forbidden": "The mask forbids that key to this query: it gets no weight.",
        "column": "That is what you find down the column of the word: its row is asked for.",
        "head": "That is right for head {head}: look at the head that is asked for.",
        "row": "That is right for the word in row {row}: find the row that is asked for.",
        "unbiased": "Its score is the largest before bias and normaliser; they decide otherwise.",
        "smallest": "That gets the least of all allowed keys: the largest weight is asked for.",
        "smaller": "In this row another allowed key has a larger weight than that one.",
    }
)
ROWS = Words(
    {
        "none": "Some number changes: follow what was changed to the rows that are computed from it.",
        "all": "Not every row changes: ask of each row whether it is computed from what was changed.",
        "too_many": "One of these rows stays as it is.",
        "missing": "A row that changes is missing.",
        "both": "One of these rows stays as it is, and one that changes is missing.",
    }
)

OTHER_STEPS = ("heads", "scores", "concat", "embedded")
"""The steps whose shapes are offered beside the right one."""


def shapes(runs: QuestionContext, step: Step) -> dict[tuple[int, ...], str]:
    """Return three wrong shapes of a step, or as many as there are, each with what is said of it."""
    shape, found = step.shape, dict[tuple[int, ...], str]()
    for wrong, said in _shapes(runs, step):
        if wrong and wrong != shape:
            found.setdefault(wrong, said)
    return dict(list(found.items())[:3])


def _shapes(runs: QuestionContext, step: Step) -> Iterator[tuple[tuple[int, ...], str]]:
    shape = step.shape
    yield (*shape[:-2], *shape[:-3:-1]), SHAPES["swapped"]
    for other in (runs.steps[name] for name in OTHER_STEPS if name in runs.steps):
        name = f"{within_sentence(NAMES[other.name])} {step_names.plain(other.symbol)}"
        yield other.shape, SHAPES["step"].format(step=name)
    yield shape[1:], SHAPES["no_heads"] if len(shape) == 3 else SHAPES["less"].format(n=len(shape))
    yield (*shape[:-1], shape[-1] + 1), SHAPES["one_more"]
    yield (*shape[:-1], 2 * shape[-1]), SHAPES["doubled"]


def keys(runs: QuestionContext, index: tuple[int, int], right: frozenset[int]) -> dict[frozenset[int], str]:
    """Return what is said of each key that has not the largest weight of a row; `index` is head and query."""
    n = runs.step("weights").shape[-1]
    return {frozenset({key}): _key(runs, index, key) for key in range(n) if key not in right}


def _key(runs: QuestionContext, index: tuple[int, int], key: int) -> str:
    name, at = rule_of_key(runs, index, key)
    return KEYS[name].format(head=ordinal(at), row=ordinal(at))


def rule_of_key(runs: QuestionContext, index: tuple[int, int], key: int) -> tuple[str, int]:
    """Return the rule that leads to a wrong key, a row of KEYS, and the other head or row that it names."""
    head, query = index
    A = runs.step("weights").array
    allowed, S = _allowed(runs, index), runs.steps["capped"].array[index] if "capped" in runs.steps else A[index]
    if not allowed[key]:
        return "forbidden", 0
    if _is_largest(np.where(allowed, S, -np.inf), key):
        return "unbiased", 0
    if query < A.shape[2] and key < A.shape[1] and _is_largest(A[head, :, query], key):
        return "column", 0
    for other in _others(len(A), head):
        if _is_largest(A[other, query], key):
            return "head", other
    for other in _others(A.shape[1], query):
        if _is_largest(A[head, other], key):
            return "row", other
    return "smallest" if _is_largest(np.where(allowed, -A[index], -np.inf), key) else "smaller", 0


def _allowed(runs: QuestionContext, index: tuple[int, int]) -> Array:
    """Return which keys a query may attend to; all, where a run has weights alone."""
    row = runs.step("weights").array[index]
    return ~np.isneginf(runs.steps["masked"].array[index]) if "masked" in runs.steps else np.ones(len(row), bool)


def _others(n: int, at: int) -> Sequence[int]:
    """Return the numbers below n but one, the nearest to that first."""
    return sorted((other for other in range(n) if other != at), key=lambda other: abs(other - at))


def _is_largest(row: Array, at: int) -> bool:
    """Return whether a number of a row is larger than every other one."""
    return bool(row[at] > np.delete(row, at).max(initial=-np.inf))


def rows(chosen: frozenset[int], right: frozenset[int], n: int) -> str:
    """Return what is said of rows that were chosen wrongly, of n."""
    if right and not chosen:
        return ROWS["none"]
    if len(chosen) == n:
        return ROWS["all"]
    if chosen - right:
        return ROWS["both" if right - chosen else "too_many"]
    return ROWS["missing"]
