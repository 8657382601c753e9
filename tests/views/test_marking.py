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
from attnviz.core.fields import ConfigError
from attnviz.views import assignments, codes, handed_in, marking, posed, tables
from attnviz.views.asked import Asked
from attnviz.views.assignments import Assignment

CONFIG = Config(sentence="one two three four five", second_sentence="six seven eight", n_heads=3, d_k=4, d_v=2)
ITEMS = (
    posed.item("weight", {"head": 2, "query": 5, "key": 3}),
    posed.item("highest_key", {"head": 3, "query": 4}),
    posed.item("number", {"step": "heads", "head": 3, "query": 2, "column": 2}),
    posed.item("rows_changed", {"whole": "weights", "change": "causal"}),
    posed.item("size", {"whole": "scores"}),
    posed.item("true_or_false", {"says": "rows_sum_to_one"}),
)
TASK = Assignment(task_questions=ITEMS)
DIGEST = assignments.digest(CONFIG, TASK)
NUMBER = Asked(form="number", value=0.25, tolerance=0.005)
ONE = Asked(form="one", options=((("text", "a"),), (("token", "=b"),), (("text", "c"),)), right=frozenset({1}))
SOME = replace(ONE, form="some", right=frozenset({0, 2}))


def asks(name: str) -> list[Asked]:
    found = assignments.asks(TASK, run(assignments.of_student(CONFIG, TASK, name)))
    return [ask for ask in found if isinstance(ask, Asked)]


def right(ask: Asked) -> int:
    return marking.number(ask, ask.value if ask.form == "number" else tuple(ask.right))


def wrong(ask: Asked) -> int:
    return (
        marking.number(ask, ask.value + 1.0)
        if ask.form == "number"
        else marking.number(ask, tuple({*range(len(ask.options))} - ask.right)[:1])
    )


def test_marks_are_those_of_the_engine_for_fifty_students() -> None:
    names = [f"student {n}" for n in range(50)]
    trace = {name: run(replace(CONFIG, seed=assignments.seed(DIGEST, name))) for name in names}
    handed, shapes = [], asks("anyone")  # how an answer is held is the same for all
    for n, name in enumerate(names):
        A, Z = trace[name]["weights"].array, trace[name]["heads"].array
        said = [A[1, 4, 2] + 0.0049 * (-1) ** n, (int(A[2, 3].argmax()),), Z[2, 1, 1], (0, 1), 3 * 5 * 3, (0,)]
        if n % 7 == 3:
            said[2] = float(Z[2, 1, 1]) + 0.0053
        numbers = [marking.number(ask, answer) for ask, answer in zip(shapes, said)]
        handed.append((name.upper(), marking.code(DIGEST, name, numbers)))
    found = list(marking.marked(CONFIG, TASK, handed))
    assert [each.problem for each in found] == [""] * 50
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
        assert marking.is_right(ask, marking.number(ask, value + apart * tolerance)) is counts


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_any_number_can_be_held(value: float) -> None:
    held = marking.number(NUMBER, value)
    assert codes.of_free(codes.free(held)) == (held,)
    assert isinstance(marking.answer(NUMBER, held), float)


def test_choices_come_back_and_nothing_is_not_none_of_them() -> None:
    assert [marking.answer(ONE, marking.number(ONE, said)) for said in (None, (), (0,), (2,))] == [
        None,
        None,
        (0,),
        (2,),
    ]
    for chosen in ((), (0,), (1, 2), (0, 1, 2)):
        assert marking.answer(SOME, marking.number(SOME, chosen)) == chosen
    assert marking.number(SOME, None) == 0 != marking.number(SOME, ())
    for ask, held in ((ONE, 4), (SOME, 9)):
        with pytest.raises(ConfigError):
            marking.answer(ask, held)


def test_what_is_said_of_an_answer_does_not_say_the_right_one() -> None:
    assert marking.judged(NUMBER, marking.number(NUMBER, 0.2)) == "Not so: the number is larger."
    assert marking.judged(NUMBER, marking.number(NUMBER, 0.2501)) == "Right."
    assert marking.judged(ONE, 0) == ""


