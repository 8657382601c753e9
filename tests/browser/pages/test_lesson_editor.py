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
