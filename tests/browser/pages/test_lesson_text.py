"""What the text of a lesson cannot do, by what Streamlit draws of it: no link, no picture, no heading, no colour."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from attnviz.lessons.inert_markdown import HAIR, JOINER
from tests.support.live_markdown import LIVE, MARKUP

pytestmark = pytest.mark.browser

LOUD = "a, img, iframe, script, h1, h2, h3, [style*=color], [role=img], sup"


def test_nothing_in_the_text_of_a_lesson_leads_elsewhere(
    server: Callable[..., Any], new_page: Callable[..., Any]
) -> None:
    page = new_page()
    page.goto(server("tests/browser/scripts/lesson_text.py").url)
    page.get_by_text("All drawn").wait_for()
    drawn = {name: at for at, name in enumerate([*LIVE, *MARKUP])}
    loud = {name: page.locator(f".st-key-raw-{at}").locator(LOUD).count() > 0 for name, at in drawn.items()}
    loud["picture of a word"] = "🚀" in page.locator(f".st-key-raw-{drawn['picture of a word']}").inner_text()
    assert {name for name in LIVE if not loud[name]} == set()  # else there is nothing to take away
    heard = {name for name, at in drawn.items() if page.locator(f".st-key-inert-{at}").locator(LOUD).count()}
    assert heard == set()
    for name in ("link", "address", "address without a scheme", "mail", "colour", "picture of a word"):
        text = page.locator(f".st-key-inert-{drawn[name]}").inner_text()
        assert text.replace(JOINER, "").replace(HAIR, "").strip() == LIVE[name]  # shown as it was written
    allowed = page.locator(".st-key-allowed")
    for part in ("strong", "em", "code", ".katex", "table", "li"):
        assert allowed.locator(part).count(), part
