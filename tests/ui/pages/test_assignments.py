"""The Assignments page without a browser: composing, what a student is sent, and marking."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest
from streamlit.runtime.scriptrunner import StopException
from streamlit.testing.v1 import AppTest

from attnviz import Config, run
from attnviz.classroom import question_codec
from attnviz.classroom.marking import assignments, coded_answers, grading
from attnviz.classroom.marking.assignments import Assignment
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.engine.cost import sizes as run_sizes
from attnviz.settings import url_codec
from attnviz.ui.panels.classroom import grading_desk
from attnviz.ui.session.selection import Selection
from tests.engine.test_cost import LARGEST
from tests.support.cases import for_each
from tests.support.page_figures import figures, numbers
from tests.ui.pages.test_lessons import everything
from tests.ui.test_app import clean, drawn, expected, opened, page_text

pytestmark = pytest.mark.slow  # whole pages, each with many widgets

CONFIG = Config(sentence="one two three four five", n_heads=3, d_k=4, d_v=2, mask="causal")
TASK = Assignment(
    task_title="**Title** <b>",
    task_text="*one*\ntwo",
    task_free=("n_heads",),
    task_hidden=("weights", "heads", *assignments.PANELS),
    task_questions=(
        question_codec.item("weight", {"head": 2, "query": 5, "key": 3}),
        question_codec.item("number", {"step": "heads", "head": 2, "query": 4, "column": 2}),
        question_codec.item("highest_key", {"head": 1, "query": 4}),
        question_codec.item("rows_changed", {"whole": "weights", "change": "no_mask"}),
    ),
)


def query(task: Assignment, desk: str, **changes: Any) -> dict[str, str]:
    task = assignments.with_setting(task, CONFIG)
    selection = Selection(page="assign", desk=desk, assigned=assignments.encode(task))
    return url_codec.encode(replace(CONFIG, **changes), selection)


def student(task: Assignment = TASK, name: str = "Ada", **changes: Any) -> AppTest:
    at = opened(**query(task, "student", **changes))
    assert clean(at)
    return at.text_input(key="task-name").set_value(name).run() if name else at


def asks(name: str, task: Assignment = TASK) -> list[ResolvedQuestion]:
    trace = run(assignments.of_student(CONFIG, assignments.with_setting(task, CONFIG), name))
    return [ask for ask in assignments.resolved_questions(task, trace) if isinstance(ask, ResolvedQuestion)]


def test_that_there_are_no_questions_is_said_once() -> None:
    at = opened(page="assign")
    assert clean(at)
    assert page_text(at).count("There are no questions yet") == 1
    assert "There will be a link as soon as there is a question." in page_text(at)


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
    assert "**Title** &lt;b&gt;" in page_text(at)
    assert "*one*\ntwo" in page_text(at)
    assert not [element for element in at.get("button_group") if element.key == "pick-place"]
    assert answer_keys(at) == []
    assert "Enter your name or number first" in page_text(at)


def test_locked_controls_and_hidden_parts_are_not_sent() -> None:
    at = student()
    labels = {
        item.label for kind in ("slider", "selectbox", "multiselect", "number_input", "toggle") for item in at.get(kind)
    }
    assert labels == {"Heads"}
    assert [item.key for item in at.text_input if not (item.key or "").startswith("answer-")] == ["task-name"]
    assert [item.label for item in at.expander] == ["Save and open"]
    (scores,) = figures(at)
    given = run(assignments.of_student(CONFIG, assignments.with_setting(TASK, CONFIG), "Ada"))
    allowed = given["scores"].array[:, given["allowed"].array.astype(bool)]
    assert drawn(numbers(scores)) == pytest.approx(expected(allowed), rel=1e-6)
    assert "This cell" not in everything(at)


def test_the_assignment_is_opened_once_in_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    at, read, fields = student(), assignments.decode, []
    monkeypatch.setattr(assignments, "decode", lambda field: fields.append(field) or read(field))
    at.run()
    assert answer_keys(at)
    assert len(fields) == 1


def test_everything_is_there_that_is_not_hidden() -> None:
    at = student(replace(TASK, task_hidden=(), task_free=("n_heads", "mask", "bias")))
    assert len(figures(at)) == 3
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
    assert "Not quite. " in page_text(at)
    assert not [value for value in values if value in everything(at)]


def test_right_answers_are_said_to_be_and_make_a_code_that_is_valid() -> None:
    at, right = student(), asks("Ada")
    answered(at, right[0].value, right[1].value, min(right[2].right))
    assert clean(at)
    assert page_text(at).count("Right.") == 3
    assert "3 of 4 answered. 3 of 4 are right." in page_text(at)
    task = assignments.with_setting(TASK, CONFIG)
    (found,) = grading.grade_all(CONFIG, task, [("ada", handed(at))])
    assert (found.problem, found.right) == ("", (True, True, True, False))
    at.text_input(key=answer_keys(at)[0]).set_value("5").run()
    assert "An answer has changed since" in page_text(at)
    assert page_text(at).count("Right.") == 2


def test_without_feedback_nothing_is_said_of_an_answer() -> None:
    at = student(replace(TASK, task_feedback=False))
    right = asks("Ada", replace(TASK, task_feedback=False))
    answered(at, right[0].value, 99.0, min(right[2].right))
    assert at.button(key="check-task").label == "Make the code"
    assert "3 of 4 answered." in page_text(at)
    assert not [word for word in ("Right", "Not quite", "are right") if word in page_text(at)]


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
    assert "The questions are about the setting as it was given." in page_text(at)
    answered(at, right[0].value, right[1].value, min(right[2].right))
    assert page_text(at).count("Right.") == 3
    at.button(key="as-given").click().run()
    assert at.query_params["n_heads"] == "3"
    assert "as it was given" not in page_text(at)


def test_a_lock_that_was_edited_out_makes_another_assignment() -> None:
    at, right = student(d_model=15), asks("Ada")
    answered(at, right[0].value, right[1].value, min(right[2].right))
    (found,) = grading.grade_all(CONFIG, assignments.with_setting(TASK, CONFIG), [("Ada", handed(at))])
    assert "another assignment" in found.problem


@for_each("assigned", ["", "nonsense", "1.00000000.e30", "2.x.y"])
def test_a_broken_link_is_said_to_be_and_leaves_a_way_out(assigned: str) -> None:
    at = opened(page="assign", desk="student", assigned=assigned)
    assert clean(at)
    assert [element for element in at.get("button_group") if element.key == "pick-place"]
    assert ("ask for the link again" in page_text(at)) == bool(assigned)


def test_a_teacher_composes_a_link_that_a_student_can_open() -> None:
    at = opened(page="assign", sentence="a b c", n_heads="2", mask="causal")
    at.button(key="add-question").click().run()
    at.selectbox(key="question.0").set_value("number").run()
    at.selectbox(key="question.0.number.step").set_value("heads").run()
    at.selectbox(key="question.0.number.query").set_value(3).run()
    at.button(key="add-question").click().run()
    at.multiselect(key="task_free").set_value(["mask"]).run()
    at.text_input(key="task_title").set_value("A title").run()
    assert clean(at)
    task, problems = assignments.decode(at.query_params["assigned"])
    assert task is not None
    assert problems == []
    at_first = {"step": "heads", "query": 3}
    assert task.task_questions == (question_codec.item("number", at_first), question_codec.item("weight", {}))
    assert (task.task_title, task.task_free, task.task_given) == ("A title", ("mask",), (("mask", "causal"),))
    assert "can read off the answers to 1, 2" in page_text(at)
    (link,) = (element.value for element in at.code)
    (config, selection), problems = url_codec.open_link(link, Config, Selection)
    assert (config.sentence, selection.desk, assignments.decode(selection.assigned)[0]) == ("a b c", "student", task)
    assert problems == []
    at.button(key="remove-0").click().run()
    assert at.selectbox(key="question.0").value == "weight"
    left = assignments.decode(at.query_params["assigned"])[0]
    assert left is not None
    assert left.task_questions == (question_codec.item("weight", {}),)


def test_questions_change_places_with_their_wording_and_points_and_are_seen_as_students_see_them() -> None:
    task = replace(TASK, task_words=("How much, {query}?", "", "Which?"), task_points=(2.0, 1.0, 0.5))
    at = opened(**query(task, "compose"))
    assert clean(at)
    at.button(key="down-0").click().run()
    assert clean(at)
    at.text_input(key="question.0.words").set_value("In head {head}?").run()
    at.number_input(key="question.3.points").set_value(4.0).run()
    assert clean(at)
    changed, _ = assignments.decode(at.query_params["assigned"])
    assert changed is not None
    first, second, *rest = TASK.task_questions
    assert changed.task_questions == (second, first, *rest)
    assert changed.task_words == ("In head {head}?", "How much, {query}?", "Which?")
    assert changed.task_points == (1.0, 2.0, 0.5, 4.0)
    assert "How much, “five”?" in page_text(at)
    assert answer_keys(at) == []
    at.toggle(key="preview-task").set_value(True).run()
    assert clean(at)
    assert len(answer_keys(at)) == 4
    assert "2. How much, “five”? (points: 2)" in page_text(at)
    assert [element.label for element in at.get("download_button")][-2:] == ["Save for Moodle", "Save as a table"]
    assert at.selectbox(key="moodle-versions").options == ["1", "5", "10", "20"]


def test_points_and_wordings_are_kept_that_were_typed_just_before_another_desk_was_opened() -> None:
    """In a slow server the two arrive together, and the run that follows draws no field of the questions."""
    at = opened(**query(TASK, "compose"))
    at.number_input(key="question.1.points").set_value(4.0)
    at.number_input(key="question.3.points").set_value(2.5)
    at.text_input(key="question.0.words").set_value("How much?")
    at.button_group(key="pick-desk").set_value("mark").run()
    assert clean(at)
    kept, _ = assignments.decode(at.query_params["assigned"])
    assert kept is not None
    assert (kept.task_points, kept.task_words) == ((1.0, 4.0, 1.0, 2.5), ("How much?",))


def test_a_name_in_braces_that_is_misspelt_is_said_at_once_and_in_a_link() -> None:
    said = "Nothing is filled in for {qery}; did you mean {query}? In the wording of this question these can be used: "
    at = opened(**query(TASK, "compose"))
    assert "Nothing is filled in" not in page_text(at)
    at.text_input(key="question.0.words").set_value("How much, {qery}?").run()
    assert clean(at)
    assert f"{said}{{head}}, {{layer}}, {{query}}, {{key}}" in html.unescape(page_text(at))
    at.text_input(key="question.0.words").set_value("How much, {query}, of {0}?").run()
    assert "Nothing is filled in" not in page_text(at)
    at = student(replace(TASK, task_words=("How much, {qery}?",)))
    assert said in html.unescape(page_text(at))


def test_a_link_opens_for_its_teacher_and_shrinks_with_the_run() -> None:
    at = opened(**query(TASK, "compose"))
    assert clean(at)
    assert at.text_input(key="task_title").value == TASK.task_title
    assert at.selectbox(key="question.0.weight.query").value == 5
    at.text_input(key="sentence").set_value("one two").run()
    assert clean(at)
    assert at.selectbox(key="question.0.weight.query").value == 1


def test_what_cannot_be_asked_is_said_and_what_is_not_random_too() -> None:
    task = replace(TASK, task_questions=(question_codec.item("number", {"step": "masked", "query": 1, "key": 2}),))
    at = opened(**query(task, "compose"), initialiser="identity", embedding="one_hot")
    assert "This cannot be asked here: the number of masked asked for is not finite" in page_text(at)
    assert "all students have the same numbers" in page_text(at)


def test_an_assignment_too_long_for_a_link_is_kept_and_said_to_be() -> None:
    at = opened(page="assign", sentence="word " * 900)
    at.button(key="add-question").click().run()
    at.multiselect(key="task_free").set_value(["sentence"]).run()
    assert clean(at)
    assert "too long for a link" in page_text(at)
    assert at.multiselect(key="task_free").value == ["sentence"]
    assert not at.code


def test_codes_are_marked_against_the_pasted_link() -> None:
    task = assignments.with_setting(TASK, CONFIG)
    digest = assignments.digest(CONFIG, task)
    code = grading.answer_code(
        digest,
        "=Ada",
        [coded_answers.encode(ask, ask.value if ask.form == "number" else tuple(ask.right)) for ask in asks("=Ada")],
    )
    at = opened(page="assign", desk="mark")
    assert "No assignment is open" in page_text(at)
    at.text_input(key="task-open").set_value("v=1&n_heads=2").run()
    assert "There is no assignment in that link." in page_text(at)
    selection = Selection(page="assign", desk="student", assigned=assignments.encode(task))
    at.text_input(key="task-open").set_value(f"http://x/?{url_codec.query_string(CONFIG, selection)}").run()
    assert "Marked against: **Title** &lt;b&gt; · questions: 4." in page_text(at)
    at.text_area(key="task-codes").set_value(f"=Ada,{code}\nBob,{code}").run()
    assert clean(at)
    assert "Valid codes: 1 of 2. Mean score 4.0 of 4." in page_text(at)
    frame = at.dataframe[0].value
    assert frame["name"].tolist() == ["=Ada", "Bob"]
    assert frame["score"].tolist() == ["4", ""]
    assert "no server holds a secret" in page_text(at)
    assert at.dataframe[1].value["right, %"].tolist() == ["100"] * 4
    assert "Nobody was wrong." in page_text(at)
    at.text_area(key="task-codes").set_value(f'"x\n=Ada,{code}\n=ada,{code}').run()
    assert "Valid codes: 2 of 3. Mean score 4.0 of 4." in page_text(at)
    assert "More than one row is of =ada" in page_text(at)
    assert at.dataframe[0].value["which of this name"].tolist() == ["", "1 of 2", "2 of 2"]
    at.multiselect(key="task-again").set_value(["=ada"]).run()
    assert clean(at)
    assert "which of this name" not in at.dataframe[0].value
    assert "Rows of students who handed in again further down: 1;" in page_text(at)
    at.text_input(key="task-points").set_value("1 2 3 0,5").run()
    assert "Valid codes: 2 of 3. Mean 6.5 of 6.5 points." in page_text(at)
    assert at.dataframe[0].value["points"].tolist() == ["", "6.5", "6.5"]
    blank = grading.answer_code(digest, "Eve", [0] * 4)
    at.text_area(key="task-codes").set_value(f"=Ada,{code}\nEve,{blank}").run()
    assert at.dataframe[2].value[["how often", "mistake"]].values.tolist() == [[1, "no answer"]] * 4
    at.text_input(key="task-points").set_value("1 2").run()
    assert "write 4 numbers from 0 to 100" in page_text(at)


def handed_in(names: str) -> tuple[dict[str, str], str]:
    """Return the marking desk's link for an assignment, and a valid code a name."""
    task = assignments.with_setting(TASK, CONFIG)
    digest = assignments.digest(CONFIG, task)
    codes = [
        f"{name},{grading.answer_code(digest, name, [coded_answers.encode(ask, None) for ask in asks(name)])}"
        for name in names
    ]
    return query(task, "mark"), "\n".join(codes)


