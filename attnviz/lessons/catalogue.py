"""All lessons of the library, by the names that stand in links."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

from attnviz.lessons.lesson import Lesson
from attnviz.lessons.read_lesson import read_lesson


def written(name: str) -> str:
    """Return the file of a lesson of the library, as it is written: to begin another one with."""
    folder = files("attnviz") / "lessons" / "library"
    return next(file for file in folder.iterdir() if file.name.endswith(f"-{name}.toml")).read_text("utf-8")


def _library() -> Iterator[Lesson]:
    folder = files("attnviz") / "lessons" / "library"
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        number, _, name = file.name.removesuffix(".toml").partition("-")
        if number.isdecimal():
            yield read_lesson(name, file.read_text("utf-8"), is_tried=False)


LESSONS: dict[str, Lesson] = {lesson.name: lesson for lesson in _library()}
