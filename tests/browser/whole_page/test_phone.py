"""On a phone nothing scrolls sideways but a table, which fades at the edge while there is more of it to see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from attnviz import TASKS
from attnviz.settings import url_codec
from tests.support.cases import for_each

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 844}
SIDEWAYS = """() => [...document.querySelectorAll('.stApp *')].filter((each) => {
    const style = getComputedStyle(each)
    return each.clientWidth && each.scrollWidth > each.clientWidth + 1
        && ['auto', 'scroll'].includes(style.overflowX) && !each.closest('[data-testid="stSidebar"]')
})"""
UNMARKED = f"""() => ({SIDEWAYS})().map((each) => each.closest('[data-testid="stDataFrameResizable"]') || each)
    .filter((each) => !getComputedStyle(each).maskImage.includes('gradient')).map((each) => each.className)"""
FADE = """() => getComputedStyle(document.querySelector('[data-testid="stDataFrameResizable"]')).maskSize"""


@for_each(
    "lang, query",
    [
        (lang, query)
        for lang in ("en", "de", "es", "zh")
        for query in ("page=class&mask=causal&step=weights", "page=learn")
    ],
)
def test_a_lecture_and_a_film_fit_with_every_place_and_its_parts_on_the_screen(
    new_page: Callable[..., Any], app: Any, lang: str, query: str
) -> None:
    page = new_page(viewport=PHONE, instead=True)
    page.goto(f"{app.url}/?v=1&lang={lang}&{query}")
    bar = page.locator(".st-key-places")
    bar.get_by_role("radio").nth(7).wait_for()
    page.wait_for_function(f"() => ({UNMARKED})().length === 0")
    for each in bar.get_by_role("radio").all():
        box = each.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
        assert box["height"] >= 34


def test_a_table_that_is_wider_than_a_phone_shows_that_it_goes_on(new_page: Callable[..., Any], app: Any) -> None:
    page = new_page(viewport=PHONE, instead=True)
    query = "&".join(f"{name}={value}" for name, value in url_codec.encode(TASKS["backwards"].config()).items())
    page.goto(f"{app.url}/?{query}&page=learn&lang=de".replace(" ", "+"))
    page.locator(".st-key-tries button").first.click()
    guess = page.locator('[class*="st-key-guess"] button')
    guess.first.wait_for()
    for each in guess.all():
        assert each.bounding_box()["x"] + each.bounding_box()["width"] <= PHONE["width"]
    guess.first.click()
    table = page.locator(".dvn-scroller").first
    table.wait_for()
    table.scroll_into_view_if_needed()
    page.wait_for_function(f"() => ({UNMARKED})().length === 0")
    page.wait_for_function(f"() => ({FADE})().startsWith('100%')")
    table.evaluate("each => { each.scrollLeft = each.scrollWidth }")
    page.wait_for_function(f"() => !({FADE})().startsWith('100%')")