def test_answers_that_have_no_points_yet_are_counted() -> None:
    """Until then the grade of their students leaves the question out, which nobody may overlook."""
    task = assignments.with_setting(replace(TASK, task_questions=(question_codec.item("own_words", {}),)), CONFIG)
    digest, [ask] = assignments.digest(CONFIG, task), asks("A", task)
    codes = {name: grading.answer_code(digest, name, [coded_answers.encode(ask, f"so {name}")]) for name in "AB"}
    for points, left in ((("2", ""), True), (("2", "1"), False), (("", ""), False)):
        at = opened(**query(task, "mark"))
        rows = (f"{name},{code},{given}" for (name, code), given in zip(codes.items(), points, strict=True))
        at.text_area(key="task-codes").set_value("\n".join(('name,code,"question 1, points given"', *rows))).run()
        assert clean(at)
        assert ("Answers without points so far: 1 of 2." in page_text(at)) is left


def test_many_codes_are_marked_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    link, text = handed_in("ABCDE")
    monkeypatch.setattr(grading_desk, "PORTION", 5 * run_sizes.sizes(CONFIG).seconds)  # two runs a code
    at = opened(**link)
    at.text_area(key="task-codes").set_value(text).run()
    assert clean(at)
    assert "2 of 5 codes are marked so far." in page_text(at)
    assert at.dataframe[0].value["name"].tolist() == ["A", "B"]
    assert "2 of 5 codes" in page_text(at.run())  # nothing goes on by itself
    at.button(key="mark-next").click().run()
    at.button(key="mark-next").click().run()
    assert at.dataframe[0].value["name"].tolist() == [*"ABCDE"]
    assert at.dataframe[0].value["valid"].tolist() == ["yes"] * 5
    assert "so far" not in page_text(at)


