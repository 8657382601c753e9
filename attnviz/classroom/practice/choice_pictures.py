"""The picture in which a wrong choice can be seen: what was chosen, as the run has it, or where a statement fails."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from attnviz.arrays import Array
from attnviz.classroom import slides
from attnviz.classroom.context.question_context import SAME, QuestionContext
from attnviz.classroom.next_word.pictures import of_word
from attnviz.classroom.next_word.readings import by_layer
from attnviz.classroom.next_word_questions import layer_of
from attnviz.classroom.open_questions import MAX_NUMBERS
from attnviz.classroom.practice.drawn_lines import EVERY, NOWHERE, Line, drawn
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.classroom.wrong_choices import shapes, verdicts
from attnviz.engine.run import run
from attnviz.lessons.lesson import Question
from attnviz.pictures.stage_record import Stage
from attnviz.settings.counting import index_of, ordinals
from attnviz.settings.language import Words, translate
from attnviz.text.format.sentence_parts import QUOTED, plain

NAMES = Words({"before": "before", "after": "after"})


def picture(
    runs: QuestionContext, question: Question, resolved: ResolvedQuestion, chosen: Sequence[int]
) -> Stage | None:
    """Return the picture of a wrong choice; None where what is said of it has to do.

    The picture of a slider is its own: it moves with it.
    """
    head = index_of(question.at.get("head", 1))
    if resolved.form == "mask":
        return _under_the_mask(runs, chosen)
    if resolved.form == "order":
        return _in_order(runs, head, index_of(question.at["query"]), chosen)
    if not chosen and resolved.form != "some":
        return None
    if resolved.form == "cell":
        A = runs.step("weights").array[head]
        row, column = divmod(chosen[0], A.shape[1])
        return drawn(runs, head, ("weights", A, (row, EVERY), (row, column)))
    if question.kind == "rows_changed":
        wrong = sorted({*chosen} - resolved.right)
        return _before_and_after(runs, question, wrong[0], NOWHERE) if wrong else None
    if question.kind == "shape":
        return _of_shape(runs, question.at["step"], plain(resolved.options[chosen[0]]))
    if question.kind == "true_or_false":
        return _verdict(runs, question, holds=0 in resolved.right)
    if question.kind == "head_owed":
        return _of_head(runs, plain(resolved.options[chosen[0]]))
    if question.kind == "next_word":
        words = question.at["words"]
        shares = by_layer(runs.trace, *words).array.T
        return of_word(runs.trace, words[chosen[0]], layer_of(shares, chosen[0]))
    return None


def _under_the_mask(runs: QuestionContext, chosen: Sequence[int]) -> Stage:
    """Return the weights that the mask as it was drawn leads to; a row that may attend to nothing has none."""
    S = runs.step("capped").array[0]
    allowed = np.isin(np.arange(S.size), [*chosen]).reshape(S.shape)
    masked = np.where(allowed, S, -np.inf)
    raised = np.exp(masked - masked.max(axis=1, keepdims=True, initial=-1e300))
    total = raised.sum(axis=1, keepdims=True)
    A = np.divide(raised, total, out=np.zeros_like(raised), where=total > 0)
    return replace(drawn(runs, 0, ("weights", A, (EVERY, EVERY), NOWHERE)), masked=~allowed[None])


def _in_order(runs: QuestionContext, head: int, query: int, chosen: Sequence[int]) -> Stage | None:
    """Return the scores of a row in the order that was given: where they rise, it is wrong."""
    if not chosen:
        return None
    S = runs.step("masked").array[head]
    rises = [key for key, before in zip(chosen[1:], chosen) if S[query, key] > S[query, before] + SAME]
    line: Line = ("masked", S, (query, [*chosen]), (query, rises[0]) if rises else NOWHERE)
    return drawn(runs, head, line)


def _before_and_after(runs: QuestionContext, question: Question, row: int, cell: tuple[int, int]) -> Stage | None:
    """Return a row of a step before and after a change; None where it has other columns then, or is new."""
    name, at = question.at.get("step", "weights"), question.at
    other = run(replace(runs.trace.config, **at["change"])) if "change" in at else runs.own
    if other is None or name not in runs.steps:
        return None
    pair = [replace(runs, trace=trace) for trace in (runs.trace, other)][:: 1 if "change" in at else -1]
    arrays = [each.step(name).array for each in pair]
    if arrays[0].shape != arrays[1].shape or arrays[0].ndim != 3:
        return None
    head = _furthest(arrays, row) if cell == NOWHERE and "head" not in at else index_of(at.get("head", 1))
    both: Array = np.stack([array[head, row] for array in arrays])
    shown = drawn(runs, head, (name, arrays[0][head], (row, EVERY), NOWHERE))
    framed = tuple((0, line, cell[1]) for line in (0, 1)) if cell != NOWHERE else ()
    word = translate(QUOTED, token=shown.rows[0])
    rows, masked = [NAMES["before"], NAMES["after"]], np.isneginf(both[None])
    return replace(shown, array=both[None], rows=rows, masked=masked, edited=framed, phrase=word)


def _furthest(arrays: Sequence[Array], row: int) -> int:
    """Return the head in which a row changes by most; the first where it changes in none."""
    with np.errstate(invalid="ignore"):
        apart = np.abs(arrays[0][:, row] - arrays[1][:, row])
    return int(np.nan_to_num(apart).max(axis=-1).argmax())


def _of_shape(runs: QuestionContext, name: str, given: str) -> Stage | None:
    """Return what has the shape that was chosen: another step, one head alone, or the step with its axes swapped."""
    shape, step = tuple(map(int, given.split(" × "))), runs.step(name)
    others = [each for each in shapes.OTHER_STEPS if each in runs.steps and runs.steps[each].shape == shape]
    is_swapped = shape == (*step.shape[:-2], *step.shape[:-3:-1])
    if step.array.size > MAX_NUMBERS or step.array.ndim < 2:
        return None
    whole = slides.without_caption(slides.pictures(runs.trace, runs.layer, (name,))[0])
    if is_swapped:
        columns = [*(whole.columns or map(str, ordinals(step.shape[-1])))]
        turned = np.swapaxes(whole.array, -1, -2)
        hidden = None if whole.masked is None else np.swapaxes(whole.masked, -1, -2)
        whole = replace(whole, array=turned, rows=columns, columns=[*whole.rows], axes=whole.axes[::-1], phrase="")
        return replace(whole, name="mistake", masked=hidden, widths=None, edited=(), sums=False, bars=None, chosen=None)
    if others:
        array = np.atleast_3d(runs.steps[others[0]].array)
        return (
            None
            if array.size > MAX_NUMBERS
            else replace(
                slides.without_caption(slides.pictures(runs.trace, runs.layer, (others[0],))[0]), name="mistake"
            )
        )
    if shape == step.shape[1:] and step.array.ndim == 3:
        return drawn(runs, 0, (name, step.array[0], (EVERY, EVERY), NOWHERE))
    return None


def _verdict(runs: QuestionContext, question: Question, *, holds: bool) -> Stage | None:
    """Return the head in which a statement fails, or holds, its cell framed; the answer is no secret by then."""
    seen = verdicts.wrong(runs, question.at, holds)
    if not seen.cells or runs.step(seen.step).array.size > MAX_NUMBERS:
        return None
    if question.at["says"] == "same":
        return _before_and_after(runs, question, seen.cells[0][0], seen.cells[0])
    step = runs.step(seen.step)
    array = step.array[seen.head] if step.array.ndim == 3 else step.array
    return drawn(runs, seen.head, (seen.step, array, (EVERY, EVERY), seen.cells[0]), seen.cells[1:])


def _of_head(runs: QuestionContext, given: str) -> Stage:
    """Return where a head that was chosen looks from the last word."""
    layer, head = (int(number) - 1 for number in re.findall(r"\d+", given)[-2:])
    at = replace(runs, layer=layer)
    A = at.step("weights").array[head]
    last = len(A) - 1
    return drawn(at, head, ("weights", A, (last, EVERY), (last, int(A[last].argmax()))))
