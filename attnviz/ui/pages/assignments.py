"""The Assignments page: a teacher composes and marks; a student who opens the link sees nothing but the assignment.

What a student answers is kept in the session and nowhere else, until the code is handed in.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import streamlit as st

from attnviz.classroom.marking import assignments
from attnviz.classroom.marking.assignment_parts import PANELS as TASK_PANELS
from attnviz.classroom.marking.assignments import Assignment, Opened
from attnviz.engine.cost.need import Need
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.settings.language import Words
from attnviz.ui.pages import pictures
from attnviz.ui.pages.panels import PANELS
from attnviz.ui.panels.classroom import answer_form, assignment_editor, grading_desk
from attnviz.ui.panels.lesson import lesson_editor
from attnviz.ui.session import admission, session_state, widgets
from attnviz.ui.session.browser import styles
from attnviz.ui.session.notices import notice, paragraph
from attnviz.ui.session.selection import DESK_NAMES, Selection

WORDS = Words(
    {
        "desk": "Assignments",
        "untitled": "Assignment",
        "name": "Your name or number, as it stands in your teacher's list",
        "name_first": "Enter your name or number first: your numbers and your code depend on it.",
        "name_only": "Enter your name or number first: your code depends on it.",
        "yours": "These numbers belong to your name; a different name gets different ones.",
        "changed": "The picture shows the setting as you changed it. The questions are about the setting as it was "
        "given.",
        "back": "Back to the setting as given",
        "panel": "Below the pictures",
        "preview": "Preview: as students see it",
        "preview_note": "With the numbers of a student named {name}; what you answer here is kept nowhere.",
        "preview_name": "Preview",
        "private": "What you write stays in this window until you hand in the code; reloading the page clears it.",
    }
)
TEACHER = ("compose", "mark", "write")
STUDENT = Need(held=2, made=1, most=assignment_editor.ANSWERED, any_length=True)
"""Beside the page's run and that of the setting as given, two are held: the student's own numbers in what was changed,
and the run that a question asks about, which its questions count."""
MAX_NAME_CHARACTERS = 80
_CSS = Path(__file__).with_name("assignments.css")


def is_student(selection: Selection, given_out: Opened | None) -> bool:
    """Return whether the page is an assignment alone, with no way to the other pages."""
    return selection.page == "assign" and selection.desk == "student" and given_out is not None


def locked(selection: Selection, given_out: Opened | None) -> tuple[str, ...]:
    """Return the locked settings: for a student those that the teacher has not freed, while marking all of them."""
    if selection.page != "assign" or selection.desk in ("compose", "write"):
        return ()
    return (given_out.task if given_out and selection.desk == "student" else Assignment()).locked


def page(trace: Trace, selection: Selection, given_out: Opened | None) -> Selection:
    """Draw the page, where a student works or a teacher composes; return the selection as it is left."""
    styles.style(_CSS)
    notice(*(given_out.problems if given_out else ()))
    if given_out and selection.desk == "student":
        return _student(trace, selection, given_out)
    selection = assignment_editor.desk(trace, selection, given_out.task if given_out else Assignment())
    return _preview(trace, selection)


def _preview(trace: Trace, selection: Selection) -> Selection:
    """Draw the assignment below its desk as a student gets it, if that is wished."""
    composed, _ = assignments.open_assignment(selection.assigned, trace.config)
    if composed is None or not st.toggle(WORDS["preview"], key="preview-task"):
        return selection
    name = WORDS["preview_name"]
    if not admission.admitted(STUDENT, trace.config, composed.given, again=assignments.n_runs(composed.task)):
        return selection
    with st.container(border=True, key="task-preview"):
        paragraph([WORDS["preview_note"].format(name=name)])
        _heading(composed.task)
        own_trace = run(composed.of_student(name))
        selection = _pictures(own_trace, selection, composed.task)
        answer_form.questions(own_trace, composed.task, name, composed.digest)
    return selection


def marking(config: Config, selection: Selection, given_out: Opened | None) -> Selection:
    """Draw the desk where a teacher marks; return the selection as it is left."""
    styles.style(_CSS)
    notice(*(given_out.problems if given_out else ()))
    return grading_desk.desk(config, selection, given_out.task if given_out else None)


def writing(trace: Trace, selection: Selection, given_out: Opened | None) -> Selection:
    """Draw the desk where a lesson is written; return the selection as it is left."""
    styles.style(_CSS)
    return lesson_editor.desk(trace, selection)


def desk(selection: Selection, given_out: Opened | None) -> Selection:
    """Draw the choice between the desks of a teacher; return the selection with it, or as it is for a student."""
    if is_student(selection, given_out):
        return selection
    return widgets.choose_available(
        replace(selection, desk=selection.desk if selection.desk in TEACHER else "compose"),
        "desk",
        WORDS["desk"],
        TEACHER,
        words=lambda name: DESK_NAMES[name].label,
        buttons=True,
        label_visibility="collapsed",
    )


def _student(trace: Trace, selection: Selection, given_out: Opened) -> Selection:
    """Draw the assignment: what to do, the pictures, the questions, the code."""
    task = given_out.task
    _heading(task)
    name = st.text_input(WORDS["name"], key="task-name", max_chars=MAX_NAME_CHARACTERS, width=420) or ""
    if not assignments.normalised_name(name):
        paragraph([WORDS["name_first" if task.task_own else "name_only"]])
        return selection
    notice(*given_out.unread)
    if not admission.admitted(STUDENT, trace.config, given_out.given, again=assignments.n_runs(task)):
        return selection
    own_trace = run(given_out.of_student(name))
    paragraph([WORDS["yours"]] if task.task_own else [])
    shown = own_trace
    if trace.config != given_out.given:
        paragraph([WORDS["changed"]])
        st.button(WORDS["back"], key="as-given", on_click=session_state.adopt, args=(given_out.given, selection))
        config = _own_numbers(trace.config, own_trace.config, task)
        shown = trace if config == trace.config else run(config)
    selection = _pictures(shown, selection, task)
    answer_form.questions(own_trace, task, name, given_out.digest)
    paragraph([WORDS["private"]])
    return selection


def _own_numbers(changed: Config, config: Config, task: Assignment) -> Config:
    return replace(changed, seed=config.seed) if task.task_own else changed


def _heading(task: Assignment) -> None:
    """Draw title and instructions as plain text, since they come out of a link."""
    title = html.escape(task.task_title or WORDS["untitled"])
    st.html(f'<h2 class="task-title">{title}</h2><p class="task-text">{html.escape(task.task_text)}</p>')


def _pictures(trace: Trace, selection: Selection, task: Assignment) -> Selection:
    """Draw the steps of the run that are not hidden."""
    if task.pictures or task.panels:
        selection = pictures.draw(trace, selection, key="task-maps", names=task.pictures)
    if task.panels:
        selection = _panel(trace, selection, task.panels)
    return selection


def _panel(trace: Trace, selection: Selection, names: Sequence[str]) -> Selection:
    selection = widgets.choose_available(
        selection,
        "panel",
        WORDS["panel"],
        names,
        words=lambda name: TASK_PANELS[name].label,
        buttons=True,
        label_visibility="collapsed",
    )
    name = selection.panel if selection.panel in names else names[0]
    panel = PANELS[name]
    return panel.draw(trace, selection) if panel.has_room(trace) else selection
