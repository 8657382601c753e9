"""The scripts of the page come as a file, beside Streamlit's own, and again where the line was lost for a moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser_idle import QUIET

pytestmark = pytest.mark.browser

DRAWN = "document.querySelectorAll('.st-key-explore .attn-layer svg path').length > 1"
LARGEST = 60_000  # bytes of a message over the socket: the page's style and the numbers have 20,000 each at most


def test_the_scripts_are_a_file_that_is_asked_for_again_where_it_did_not_come(
    new_page: Callable[..., Any], app: Any
) -> None:
    page = new_page()
    asked: list[str] = []
    sizes: list[int] = []

    def refuse_the_first(route: Any) -> None:
        asked.append(route.request.url)
        route.abort() if len(asked) < 3 else route.continue_()

    def weigh(socket: Any) -> None:
        socket.on("framereceived", lambda data: sizes.append(len(data)))

    page.route("**/attnviz/scripts-*", refuse_the_first)
    page.on("websocket", weigh)
    page.goto(app.url)
    page.wait_for_function(DRAWN)
    assert len(asked) > 2
    assert max(sizes) < LARGEST
    address = asked[0].rpartition("/")[2].partition("?")[0]
    page.unroute("**/attnviz/scripts-*")
    page.reload()
    page.wait_for_function(DRAWN)
    (preloaded,) = page.locator("head link[rel=modulepreload][href*=attnviz]").all()
    assert preloaded.get_attribute("href").endswith(address)


WIDGET = "**/static/js/Slider.*.js"


def test_a_widget_whose_script_broke_off_comes_with_the_page_that_is_loaded_again(browser_page: Any, app: Any) -> None:
    refused: list[str] = []

    def refuse_the_first(route: Any) -> None:
        if refused:
            route.continue_()
        else:
            refused.append(route.request.url)
            route.abort()

    browser_page.route(WIDGET, refuse_the_first)
    open_until_loaded(browser_page, f"{app.url}/?v=1&n_heads=3", times=2)
    browser_page.get_by_role("slider").first.wait_for()
    assert len(refused) == 1
    assert "n_heads=3" in browser_page.url


def test_a_page_is_not_loaded_for_ever_where_a_browser_never_gets_a_script(browser_page: Any, app: Any) -> None:
    browser_page.route(WIDGET, lambda route: route.abort())
    loads = open_until_loaded(browser_page, app.url, times=4)  # the visit, and three more
    browser_page.wait_for_function(DRAWN)
    browser_page.get_by_text("Failed to fetch dynamically imported module").first.wait_for()
    browser_page.evaluate(QUIET)
    assert len(loads) == 4


def test_a_page_that_somebody_works_on_is_not_loaded_again(browser_page: Any, app: Any) -> None:
    loads: list[str] = []
    browser_page.on("domcontentloaded", lambda loaded: loads.append(loaded.url))
    browser_page.goto(app.url)
    browser_page.wait_for_function(DRAWN)
    browser_page.keyboard.press("Shift")
    browser_page.evaluate("() => { dispatchEvent(new Event('vite:preloadError', { cancelable: true })) }")
    browser_page.evaluate(QUIET)
    assert len(loads) == 1


def open_until_loaded(page: Any, address: str, *, times: int) -> list[str]:
    """Open an address and wait until the page was loaded so many times; return a list that grows with each."""
    loads: list[str] = []
    page.on("domcontentloaded", lambda loaded: loads.append(loaded.url))
    with page.expect_event("domcontentloaded", lambda _: len(loads) == times):
        page.goto(address, wait_until="commit")
    return loads
