"""The picture in which a mistake can be seen: the row, the column or the cell that a wrong answer was read from.

The cell of the wrong answer is framed. Nothing of the line that is asked for is in it.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from attnviz.arrays import Array
from attnviz.classroom.context.question_context import QuestionContext
from attnviz.classroom.practice import choice_pictures
from attnviz.classroom.practice.drawn_lines import EVERY, NOWHERE, Line, drawn
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.classroom.wrong_choices import keys
from attnviz.engine.records.trace import Trace
from attnviz.lessons.lesson import Question
from attnviz.pictures.stage_record import Stage
from attnviz.settings.counting import index_of

IN_WORDS = (
    *("sign", "mean", "variance", "twice", "by_root"),  # of the size of one number
    *("one_head", "unshared", "sides", "one_side"),  # of a count
    *("side_by_side", "as_they_lie"),  # either row of the joined heads may hold the right number
    *("no_root", "by_length"),  # a divisor, which is no cell of any step
    *("no_exponential", "no_temperature", "times_temperature", "halved_ratio"),  # a ratio, likewise
)
"""Known mistakes that no line of a picture shows: what is said of them has to do."""


def picture(
    question: Question,
    resolved: ResolvedQuestion,
    trace: Trace,
    answer: float | Collection[int] | None,
    own: Trace | None = None,
) -> Stage | None:
    """Return the picture in which the mistake behind a wrong answer can be seen; None where there is none.

    own  the run of the lesson's own setting
    """
    if answer is None or resolved.is_right(answer):
        return None
    runs = QuestionContext(trace, own, index_of(question.at.get("layer", 1)))
    if question.kind == "highest_key" and isinstance(answer, Collection) and len(answer) == 1:
        head, query = runs.index(runs.step("weights"), question.at, ("head", "query"))
        line_of_key, of_head = _of_key(runs, (head, query), next(iter(answer)))
        return drawn(runs, of_head, line_of_key)
    if isinstance(answer, Collection):
        return choice_pictures.picture(runs, question, resolved, tuple(answer))
    known = resolved.known(answer)
    if known is not None and question.kind == "sum":
        return _of_sum(runs, question, known.name)
    if known is not None and question.kind in ("number", "weight"):
        step = runs.step("weights" if question.kind == "weight" else question.at["step"])
        index = runs.index(step, question.at, step.axes)
        if len(index) == 2:
            of_rows = _of_rows(runs, (index[0], index[1]), known.name)
            return None if of_rows is None else drawn(runs, 0, of_rows)
        found = _of_weight if step.name == "weights" else _of_output if step.name == "heads" else _of_score
        line = found(runs, (index[0], index[1], index[2]), known.name, step.name)
        shared = runs.trace.config.group_size if line is not None and line[0] == "values" else 1
        return None if line is None else drawn(runs, index[0] // shared, line)
    return None


def _of_sum(runs: QuestionContext, question: Question, mistake: str) -> Stage | None:
    """Return the line that was added up in place of the one that crosses it."""
    step = runs.step(question.at.get("step", "weights"))
    if mistake != "crossed" or len(step.axes) != 3:
        return None
    axis = "query" if "query" in question.at else "key"
    (head,) = runs.index(step, question.at, step.axes[:1])
    at = index_of(question.at[axis])
    crossing = (EVERY, at) if axis == "query" else (at, EVERY)
    return drawn(runs, head, (step.name, step.array[head], crossing, NOWHERE))


def _of_rows(runs: QuestionContext, index: tuple[int, int], mistake: str) -> Line | None:
    """Return the cell of another step, or of another position, that was given for one of a step without heads."""
    row, column = index
    neighbour = column + 1 if column % 2 == 0 else column - 1
    name, cell = {
        "no_residual": ("output", index),
        "only_before": ("embedded", index),
        "unnormed": ("embedded", index),
        "from_one": ("positions", (row + 1, column)),
        "other_wave": ("positions", (row, neighbour)),
    }.get(mistake, ("", index))
    if name not in runs.steps or (name == "embedded" and runs.layer > 0):
        return None
    return name, runs.step(name).array, cell, cell


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
        case "left_out":
            S = masked.copy()
            for layer, name, at, _ in runs.trace.config.edits:
                if (layer, name, at[:2]) == (runs.layer, "masked", (head, query)):
                    S[at[1:]] = -np.inf
            return "weights", _softmax(S, axis=1), row, cell
        case "divided_again":
            return "weights", A / A.sum(axis=1, keepdims=True), row, cell
        case "columns":
            return "weights", _softmax(masked, axis=0), column, cell
        case "no_sum":
            with np.errstate(over="ignore"):
                return "weights", np.exp(masked), row, cell
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
    if mistake == "by_width":
        S = runs.step("scores").array[head] / runs.trace.config.key_widths()[0]
        return "scaled", S, (query, key), (query, key)
    if mistake == "transposed":
        return step, runs.step(step).array[head], (key, query), (key, query)
    return None


def _of_output(runs: QuestionContext, index: tuple[int, int, int], mistake: str, step: str) -> Line | None:
    head, query, column = index
    if mistake == "columns_of_weights":
        return "weights", runs.step("weights").array[head], (EVERY, query), NOWHERE
    if mistake == "unweighted":
        values = runs.step("values").array[head // runs.trace.config.group_size]
        return "values", values, (EVERY, column), NOWHERE
    return None


def _of_key(runs: QuestionContext, index: tuple[int, int], key: int) -> tuple[Line, int]:
    """Return the line in which a wrong key is the largest, or else the scores of the row; and the head of it."""
    head, query = index
    name, at = keys.rule(runs, index, key)
    A = runs.step("weights").array
    if name in ("layer", "other_layer"):
        A = runs.trace.layers[at["layer"]]["weights"].array
    match name:
        case "column":
            return ("weights", A[head], (EVERY, query), (key, query)), head
        case "head" | "layer" | "other_layer":
            other = at.get("head", head)
            return ("weights", A[other], (query, EVERY), (query, key)), other
        case "row":
            return ("weights", A[head], (at["row"], EVERY), (at["row"], key)), head
        case "unbiased":
            return ("capped", runs.step("capped").array[head], (query, EVERY), (query, key)), head
    return ("masked", runs.step("masked").array[head], (query, EVERY), (query, key)), head


def _softmax(x: Array, axis: int) -> Array:
    with np.errstate(invalid="ignore"):
        raised = np.exp(x - np.where(np.isfinite(x), x, -np.inf).max(axis, keepdims=True, initial=-1e300))
        return raised / raised.sum(axis, keepdims=True)
