"""Practice without a browser: a question is answered, the next one suits, and what was missed comes again."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.classroom import open_questions
from attnviz.classroom.practice.deals import deal
from attnviz.classroom.practice.kinds import KINDS
from attnviz.classroom.practice.record import Asked, encode
from attnviz.lessons.catalogue import LESSONS
from attnviz.ui.components.stage.picking import Picked
from attnviz.ui.panels.classroom.picked_answer import option_at
from attnviz.ui.panels.lesson import practice
from tests.support.address import parameters
from tests.support.cases import for_each
from tests.ui.test_app import clean, opened, page_text

pytestmark = pytest.mark.usefixtures("language_models")


def practised(kind: str, number: int = 0, level: int = 1, **query: str) -> AppTest:
    asked = {"practised": kind, "deal": str(number), "level": str(level)}
    return opened(page="lessons", course="practice", **asked, **query)


def kept(at: AppTest) -> str:
    """The record of the session, as text."""
    return encode(at.session_state[practice._RECORD]) if practice._RECORD in at.session_state else ""


@for_each("kind", KINDS)
def test_every_kind_is_asked_and_its_answer_can_be_shown(kind: str) -> None:
    at = practised(kind, 2, 3)
    assert clean(at)
    at.button(key="show-answer").click().run()
    assert clean(at)
    assert not at.exception
    assert kept(at) == ("" if kind == "own_words" else f"{kind}.3.2.0")


def test_right_answers_lead_on_to_harder_questions_of_the_kind() -> None:
    at = practised("weight", stay="yes")
    for number in (0, 1):
        question = deal(Asked("weight", 1, number)).question
        at.text_input(key=f"answer-practice-weight-1-{number}-{number}").input(f"{question.value:.4f}")
        at.button(key="check").click().run()
        assert "Right." in page_text(at)
        at.button(key="next-practice").click().run()
    assert kept(at) == "weight.1.0.1\nweight.1.1.1"
    assert (parameters(at)["level"], parameters(at)["deal"]) == ("2", "2")


def test_what_was_missed_comes_again_and_then_the_next_question() -> None:
    at = practised("weight", 7, stay="yes")
    at.text_input(key="answer-practice-weight-1-7-0").input("77")
    at.button(key="check").click().run()
    assert "Not quite." in page_text(at)
    at.button(key="next-practice").click().run()
    at.button(key="missed").click().run()
    assert "Review: 1 left" in page_text(at)
    value = deal(Asked("weight", 1, 7)).question.value
    at.text_input(key="answer-practice-weight-1-7-2").input(f"{value:.4f}")
    at.button(key="check").click().run()
    assert kept(at) == "weight.1.7.0\nweight.1.7.1"
    assert "Review" not in page_text(at)
    assert "missed" not in [button.key for button in at.button]
    at.button(key="forget-practice").click().run()
    assert kept(at) == ""


def test_an_answer_that_cannot_be_read_is_not_counted() -> None:
    at = practised("weight")
    at.text_input(key="answer-practice-weight-1-0-0").input("about a third")
    at.button(key="check").click().run()
    assert "cannot be read as a number" in page_text(at)
    assert kept(at) == ""


def test_an_order_is_answered_one_after_the_other_and_a_cell_by_a_click() -> None:
    right = deal(Asked("order", 1, 0)).question.in_order
    at = practised("order")
    at.multiselect(key="answer-practice-order-1-0-0").set_value([*right[::-1]])
    at.button(key="check").click().run()
    assert "from the smallest to the largest" in page_text(at)
    dealt = deal(Asked("cell", 1, 0))
    assert dealt.slide.question is not None
    stages = open_questions.pictures(dealt.slide, dealt.slide.question, dealt.question, dealt.trace, dealt.trace)
    (cell,) = dealt.question.right
    row, column = divmod(cell, len(dealt.trace.key_tokens))
    assert option_at(dealt.question, stages, Picked("weights", 0, row, column)) == cell
    assert option_at(dealt.question, stages, Picked("weights", None, row, None)) is None


def test_a_kind_is_chosen_at_the_left_and_a_lesson_again() -> None:
    at = practised("shape")
    at.sidebar.radio(key="practised").set_value("mask").run()
    assert clean(at)
    assert parameters(at)["practised"] == "mask"
    at.sidebar.selectbox(key="course").set_value("all").run()
    assert clean(at)
    assert at.sidebar.radio(key="lesson").value == "bits"


def test_the_visitors_setting_stays_and_explore_opens_that_of_the_question() -> None:
    at = practised("weight", sentence="my own words")
    assert parameters(at)["sentence"] == "my own words"
    at.button(key="show-answer").click().run()
    at.button(key="to-explore").click().run()
    assert clean(at)
    assert parameters(at)["sentence"] == deal(Asked("weight", 1, 0)).config.sentence


def test_a_lesson_that_was_gone_through_leads_to_practice() -> None:
    at = opened(page="lessons", lesson="rows_and_columns", slide=str(len(LESSONS["rows_and_columns"].slides)))
    if "practise" not in [button.key for button in at.button]:
        at.button(key="show-answer").click().run()
    at.button(key="practise").click().run()
    assert clean(at)
    assert at.sidebar.radio(key="practised").value == "shape"


def test_an_answered_question_of_a_lesson_leads_to_its_kind_with_new_numbers() -> None:
    """A slide that can deal its own numbers again has that instead; the visitor's setting stays as it is."""
    at = opened(page="lessons", lesson="store", slide="5", sentence="my own words")
    assert not [button for button in at.button if button.key == "practise-kind"]
    at.button(key="show-answer").click().run()
    at.button(key="practise-kind").click().run()
    assert clean(at)
    found = parameters(at)
    assert (found["course"], found["practised"], found["sentence"]) == ("practice", "rows_changed", "my own words")
    assert "Which rows of" in page_text(at)
    at = opened(page="lessons", lesson="bits", slide="2")
    at.button(key="show-answer").click().run()
    assert not [button for button in at.button if button.key == "practise-kind"]
    assert [button for button in at.button if button.key == "again"]


def test_every_question_of_a_practised_kind_in_a_lesson_has_new_numbers_somewhere() -> None:
    asked = [slide.question.kind for lesson in LESSONS.values() for slide in lesson.slides if slide.question]
    assert {*asked} <= {*KINDS}
    assert len(asked) > 120
