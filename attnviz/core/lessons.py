"""All lessons, by the names that stand in links."""

from __future__ import annotations

from attnviz.core.confusions import CONFUSIONS
from attnviz.core.lesson import Lesson
from attnviz.core.worked_examples import EXAMPLES

LESSONS: dict[str, Lesson] = {lesson.name: lesson for lesson in (*EXAMPLES, *CONFUSIONS)}
