"""The picture in which a mistake can be seen: the row, the column or the cell that a wrong answer was read from.

The cell of the wrong answer is framed. Nothing of the line that is asked for is in it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from attnviz.arrays import Array
from attnviz.classroom import slides, wrong_choices
from attnviz.classroom.resolved_question import QuestionContext, ResolvedQuestion
from attnviz.engine.records.trace import Trace
from attnviz.lessons.lesson import Question
from attnviz.pictures.stage_record import Stage
from attnviz.settings.counting import index_of

Line = tuple[str, Array, tuple[slice | int, slice | int], tuple[int, int]]
"""A step to draw in, its numbers (rows, columns), which of these are drawn, and the cell of them that is framed."""

EVERY = slice(None)


def picture(
    question: Question, resolved: ResolvedQuestion, trace: Trace, answer: float | Collection[int] | None
) -> Stage | None:
    """Return the picture in which the mistake behind a wrong answer can be seen; None where there is none."""
    if answer is None or resolved.is_right(answer):
        return None
    runs = QuestionContext(trace, None, index_of(question.at.get("layer", 1)))
    if question.kind == "highest_key" and isinstance(answer, Collection) and len(answer) == 1:
        head, query = runs.index(runs.step("weights"), question.at, ("head", "query"))
        line_of_key, of_head = _of_key(runs, (head, query), next(iter(answer)))
        return _drawn(runs, of_head, line_of_key)
    if question.kind in ("number", "weight") and not isinstance(answer, Collection):
        known = resolved.known(answer)
        step = runs.step("weights" if question.kind == "weight" else question.at["step"])
        index = runs.index(step, question.at, step.axes)
        if known is None or len(index) != 3:
            return None
        found = _of_weight if step.name == "weights" else _of_output if step.name == "heads" else _of_score
        line = found(runs, (index[0], index[1], index[2]), known.name, step.name)
        return None if line is None else _drawn(runs, index[0], line)
    return None


def _of_weight(runs: QuestionContext, index: tuple[int, int, int], mistake: str, step: str) -> Line | None:
    head, query, key = index
    masked, A = runs.step("masked").array[head], runs.step("weights").array[head]
    row, column, cell = (query, EVERY), (EVERY, key), (query, key)
    match mistake:
        case "scale":
            S = np.where(np.isneginf(masked), -np.inf, runs.step("scores").array[head])
            return "weights", _softmax(S, axis=1), row, cell
        case "mask":
            return "weights", _softmax(runs.step("capped").array[head], axis=1), row, cell
        case "columns":
            return "weights", _softmax(masked, axis=0), column, cell
        case "no_softmax":
            return "masked", masked, row, cell
        case "transposed":
            return "weights", A, (key, query), (key, query)
    return None


def _of_score(runs: QuestionContext, index: tuple[int, int, int], mistake: str, step: str) -> Line | None:
    head, query, key = index
    other = {"scaled_already": "scaled", "scale": "scores"}.get(mistake)
    if other is not None:
        return other, runs.step(other).array[head], (query, key), (query, key)
    if mistake == "transposed":
        return step, runs.step(step).array[head], (key, query), (key, query)
    return None


def _of_output(runs: QuestionContext, index: tuple[int, int, int], mistake: str, step: str) -> Line | None:
    head, query, _ = index
    if mistake == "columns_of_weights":
        return "weights", runs.step("weights").array[head], (EVERY, query), (-1, -1)
    return None


def _of_key(runs: QuestionContext, index: tuple[int, int], key: int) -> tuple[Line, int]:
    """Return the line in which a wrong key is the largest, or else the scores of the row; and the head of it."""
    head, query = index
    name, at = wrong_choices.rule_of_key(runs, index, key)
    A = runs.step("weights").array
    match name:
        case "column":
            return ("weights", A[head], (EVERY, query), (key, query)), head
        case "head":
            return ("weights", A[at], (query, EVERY), (query, key)), at
        case "row":
            return ("weights", A[head], (at, EVERY), (at, key)), head
        case "unbiased":
            return ("capped", runs.step("capped").array[head], (query, EVERY), (query, key)), head
    return ("masked", runs.step("masked").array[head], (query, EVERY), (query, key)), head


def _softmax(x: Array, axis: int) -> Array:
    with np.errstate(invalid="ignore"):
        raised = np.exp(x - np.where(np.isfinite(x), x, -np.inf).max(axis, keepdims=True, initial=-1e300))
        return raised / raised.sum(axis, keepdims=True)


def _drawn(runs: QuestionContext, head: int, line: Line) -> Stage:
    """Return the line as a picture of its own, its cell framed."""
    name, array, (rows, columns), cell = line
    whole = slides.pictures(runs.trace, runs.layer, (name,))[0]
    row_names, column_names = whole.rows, whole.columns or [""] * array.shape[1]
    i, j = (np.arange(n)[part] for n, part in zip(array.shape, (rows, columns)))
    i, j = np.atleast_1d(i), np.atleast_1d(j)
    part = array[np.ix_(i, j)][None]
    framed = tuple((0, r, c) for r in range(len(i)) for c in range(len(j)) if (i[r], j[c]) == cell)
    return replace(
        slides.without_caption(whole),
        name="mistake",
        array=part,
        rows=[row_names[at] for at in i],
        columns=[column_names[at] for at in j],
        masked=np.isneginf(part),
        widths=None,
        heads=[whole.names[head]],
        edited=framed,
        sums=False,
        bars=None,
        roles=None,
        chosen=None,
        phrase="",
        formula="",
    )
