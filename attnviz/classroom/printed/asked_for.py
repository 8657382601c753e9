"""The parts of a lesson that its handout leaves out because a question asks for them, on whichever slide that is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attnviz.classroom import slides
from attnviz.classroom.printed import blanks, given_away
from attnviz.classroom.printed.printed_tables import Paper
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Step, Trace
from attnviz.engine.run import run
from attnviz.lessons.lesson import Question
from attnviz.settings.counting import index_of
from attnviz.text import step_names


def of_run(trace: Trace, questions: Sequence[tuple[Config, Question]]) -> list[Question]:
    """Return the questions that are asked of a run, on any slide."""
    return [
        question
        for config, question in questions
        if config == trace.config or (question.kind == "mask" and _is_masked_alike(config, trace))
    ]


def _is_masked_alike(config: Config, trace: Trace) -> bool:
    """Return whether a run has the mask of a setting, so that what shows it gives away that of the setting."""
    return np.array_equal(run(config).layers[0]["allowed"].array, trace.layers[0]["allowed"].array)


def slide_text(paper: Paper, text: str, trace: Trace, questions: Sequence[Question]) -> str:
    """Return the text without those numbers of the run that a question asks for."""
    if paper.solutions:
        return text
    questions = [each for each in questions if each.kind != "mask"]  # a number of a weight draws no mask
    for match in slides.NUMBER.finditer(text):
        if not _is_questioned(trace, match[1], match[2], questions):
            paper.printed.name(trace, match[1], match[2])
    return slides.NUMBER.sub(
        lambda match: given_away.BLANK if _is_questioned(trace, match[1], match[2], questions) else match[0], text
    )


def _is_questioned(trace: Trace, name: str, position: str, questions: Sequence[Question]) -> bool:
    if name in trace.around:
        return False
    layer, *index = (index_of(int(number)) for number in position.split(".")[1:])
    step = step_names.steps(trace, layer)[name]
    return bool(blanks.questioned(trace, layer, step, questions)[tuple(index)])


def gives_away(paper: Paper, trace: Trace, layer: int, step: Step, questions: Sequence[Question]) -> bool:
    """Return whether the picture of a step shows what a question asks for."""
    asked = blanks.questioned(trace, layer, step, questions)
    return not paper.solutions and (bool(asked.any()) or shows_mask(paper, step.name, questions))


def shows_mask(paper: Paper, name: str, questions: Sequence[Question]) -> bool:
    """Return whether the picture of a step hatches a mask that is to be drawn."""
    return not paper.solutions and name in blanks.SHOWS_MASK and any(each.kind == "mask" for each in questions)
