"""Codes are marked one by one, as long as somebody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext

import pytest
from streamlit.runtime.scriptrunner import StopException

from attnviz import Config
from attnviz.classroom import question_codec
from attnviz.classroom.marking import grading, submissions
from attnviz.classroom.marking.assignments import Assignment
from attnviz.settings.language import set_language
from attnviz.ui.panels.classroom import grading_desk


class Bar:
    """A progress bar whose visitor leaves after some of its updates: Streamlit then ends the run in the next one."""

    def __init__(self, updates: int) -> None:
        self.left, self.shown = updates, list[float]()

    def progress(self, share: float, text: str) -> None:
        if len(self.shown) == self.left:
            raise StopException
        self.shown.append(share)


def test_marking_ends_with_the_page_of_one_who_has_left_and_keeps_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    bar, begun = Bar(2), []

    def grade_all(config: Config, task: Assignment, pairs: list[tuple[str, str]]) -> Iterator[str]:
        for name, _ in pairs:
            begun.append(name)
            yield name

    monkeypatch.setattr(grading_desk.st, "progress", lambda share, text: bar)
    monkeypatch.setattr(grading, "grade_all", grade_all)
    found: list[grading.GradedSubmission] = []
    with pytest.raises(StopException):
        grading_desk._mark(Config(), Assignment(), [(f"pupil {n}", "code") for n in range(500)], found, 500)
    assert begun == found == ["pupil 0", "pupil 1", "pupil 2"]
    assert bar.shown == [1 / 500, 2 / 500]


def test_the_saved_table_speaks_the_language_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Callable[[], str]] = []
    monkeypatch.setattr(grading_desk.st, "selectbox", lambda *args, **kwargs: "semicolon")
    monkeypatch.setattr(grading_desk.st, "container", lambda **kwargs: nullcontext())
    monkeypatch.setattr(grading_desk.st, "dataframe", lambda *args, **kwargs: None)
    monkeypatch.setattr(grading_desk.st, "download_button", lambda label, make, *args, **kwargs: made.append(make))
    monkeypatch.setattr(
        grading_desk, "_marked", lambda config, task, pairs: [grading.GradedSubmission("Ada", "", "fault")]
    )
    task = Assignment(task_questions=(question_codec.item("size", {"whole": "scores"}),))
    try:
        set_language("de")
        grading_desk._results(Config(), task, submissions.from_text("Ada;x"), (1.0,), False)
        set_language("en")  # a file is made in a thread that may have served another visitor
        assert "gültig" in made[0]()
    finally:
        set_language("en")
