"""A lesson for a room: nothing but the slide, its code, the hands counted, and the notes in a window of their own."""

from __future__ import annotations

import base64
import builtins
import html
import json
import random
import re
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

import pytest

from attnviz import run
from attnviz.classroom.writing import lesson_link
from attnviz.exports import links
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.courses import COURSES
from attnviz.lessons.inert_markdown import HAIR, JOINER, inert
from attnviz.lessons.lesson import Question
from attnviz.ui.panels.lesson import path, speaker, tally
from tests.support.address import parameters
from tests.support.cases import for_each
from tests.support.page_figures import figures
from tests.ui.pages.test_lessons import everything, lesson, measures, question
from tests.ui.test_app import clean, page_text

pytestmark = pytest.mark.usefixtures("language_models")


def texts(at: Any) -> str:
    return html.unescape("\n".join(each.value for each in (*at.get("html"), *at.markdown)))


def test_a_room_has_the_control_once_the_question_is_answered() -> None:
    at = lesson("softmax_axis", 2, presenter="yes")
    assert 'class="attn-measures"' not in everything(at)
    assert LESSONS["softmax_axis"].slides[1].text[:20] in everything(at)
    at.button(key="space").click().run()
    assert measures(at)[1] == "1"
    assert LESSONS["softmax_axis"].slides[1].text[:20] not in everything(at)
    at.get("button_group")[-1].set_value(0).run()
    assert clean(at)
    assert measures(at)[0] == "1"


def test_the_code_leads_to_the_very_slide_with_the_question_open() -> None:
    at = lesson("causal", 3, presenter="yes", sentence="my own words")
    [shown] = [each.value for each in at.get("html") if 'class="attn-code' in each.value]
    [link] = re.findall(r'class="link">(.*?)</p>', shown)
    query = html.unescape(link).partition("?")[2]
    assert query.startswith("v=2&page=lessons&lesson=causal&slide=3&c=")
    held = base64.b64decode(re.findall(r"base64,([^\"]+)", shown)[0]).decode()
    assert held == links.qr_svg(links.short_address(html.unescape(link)))


def test_the_code_of_a_lesson_of_ones_own_holds_it_and_one_that_is_too_long_says_so() -> None:
    text = """title = "Mine"\nabout = "a"\nsource = "s"\nminutes = 1\ngoal = "g"\nknown = "k"
[setting]\nsentence = "the cat sat"\n[[slides]]\ntext = "One"\nsteps = ["weights"]
[[slides]]\ntext = "Two"\nsteps = ["weights"]"""
    at = lesson("store", 2, written=lesson_link.pack(text), presenter="yes")
    assert "Mine · 2 of 2" in page_text(at)
    [shown] = [each.value for each in at.get("html") if 'class="attn-code' in each.value]
    [link] = re.findall(r'class="link">(.*?)</p>', shown)
    query = dict(parse_qsl(html.unescape(link).partition("?")[2]))
    assert (lesson_link.unpack(query["written"]), query["slide"]) == (text, "2")
    assert 'src="data:image/svg' in shown
    long = text + "\nnotes = " + json.dumps(random.Random(0).randbytes(2_000).hex())  # noqa: S311 - nothing secret
    at = lesson("store", 2, written=lesson_link.pack(long), presenter="yes")
    assert "Mine · 2 of 2" in page_text(at)
    assert "too long for a code" in texts(at)


