"""Marking: a code says what was answered, and every right answer is computed again from the student's seed."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import Config, run
from attnviz.classroom import question_codec
from attnviz.classroom.marking import answer_codes, assignments, coded_answers, grading, results, submissions
from attnviz.classroom.marking.assignments import Assignment
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.exports import tables
from attnviz.settings.faults import ConfigError
from tests.support.cases import for_each

CONFIG = Config(sentence="one two three four five", second_sentence="six seven eight", n_heads=3, d_k=4, d_v=2)
ITEMS = (
    question_codec.item("weight", {"head": 2, "query": 5, "key": 3}),
    question_codec.item("highest_key", {"head": 3, "query": 4}),
    question_codec.item("number", {"step": "heads", "head": 3, "query": 2, "column": 2}),
    question_codec.item("rows_changed", {"whole": "weights", "change": "causal"}),
    question_codec.item("size", {"whole": "scores"}),
    question_codec.item("true_or_false", {"says": "rows_sum_to_one"}),
)
TASK = Assignment(task_questions=ITEMS)
DIGEST = assignments.digest(CONFIG, TASK)
NUMBER = ResolvedQuestion(form="number", value=0.25, tolerance=0.005)
ONE = ResolvedQuestion(
    form="one", options=((("text", "a"),), (("token", "=b"),), (("text", "c"),)), right=frozenset({1})
)
SOME = replace(ONE, form="some", right=frozenset({0, 2}))


def asks(name: str) -> list[ResolvedQuestion]:
    found = assignments.resolved_questions(TASK, run(assignments.of_student(CONFIG, TASK, name)))
    return [ask for ask in found if isinstance(ask, ResolvedQuestion)]


def right(ask: ResolvedQuestion) -> int:
    return coded_answers.encode(ask, ask.value if ask.form == "number" else tuple(ask.right))


def wrong(ask: ResolvedQuestion) -> int:
    return (
        coded_answers.encode(ask, ask.value + 1.0)
        if ask.form == "number"
        else coded_answers.encode(ask, tuple({*range(len(ask.options))} - ask.right)[:1])
    )


@pytest.mark.parametrize("students", [5, pytest.param(50, marks=pytest.mark.slow)])
def test_marks_are_those_of_the_engine_for_a_class(students: int) -> None:
    names = [f"student {n}" for n in range(students)]
    trace = {name: run(replace(CONFIG, seed=assignments.seed(DIGEST, name))) for name in names}
    handed, shapes = [], asks("anyone")  # how an answer is held is the same for all
    for n, name in enumerate(names):
        A, Z = trace[name]["weights"].array, trace[name]["heads"].array
        answers = [A[1, 4, 2] + 0.0049 * (-1) ** n, (int(A[2, 3].argmax()),), Z[2, 1, 1], (0, 1), 3 * 5 * 3, (0,)]
        if n % 7 == 3:
            answers[2] = float(Z[2, 1, 1]) + 0.0053
        numbers = [coded_answers.encode(ask, answer) for ask, answer in zip(shapes, answers)]
        handed.append((name.upper(), grading.answer_code(DIGEST, name, numbers)))
    found = list(grading.grade_all(CONFIG, TASK, handed))
    assert [each.problem for each in found] == [""] * students
    for n, each in enumerate(found):
        under_causal = run(replace(trace[names[n]].config, mask="causal"))["weights"].array
        moved = np.abs(under_causal - trace[names[n]]["weights"].array).max(axis=(0, 2)) > 1e-9
        assert moved.tolist() == [True, True, False, False, False]
        assert each.right == (True, True, n % 7 != 3, True, True, True)
        assert (each.score, each.out_of) == (6 - (n % 7 == 3), 6)


@given(st.floats(-1e9, 1e9), st.sampled_from([0.05, 0.005, 0.0005]))
def test_a_number_within_the_tolerance_always_counts(value: float, tolerance: float) -> None:
    ask = replace(NUMBER, value=value, tolerance=tolerance)
    for apart, counts in ((0.0, True), (0.999, True), (-0.999, True), (1.05, False), (-1.05, False)):
        assert coded_answers.is_right(ask, coded_answers.encode(ask, value + apart * tolerance)) is counts


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_any_number_can_be_held(value: float) -> None:
    held = coded_answers.encode(NUMBER, value)
    assert answer_codes.decode_free(answer_codes.encode_free(held)) == (held,)
    assert isinstance(coded_answers.decode(NUMBER, held), float)


def test_choices_come_back_and_nothing_is_not_none_of_them() -> None:
    assert [coded_answers.decode(ONE, coded_answers.encode(ONE, answer)) for answer in (None, (), (0,), (2,))] == [
        None,
        None,
        (0,),
        (2,),
    ]
    for chosen in ((), (0,), (1, 2), (0, 1, 2)):
        assert coded_answers.decode(SOME, coded_answers.encode(SOME, chosen)) == chosen
    assert coded_answers.encode(SOME, None) == 0 != coded_answers.encode(SOME, ())
    for ask, held in ((ONE, 4), (SOME, 9)):
        with pytest.raises(ConfigError):
            coded_answers.decode(ask, held)


def test_what_is_said_of_an_answer_does_not_say_the_right_one() -> None:
    assert coded_answers.feedback(NUMBER, coded_answers.encode(NUMBER, 0.2)) == "Not quite."
    assert coded_answers.feedback(NUMBER, coded_answers.encode(NUMBER, 0.2501)) == "Right."
    assert coded_answers.feedback(ONE, 0) == ""


def code(name: str = "Ada", held: list[int] | None = None) -> str:
    return grading.answer_code(DIGEST, name, held or [right(ask) for ask in asks(name)])


@for_each(
    "name, text, message",
    [
        ("Bob", code(), "another name"),
        ("Ay?e Öztürk", code("Ayşe Öztürk"), "letters of this name were lost in the list"),
        ("?ukasz ?ak", code("Łukasz Żak"), "save the list as CSV in UTF-8"),
        ("Ay\ufffde", code("Ayşe"), "letters of this name were lost"),
        ("Who ?", code(), "another name"),
        ("", code(), "no name"),
        ("Ada", grading.answer_code(DIGEST + 1, "Ada", [0] * 6), "another assignment"),
        ("Ada", code(held=[1]), "holds 1 answers"),
        ("Ada", code(held=[1, 99, 1, 1, 1, 1]), "answer 2 of the code"),
        ("Ada", answer_codes.with_checksum((grading.WIDE + 1, *range(12))), "version"),
        ("Ada", answer_codes.with_checksum((0, 3, 4)), "ends too early"),
        ("Ada", "<script>", "which no code does"),
    ],
)
def test_a_code_that_is_not_valid_says_why(name: str, text: str, message: str) -> None:
    (found,) = grading.grade_all(CONFIG, TASK, [(name, text)])
    assert message in found.problem
    assert (found.score, found.right) == (0, ())


def test_every_mistyped_sign_of_a_code_makes_it_invalid() -> None:
    text = code()
    typed = [text[:at] + other + text[at + 1 :] for at in range(len(text)) for other in answer_codes.SIGNS]
    changed = [each for at, each in enumerate(typed) if text[at // 23] not in ("-", each[at // 23])]
    assert len(changed) == 22 * len(text.replace("-", ""))
    assert all(each.problem for each in grading.grade_all(CONFIG, TASK, [("Ada", each) for each in changed]))


def test_another_setting_refuses_the_code() -> None:
    (found,) = grading.grade_all(replace(CONFIG, d_model=15), TASK, [("Ada", code())])
    assert "another assignment" in found.problem


def test_a_question_without_an_answer_does_not_count() -> None:
    task = replace(TASK, task_questions=(question_codec.item("weight", {"head": 9}), ITEMS[0]))
    digest = assignments.digest(CONFIG, task)
    (found,) = grading.grade_all(CONFIG, task, [("Ada", grading.answer_code(digest, "Ada", [0, 0]))])
    assert (found.right, found.out_of, found.answers) == ((None, False), 1, ("", ""))


def test_the_table_is_safe_for_a_spreadsheet_and_goes_in_again() -> None:
    names = ["=1+1", 'Ada, "Countess"', "-3"]
    found = list(grading.grade_all(CONFIG, TASK, [(name, code(name)) for name in names]))
    text = tables.csv(grading.table(TASK, found))
    rows = list(csv.reader(io.StringIO(text)))
    first = "1. Head 2: what is the weight that “five” gives “eight”?"
    assert rows[0][:7] == ["name", "valid", "score", "of", "percent", first, "question 1 right"]
    assert [row[0] for row in rows[1:]] == ["'=1+1", 'Ada, "Countess"', "'-3"]
    assert {tuple(row[1:4]) for row in rows[1:]} == {("yes", "6", "6")}
    assert all(not cell.startswith(tables.FORMULA_STARTS) or float(cell) < 0 for row in rows for cell in row)
    again = [(entry.names[0], entry.code) for entry in submissions.from_text(text).entries]
    assert [each.problem for each in grading.grade_all(CONFIG, TASK, again)] == [""] * 3
    assert [name for name, _ in again] == names


@pytest.mark.parametrize("feedback", [True, False])
def test_a_students_table_says_what_is_right_only_where_it_may(feedback: bool) -> None:
    task, found = replace(TASK, task_feedback=feedback, task_title="T"), asks("Ada")
    numbers = [right(found[0]), *(wrong(ask) for ask in found[1:])]
    files = results.answer_files(task, results.answer_table(task, "Ada", code(), found, numbers))
    rows = list(csv.DictReader(io.StringIO(files["csv"])))
    held = json.loads(files["json"])
    assert (held["assignment"], len(held["answers"]), len(rows)) == ("T", 6, 6)
    assert [row.get("right") for row in rows][:3] == (["yes", "no", "no"] if feedback else [None] * 3)
    assert float(rows[0]["answer"]) == pytest.approx(found[0].value, abs=0.0001)
    assert str(found[2].value)[:6] not in files["csv"]


def test_a_forged_code_of_numbers_that_are_too_long_is_refused_in_a_sentence() -> None:
    long = 11**4_500  # more digits than Python writes, and no size of any float
    for form in (NUMBER, ONE, SOME, replace(ONE, form="text")):
        with pytest.raises(ConfigError):
            coded_answers.decode(form, 1 + long)
    answers = [0] * len(ITEMS)
    codes = (
        grading.answer_code(DIGEST, "Ada", [*answers[:2], long, *answers[3:]]),
        grading.answer_code(DIGEST, "Ada", answers, tries=long),
    )
    assert all(each.problem for each in grading.grade_all(CONFIG, TASK, [("Ada", code) for code in codes]))


def test_where_one_row_has_points_all_rows_have_them() -> None:
    whole, half = (
        grading.GradedSubmission(name, "", answers=("a",), right=(part == 1,), share=(part,), mistakes=("",))
        for name, part in (("Ada", 1.0), ("Bob", 0.5))
    )
    found = grading.table(Assignment(task_questions=ITEMS[:1]), [whole, half])
    assert found[grading.WORDS["points"]].tolist() == [1.0, 0.5]
    assert found[grading.WORDS["of_points"]].tolist() == [1.0, 1.0]
