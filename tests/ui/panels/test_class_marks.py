"""Points that a teacher gave: taken up again from a saved table, and nothing for an answer that was left empty."""

from __future__ import annotations

from attnviz.classroom.marking import grading, submissions
from attnviz.classroom.marking.grading import GradedSubmission
from attnviz.ui.panels.classroom import class_marks

HEADING = grading.WORDS["given_points"].format(n=2)


def test_points_of_a_saved_table_are_taken_up_again() -> None:
    lines = [f"Name;Code;{HEADING}", "Ada;3467-99D;2,5", "Bob;3467-99E;", "Cleo;3467-99F;many", "Eve;3467-99G"]
    table = submissions.from_text("\n".join(lines))
    assert class_marks._read_in(table, [1]) == {("3467-99D", 1): 2.5}
    assert class_marks._read_in(table, [0]) == {}


def test_an_empty_answer_gets_nothing_once_its_question_is_marked() -> None:
    empty = GradedSubmission("Bob", "b", answers=(1.0, ""), right=(True, None), share=(1.0, 0.0))
    assert class_marks._of_one(empty, {}, [1]) == {}
    assert class_marks._of_one(empty, {("a", 1): 2.0}, [1]) == {1: 0.0}
    written = GradedSubmission("Ada", "a", answers=(1.0, "so"), right=(True, None), share=(1.0, 0.0))
    assert class_marks._of_one(written, {("a", 1): 2.0}, [1]) == {1: 2.0}
    assert class_marks._of_one(written, {("b", 1): 2.0}, [1]) == {}