def test_without_segno_the_link_stands_there_large(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "segno":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    at = lesson("causal", 3, presenter="yes")
    assert clean(at)
    [shown] = [each.value for each in at.get("html") if 'class="attn-code' in each.value]
    assert "attn-code typed" in shown
    assert "lesson=causal" in shown
    assert "<img" not in shown


def test_hands_are_counted_and_the_right_option_is_marked_only_afterwards() -> None:
    at = lesson("causal", 3, presenter="yes")
    assert '"attn-tally counted"' not in texts(at)
    at.text_input(key="hands-causal-3").set_value("4 11, 3").run()
    assert clean(at)
    bars = re.findall(r'width:([\d.]+)%" title="(.*?)".*?<b>(\d+)</b>', texts(at))
    assert [bar[2] for bar in bars] == ["4", "11", "3", "0", "0", "0"]
    assert [bar[0] for bar in bars[:3]] == ["36.4", "100.0", "27.3"]
    assert bars[1][1] == "11 of 18 hands"
    assert "✓" not in texts(at)
    at.button(key="space").click().run()
    [right] = question("causal", 3).right
    assert [line.startswith(' class="right"') for line in re.findall("<li(.*?)</li>", texts(at))].index(True) == right
    assert ">11</b>" in texts(at)
    assert '"attn-tally"' in texts(at)  # in one line, as the explanation and its pictures need the room
    assert re.findall(r'width:([\d.]+)em"', texts(at))[:2] == ["0.91", "2.50"]
    assert "hands" not in str(at.query_params)
    at.button(key="space").click().run()
    at.button(key="previous-slide").click().run()
    assert ">11</b>" in texts(at)


@pytest.mark.slow
@for_each("typed", ["many", "1 2 3 4 5 6 7", "-1", "1000", "١٢"])
def test_hands_that_cannot_be_read_are_refused_in_a_sentence(typed: str) -> None:
    at = lesson("causal", 3, presenter="yes")
    at.text_input(key="hands-causal-3").set_value(typed).run()
    assert clean(at)
    assert "Type 6 whole numbers from 0 to 999, such as" in texts(at)
    assert tally.read_hands(typed, 6) is None


def test_the_notes_give_the_answer_what_is_often_said_and_the_next_slide() -> None:
    at = lesson("why_root", 4, notes="yes")
    assert clean(at)
    assert not figures(at)
    shown = texts(at)
    assert r"Notes: Why divide by $\sqrt{d_k}$" in shown
    assert "It is 1.037." in shown
    assert "8.299: That is what comes out without the scale" in shown
    assert "And divided by $d_k = 64$ itself?" in shown
    at.button(key="next-slide").click().run()
    assert (at.query_params["slide"], at.query_params["notes"]) == ("5", "yes")


def test_the_notes_of_a_course_give_the_time_of_its_part_and_set_names_of_matrices() -> None:
    part = next(part for part in COURSES["single"].parts if part.lesson == "bits")
    assert round(part.minutes) < LESSONS["bits"].minutes
    shown = texts(lesson("bits", 1, notes="yes", course="single"))
    assert f"About {round(part.minutes)} minutes." in shown
    assert f"About {LESSONS['bits'].minutes} minutes." in texts(lesson("bits", 1, notes="yes"))
    assert "the column of $W_Q$" in shown
    assert "in column 2 of $W_Q$?" in texts(lesson("bits", 2, notes="yes"))


def test_what_a_question_names_leads_nowhere_in_the_notes() -> None:
    found = LESSONS["softmax_axis"]
    named = {"query": 1, "key": 1, "head": 1, "says": "(//x.test)", "prompt": "www.x.test boss@x.test :red[x]"}
    slide = replace(found.slides[0], question=Question("weight", "[here]{says} {prompt}?", named))
    lines = list(speaker._lines(found, slide, run(found.on(slide)), found.minutes))
    (asked,) = (line for line in lines if "here" in line)
    assert asked == inert(asked)
    assert asked.replace(JOINER, "").replace(HAIR, "").endswith("[here](//x.test) www.x.test boss@x.test :red[x]?")
    assert JOINER in asked


@pytest.mark.slow
@for_each("name", LESSONS)
def test_every_lesson_has_notes_on_every_slide(name: str) -> None:
    found = LESSONS[name]
    for slide in found.slides:
        lines = list(speaker._lines(found, slide, run(found.on(slide)), found.minutes))
        assert lines
        assert not any("[[" in line for line in lines)
        assert speaker.title(slide, run(found.on(slide)))


def test_the_notes_of_the_last_slide_say_what_was_learned() -> None:
    at = lesson("store", len(LESSONS["store"].slides), notes="yes")
    assert clean(at)
    assert LESSONS["store"].known in texts(at)
    assert "1 of" not in page_text(at)


@pytest.mark.slow
def test_a_lesson_becomes_an_assignment_in_one_press() -> None:
    at = lesson("causal", 2)
    at.button(key="show-answer").click().run()
    at.button(key="to-assignment").click().run()
    assert clean(at)
    assert at.query_params["page"] == "assign"
    assert "questions of the lesson came along" in texts(at)
    assert at.text_input(key="task_title").value == LESSONS["causal"].title
    assert "students can read off" not in texts(at)


def test_next_is_offered_only_where_it_leads_on_and_the_end_of_a_course_leads_to_all_lessons() -> None:
    name, last = COURSES["double"].places[-1]

    def offered(at: Any) -> tuple[bool, bool]:
        back, on = (at.button(key=key).disabled for key in ("previous-slide", "next-slide"))
        return not back, not on

    first = COURSES["double"].places[0]
    assert offered(lesson(first[0], first[1] + 1, course="double")) == (False, True)
    assert offered(lesson(first[0], len(LESSONS[first[0]].slides), course="double")) == (True, True)
    assert offered(lesson(first[0], len(LESSONS[first[0]].slides))) == (True, False)
    for key in ("next-slide", "next-lesson"):  # in the band, where it is in sight, and below what was learned
        at = lesson(name, last + 1, course="double")
        assert offered(at) == (True, True)
        assert at.button(key="next-slide").label == "Next lesson"
        assert path.WORDS["end"] in page_text(at)
        at.button(key=key).click().run()
        assert clean(at)
        assert parameters(at)["lesson"] == "two_meanings"
        assert "course" not in parameters(at)

    at = lesson("two_meanings", len(LESSONS["two_meanings"].slides), presenter="yes")
    while offered(at) == (True, True):
        shown = everything(at)
        at.button(key="next-slide").click().run()
        assert everything(at) != shown
    assert offered(at) == (True, False)
    assert offered(lesson(name, last + 1, course="double", notes="yes")) == (True, False)
    at.button(key="previous-slide").click().run()
    assert offered(at) == (True, True)


@pytest.mark.slow
def test_a_course_goes_from_lesson_to_lesson_and_says_the_time() -> None:
    course = COURSES["short"]
    at = lesson("padding", 2, course="short", presenter="yes")  # a lesson that is not of the course: it begins at once
    for number, place in enumerate(course.places, 1):
        assert clean(at)
        assert (parameters(at)["lesson"], int(parameters(at).get("slide", "1"))) == (place[0], place[1] + 1)
        assert f"· {number} of {len(course.places)} ·" in page_text(at)
        if LESSONS[place[0]].slides[place[1]].question:
            at.button(key="next-slide").click().run()  # the answer
        while parameters(at)["lesson"] == place[0] and int(parameters(at).get("slide", "1")) == place[1] + 1:
            if at.button(key="next-slide").disabled:
                break
            at.button(key="next-slide").click().run()
    assert number == len(course.places)
    assert f"{round(course.gone(*course.places[-1]))} of 20 min" in page_text(at)

    at = lesson("next_word", 4, course="short", notes="yes")
    notes = texts(at)
    assert "of 20 minutes have passed" in notes
    assert "half a minute with a neighbour" in notes
    at = lesson("why_causal", 5, course="double", notes="yes")
    assert "Now a break of 5 minutes." in texts(at)
    assert LESSONS["one_or_many"].slides[0].text[:20] in texts(at)

    at = lesson("bits", 1, course="single")
    assert [each.split(". ", 1)[1] for each in at.radio(key="lesson").options] == [
        LESSONS[part.lesson].title for part in COURSES["single"].parts
    ]
    assert COURSES["single"].note not in page_text(at), "only where the course begins"
    at.selectbox(key="course").set_value("short").run()
    assert parameters(at)["lesson"] == "two_meanings"
    assert COURSES["short"].note in page_text(at)
    assert "About 4 minutes." in page_text(at), "half of the lesson"
    at = lesson("bits", 3)
    at.selectbox(key="course").set_value("single").run()
    assert clean(at)
    assert parameters(at)["lesson"] == "two_meanings", (
        "a course that is chosen begins, wherever its lessons were opened"
    )


def test_notes_and_code_of_a_course_count_and_go_on_as_the_slide_does() -> None:
    shown = lesson("how_a_head_learns", 2, course="short", presenter="yes")
    assert "· 4 of 11 ·" in page_text(shown)
    [code] = [each.value for each in shown.get("html") if 'class="attn-code' in each.value]
    assert "course=short" in html.unescape(code)
    notes = texts(lesson("how_a_head_learns", 2, course="short", notes="yes"))
    assert "· 4 of 11" in notes
    assert "2 of 4" not in notes
    assert "**To try.**" in notes, "nothing is asked on this slide"
    assert "of 4" in texts(lesson("how_a_head_learns", 2, notes="yes"))
    assert "**To try, once it is answered.**" in texts(lesson("why_causal", 4, notes="yes"))


def test_a_minute_for_a_pair_fits_into_every_slide_of_a_course_that_asks() -> None:
    for course in COURSES.values():
        for part in course.parts:
            if any(LESSONS[part.lesson].slides[at].question for at in part.slides):
                assert part.minutes / len(part.slides) > speaker.PAIR


def test_a_course_says_before_a_room_what_it_is_for_and_its_notes_know_it() -> None:
    course = COURSES["single"]
    at = lesson("two_meanings", 1, course="single", presenter="yes")
    assert clean(at)
    assert course.note in page_text(at)
    links_of = [each.proto.url for each in at.get("link_button")]
    assert any("notes=yes" in each and "course=single" in each for each in links_of)
    at.button(key="space").click().run()
    assert course.note not in page_text(at)
    papers = list(lesson("two_meanings", 1, course="single").get("download_button"))
    assert {"Handout to fill in", "Answer key"} <= {each.proto.label for each in papers}
    assert any(each.proto.id.endswith("course-key") for each in papers)
