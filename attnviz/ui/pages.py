"""The pages, by the names that stand in links."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from attnviz.core.trace import Trace
from attnviz.ui import assignment, compare, experiments, explore, lecture, lessons, own, take
from attnviz.ui.selection import Selection


@dataclass(frozen=True)
class Page:
    """`page(trace, selection)` draws it and says what is looked at afterwards.

    has_controls  whether the setting is offered beside it
    of_setting    whether it shows the run of that setting, so that what is said of the run is said above it
    """

    page: Callable[[Trace, Selection], Selection]
    has_controls: bool = True
    of_setting: bool = True


PAGES = {
    "explore": Page(explore.page),
    "compare": Page(compare.page),
    "experiments": Page(experiments.page),
    "lessons": Page(lessons.page, has_controls=False, of_setting=False),
    "assign": Page(assignment.page),
    "data": Page(own.page, has_controls=False, of_setting=False),
    "take": Page(take.page),
    "class": Page(lecture.page, has_controls=False),
}
