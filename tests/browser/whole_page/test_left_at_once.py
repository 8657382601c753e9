"""A link that is followed in the moment after a press: the page is that of the link, and what was pressed is gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from attnviz.settings import url_codec
from attnviz.ui.session.selection import Selection
from tests.browser_idle import QUIET

pytestmark = pytest.mark.browser

FROM = "v=1&sentence=a+dog+ran+far&n_heads=2&panel=word"
TO = "v=1&sentence=the+king+saw&n_heads=3&panel=table"
GO = """(query) => {
  history.pushState({}, '', `/?${query}`);
  dispatchEvent(new PopStateEvent('popstate'));
}"""
PRESS_AND_GO = """async ([query, delay]) => {
  const tabs = [...document.querySelectorAll('[class*=st-key-pick-group] button')];
  tabs.find((tab) => /Statist/.test(tab.textContent)).click();
  await new Promise((go) => setTimeout(go, delay));
  history.pushState({}, '', `/?${query}`);
  dispatchEvent(new PopStateEvent('popstate'));
}"""
LIT = """() => [...document.querySelectorAll('[class*=st-key-pick-group] button')]
  .filter((button) => button.getAttribute('aria-checked') === 'true' || button.getAttribute('aria-pressed') === 'true')
  .map((button) => button.textContent)"""


@pytest.fixture(scope="module")
def site(server: Callable[..., Any]) -> Any:
    return server("app.py")


def test_a_press_in_the_moment_before_a_link_is_not_carried_into_it(browser_page: Any, site: Any) -> None:
    page = browser_page
    page.goto(f"{site.url}/?{FROM}")
    page.locator("[class*=st-key-pick-group] button").first.wait_for()
    page.evaluate(QUIET)
    for delay in (0, 20, 40, 50, 60, 70, 80, 100, 130):
        page.evaluate(PRESS_AND_GO, [TO, delay])
        page.wait_for_function("() => location.search.includes('the+king+saw')")
        page.locator(".at-words button").get_by_text("king", exact=True).wait_for()
        page.evaluate(QUIET)
        (selection,), _ = url_codec.open_link(page.url.partition("?")[2], Selection)
        assert (delay, selection.panel) == (delay, "table")
        assert (delay, page.evaluate(LIT)) == (delay, ["Table"])
        assert page.locator(".at-words button").all_text_contents() == ["the", "king", "saw"], delay
        page.evaluate(GO, FROM)
        page.locator(".at-words button").get_by_text("dog", exact=True).wait_for()
        page.evaluate(QUIET)
