"""The Lessons page without a browser: every lesson opens, and nothing of an answer is there before it is shown."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import Config, run
from attnviz.classroom import score_variance
from attnviz.classroom.question_kinds import resolve
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.lessons.catalogue import LESSONS, written
from attnviz.lessons.courses import COURSES
from attnviz.settings import url_codec
from attnviz.settings.language import set_language
from attnviz.text.format import html_math, line_breaks
from attnviz.text.format.sentence_parts import TEXT, plain
from attnviz.ui.pages import lessons
from attnviz.ui.panels.lesson import path
from attnviz.ui.session.selection import COURSE_NAMES, PAGE_NAMES, Selection, outside
from tests.support.address import parameters
from tests.support.cases import for_each
from tests.support.page_figures import figures, numbers
from tests.ui.test_app import clean, drawn, expected, opened, page_text

pytestmark = pytest.mark.usefixtures("language_models")


def lesson(name: str, slide: int, **query: str) -> AppTest:
    return opened(page="lessons", lesson=name, slide=str(slide), **query)


def question(name: str, slide: int) -> ResolvedQuestion:
    found = LESSONS[name].slides[slide - 1]
    assert found.question is not None
    return resolve(found.question, run(LESSONS[name].on(found)), run(LESSONS[name].config))


def everything(at: AppTest) -> str:
    """All that the browser is sent: every element of the page, with its labels, help, alt texts and charts."""

    def walk(block: Any) -> Iterator[str]:
        for child in block.children.values():
            if hasattr(child, "children"):
                yield from walk(child)
            elif child.proto is not None:
                yield str(child.proto)

    return "\n".join(text for root in at._tree.children.values() for text in walk(root))


def charts(at: AppTest) -> list[dict[str, Any]]:
    return [figure["data"][0]["meta"] for figure in figures(at)]


def test_a_slide_shows_the_numbers_of_its_own_setting_and_the_visitor_keeps_his() -> None:
    at = lesson("tied", 1, sentence="my own words", n_heads="3")
    trace = run(LESSONS["tied"].config)
    first = figures(at)[0]
    assert drawn(numbers(first)) == pytest.approx(expected(trace["embedded"].array))
    at.button(key="next-slide").click().run()
    assert at.query_params["slide"] == "2"
    assert (at.query_params["sentence"], at.query_params["n_heads"]) == ("my own words", "3")
    at.button(key="previous-slide").click().run()
    assert "slide" not in at.query_params


def test_the_list_opens_a_lesson_at_its_first_slide() -> None:
    at = lesson("tied", 3)
    radio = at.sidebar.radio(key="lesson")
    assert (radio.value, len(radio.options)) == ("tied", len(LESSONS))
    radio.set_value("causal").run()
    assert clean(at)
    assert parameters(at) == {"v": "2", "page": "lessons", "lesson": "causal"}
    assert "1 of 7" in page_text(at)


def test_whoever_comes_to_learn_begins_where_it_is_said_why() -> None:
    at = opened(sentence="mine")
    at.segmented_control(key="pick-place").set_value("learn").run()
    assert clean(at)
    assert COURSE_NAMES["all"].note in page_text(at)
    first = next(iter(LESSONS))
    assert (at.query_params["lesson"], at.sidebar.radio(key="lesson").value) == (first, first)
    at = lesson("bits", 3)
    for place in ("explore", "learn"):
        at.segmented_control(key="pick-place").set_value(place).run()
    assert (at.query_params.get("lesson", "bits"), at.query_params["slide"]) == ("bits", "3")  # as it was left
    assert COURSE_NAMES["all"].note not in page_text(lesson(first, 2))
    assert opened(page="lessons").sidebar.radio(key="lesson").value == "bits"  # as an older link says it
    assert all(set(COURSES[name].places[0]) == {first, 0} for name in COURSES)


@pytest.mark.slow
def test_the_first_slide_says_what_for_and_the_last_one_what_was_learned_and_what_comes_next() -> None:
    at = lesson("store", 1, sentence="mine")
    assert LESSONS["store"].goal in page_text(at)
    assert "Start here" in at.sidebar.radio(key="lesson").captions[0]
    assert "done" not in at.query_params
    at = lesson("store", len(LESSONS["store"].slides), sentence="mine", done="bits")
    assert clean(at)
    assert at.query_params["done"] == "bits.store"
    assert LESSONS["store"].goal not in page_text(at)
    assert LESSONS["store"].known in "".join(each.value for each in at.markdown)
    at.button(key="next-lesson").click().run()
    assert clean(at)
    assert (at.query_params["lesson"], at.query_params["sentence"]) == ("why_causal", "mine")
    radio = at.sidebar.radio(key="lesson")
    assert [option[0] == "✓" for option in radio.options] == [name in ("bits", "store") for name in LESSONS]
    assert ["Continue here" in caption for caption in radio.captions].index(True) == 0


def test_the_part_of_a_lesson_that_a_course_has_is_gone_through_at_its_own_end() -> None:
    for course, done in (("short", "two_meanings"), ("all", None)):
        at = lesson("two_meanings", 2, course=course)
        if LESSONS["two_meanings"].slides[1].question:
            assert "done" not in at.query_params
            at.button(key="show-answer").click().run()
        assert clean(at)
        assert at.query_params.get("done") == done


def test_what_was_learned_is_said_once_the_last_question_is_answered() -> None:
    last = len(LESSONS["order"].slides)
    at = lesson("order", last)
    assert LESSONS["order"].slides[-1].question
    assert "done" not in at.query_params
    assert LESSONS["order"].known not in everything(at)
    at.button(key="show-answer").click().run()
    assert LESSONS["order"].known in everything(at)
    assert at.query_params["done"] == "order"


def measures(at: AppTest) -> list[str]:
    [found] = [each.value for each in at.get("html") if 'class="attn-measures"' in each.value]
    return re.findall(r"<b>(.*?)</b>", found)


def test_what_is_tried_changes_the_pictures_and_what_is_measured_once_the_question_is_answered() -> None:
    at = lesson("softmax_axis", 2)
    assert not [each for each in at.get("button_group") if "control" in each.key]
    assert "sums of the rows" not in everything(at)
    at.button(key="show-answer").click().run()
    assert measures(at)[1] == "1"
    before = drawn(numbers(figures(at)[1]))
    at.get("button_group")[-1].set_value(0).run()
    assert clean(at)
    assert measures(at)[0] == "1"
    assert drawn(numbers(figures(at)[1])).tolist() != before.tolist()
    assert drawn(numbers(figures(at)[1])) == pytest.approx(drawn(numbers(figures(at)[0])))
    assert "It is" in page_text(at)


def test_moves_go_together_and_explore_opens_what_was_tried() -> None:
    at = lesson("why_root", 7)
    at.get("button_group")[-1].set_value(2).run()
    at.select_slider(key="control-why_root-7-1").set_value(2).run()
    assert clean(at)
    assert measures(at)[0] == f"{score_variance.of_many(16, 16.0, 6)['spread']:.4g}"
    at.button(key="to-explore").click().run()
    assert (at.query_params["d_k"], at.query_params["score"]) == ("16", "formula")


@pytest.mark.slow
def test_a_lesson_is_opened_from_a_file_gone_through_and_closed() -> None:
    at = lesson("store", 4)
    text = written("why_minus_infinity").replace("Why −∞ before", "My own −∞ before")
    uploader = at.sidebar.get("file_uploader")[0]
    uploader.upload("mine.toml", b"title = 3", "text/plain").run()
    assert "Title of the lesson in this file is 3, and has to be a text in quotes." in everything(at)
    at.sidebar.get("file_uploader")[0].upload("mine.toml", text.encode(), "text/plain").run()
    assert clean(at)
    assert "My own −∞ before the softmax, and not 0? · 1 of 6" in html.unescape(page_text(at))
    assert [each for each in at.button if each.key == "close-lesson"]
    assert not [each for each in at.sidebar.radio if each.key == "lesson"]
    at.button(key="show-answer").click().run()
    at.button(key="next-slide").click().run()
    assert "My own −∞ before the softmax, and not 0? · 2 of 6" in html.unescape(page_text(at))
    at.button(key="close-lesson").click().run()
    assert at.sidebar.radio(key="lesson").value == "store"


def test_a_picture_that_is_turned_has_its_words_turned() -> None:
    at = lesson("rows_and_columns", 5)
    trace = run(LESSONS["rows_and_columns"].config)
    at.get("button_group")[-1].set_value(1).run()
    assert clean(at)
    turned = np.swapaxes(trace["weights"].array, 1, 2)
    assert drawn(numbers(figures(at)[0])) == pytest.approx(expected(turned))
    assert measures(at) == ["0 … 5", "1"]


@for_each("name", LESSONS)
def test_every_lesson_leads_to_a_page_that_there_is(name: str) -> None:
    there = path.with_further(Selection(), LESSONS[name])
    assert there.page not in ("lessons", "assign", "class")
    assert PAGE_NAMES[there.page].label in path.destination(LESSONS[name].further)
    assert outside(there, run(LESSONS[name].config)) == []


@for_each("slide, shown", [("39", "7 of 7"), ("0", "1 of 7"), ("99", "7 of 7"), ("x", "1 of 7")])
def test_a_slide_that_is_not_there_is_the_nearest(slide: str, shown: str) -> None:
    at = opened(page="lessons", lesson="tied", slide=slide)
    assert clean(at)
    assert shown in page_text(at)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "slide"), [("tied", 3), ("causal", 5)])
def test_a_number_is_refused_and_then_accepted(name: str, slide: int) -> None:
    at, right = lesson(name, slide), question(name, slide)
    value = f"{right.value:.4g}"
    assert value not in everything(at)
    at.text_input(key=f"answer-{name}-{slide}").set_value("-3.5").run()
    at.button(key="check").click().run()
    assert "Not quite. " in page_text(at)
    assert "larger" not in page_text(at)
    assert value not in everything(at)
    at.text_input(key=f"answer-{name}-{slide}").set_value("much").run()
    at.button(key="check").click().run()
    assert "cannot be read as a number" in page_text(at)
    at.text_input(key=f"answer-{name}-{slide}").set_value(f"{right.value + right.tolerance / 2:.4f}").run()
    at.button(key="check").click().run()
    assert clean(at)
    assert "Right." in page_text(at)
    assert f"It is {value}." in page_text(at)
    assert value in everything(at)
    assert line_breaks.table(right.lines[-1].latex) in [each.value for each in at.markdown]
    assert not at.text_input
    assert not [button for button in at.button if button.key == "check"]
    assert "answer" not in str(at.query_params)


def test_a_fraction_is_read_and_a_known_mistake_is_told() -> None:
    at = lesson("why_minus_infinity", 2)
    at.text_input(key="answer-why_minus_infinity-2").set_value("e").run()
    at.button(key="check").click().run()
    assert "divided by the sum of the row" in page_text(at)
    at.text_input(key="answer-why_minus_infinity-2").set_value("e/(e+3)").run()
    assert "divided by the sum of the row" not in page_text(at), "nothing is said of an answer that is not checked yet"
    at.button(key="check").click().run()
    assert "Right." in page_text(at)


@pytest.mark.slow
def test_the_same_question_comes_again_with_other_numbers() -> None:
    at = lesson("bits", 2)
    first = drawn(numbers(figures(at)[0]))
    assert not [button for button in at.button if button.key == "again"]
    at.button(key="show-answer").click().run()
    at.button(key="again").click().run()
    assert clean(at)
    slide = LESSONS["bits"].slides[1]
    trace = run(LESSONS["bits"].on(slide, 1))
    assert drawn(numbers(figures(at)[0])) == pytest.approx(expected(trace["embedded"].array))
    assert drawn(numbers(figures(at)[0])).tolist() != first.tolist()
    assert at.query_params["slide"] == "2"
    assert slide.question is not None
    value = resolve(slide.question, trace).value
    at.text_input(key="answer-bits-2-1").set_value(f"{value:g}").run()
    at.button(key="check").click().run()
    assert "Right." in page_text(at)
    at.button(key="to-explore").click().run()
    assert at.query_params["seed"] == "1"


def test_a_question_whose_numbers_a_text_says_is_not_dealt_again() -> None:
    at = lesson("tied", 3)
    at.button(key="show-answer").click().run()
    assert not [button for button in at.button if button.key == "again"]


def test_a_choice_of_one_is_refused_and_then_accepted() -> None:
    at, right = lesson("tied", 5), question("tied", 5)
    at.button(key="check").click().run()
    assert "Choose an answer first." in page_text(at)
    radio = at.radio(key="answer-tied-5")
    assert radio.options == ["1", "2", "3"]
    radio.set_value(0).run()
    at.button(key="check").click().run()
    assert "Not quite." in page_text(at)
    assert plain(right.solution[0]) not in page_text(at)
    at.radio(key="answer-tied-5").set_value(min(right.right)).run()
    at.button(key="check").click().run()
    assert "You said “two”. Right." in page_text(at)
    assert plain(right.solution[0]) in page_text(at)
    assert len(figures(at)) == 2


def test_rows_are_chosen_and_the_two_settings_stand_beside_each_other() -> None:
    at = lesson("store", 5)
    assert [meta["rows"] for meta in charts(at)] == [["where", "is", "the", "key"]]
    at.get("button_group")[-1].set_value([0]).run()
    at.button(key="check").click().run()
    assert "Not quite." in page_text(at)
    at.get("button_group")[-1].set_value([3]).run()
    at.button(key="check").click().run()
    assert "Only “lock” changes" in page_text(at)
    assert len(figures(at)) == 3
    at.button(key="to-compare").click().run()
    assert clean(at)
    assert (at.query_params["page"], at.query_params["b_sentence"]) == ("compare", "where is the lock")


def test_the_list_ticks_a_lesson_in_the_run_that_shows_its_last_slide() -> None:
    last = len(LESSONS["bits"].slides)
    assert not LESSONS["bits"].slides[-1].question
    at = lesson("bits", last - 1)
    at.button(key="next-slide").click().run()
    assert at.sidebar.radio(key="lesson").options[[*LESSONS].index("bits")][0] == "✓"
    assert at.query_params["done"] == "bits"


def test_a_link_of_the_page_brings_the_progress_back() -> None:
    at = lesson("bits", len(LESSONS["bits"].slides), done="tied", sentence="mine")
    link = dict(at.query_params)
    again = opened(**link)
    assert clean(again)
    assert dict(again.query_params) == link
    radio = again.sidebar.radio(key="lesson")
    assert {name for name, option in zip(LESSONS, radio.options) if option[0] == "✓"} == {"bits", "tied"}
    assert f"2 of {len(LESSONS)} gone through" in "".join(each.value for each in again.sidebar.caption)
    assert ["Continue here" in caption for caption in radio.captions].index(True) == 0
    elsewhere = opened(**link | {"page": "explore"})  # what was completed goes along to other pages, too
    assert elsewhere.query_params["done"] == link["done"]


def test_a_link_that_names_lessons_that_do_not_exist_keeps_the_others() -> None:
    at = lesson("order", 1, done="bits.nothing.<b>")
    assert clean(at)
    ticked = [name for name, each in zip(LESSONS, at.sidebar.radio(key="lesson").options) if each[0] == "✓"]
    assert ticked == ["bits"]
    assert "Lessons gone through names 'nothing', '<b>', which does not exist; ignored." in html.unescape(page_text(at))


@pytest.mark.slow
@for_each("name", LESSONS)
def test_every_lesson_opens_and_would_look_the_same_with_any_other_answer(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slides = [number + 1 for number, slide in enumerate(LESSONS[name].slides) if slide.question]
    slide = slides[sum(map(ord, name)) % len(slides)]
    at = lesson(name, slide)
    assert clean(at)
    heading = f"{LESSONS[name].title} · {slide} of {len(LESSONS[name].slides)}"
    assert html_math.sentence(((TEXT, heading),)) in page_text(at)
    before = everything(at)
    assert "Show the answer" in before

    def otherwise(*given: Any) -> ResolvedQuestion:
        found = resolve(*given)
        other = frozenset({(min(found.right, default=0) + 1) % max(len(found.options), 1)})
        return replace(found, right=other, value=found.value + 3, solution=(), lines=(), why="")

    monkeypatch.setattr(lessons, "resolve", otherwise)
    assert everything(lesson(name, slide)) == before


def test_while_a_question_is_open_only_earlier_steps_are_drawn_and_none_says_what_is_largest() -> None:
    at = lesson("tied", 3)
    assert len(figures(at)) == 3
    drawn_scores = numbers(figures(at)[2])
    assert np.isnan(drawn_scores).sum() == 1
    assert np.isnan(drawn_scores.ravel()[0])
    others = np.delete(run(LESSONS["tied"].config)["scores"].array.ravel(), 0)
    assert drawn(drawn_scores) == pytest.approx(expected(others))
    assert "largest" not in "".join(map(str, figures(at)))
    at.button(key="show-answer").click().run()
    assert len(figures(at)) == 3


def test_an_answer_that_was_shown_stays_shown_while_the_visit_lasts() -> None:
    at = lesson("tied", 3)
    at.button(key="show-answer").click().run()
    at.button(key="next-slide").click().run()
    at.button(key="previous-slide").click().run()
    assert "It is 5.993." in page_text(at)


def test_a_presenter_goes_on_to_the_answer_first() -> None:
    at = lesson("tied", 3, presenter="yes")
    assert clean(at)
    assert not at.sidebar.radio
    assert len(at.text_input) == 1  # for what the room says
    assert "It is" not in page_text(at)
    at.button(key="space").click().run()
    assert "It is 5.993." in page_text(at)
    assert "3 of 7" in page_text(at)
    at.button(key="next-slide").click().run()
    assert at.query_params["slide"] == "4"
    metas = charts(at)
    assert metas
    assert all(meta["large"] for meta in metas)


def test_a_room_sees_one_row_of_pictures_at_a_time() -> None:
    at = lesson("why_root", 4, presenter="yes")
    steps = LESSONS["why_root"].slides[3].steps
    assert (len(steps), len(figures(at))) == (2, 2)
    at.button(key="space").click().run()
    first = charts(at)
    assert len(first) == 3
    at.button(key="space").click().run()
    assert "4 of 7" in page_text(at)
    assert len(charts(at)) == 3
    assert "weights" in str([figure["stage"].alt for figure in figures(at)])
    at.button(key="previous-slide").click().run()
    assert charts(at) == first
    at.button(key="previous-slide").click().run()
    assert "3 of 7" in page_text(at)
    at = lesson("why_root", 4)
    at.button(key="show-answer").click().run()
    assert len(figures(at)) == 6


def test_the_last_row_of_the_last_slide_is_the_end() -> None:
    at = lesson("what_w_o_does", 4, presenter="yes")
    steps = LESSONS["what_w_o_does"].slides[-1].steps
    shown = []
    for _ in range(len(steps) + 2):
        at.button(key="space").click().run()
        shown.append(charts(at))
    assert shown[-3:] == [shown[len(steps) - 1]] * 3
    assert shown[0] != shown[1]


def test_a_slide_opens_in_explore_with_its_setting_and_position() -> None:
    at = lesson("causal", 2)
    at.button(key="show-answer").click().run()
    at.button(key="to-explore").click().run()
    assert clean(at)
    records, problems = url_codec.decode({name: at.query_params[name] for name in at.query_params}, Config, Selection)
    assert problems == []
    assert records[0] == LESSONS["causal"].config
    assert (records[1].page, records[1].query, records[1].key) == ("explore", 0, 0)


@for_each("name", LESSONS)
def test_the_setting_of_every_slide_fits_into_a_link(name: str) -> None:
    for slide in LESSONS[name].slides:
        link = url_codec.query_string(LESSONS[name].on(slide), Selection())
        assert url_codec.fits_in_link(url_codec.encode(LESSONS[name].on(slide), Selection()))
        assert parse_qs(link)


@pytest.mark.slow
def test_names_of_matrices_are_typeset_and_numbers_are_written_as_in_the_language() -> None:
    at = lesson("causal", 6)
    assert "do the eight matrices <i>W</i><sub><i>Q</i></sub> have together?" in page_text(at)
    for name, slide, answer in (("bits", 4, "Richtig ist 0,4897."), ("causal", 6, "262\u202f144 Zahlen")):
        german = lesson(name, slide, lang="de")
        set_language("de")  # AppTest compares the words of widgets in this thread
        try:
            german.button(key="show-answer").click().run()
        finally:
            set_language("en")
        assert clean(german)
        assert answer in page_text(german)
