"""The handout of a course: those of its lessons, as far as they belong to it, one after the other in one file."""

from __future__ import annotations

import html as markup
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from attnviz.classroom.printed import handout
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.courses import COURSES
from attnviz.lessons.lesson import Lesson
from attnviz.settings.language import current_language, translate


def lessons(name: str) -> list[Lesson]:
    """Return the lessons of a course, by its name, with those of their slides that it has."""
    found = []
    for part in COURSES[name].parts:
        lesson = LESSONS[part.lesson]
        found.append(replace(lesson, slides=tuple(lesson.slides[at] for at in part.slides)))
    return found


def html(name: str, *, solutions: bool) -> str:
    """Return a course as one HTML file to be printed, to be filled in or with solutions; a name is asked for once.

    It takes seconds and is the same for everybody, so it is kept.
    """
    return _html(name, current_language(), solutions)


@lru_cache(maxsize=12)
def _html(name: str, language: str, solutions: bool) -> str:
    title, *rest = (handout.html(lesson, solutions=solutions) for lesson in lessons(name))
    return _joined(name, [title, *(each.replace(handout.who(), "") for each in rest)])


def key(name: str) -> str:
    """Return the answers to the questions of a course as one HTML file."""
    return _joined(name, map(handout.key, lessons(name)))


def _joined(name: str, pages: Iterable[str]) -> str:
    bodies = [page.partition("<body>")[2].rpartition("</body>")[0].strip() for page in pages]
    title = markup.escape(translate(COURSES[name].label))
    whole = f"<p><b>{title}</b></p>\n" + '\n<div class="next"></div>\n'.join(bodies)
    return handout.PAGE.format(language=current_language(), title=title, style=handout.style(), body=whole)
