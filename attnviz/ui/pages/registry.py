"""The pages, by the names that stand in links; the page of assignments has a row for each of its desks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from attnviz.engine.cost.need import Need
from attnviz.engine.records.config import Config
from attnviz.ui.pages import assignments, compare, experiments, explore, exports, learn, lessons, presenter, your_data
from attnviz.ui.panels.classroom import assignment_editor, grading_desk
from attnviz.ui.panels.lesson import controls, lesson_editor
from attnviz.ui.session import admission
from attnviz.ui.session.selection import Selection


@dataclass(frozen=True)
class Page:
    """A page: `page(trace, selection)` draws it and returns the selection as the visitor leaves it.

    It gets the setting in place of the trace where `of_setting` is False: nothing has been computed then. The desks of
    assignments get the assignment, too, which is opened before anything is drawn.

    need          what it takes beside the run;  of panels and experiments their own rows say it
    head          draws what stands above everything else, also while the setting is still being learned
    has_controls  whether the setting is offered beside it
    of_setting    whether it shows the run of that setting, so that what is said of the run is said above it
    """

    page: Callable[..., Selection]
    need: Need
    head: Callable[[Config, Selection], None] | None = None
    has_controls: bool = True
    of_setting: bool = True


PAGES = {
    "explore": Page(explore.page, admission.MAPS),
    "learn": Page(learn.page, learn.NEED, learn.head),
    "compare": Page(compare.page, compare.NEED),
    "experiments": Page(experiments.page, experiments.NEED),
    "lessons": Page(lessons.page, controls.NEED, has_controls=False, of_setting=False),
    "assign/compose": Page(assignments.page, assignment_editor.NEED),
    "assign/student": Page(assignments.page, assignments.STUDENT),
    "assign/mark": Page(assignments.marking, grading_desk.NEED, of_setting=False),
    "assign/write": Page(assignments.writing, lesson_editor.NEED),
    "data": Page(your_data.page, your_data.NEED, has_controls=False, of_setting=False),
    "take": Page(exports.page, exports.NEED),
    "class": Page(presenter.page, admission.MAPS, has_controls=False),
}


def named(selection: Selection) -> str:
    """Return the name of the page, or on the page of assignments that of the desk."""
    return f"assign/{selection.desk}" if selection.page == "assign" else selection.page
