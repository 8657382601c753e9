"""Lessons that are written in the page: the fields are empty for the next slide, in the browser as well."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser_idle import QUIET, go_to

pytestmark = pytest.mark.browser


def test_a_slide_that_is_added_leaves_no_text_for_the_next_one(browser_page: Any, app: Any) -> None:
    page = browser_page
    go_to(page, f"{app.url}/?v=1&page=assign&desk=write")
    fields = [page.get_by_label(f"What the slide says, {name}") for name in ("English", "Deutsch")]
    for texts in (("One in English", "Eins auf Deutsch"), ("Two in English", "")):
        for field, text in zip(fields, texts):
            field.click()
            page.keyboard.type(text)
            page.keyboard.press("Control+Enter")
            page.evaluate(QUIET)
        page.get_by_role("button", name="Add this slide").click()
        page.evaluate(QUIET)
        assert [field.input_value() for field in fields] == ["", ""]
    whole = next(text for each in page.locator("textarea").all() if "[[slides]]" in (text := each.input_value()))
    assert (whole.count("Eins auf Deutsch"), whole.count('"Two in English"')) == (1, 1)


def test_a_reload_keeps_the_lesson_until_it_is_begun_anew(browser_page: Any, app: Any) -> None:
    page = browser_page

    def whole() -> str:
        return next(text for each in page.locator("textarea").all() if "[setting]" in (text := each.input_value()))

    go_to(page, f"{app.url}/?v=1&page=assign&desk=write")
    field = page.get_by_label("What the slide says, English")
    field.click()
    page.keyboard.type("Kept through a reload")
    page.keyboard.press("Control+Enter")
    page.evaluate(QUIET)
    page.get_by_role("button", name="Add this slide").click()
    page.evaluate(QUIET)
    for _ in range(2):
        go_to(page, f"{app.url}/?v=1&page=assign&desk=write")
        page.evaluate(QUIET)
        assert "Kept through a reload" in whole()
    page.get_by_role("button", name="Begin anew with this setting").click()
    page.get_by_role("button", name="Delete it and begin anew").click()
    page.evaluate(QUIET)
    assert "[[slides]]" not in whole()
    go_to(page, f"{app.url}/?v=1&page=assign&desk=write")
    page.evaluate(QUIET)
    assert "[[slides]]" not in whole()
