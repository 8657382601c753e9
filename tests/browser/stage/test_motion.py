"""▶ shows how a cell comes to be: in the browser alone, within the window, by hand and step by step."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.stage.test_drawer import MEASURED, OPEN
from tests.browser.stage.test_stage import DESK, PHONE, Page
from tests.browser_idle import QUIET
from tests.support.cases import for_each

pytestmark = pytest.mark.browser

CELL = "head=3&query=6&key=3"
AT = "document.querySelector('.ad-motion')?.dataset.at === '{}'"
INSIDE = """() => {
    const drawer = document.querySelector('.attn-drawer').getBoundingClientRect();
    return [...document.querySelectorAll('.ad-motion > *, .ad-controls > *')].every((element) => {
        const { left, top, right, bottom } = element.getBoundingClientRect();
        return left >= drawer.left && right <= drawer.right + 0.5 && top >= drawer.top && bottom <= innerHeight + 0.5;
    });
}"""
QUICK = """(() => {
    const ask = requestAnimationFrame.bind(window);
    let waiting = 0;
    window.most = 0;
    window.requestAnimationFrame = (call) => {
        if (call.name !== "step") return ask(call);
        window.most = Math.max(most, ++waiting);
        return ask((now) => (waiting--, call(3 * now)));
    };
})()"""
"""Time passes three times as fast for what plays; `most` is how often it was asked for a frame at a time."""
PIXELS = "document.querySelector('.ad-motion canvas').toDataURL()"
CELLS = "document.querySelector('.st-key-explore .attn-canvas').toDataURL()"


@for_each("size", [DESK, PHONE])
def test_a_press_plays_the_cell_in_the_window_and_asks_the_server_nothing(
    new_page: Callable[..., Any], app: Any, size: tuple[int, int]
) -> None:
    page = new_page(viewport={"width": size[0], "height": size[1]}, instead=True)
    sent: list[str] = []
    page.on("request", lambda request: request.resource_type == "font" or sent.append(request.url))
    page.on("websocket", lambda socket: socket.on("framesent", lambda _: sent.append(socket.url)))
    page.goto(f"{app.url}/?{CELL}")
    page.wait_for_selector(OPEN)
    page.evaluate(QUIET)
    sent.clear()
    page.locator(".ad-play").click()
    page.wait_for_function(AT.format(1))
    assert page.evaluate(INSIDE)
    assert page.evaluate("document.activeElement.className") == "ad-stops"
    page.keyboard.press(" ")
    assert page.locator(".ad-motion").get_attribute("data-playing") == "false"
    at = int(page.locator(".ad-motion").get_attribute("data-at"))
    page.keyboard.press("ArrowRight")
    page.wait_for_function(AT.format(at + 1))
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(AT.format(at))
    page.keyboard.press("Escape")
    page.wait_for_selector(".ad-motion", state="detached")
    assert page.evaluate(MEASURED)["lines"], "the lines are there again"
    assert page.evaluate("document.activeElement.className") == "ad-play"
    assert sent == []


def test_a_cell_that_is_pressed_again_still_plays(new_page: Callable[..., Any], app: Any) -> None:
    page = new_page(viewport={"width": DESK[0], "height": DESK[1]}, instead=True)
    page.goto(f"{app.url}/?{CELL}")
    page.wait_for_selector(OPEN)
    page.evaluate(QUIET)
    cell = page.locator(".st-key-explore [data-stage=weights] .attn-ring").first.bounding_box()
    for _ in range(2):
        page.mouse.click(cell["x"] + cell["width"] / 2, cell["y"] + cell["height"] / 2)
        page.evaluate(QUIET)
    page.locator(".ad-play").click()
    page.wait_for_function(AT.format(1))


def test_a_link_starts_it_and_it_ends_at_the_output(new_page: Callable[..., Any], app: Any) -> None:
    page = new_page()
    page.add_init_script(QUICK)
    page.goto(f"{app.url}/?{CELL}&play=yes&score=additive&normaliser=sparsemax")
    page.wait_for_selector(".ad-motion[data-playing=true]")
    last = page.locator(".ad-stops").get_attribute("max")
    page.wait_for_function(f"{AT.format(last)} && document.querySelector('.ad-motion').dataset.playing === 'false'")
    assert page.evaluate("most") == 1, "it would go faster from stop to stop"
    assert page.locator(".ad-toggle").get_attribute("data-action") == "again"
    assert "output" in page.locator(".ad-caption").inner_text()
    page.locator(".attn-opening button").nth(1).click()
    page.wait_for_function("document.querySelector('.attn-drawer h2')?.textContent === 'cat'")
    page.wait_for_function("!/play=/.test(location.search)")
    assert page.locator(".ad-motion").count() == 0


def test_where_motion_is_not_wanted_it_goes_from_stop_to_stop(new_page: Callable[..., Any], app: Any) -> None:
    page = new_page(reduced_motion="reduce")
    page.goto(f"{app.url}/?{CELL}&play=yes")
    page.wait_for_selector(".ad-motion")
    assert page.locator(".ad-motion").get_attribute("data-playing") == "false"
    seen = []
    for at in range(1, 4):
        page.keyboard.press("ArrowRight" if at % 2 else " ")
        assert page.locator(".ad-motion").get_attribute("data-at") == str(at)
        seen.append(page.evaluate(PIXELS))
        assert page.evaluate(PIXELS) == seen[-1], "nothing moves"
    assert len({*seen}) == 3


@for_each("motion, glides", [("no-preference", True), ("reduce", False)])
def test_colours_glide_between_settings_of_one_shape(
    new_page: Callable[..., Any], app: Any, motion: str, glides: bool
) -> None:
    page = Page(new_page, app, DESK, reduced_motion=motion)
    page.measured(4, 7, 4)
    before = page.page.evaluate(CELLS)
    page.page.evaluate(
        """() => { window.old = 0; new MutationObserver((all) => all.forEach(({ addedNodes }) => {
            for (const node of addedNodes) window.old += node.className === "attn-old";
        })).observe(document.body, { subtree: true, childList: true }); }"""
    )
    page.page.locator("[data-testid=stNumberInputStepUp]").first.click()
    page.page.wait_for_function(f"(was) => {CELLS} !== was", arg=before)
    page.page.evaluate(QUIET)
    assert (page.page.evaluate("window.old") >= 1) == glides
    page.page.wait_for_function("!document.querySelector('.attn-old')")


def test_temperatures_pass_by_themselves_and_where_they_are_stopped_is_the_setting(browser_page: Any, app: Any) -> None:
    page = browser_page
    page.goto(f"{app.url}/?v=1&sentence=the+cat+sat")
    page.get_by_role("button", name="▶ Temperatures").click()
    passing = page.get_by_role("button", name=re.compile(r"^■ Temperature (?!0\.1$)"))  # a slow browser may miss some
    passing.wait_for()
    assert page.url.endswith("/?v=1&sentence=the+cat+sat")
    seen = float(passing.inner_text().split()[-1])
    passing.click()
    page.get_by_role("button", name="▶ Temperatures").wait_for()
    page.wait_for_function("location.search.includes('temperature=')")
    said = parse_qs(urlsplit(page.url).query)
    assert said["sentence"] == ["the cat sat"]
    assert seen <= float(said["temperature"][0]) <= 5
