"""The questions of an assignment as a plain table, for any program that reads one, with what is right."""

from __future__ import annotations

import pandas as pd

from attnviz.classroom.marking import assignments
from attnviz.classroom.marking.assignments import Assignment
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.engine.records.config import Config
from attnviz.engine.run import run
from attnviz.exports import tables
from attnviz.settings.counting import ordinals
from attnviz.settings.language import sign
from attnviz.text.format.sentence_parts import plain

COLUMNS = ("number", "question", "form", "options", "answer", "tolerance", "points", "explanation")
"""Called alike in every language, as files are read by their names."""
CELLS = ("cell", "mask")  # any cell of the picture can be chosen, which needs no list
FORMS = {
    "one": "one of several",
    "some": "several",
    "number": "number",
    "text": "own words",
    "order": "in order",
    "cell": "cell",
    "mask": "mask",
    "slider": "slider",
}


def frame(config: Config, task: Assignment) -> pd.DataFrame:
    """Return a row for each question of an assignment in a setting; one that has no answer there says why."""
    setting = assignments.teacher_setting(config, task)[0]
    asked = assignments.resolved_questions(task, run(setting), worked=False)
    rows = [
        (n, *_row(ask, points))
        for n, ask, points in zip(ordinals(len(asked)), asked, task.points)  # of the setting that was given
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _row(ask: ResolvedQuestion | str, points: float) -> tuple[str | float, ...]:
    if isinstance(ask, str):
        return ("", "", "", "", "", points, ask)
    answer: str | float = float(f"{ask.value:.12g}") if ask.form == "number" else ""
    if ask.options:
        answer = " | ".join(plain(ask.options[at]) for at in ask.in_order or sorted(ask.right))
    options = " | ".join(map(plain, ask.options)) if ask.form not in CELLS else ""
    explanation = sign(" ").join(map(plain, ask.solution))
    tolerance: str | float = ask.tolerance if ask.form == "number" else ""
    return (plain(ask.words), FORMS[ask.form], options, answer, tolerance, points, explanation)


def csv(config: Config, task: Assignment) -> str:
    """Return the table as a file, safe for a spreadsheet."""
    return tables.csv(frame(config, task))