def code(name: str = "Ada", held: list[int] | None = None) -> str:
    return marking.code(DIGEST, name, held or [right(ask) for ask in asks(name)])


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("Bob", code(), "another name"),
        ("", code(), "no name"),
        ("Ada", marking.code(DIGEST + 1, "Ada", [0] * 6), "another assignment"),
        ("Ada", code(held=[1]), "holds 1 answers"),
        ("Ada", code(held=[1, 99, 1, 1, 1, 1]), "answer 2 of the code"),
        ("Ada", codes.sealed((1, *range(12))), "version"),
        ("Ada", codes.sealed((0, 3, 4)), "ends too early"),
        ("Ada", "<script>", "which no code does"),
    ],
)
def test_a_code_that_is_not_valid_says_why(name: str, text: str, said: str) -> None:
    (found,) = marking.marked(CONFIG, TASK, [(name, text)])
    assert said in found.problem
    assert (found.score, found.right) == (0, ())


def test_every_mistyped_sign_of_a_code_makes_it_invalid() -> None:
    text = code()
    typed = [text[:at] + other + text[at + 1 :] for at in range(len(text)) for other in codes.SIGNS]
    changed = [each for at, each in enumerate(typed) if text[at // 23] not in ("-", each[at // 23])]
    assert len(changed) == 22 * len(text.replace("-", ""))
    assert all(each.problem for each in marking.marked(CONFIG, TASK, [("Ada", each) for each in changed]))


def test_another_setting_refuses_the_code() -> None:
    (found,) = marking.marked(replace(CONFIG, d_model=15), TASK, [("Ada", code())])
    assert "another assignment" in found.problem


def test_a_question_without_an_answer_does_not_count() -> None:
    task = replace(TASK, task_questions=(posed.item("weight", {"head": 9}), ITEMS[0]))
    digest = assignments.digest(CONFIG, task)
    (found,) = marking.marked(CONFIG, task, [("Ada", marking.code(digest, "Ada", [0, 0]))])
    assert (found.right, found.out_of, found.said) == ((None, False), 1, ("", ""))


def test_the_table_is_safe_for_a_spreadsheet_and_goes_in_again() -> None:
    names = ["=1+1", 'Ada, "Countess"', "-3"]
    found = list(marking.marked(CONFIG, TASK, [(name, code(name)) for name in names]))
    text = tables.csv(marking.table(TASK, found))
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0][:6] == ["name", "valid", "score", "of", "1", "1 right"]
    assert [row[0] for row in rows[1:]] == ["'=1+1", 'Ada, "Countess"', "'-3"]
    assert {tuple(row[1:4]) for row in rows[1:]} == {("yes", "6", "6")}
    assert all(not cell.startswith(tables.FORMULA_STARTS) or float(cell) < 0 for row in rows for cell in row)
    again = handed_in.of_text(text)
    assert [each.problem for each in marking.marked(CONFIG, TASK, again)] == [""] * 3
    assert [name for name, _ in again] == names


@pytest.mark.parametrize("feedback", [True, False])
def test_a_students_sheet_says_what_is_right_only_where_it_may(feedback: bool) -> None:
    task, found = replace(TASK, task_feedback=feedback, task_title="T"), asks("Ada")
    numbers = [right(found[0]), *(wrong(ask) for ask in found[1:])]
    files = marking.sheet_files(task, marking.sheet(task, "Ada", code(), found, numbers))
    rows = list(csv.DictReader(io.StringIO(files["csv"])))
    held = json.loads(files["json"])
    assert (held["assignment"], len(held["answers"]), len(rows)) == ("T", 6, 6)
    assert [row.get("right") for row in rows][:3] == (["yes", "no", "no"] if feedback else [None] * 3)
    assert float(rows[0]["answer"]) == pytest.approx(found[0].value, abs=0.0001)
    assert str(found[2].value)[:6] not in files["csv"]