def test_headings_that_are_not_known_are_said_and_the_first_row_may_be_made_a_student() -> None:
    link, text = handed_in("AB")
    at = opened(**link)
    at.text_area(key="task-codes").set_value(f"Wer,Lösung\n{text}").run()
    assert clean(at)
    assert at.dataframe[0].value["name"].tolist() == ["A", "B"]
    shown = html.unescape(page_text(at))
    assert "None of the headings 'Wer', 'Lösung' is known; expected are headings such as name" in shown
    at.checkbox(key="task-no-head").check().run()
    assert clean(at)
    assert at.dataframe[0].value["name"].tolist() == ["Wer", "A", "B"]
    assert "expected are headings such as" not in page_text(at)
    at.text_area(key="task-codes").set_value(text).run()
    assert not [box for box in at.checkbox if box.key == "task-no-head"]


MANY = 10**6
CHANGES = tuple(question_codec.item("rows_changed", {"change": change}) for change in question_codec.CHANGES) * 3
"""Questions each of which is about a run of its own."""


@pytest.mark.slow
def test_runs_that_questions_ask_for_are_part_of_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    task = Assignment(task_questions=CHANGES[:1])
    assert grading_desk._portion(CONFIG, task, MANY) < 0.6 * grading_desk._portion(CONFIG, Assignment(), MANY)
    for desk in ("student", "compose"):
        at = opened(**query(Assignment(task_questions=CHANGES), desk, **LARGEST | {"n_layers": 2}))
        if desk == "student":
            at.text_input(key="task-name").set_value("Ada").run()
        assert clean(at)
        assert "and it allows 10 for one computation" in page_text(at)
        assert not at.get("pills")
    for n in (0, 2):  # a large one is asked about twice
        at = opened(**query(Assignment(task_questions=CHANGES[:n]), "compose", **LARGEST | {"n_layers": 1}))
        assert clean(at)
        assert "allows" not in page_text(at)


