"""The editor for lessons without a browser: settings become slides, faults are told, a link opens the lesson."""

from __future__ import annotations

import tomllib
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.classroom.writing import lesson_link
from attnviz.lessons.read_lesson import read_lesson
from tests.ui.pages.test_lessons import everything
from tests.ui.test_app import clean, opened, page_text

pytestmark = pytest.mark.slow  # whole pages, each with many widgets


def with_slide() -> AppTest:
    at = opened(page="assign", desk="write", sentence="a b c", n_heads="2", mask="causal")
    assert clean(at)
    assert "There is no slide yet." in page_text(at)
    at.text_area(key="slide-text").set_value("Look at the first row.")
    at.text_area(key="slide-text_de").set_value("Die erste Zeile.")
    at.selectbox(key="slide-kind").set_value("weight").run()
    assert clean(at)
    assert "The answer now: It is 1." in page_text(at)
    return at.button(key="add-slide").click().run()


def test_a_setting_becomes_a_slide_whose_answer_is_computed() -> None:
    at = with_slide()
    assert clean(at)
    assert "Slides: 1; questions: 1. Nothing is wrong with it." in page_text(at)
    lesson = read_lesson("mine", at.text_area(key="lesson-text").value)
    assert (lesson.config.sentence, lesson.config.n_heads, lesson.config.mask) == ("a b c", 2, ("causal",))
    assert at.text_area(key="slide-text").value == ""
    at.slider(key="n_heads").set_value(3).run()
    at.text_area(key="slide-text").set_value("Three heads.").run()
    at.button(key="add-slide").click().run()
    assert "Slides: 2; questions: 1." in page_text(at)
    second = tomllib.loads(at.text_area(key="lesson-text").value)["slides"][1]
    assert second["change"] == {"n_heads": 3}


def test_faults_are_told_together() -> None:
    at = with_slide()
    text = at.text_area(key="lesson-text").value
    at.text_area(key="lesson-text").set_value(text.replace("n_heads = 2", "heads = 2").replace('"weights"', '"weigth"'))
    at.run()
    assert clean(at)
    assert "which is no setting; did you mean “n_heads”?" in page_text(at)
    assert "did you mean “weights”?" in page_text(at)
    assert "Nothing is wrong" not in page_text(at)
    assert [each.label for each in at.button if each.key and each.key.startswith("preview")] == []


def test_a_lesson_is_previewed_and_opens_from_its_link_in_both_languages() -> None:
    at = with_slide()
    (link,) = (element.value for element in at.code)
    at.button(key="preview-learner").click().run()
    assert clean(at)
    assert "Look at the first row." in everything(at)
    assert at.button(key="close-lesson").label == "Close this lesson"
    query = dict(parse_qsl(link.partition("?")[2]))
    german = opened(**{**query, "lang": "de"})
    assert clean(german)
    assert "Die erste Zeile." in everything(german)
    german.button(key="close-lesson").click().run()
    assert "Die erste Zeile." not in everything(german)
    assert "written" not in german.query_params


def test_a_lesson_in_a_link_that_was_cut_says_so() -> None:
    whole = lesson_link.pack("title = 1")
    at = opened(page="lessons", written=whole[:-2])
    assert clean(at)
    assert "ask for the link again, or for the file" in page_text(at)
    assert "has to be a text in quotes" in page_text(opened(page="lessons", written=whole))


def test_a_lesson_with_slides_is_deleted_only_after_a_second_press() -> None:
    at = opened(page="assign", desk="write", sentence="a b c")
    assert at.button(key="lesson-anew").label == "Begin anew with this setting"
    at = with_slide()
    assert at.button(key="lesson-anew").label == "Delete it and begin anew"
    at.button(key="lesson-anew").click().run()
    assert clean(at)
    assert "[[slides]]" not in at.text_area(key="lesson-text").value
