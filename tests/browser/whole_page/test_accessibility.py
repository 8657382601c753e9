"""Every page held to axe's rules in both themes: names, roles, headings and contrast; and Class whole in the window."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser_idle import QUIET, go_to
from tests.support.cases import for_each

pytestmark = pytest.mark.browser

PAGES = [
    "",
    "head=1&query=2&key=2&all_lines=yes&sentence=a+king&n_heads=1&d_model=4&d_k=2&d_v=2",  # few numbers: axe reads each
    "focus=2",
    "panel=statistics",
    "page=compare&b_mask=causal",
    "page=experiments",
    "page=lessons",
    "page=assign",
    "page=assign&desk=write",
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
GROUND = "getComputedStyle(document.querySelector('.stApp')).backgroundColor"


@for_each("query", PAGES)
def test_no_page_breaks_a_rule(browser_page: Any, app: Any, query: str) -> None:
    """In the light by all rules; in the dark, where only colours are others, by that of contrast."""
    page = browser_page
    page.emulate_media(color_scheme="light")
    go_to(page, f"{app.url}/?v=1&{query}")
    page.locator(".stMain h1, .stMain h2, .stMain p").first.wait_for()
    assert violations(page) == []
    light = page.evaluate(GROUND)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"(light) => {GROUND} !== light", arg=light)
    page.evaluate(QUIET)
    assert violations(page, "color-contrast") == [], "in the dark"


def violations(page: Any, *rules: str) -> list[str]:
    """What axe objects to, with the first place of each."""
    from axe_playwright_python.sync_playwright import Axe

    axe, options = Axe(), {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
    if not page.evaluate("'axe' in window"):  # it is half a megabyte, and there once it was read
        page.evaluate(axe.axe_script)
    run = "([context, options]) => axe.run(context, options).then(({ violations }) => violations)"
    found = page.evaluate(run, [NOT_OURS, options])
    return [f"{each['id']}: {each['nodes'][0]['target']}" for each in found]


def test_the_opening_has_its_words_whole_and_class_is_whole_in_the_window(browser_page: Any, app: Any) -> None:
    page = browser_page
    page.goto(app.url)
    page.locator(".st-key-explore [data-stage=weights] .attn-layer text", has_text="chased").first.wait_for()
    page.evaluate(QUIET)
    words = page.locator(".st-key-explore .attn-layer text").all_text_contents()
    assert not [word for word in words if "…" in word]
    page.goto(f"{app.url}/?v=1&page=class")
    page.locator(".stMain h1, .stMain h2, .stMain p").first.wait_for()
    page.evaluate(QUIET)
    assert page.evaluate(OVER) <= 0
