"""The Assignments page without a browser: composing, what a student is sent, and marking."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from attnviz import Config, run
from attnviz.ui.selection import Selection
from attnviz.views import address, assignments, marking, posed
from attnviz.views.asked import Asked
from attnviz.views.assignments import Assignment
from tests.pictures import figures, numbers
from tests.ui.test_app import clean, drawn, expected, opened, said
from tests.ui.test_lessons import everything

pytestmark = pytest.mark.slow  # whole pages, each with many widgets

CONFIG = Config(sentence="one two three four five", n_heads=3, d_k=4, d_v=2, mask="causal")
TASK = Assignment(
    task_title="**Title** <b>",
    task_text="*one*\ntwo",
    task_free=("n_heads",),
    task_hidden=("weights", "heads", *assignments.PANELS),
    task_questions=(
        posed.item("weight", {"head": 2, "query": 5, "key": 3}),
        posed.item("number", {"step": "heads", "head": 2, "query": 4, "column": 2}),
        posed.item("highest_key", {"head": 1, "query": 4}),
        posed.item("rows_changed", {"whole": "weights", "change": "no_mask"}),
    ),
)


def query(task: Assignment, desk: str, **changes: Any) -> dict[str, str]:
    task = assignments.holding(task, CONFIG)
    selection = Selection(page="assign", desk=desk, assigned=assignments.written(task))
    return address.encode(replace(CONFIG, **changes), selection)


def student(task: Assignment = TASK, name: str = "Ada", **changes: Any) -> AppTest:
    at = opened(**query(task, "student", **changes))
    assert clean(at)
    return at.text_input(key="task-name").set_value(name).run() if name else at


def asks(name: str, task: Assignment = TASK) -> list[Asked]:
    trace = run(assignments.of_student(CONFIG, assignments.holding(task, CONFIG), name))
    return [ask for ask in assignments.asks(task, trace) if isinstance(ask, Asked)]


def answer_keys(at: AppTest) -> list[str]:
    keys = [element.key for kind in ("text_input", "radio", "button_group") for element in at.get(kind) if element.key]
    return sorted((key for key in keys if key.startswith("answer-")), key=lambda key: int(key.rpartition("-")[2]))


def answered(at: AppTest, first: float, second: float, third: int) -> AppTest:
    keys = answer_keys(at)
    at.text_input(key=keys[0]).set_value(f"{first:.4f}")
    at.text_input(key=keys[1]).set_value(f"{second:.4f}")
    at.radio(key=keys[2]).set_value(third)
    return at.button(key="check-task").click().run()


def handed(at: AppTest) -> str:
    return next(element.value for element in at.code if "-" in element.value)


def test_a_student_sees_the_assignment_alone() -> None:
    at = student(name="")
    assert "**Title** &lt;b&gt;" in said(at)
    assert "*one*\ntwo" in said(at)
    assert not [element for element in at.get("button_group") if element.key == "page"]
    assert answer_keys(at) == []
    assert "Write your name or number first" in said(at)


def test_locked_controls_and_hidden_parts_are_not_sent() -> None:
    at = student()
    labels = {
        item.label for kind in ("slider", "selectbox", "multiselect", "number_input", "toggle") for item in at.get(kind)
    }
    assert labels == {"Heads"}
    assert [item.key for item in at.text_input if not (item.key or "").startswith("answer-")] == ["task-name"]
    assert [item.label for item in at.expander] == ["Save and open"]
    (scores,) = figures(at)
    given = run(assignments.of_student(CONFIG, assignments.holding(TASK, CONFIG), "Ada"))
    allowed = given["scores"].array[:, given["allowed"].array.astype(bool)]
    assert drawn(numbers(scores)) == pytest.approx(expected(allowed), rel=1e-6)
    assert "This cell" not in everything(at)


def test_everything_is_there_that_is_not_hidden() -> None:
    at = student(replace(TASK, task_hidden=(), task_free=("n_heads", "mask", "bias")))
    assert len(at.get("plotly_chart")) == 3
    assert [item.label for item in at.expander][:1] == ["Score"]
    at.session_state["group-Score"] = True
    at.run()
    labels = {
        item.label for kind in ("slider", "selectbox", "multiselect", "number_input", "toggle") for item in at.get(kind)
    }
    assert labels == {"Heads", "Mask", "Bias by distance"}
    panels = next(element for element in at.get("button_group") if element.key == "pick-panel")
    assert len(panels.options) == len(assignments.PANELS)


def test_no_right_answer_is_sent_before_it_is_given() -> None:
    at, right = student(), asks("Ada")
    values = [f"{ask.value:.4g}" for ask in right if ask.form == "number"]
    assert len(values) == 2
    for value in values:
        assert value not in everything(at)
        assert value.replace("-", "−") not in everything(at)
    answered(at, -3.0, 99.0, 0)
    assert "Not so: the number is larger." in said(at)
    assert not [value for value in values if value in everything(at)]


def test_right_answers_are_said_to_be_and_make_a_code_that_is_valid() -> None:
    at, right = student(), asks("Ada")
    answered(at, right[0].value, right[1].value, min(right[2].right))
    assert clean(at)
    assert said(at).count("Right.") == 3
    assert "3 of 4 answered. 3 of 4 are right." in said(at)
    task = assignments.holding(TASK, CONFIG)
    (found,) = marking.marked(CONFIG, task, [("ada", handed(at))])
    assert (found.problem, found.right) == ("", (True, True, True, False))
    at.text_input(key=answer_keys(at)[0]).set_value("5").run()
    assert "An answer was changed since" in said(at)
    assert said(at).count("Right.") == 2


def test_without_feedback_nothing_is_said_of_an_answer() -> None:
    at = student(replace(TASK, task_feedback=False))
    right = asks("Ada", replace(TASK, task_feedback=False))
    answered(at, right[0].value, 99.0, min(right[2].right))
    assert at.button(key="check-task").label == "Make the code"
    assert "3 of 4 answered." in said(at)
    assert not [word for word in ("Right", "Not so", "are right") if word in said(at)]


def test_another_name_has_other_numbers_and_its_own_answers() -> None:
    at = student()
    answered(at, 0.1, 0.1, 0)
    keys = answer_keys(at)
    at.text_input(key="task-name").set_value("Bob").run()
    assert set(answer_keys(at)).isdisjoint(keys)
    assert [at.text_input(key=key).value for key in answer_keys(at)[:2]] == ["", ""]
    assert not [element for element in at.code if "-" in element.value]


def test_a_free_control_changes_the_picture_and_not_the_questions() -> None:
    at, right = student(), asks("Ada")
    at.slider(key="n_heads").set_value(2).run()
    assert at.query_params["n_heads"] == "2"
    assert "The questions are about the setting as it was given." in said(at)
    answered(at, right[0].value, right[1].value, min(right[2].right))
    assert said(at).count("Right.") == 3
    at.button(key="as-given").click().run()
    assert at.query_params["n_heads"] == "3"
    assert "as it was given" not in said(at)


def test_a_lock_that_was_edited_out_makes_another_assignment() -> None:
    at, right = student(d_model=15), asks("Ada")
    answered(at, right[0].value, right[1].value, min(right[2].right))
    (found,) = marking.marked(CONFIG, assignments.holding(TASK, CONFIG), [("Ada", handed(at))])
    assert "another assignment" in found.problem


@pytest.mark.parametrize("assigned", ["", "nonsense", "1.00000000.e30", "2.x.y"])
def test_a_broken_link_is_said_to_be_and_leaves_a_way_out(assigned: str) -> None:
    at = opened(page="assign", desk="student", assigned=assigned)
    assert clean(at)
    assert [element for element in at.get("button_group") if element.key == "page"]
    assert ("ask for the link again" in said(at)) == bool(assigned)


def test_a_teacher_composes_a_link_that_a_student_can_open() -> None:
    at = opened(page="assign", sentence="a b c", n_heads="2", mask="causal")
    at.button(key="add-question").click().run()
    at.selectbox(key="posed.0").set_value("number").run()
    at.selectbox(key="posed.0.number.step").set_value("heads").run()
    at.selectbox(key="posed.0.number.query").set_value(3).run()
    at.button(key="add-question").click().run()
    at.multiselect(key="task_free").set_value(["mask"]).run()
    at.text_input(key="task_title").set_value("A title").run()
    assert clean(at)
    task, problems = assignments.read(at.query_params["assigned"])
    assert task is not None
    assert problems == []
    at_first = {"step": "heads", "query": 3}
    assert task.task_questions == (posed.item("number", at_first), posed.item("weight", {}))
    assert (task.task_title, task.task_free, task.task_given) == ("A title", ("mask",), (("mask", "causal"),))
    assert "can read off the answers to 1, 2" in said(at)
    (link,) = (element.value for element in at.code)
    (config, selection), problems = address.open_link(link, Config, Selection)
    assert (config.sentence, selection.desk, assignments.read(selection.assigned)[0]) == ("a b c", "student", task)
    assert problems == []
    at.button(key="remove-0").click().run()
    assert at.selectbox(key="posed.0").value == "weight"
    left = assignments.read(at.query_params["assigned"])[0]
    assert left is not None
    assert left.task_questions == (posed.item("weight", {}),)


def test_a_link_opens_for_its_teacher_and_shrinks_with_the_run() -> None:
    at = opened(**query(TASK, "compose"))
    assert clean(at)
    assert at.text_input(key="task_title").value == TASK.task_title
    assert at.selectbox(key="posed.0.weight.query").value == 5
    at.text_input(key="sentence").set_value("one two").run()
    assert clean(at)
    assert at.selectbox(key="posed.0.weight.query").value == 1


def test_what_cannot_be_asked_is_said_and_what_is_not_random_too() -> None:
    task = replace(TASK, task_questions=(posed.item("number", {"step": "masked", "query": 1, "key": 2}),))
    at = opened(**query(task, "compose"), initialiser="identity", embedding="one_hot")
    assert "This cannot be asked here: the number of masked asked for is not finite" in said(at)
    assert "all students have the same numbers" in said(at)


def test_an_assignment_too_long_for_a_link_is_kept_and_said_to_be() -> None:
    at = opened(page="assign", sentence="word " * 900)
    at.button(key="add-question").click().run()
    at.multiselect(key="task_free").set_value(["sentence"]).run()
    assert clean(at)
    assert "too long for a link" in said(at)
    assert at.multiselect(key="task_free").value == ["sentence"]
    assert not at.code


def test_codes_are_marked_against_the_pasted_link() -> None:
    task = assignments.holding(TASK, CONFIG)
    digest = assignments.digest(CONFIG, task)
    code = marking.code(
        digest,
        "=Ada",
        [marking.number(ask, ask.value if ask.form == "number" else tuple(ask.right)) for ask in asks("=Ada")],
    )
    at = opened(page="assign", desk="mark")
    assert "No assignment is open" in said(at)
    at.text_input(key="task-open").set_value("v=1&n_heads=2").run()
    assert "There is no assignment in that link." in said(at)
    selection = Selection(page="assign", desk="student", assigned=assignments.written(task))
    at.text_input(key="task-open").set_value(f"http://x/?{address.link(CONFIG, selection)}").run()
    assert "Marked against: **Title** &lt;b&gt; · 4 questions." in said(at)
    at.text_area(key="task-codes").set_value(f"=Ada,{code}\nBob,{code}").run()
    assert clean(at)
    assert "Valid codes: 1 of 2. Mean score 4.0 of 4." in said(at)
    frame = at.dataframe[0].value
    assert frame["name"].tolist() == ["=Ada", "Bob"]
    assert frame["score"].tolist() == ["4", ""]
    assert "no server holds a secret" in said(at)
    at.text_area(key="task-codes").set_value('"x').run()
    assert "Row 1 has no code" in said(at)


def test_the_widgets_follow_an_assignment_that_is_opened_and_keep_what_is_typed() -> None:
    at = opened(page="assign", desk="mark")
    task = assignments.holding(TASK, CONFIG)
    link = address.link(CONFIG, Selection(page="assign", desk="student", assigned=assignments.written(task)))
    at.text_input(key="task-open").set_value(link).run()
    at.button_group(key="pick-desk").set_value("compose").run()
    assert at.text_input(key="task_title").value == TASK.task_title
    at.text_input(key="task_title").set_value("Another").run()
    at.button(key="remove-1").click().run()
    assert at.text_input(key="task_title").value == "Another"
    kept = assignments.read(at.query_params["assigned"])[0]
    assert kept is not None
    assert kept.task_questions == (TASK.task_questions[0], *TASK.task_questions[2:])
    at.button_group(key="pick-desk").set_value("mark").run()
    at.text_input(key="task-open").set_value(f"?{link}").run()
    at.button_group(key="pick-desk").set_value("compose").run()
    assert at.text_input(key="task_title").value == TASK.task_title
    assert [at.selectbox(key=f"posed.{n}").value for n in range(4)] == [kind for kind, _ in TASK.task_questions]


def test_the_widgets_follow_back_and_forward() -> None:
    at = opened(page="assign")
    at.text_input(key="task_title").set_value("Later").run()
    earlier = assignments.written(TASK)
    at.session_state["_address"] = query(TASK, "compose")
    at.session_state["assigned"] = earlier
    at.run()
    assert at.text_input(key="task_title").value == TASK.task_title
    shown = assignments.read(at.query_params["assigned"])[0]
    assert shown is not None
    assert (shown.task_hidden, shown.task_questions) == (TASK.task_hidden, TASK.task_questions)
