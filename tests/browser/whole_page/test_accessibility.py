"""Every page held to axe's rules in both themes: names, roles, headings and contrast; and Class whole in the window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser_idle import QUIET

pytestmark = pytest.mark.browser

PAGES = [
    "",
    "head=1&query=2&key=3&all_lines=yes",
    "focus=2",
    "panel=statistics",
    "page=compare&b_mask=causal",
    "page=experiments",
    "page=lessons",
    "page=assign",
    "page=data",
    "page=take",
    "page=class",
    "page=learn",
]
NOT_OURS = {"exclude": [["[data-testid=stFileUploaderDropzone]"]]}
"""Streamlit's own: a presentation that takes the focus."""
OVER = (
    "(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector('[data-testid=stMain]'))"
)


def violations(page: Any, url: str) -> list[str]:
    """What axe objects to, with the first place of each."""
    from axe_playwright_python.sync_playwright import Axe

    page.goto(url)
    page.locator(".stMain h1, .stMain h2, .stMain p").first.wait_for()
    page.evaluate(QUIET)
    found = Axe().run(page, NOT_OURS).response["violations"]
    return [f"{each['id']}: {each['nodes'][0]['target']}" for each in found]


@pytest.mark.nightly
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("query", PAGES)
def test_no_page_breaks_a_rule(new_page: Callable[..., Any], app: Any, query: str, scheme: str) -> None:
    assert violations(new_page(color_scheme=scheme), f"{app.url}/?v=1&{query}") == []


def test_the_opening_with_an_answer_breaks_no_rule_and_class_is_whole(new_page: Callable[..., Any], app: Any) -> None:
    page = new_page()
    page.goto(app.url)
    page.locator(".st-key-explore-weights .attn-layer text", has_text="chased").first.wait_for()
    page.evaluate(QUIET)
    words = page.locator(".st-key-explore .attn-layer text").all_text_contents()
    assert not [word for word in words if "…" in word], "the opening has its words whole"
    assert violations(page, f"{app.url}/?v=1&{PAGES[1]}") == []
    assert violations(page, f"{app.url}/?v=1&page=class") == []
    assert page.evaluate(OVER) <= 0
