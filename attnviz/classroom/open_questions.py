"""Pictures for an open question: the steps that its answer follows from, without the numbers in question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from attnviz.arrays import Array
from attnviz.classroom import slides
from attnviz.classroom.context.question_context import SAME, QuestionContext
from attnviz.classroom.next_word import readings
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.engine.records.step_specs import STEPS
from attnviz.engine.records.trace import Step, Trace
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.lessons.lesson import Question, Slide
from attnviz.pictures.stage_record import Stage
from attnviz.settings.counting import index_of

FOLLOWS_FROM = {
    "token_embeddings": (),
    "embedded": ("token_embeddings", "positions"),
    "normed": ("embedded",),
    "positions": (),
    "added": ("embedded", "output"),
    "w_q": ("embedded", "queries"),
    "queries": ("projected_queries",),
    "projected_queries": ("embedded", "w_q"),
    "keys": ("projected_keys",),
    "projected_keys": ("embedded_kv", "w_k"),
    "values": ("embedded_kv", "w_v"),
    "score_w_q": ("queries", "score_v"),
    "scores": ("queries", "keys"),
    "scaled": ("scores",),
    "capped": ("scaled",),
    "masked": ("capped", "allowed"),
    "weights": ("masked",),
    "heads": ("weights", "values"),
    "concat": ("heads",),
    "w_o": ("concat", "output"),
    "output": ("concat", "w_o"),
}
"""The inputs of each step, or, for a matrix, the steps that give its shape."""

SHAPES_FOLLOW_FROM = {"weights": ("queries", "keys"), "masked": ("queries", "keys"), "scaled": ("queries", "keys")}
"""Sentences as above, for a step whose predecessor has the same shape."""

MAX_NUMBERS = 10_000
"""Numbers of a step that is drawn for its shape alone."""


def inputs_of(runs: QuestionContext, name: str) -> tuple[str, ...]:
    """Return the steps of a run that a step is computed from; one that only repeats another is that other.

    >>> from attnviz import Config, run
    >>> inputs_of(QuestionContext(run(Config(mask="none", score="dot", position="none")), None, 0), "weights")
    ('scores',)
    """
    inputs = dict.fromkeys(part for each in FOLLOWS_FROM.get(name, ()) for part in _present(runs, each))
    return tuple(inputs)


def _present(runs: QuestionContext, name: str) -> tuple[str, ...]:
    """Return a step, or what it is made of where the run does not have it or it changes nothing."""
    if name == "embedded_kv" and name not in runs.steps:
        return ("embedded",)
    before = FOLLOWS_FROM.get(name, ())
    if name not in runs.steps:
        return tuple(part for each in before for part in _present(runs, each))
    repeats = name in ("scaled", "capped", "masked") and before[0] in runs.steps
    if repeats and np.array_equal(runs.steps[name].array, runs.steps[before[0]].array):
        return _present(runs, before[0])
    return (name,)


def shape_inputs(runs: QuestionContext, name: str) -> tuple[str, ...]:
    """Return the steps of a run that the shape of a step follows from; of that very shape only where nothing else is.

    A matrix may be too large to be drawn. What is left then, if it has the shape itself, makes room for its inputs.
    """
    if name in SHAPES_FOLLOW_FROM:
        return SHAPES_FOLLOW_FROM[name]
    inputs = [each for each in inputs_of(runs, name) if runs.steps[each].array.size <= MAX_NUMBERS]
    before = [each for one in inputs for each in inputs_of(runs, one) if runs.steps[each].array.size <= MAX_NUMBERS]
    apart, further = (
        [each for each in names if runs.steps[each].shape != runs.steps[name].shape] for names in (inputs, before)
    )
    return tuple(apart or further or inputs)


def covered(runs: QuestionContext, step: Step, position: tuple[int, ...]) -> Array | None:
    """Return True where a step cannot be drawn while one of its numbers is asked for; None where none of it can.

    position  of the number, or of a row, along the axes of the step

    The weights of a row add to 1, and so say each other: all of the row is covered. Where another row holds the same
    numbers, in whichever order, or the heads were made by a rule that any row shows, no row may be seen. Elsewhere the
    cells that hold the same number are covered too, as the score of two words in both directions; whole numbers stay,
    which are the same by chance.
    """
    cells = np.zeros(step.shape, dtype=bool)
    cells[position] = True
    if step.name in ("weights", "heads"):
        if INITIALISERS[runs.trace.config.initialiser].solved or runs.trace.config.normalise_over != "keys":
            return None
        cells[position[:2]] = True
        rows = np.sort(step.array.reshape(-1, step.shape[-1]), axis=-1)
        alike = (np.abs(rows - np.sort(step.array[position[:2]])) <= SAME).all(axis=-1)
        return None if alike.sum() > 1 else cells
    wanted = float(step.array[position])
    if not wanted.is_integer():
        cells |= np.abs(np.where(np.isfinite(step.array), step.array, np.inf) - wanted) <= SAME
    return cells


def steps_before(steps: Sequence[str], hides: str) -> tuple[str, ...]:
    """Return the steps that come before the one that gives an answer away."""
    order = list(STEPS)
    before = order[: order.index(hides)] if hides else []
    return tuple(name for name in steps if name in before)


def open_steps(slide: Slide, question: ResolvedQuestion) -> tuple[str, ...]:
    """Return the steps that are drawn while a question about one run is open, in the order of the computation."""
    names = {*steps_before(slide.steps, question.hides), *question.inputs}
    names -= {"scaled", "capped"} if "scores" in names and question.hides == "weights" else set()
    if question.covered is not None and question.hides in slide.steps:
        names.add(question.hides)
    return (*(name for name in STEPS if name in names), *filter(readings.is_reading, question.inputs))


def compares(question: Question) -> bool:
    """Return whether a question is about what differs between two runs."""
    return question.kind == "rows_changed" or question.at.get("says") == "same"


def is_whole(question: Question) -> bool:
    """Return whether all of the slide is drawn: its picture is to be read, or it is that before a change."""
    return (
        question.kind in ("own_words", "cell", "slider")
        or compares(question)
        or bool(question.at.get("read"))
        or bool(question.at.get("before"))
    )


def run_of(question: Question, baseline: Trace, trace: Trace) -> Trace:
    """Return the run that is drawn while a question is open: of two that differ, the one before the change."""
    is_own = (compares(question) and "change" not in question.at) or bool(question.at.get("before"))
    return baseline if is_own else trace


def pictures(
    slide: Slide, question: Question, resolved: ResolvedQuestion, baseline: Trace, trace: Trace
) -> tuple[Stage, ...]:
    """Return the pictures of a slide while its question is open; none of them holds a number that gives it away."""
    layer, whole = slide.layer, is_whole(question)
    names = slide.steps if whole else open_steps(slide, resolved)
    shown = slides.pictures(run_of(question, baseline, trace), layer, names)
    drawn = [slides.without_caption(each if whole else _covered(each, resolved)) for each in shown]
    head = index_of(question.at.get("head", 1))
    return tuple(of_head(each, head) if resolved.form in ("order", "cell") else each for each in drawn)


def answered(slide: Slide, form: str) -> Slide:
    """Return a slide as it is drawn once a question is answered: an order and a mask are seen in the weights."""
    is_seen = form not in ("order", "mask") or "weights" in slide.steps
    return slide if is_seen or slide.beside else replace(slide, steps=(*slide.steps, "weights"))


def of_head(picture: Stage, head: int) -> Stage:
    """Return the picture of one head alone, which has room for its digits on a phone, too."""
    if len(picture.array) <= head or len(picture.array) == 1:
        return picture
    return replace(
        picture,
        array=picture.array[[head]],
        masked=None if picture.masked is None else picture.masked[[head]],
        widths=None if picture.widths is None else [picture.widths[head]],
        heads=[picture.names[head]],
        roles=None if picture.roles is None else [picture.roles[head]],
        bars=None if picture.bars is None else (picture.bars[0][[head]], picture.bars[1][[head]]),
        edited=[(0, row, column) for at, row, column in picture.edited if at == head],
        wanted=[(0, row, column) for at, row, column in picture.wanted if at == head],
        chosen=None,
    )


def _covered(picture: Stage, question: ResolvedQuestion) -> Stage:
    """Return the picture without the numbers that are asked for; their positions are framed."""
    if picture.name != question.hides or question.covered is None:
        return picture
    cells = question.covered.reshape(picture.array.shape)
    if picture.masked is not None:
        cells = cells & ~picture.masked
    positions = tuple((int(head), int(row), int(column)) for head, row, column in np.argwhere(cells))
    return replace(picture, array=np.where(cells, np.nan, picture.array), edited=positions)
