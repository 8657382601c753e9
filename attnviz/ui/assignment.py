"""The Assignments page: a teacher composes and marks; a student who opens the link sees the assignment alone.

What a student answers is kept in the session and nowhere else, until the code is handed in.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import streamlit as st

from attnviz.core.config import Config
from attnviz.core.language import Words
from attnviz.core.layers import run
from attnviz.core.trace import Trace
from attnviz.ui import answering, cell, composing, controls, explore, marks, panels, state
from attnviz.ui.say import line, say
from attnviz.ui.selection import DESK_NAMES, Selection
from attnviz.views import assignments
from attnviz.views.assignments import Assignment

WORDS = Words(
    {
        "desk": "Assignments",
        "untitled": "Assignment",
        "name": "Your name or number, as your teacher has it in the list",
        "name_first": "Write your name or number first: your numbers and your code follow from it.",
        "name_only": "Write your name or number first: your code follows from it.",
        "yours": "These are your own numbers; another name has others.",
        "changed": "The picture shows the setting as you changed it. The questions are about the setting as it was "
        "given.",
        "back": "Back to the setting as given",
        "panel": "Below the pictures",
        "private": "What you write stays in this window until you hand in the code; reloading the page clears it.",
    }
)
TEACHER = ("compose", "mark")
PANELS = {
    "cell": cell.panel,
    "word": panels.read_word,
    "flow": panels.every_step,
    "statistics": panels.statistics,
    "redeal": panels.deal_again,
    "table": panels.table,
}
LONGEST_NAME = 80
_CSS = Path(__file__).with_name("assignment.css")


def is_student(selection: Selection) -> bool:
    """Whether the page is an assignment alone, with no way to the other pages."""
    return selection.page == "assign" and selection.desk == "student" and _task(selection) is not None


def locked(selection: Selection) -> tuple[str, ...]:
    """The settings that are not offered: for a student those that are not free, while marking all of them."""
    if selection.page != "assign" or selection.desk == "compose":
        return ()
    task = _task(selection) if selection.desk == "student" else None
    return (task or Assignment()).locked


def _task(selection: Selection) -> Assignment | None:
    return assignments.read(selection.assigned)[0]


def page(trace: Trace, selection: Selection) -> Selection:
    """Draw the page; the selection as it is left."""
    st.html(_CSS)
    task, problems = assignments.read(selection.assigned)
    say(*problems)
    if selection.desk == "student" and task is not None:
        return _student(trace, selection, task)
    desk = selection.desk if selection.desk in TEACHER else "compose"
    selection = controls.pick(
        replace(selection, desk=desk),
        "desk",
        WORDS["desk"],
        TEACHER,
        words=lambda name: DESK_NAMES[name].label,
        buttons=True,
        label_visibility="collapsed",
    )
    if selection.desk == "mark":
        return marks.desk(trace.config, selection, task)
    return composing.desk(trace, selection, task or Assignment())


def _student(trace: Trace, selection: Selection, task: Assignment) -> Selection:
    """The assignment: what to do, the pictures, the questions, the code."""
    _heading(task)
    name = st.text_input(WORDS["name"], key="task-name", max_chars=LONGEST_NAME, width=420) or ""
    if not assignments.known_by(name):
        line([WORDS["name_first" if task.task_own else "name_only"]])
        return selection
    config, problems = assignments.given(trace.config, task)
    say(*problems)
    given = run(assignments.of_student(config, task, name))
    line([WORDS["yours"]] if task.task_own else [])
    shown = given
    if trace.config != config:
        line([WORDS["changed"]])
        st.button(WORDS["back"], key="as-given", on_click=state.adopt, args=(config, selection))
        shown = run(_own_numbers(trace.config, given.config, task))
    selection = _pictures(shown, selection, task)
    answering.questions(given, task, name, assignments.digest(config, task))
    line([WORDS["private"]])
    return selection


def _own_numbers(changed: Config, given: Config, task: Assignment) -> Config:
    return replace(changed, seed=given.seed) if task.task_own else changed


def _heading(task: Assignment) -> None:
    """Title and instructions as plain text: they come out of a link."""
    title = html.escape(task.task_title or WORDS["untitled"])
    st.html(f'<h2 class="task-title">{title}</h2><p class="task-text">{html.escape(task.task_text)}</p>')


def _pictures(trace: Trace, selection: Selection, task: Assignment) -> Selection:
    """What is not hidden of the run."""
    if task.pictures or task.panels:
        selection = explore.pictures(trace, selection, key="task", names=task.pictures)
    if task.panels:
        selection = _panel(trace, selection, task.panels)
    return selection


def _panel(trace: Trace, selection: Selection, names: Sequence[str]) -> Selection:
    selection = controls.pick(
        selection,
        "panel",
        WORDS["panel"],
        names,
        words=lambda name: assignments.PANELS[name].label,
        buttons=True,
        label_visibility="collapsed",
    )
    name = selection.panel if selection.panel in names else names[0]
    return PANELS[name](trace, selection)
