"""A question that was dealt, and how one of a known kind or of a new form becomes one."""

from __future__ import annotations

from dataclasses import dataclass

from attnviz.classroom.new_forms import Slider
from attnviz.classroom.question_kinds import resolve
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.lessons.lesson import Question, Slide


@dataclass(frozen=True, eq=False)
class Dealt:
    """A question that was dealt: its setting, its run, what is drawn with it, and its answer.

    slider  where it is answered by one
    """

    config: Config
    trace: Trace
    slide: Slide
    question: ResolvedQuestion
    slider: Slider | None = None


class UnfitError(Exception):
    """A draw that is not fit to be asked; the next one is looked at."""


def known(config: Config, steps: tuple[str, ...], question: Question) -> Dealt:
    """Return a question of a kind that lessons have."""
    trace = run(config)
    resolved = resolve(question, trace, trace)
    near = [each for each in resolved.mistakes if abs(each.value - (resolved.value or 0.0)) <= resolved.tolerance]
    if resolved.refused or near:  # a known mistake would count as right
        raise UnfitError
    return Dealt(config, trace, Slide("", steps, question=question), resolved)


def new(config: Config, trace: Trace, steps: tuple[str, ...], question: ResolvedQuestion, **at: int) -> Dealt:
    """Return a question of a kind that is answered otherwise; all of its steps are drawn with it.

    at  the head that is asked about, and the query, counted from 1
    """
    asked = Question("", at={"read": True, "head": 1, **at})
    return Dealt(config, trace, Slide("", steps, question=asked), question)