def test_marking_that_was_left_keeps_what_was_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    link, text = handed_in("ABCDE")
    whole = grading.grade_all

    def left(*given: Any) -> Iterator[grading.GradedSubmission]:
        yield from islice(whole(*given), 3)
        raise StopException

    monkeypatch.setattr(grading_desk.grading, "grade_all", left)
    at = opened(**link)
    at.text_area(key="task-codes").set_value(text).run()
    at.run()
    assert at.dataframe[0].value["name"].tolist() == ["A", "B", "C"]
    assert "3 of 5 codes are marked so far." in page_text(at)


def test_the_widgets_follow_an_assignment_that_is_opened_and_keep_what_is_typed() -> None:
    at = opened(page="assign", desk="mark")
    task = assignments.with_setting(TASK, CONFIG)
    link = url_codec.query_string(CONFIG, Selection(page="assign", desk="student", assigned=assignments.encode(task)))
    at.text_input(key="task-open").set_value(link).run()
    at.button_group(key="pick-desk").set_value("compose").run()
    assert at.text_input(key="task_title").value == TASK.task_title
    at.text_input(key="task_title").set_value("Another").run()
    at.button(key="remove-1").click().run()
    assert at.text_input(key="task_title").value == "Another"
    kept = assignments.decode(at.query_params["assigned"])[0]
    assert kept is not None
    assert kept.task_questions == (TASK.task_questions[0], *TASK.task_questions[2:])
    at.button_group(key="pick-desk").set_value("mark").run()
    at.text_input(key="task-open").set_value(f"?{link}").run()
    at.button_group(key="pick-desk").set_value("compose").run()
    assert at.text_input(key="task_title").value == TASK.task_title
    assert [at.selectbox(key=f"question.{n}").value for n in range(4)] == [kind for kind, _ in TASK.task_questions]


def test_the_widgets_follow_back_and_forward() -> None:
    at = opened(page="assign")
    at.text_input(key="task_title").set_value("Later").run()
    earlier = assignments.encode(TASK)
    at.session_state["_address"] = query(TASK, "compose")
    at.session_state["assigned"] = earlier
    at.run()
    assert at.text_input(key="task_title").value == TASK.task_title
    shown = assignments.decode(at.query_params["assigned"])[0]
    assert shown is not None
    assert (shown.task_hidden, shown.task_questions) == (TASK.task_hidden, TASK.task_questions)
