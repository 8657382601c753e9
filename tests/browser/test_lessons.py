"""The Lessons page in a real browser: a question is answered, and a lesson is gone through by keys alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from attnviz.core.lessons import LESSONS
from attnviz.views.captions import NAMES
from tests.quiet import QUIET

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def app(server: Callable[..., Any]) -> Any:
    return server("app.py")


def settled(page: Any, part: str) -> None:
    """Wait until the address says so: it is written when the run is through; and until the page has come to rest."""
    page.wait_for_function("part => location.search.includes(part)", arg=part)
    page.evaluate(QUIET)


def drawn(page: Any, name: str) -> None:
    """Wait until a picture is drawn."""
    page.wait_for_selector(f".st-key-lesson-0-{name} .js-plotly-plot .hm image")


def test_a_question_is_answered_and_the_slide_opens_in_explore(browser_page: Any, app: Any) -> None:
    page = browser_page
    page.goto(f"{app.url}/?v=1&page=lessons&sentence=mine")
    page.get_by_text("One matrix for queries and keys").click()
    settled(page, "lesson=tied")
    for slide in (2, 3):
        page.locator(".st-key-next-slide").get_by_role("button").click()
        settled(page, f"slide={slide}")
    drawn(page, "keys")
    assert page.locator(".st-key-lesson-0-scores").count() == 0
    assert "5.993" not in page.content()
    page.get_by_role("textbox", name="Your number").fill("5")
    page.get_by_role("button", name="Check").click()
    page.get_by_text("Not so: the number is larger.").wait_for()
    assert "5.993" not in page.content()
    page.get_by_role("textbox", name="Your number").fill("5,99")
    page.get_by_role("button", name="Check").click()
    page.get_by_text("It is 5.993.").wait_for()
    drawn(page, "scores")
    page.get_by_text("The products added up.").wait_for()
    settled(page, "sentence=mine")
    page.get_by_role("button", name="Open this in Explore").click()
    settled(page, "own_numbers=")
    page.go_back()
    settled(page, "sentence=mine")


def test_a_room_sees_a_lesson_by_keys_alone_and_nothing_needs_scrolling(browser_page: Any, app: Any) -> None:
    page, slides = browser_page, LESSONS["translation"].slides
    page.goto(f"{app.url}/?v=1&page=lessons&lesson=translation&presenter=yes")
    for number, slide in enumerate(slides, 1):
        page.get_by_text(f"{number} of {len(slides)}").wait_for()
        if slide.question:
            page.locator(".st-key-asked").wait_for()
            page.evaluate(QUIET)
            page.keyboard.press("Space")
            page.get_by_text(slide.question.why[-30:]).wait_for()
        drawn(page, "a" if slide.beside else slide.steps[-1])
        page.wait_for_function(BOTTOM + " <= innerHeight")
        assert page.locator(".st-key-space button").is_hidden()
        if number < len(slides):
            page.evaluate(QUIET)
            page.keyboard.press("ArrowRight" if number % 2 else "Space")
    page.keyboard.press("ArrowLeft")
    page.get_by_text(f"{len(slides) - 1} of {len(slides)}").wait_for()


@pytest.mark.parametrize("name", ["why_root", "padding"])
def test_no_slide_of_a_room_is_scrolled(browser_page: Any, app: Any, name: str) -> None:
    page, slides = browser_page, LESSONS[name].slides
    page.goto(f"{app.url}/?v=1&page=lessons&lesson={name}&presenter=yes")
    for number, slide in enumerate(slides, 1):
        stops = [""] * bool(slide.question) + list(slide.steps if slide.beside else slide.steps[-1:])
        for step in stops:
            page.get_by_text(f"· {number} of {len(slides)}").wait_for()
            if step and slide.beside:
                page.locator(".attn-formula").get_by_text(NAMES[step].lower(), exact=False).first.wait_for()
            elif step:
                drawn(page, step)
            else:
                page.locator(".st-key-asked").wait_for()
            page.evaluate(QUIET)  # pictures tell their room, and a key that is pressed in that run is lost
            page.wait_for_function(UNSCROLLED)
            page.keyboard.press("Space")


UNSCROLLED = "(main => main.scrollHeight <= main.clientHeight)(document.querySelector('[data-testid=stMain]'))"
BOTTOM = "Math.max(...[...document.querySelectorAll('.js-plotly-plot')].map(e => e.getBoundingClientRect().bottom))"


def test_space_on_a_button_goes_on_once(browser_page: Any, app: Any) -> None:
    page = browser_page
    page.goto(f"{app.url}/?v=1&page=lessons&lesson=bits&slide=2&presenter=yes")
    page.locator(".st-key-asked").wait_for()
    page.evaluate(QUIET)
    page.locator(".st-key-next-slide").get_by_role("button").click()
    page.get_by_text("It is ").wait_for()
    page.evaluate(QUIET)
    page.locator(".st-key-next-slide").get_by_role("button").press("Space")
    page.get_by_text("3 of 7").wait_for()
    page.evaluate(QUIET)
    page.keyboard.press("ArrowLeft")
    page.get_by_text("2 of 7").wait_for()
    page.evaluate(QUIET)
    page.keyboard.press("ArrowRight")
    page.get_by_text("3 of 7").wait_for()
    page.locator(".st-key-asked").get_by_text("Which shape do the scores have").wait_for()
    assert page.get_by_text("5 queries, 5 keys").count() == 0


@pytest.mark.parametrize("lesson", ["causal", "why_root"])
def test_nothing_scrolls_sideways_on_a_phone(new_page: Callable[..., Any], app: Any, lesson: str) -> None:
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto(f"{app.url}/?v=1&page=lessons&lesson={lesson}")
    page.wait_for_selector(".js-plotly-plot")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
