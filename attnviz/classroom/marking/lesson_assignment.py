"""A lesson as an assignment: its setting, and the questions of it that need no other one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from attnviz.classroom import question_codec
from attnviz.classroom.marking import assignments
from attnviz.classroom.marking.assignment_parts import PANELS, PICTURES
from attnviz.classroom.marking.assignments import Assignment
from attnviz.classroom.question_codec import AS_STEP, AXES, CHANGES, KINDS, Item, Value
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.lessons.lesson import Lesson, Question
from attnviz.settings.faults import ConfigError

LONGEST_TITLE = 120


def as_item(question: Question) -> Item | None:
    """Return a question of a lesson as assignments pose it; None for one that they have no words for.

    >>> as_item(Question("sum", at={"query": 2}))
    ('row_sum', (('summed', 'weights'), ('head', 1), ('query', 2), ('tolerance', 0.005), ('layer', 1)))
    """
    kind = question.kind
    if kind == "sum":
        kind = "row_sum" if "query" in question.at else "column_sum"
    if kind not in KINDS or "read" in question.at or "before" in question.at:
        return None
    chosen: dict[str, Value] = {}
    for name in question_codec.positions(kind, {"step": str(question.at.get("step"))}):
        value = question.at.get("step" if name in AS_STEP else name)
        if name == "change":
            value = next((each for each, (_, change, _) in CHANGES.items() if change == value), None)
            if value is None:
                return None
        if value is not None and (name != "tolerance" or value in question_codec.LISTS[name]):
            chosen[name] = value
    if kind == "cell" and not {"query", "key"} <= question.at.keys():
        return None  # which asks for the largest of a line, and assignments for one cell
    if kind == "number" and question.at.get("step") not in AXES:
        return None
    try:
        return question_codec.validated([question_codec.item(kind, chosen)])[0]
    except (ConfigError, KeyError):
        return None


def settings(lesson: Lesson) -> Iterator[tuple[Config, tuple[Item, ...]]]:
    """Yield the settings of a lesson that have questions, each with those that can be posed."""
    by_setting: dict[Config, dict[Item, None]] = {}
    for slide in lesson.slides:
        item = as_item(slide.question) if slide.question is not None and not slide.fault else None
        if item is not None:
            by_setting.setdefault(lesson.on(slide), {})[item] = None
    for config, items in by_setting.items():
        yield config, tuple(items)[: question_codec.MAX_QUESTIONS]


def of_lesson(lesson: Lesson) -> tuple[Config, Assignment] | None:
    """Return the setting of a lesson with the most questions, and the assignment that poses them; None for none.

    What is hidden from students is every panel and every picture that would give an answer away.
    """
    config, items = max(settings(lesson), key=lambda each: len(each[1]), default=(None, ()))
    if config is None:
        return None
    trace = run(config)
    task = Assignment(
        task_title=lesson.title[:LONGEST_TITLE],
        task_text=lesson.about,
        task_own=is_random(trace),
        task_questions=items,
    )
    questions = assignments.resolved_questions(task, trace)
    hides = {each.hides for each in questions if isinstance(each, ResolvedQuestion)}
    order = list(PICTURES)
    first = min((order.index(name) for name in hides if name in order), default=len(order))
    return config, replace(task, task_hidden=(*order[first:], *PANELS))


def is_random(trace: Trace, *, in_any_step: bool = False) -> bool:
    """Return whether another seed gives other weights than those of a run, or other numbers `in_any_step`."""
    other = run(replace(trace.config, seed=(trace.config.seed + 1) % assignments.N_SEEDS))
    pairs = (
        (a[name], b[name]) for a, b in zip(trace.layers, other.layers) for name in a if in_any_step or name == "weights"
    )
    return any(not np.array_equal(one.array, another.array, equal_nan=True) for one, another in pairs)
