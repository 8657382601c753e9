"""The pages, by the names that stand in links."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from attnviz.core.trace import Trace
from attnviz.ui import explore, lecture
from attnviz.ui.selection import Selection


@dataclass(frozen=True)
class Page:
    """`page(trace, selection)` draws it and says what is looked at afterwards; `has_controls` asks for the sidebar."""

    page: Callable[[Trace, Selection], Selection]
    has_controls: bool = True


PAGES = {"explore": Page(explore.page), "class": Page(lecture.page, has_controls=False)}
