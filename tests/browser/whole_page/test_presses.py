"""A press does what it was meant to do, also where the page changes under it, and leaves nothing behind."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser_idle import QUIET

pytestmark = pytest.mark.browser

FRAME = "getComputedStyle(document.querySelector('[data-testid=stMain]'), '::before').content"
"""Streamlit's frame around all of the page: `none` while there is none."""
IMAGE = ".st-key-explore [data-stage=weights] .attn-cells"
LINE = """
    const add = WebSocket.prototype.addEventListener;
    WebSocket.prototype.addEventListener = function (kind, hear, ...options) {
        const heard = kind === "message" ? (event) => (window.late ? late.push(() => hear(event)) : hear(event)) : hear;
        return add.call(this, kind, heard, ...options);
    };
"""
"""A line to the server on which answers wait in `late`, while there is such a list."""
ARRIVED = """() => new Promise((done) => {
    let seen = 0, still = 0;
    const look = () => {
        still = late.length && late.length === seen ? still + 1 : 0;
        seen = late.length;
        still > 60 ? done() : requestAnimationFrame(look);
    };
    look();
})"""
"""Comes back when a whole run has been answered, on a line that is held up."""
LET_GO = """async () => {
    for (const hear of late) await new Promise((done) => setTimeout(() => done(hear())));
    delete window.late;
}"""


def opened(page: Any, app: Any, heads: int = 4) -> tuple[float, float]:
    """Open the page; return a point in a cell of the weights of the first head."""
    page.goto(f"{app.url}/?v=1&sentence=the+cat+sat+on+the+warm+mat&mask=causal&n_heads={heads}")
    page.locator(".st-key-explore [data-stage=weights] .attn-layer text").first.wait_for()
    page.evaluate(QUIET)
    box = page.locator(IMAGE).bounding_box()
    return box["x"] + 12, box["y"] + 40


def test_a_press_is_taken_whatever_moves_or_changes_under_it(browser_page: Any, app: Any) -> None:
    opened(browser_page, app)
    group = browser_page.locator("summary", has_text="Heads and projections")
    group.scroll_into_view_if_needed()
    before = group.bounding_box()["y"]
    browser_page.locator(".st-key-mask input").first.click()
    assert browser_page.get_by_role("option", name="Select all").count() == 0
    browser_page.get_by_role("option", name="Not itself").click()
    browser_page.evaluate(QUIET)
    at = group.bounding_box()
    assert at["y"] == before, "the list of masks is as high with the focus as without"
    browser_page.mouse.click(at["x"] + 60, at["y"] + at["height"] / 2)
    browser_page.wait_for_function("document.querySelectorAll('[data-testid=stSidebar] details[open]').length === 1")

    x, y = opened(browser_page, app)
    field = browser_page.locator(".st-key-sentence input")
    field.fill("a dog saw the two birds fly")
    browser_page.mouse.move(x, y)
    browser_page.mouse.down()  # the field is left, and all is computed before the button is up
    browser_page.wait_for_function("document.querySelector('.at-words button').textContent === 'a'")
    browser_page.evaluate(QUIET)
    browser_page.mouse.up()
    browser_page.wait_for_function("document.querySelector('.attn-drawer[data-open] .ad-query')?.textContent === 'dog'")


def test_the_frame_around_the_page_is_for_those_who_come_there_with_tab(browser_page: Any, app: Any) -> None:
    browser_page.mouse.click(*opened(browser_page, app))
    browser_page.locator(".attn-drawer[data-open]").wait_for()
    browser_page.keyboard.press("Shift")
    assert browser_page.evaluate("document.activeElement.matches('[data-testid=stMain]:focus-visible')")
    assert browser_page.evaluate(FRAME) == "none"
    browser_page.keyboard.press("Tab")
    browser_page.evaluate("document.querySelector('[data-testid=stMain]').focus()")
    assert browser_page.evaluate(FRAME) != "none"


def test_a_view_that_comes_back_on_a_slow_line_is_drawn(browser_page: Any, app: Any) -> None:
    browser_page.add_init_script(LINE)
    opened(browser_page, app, heads=1)
    box = browser_page.locator(IMAGE).bounding_box()

    def press(row: int) -> None:
        browser_page.mouse.click(box["x"] + 12, box["y"] + box["height"] * (row + 0.5) / 7)

    for row in (3, 4):  # the first view is then so old that Streamlit's default forgets it after one more
        press(row)
        browser_page.wait_for_function(f"location.search.includes('query={row + 1}&')")
        browser_page.evaluate(QUIET)
    browser_page.evaluate("window.late = []")
    press(5)
    browser_page.evaluate(ARRIVED)
    press(3)  # asked for before the browser knows that the run before has ended
    browser_page.evaluate(ARRIVED)
    browser_page.evaluate(LET_GO)
    browser_page.wait_for_function("location.search.includes('query=4&')")
    assert browser_page.locator("[data-test-connection-state=CONNECTED]").count() == 1
