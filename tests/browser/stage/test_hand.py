"""A hand that comes before the run of which it is, that has keys or a finger alone, or goes where nothing is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.browser.stage.test_held import PICTURE, Maps, check
from tests.browser_idle import FRAMES, QUIET, go_to

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
HOLDING = f"{PICTURE}.heatmap.holding"
IS_HELD = f"() => {HOLDING}.number.held !== null"
CAUSAL = "v=1&n_heads=4&mask=causal&sentence=the+king+saw+her+dog"
LATE = """async (frame) => { // what is typed and pressed comes before the run does
    const { fetch } = window;
    window.fetch = async (...asked) => {
        if (String(asked[0]).includes("attnviz/live?")) await new Promise((done) => (window.letCome = done));
        return fetch(...asked);
    };
}"""
COME = "() => window.letCome !== undefined && (window.letCome(), true)"


class Finger:
    """One finger on the screen of a phone."""

    def __init__(self, page: Any) -> None:
        self._session = page.context.new_cdp_session(page)

    def _say(self, kind: str, *at: tuple[float, float]) -> None:
        points = [{"x": x, "y": y} for x, y in at]
        self._session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def down(self, x: float, y: float) -> None:
        self._say("touchStart", (x, y))

    def to(self, x: float, y: float) -> None:
        self._say("touchMove", (x, y))

    def up(self) -> None:
        self._say("touchEnd")

    def stroke(self, x: float, y: float, right: float, down: float = 0, steps: int = 6) -> None:
        """Come down, and move so far."""
        self.down(x, y)
        for at in range(1, steps + 1):
            self.to(x + right * at / steps, y + down * at / steps)


def test_a_figure_is_typed_by_keys_alone_and_before_the_run_has_come(new_page: Callable[..., Any], app: Any) -> None:
    page = new_page(reduced_motion="reduce")
    maps = Maps(page, f"{app.url}/")
    page.evaluate(LATE)
    page.mouse.move(640, 5)
    page.locator("[data-stage=scores] .attn-focus").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.type("3.25")
    assert page.locator(".attn-field").input_value() == "3.25"
    page.keyboard.press("Enter")
    assert "edits=" not in page.url
    page.wait_for_function(COME)
    page.wait_for_url("**edits=scores.1.1.1.2~3.25**")
    held = maps.shown()
    assert held["scores"][0, 0, 1] == 3.25
    check(held, maps.run(), "typed before the run had come")
    page.go_back()
    page.wait_for_function("() => !location.search.includes('edits=')")
    page.evaluate(QUIET)
    x, y, _ = maps.cell("scores", 1, 2, 3)
    page.mouse.click(x, y)
    page.wait_for_url("**query=3**")
    page.evaluate(QUIET)
    for at in range(2):  # the second one in a run that the browser has kept, as it was before
        page.mouse.move(640, 5)
        page.keyboard.press("7")
        page.wait_for_function(COME)
        page.wait_for_function(f"() => {HOLDING}.number.isHeld")
        page.keyboard.press("Enter")
        page.wait_for_url("**edits=scores.1.2.3.4~7**")  # of the score that was clicked, and not of its weight
        page.wait_for_function(f"() => {HOLDING}.latest === 0")
        page.evaluate(QUIET)
        assert page.evaluate(f"() => {HOLDING}.run !== null"), f"what is held next is held in it: {at}"
        page.go_back()
        page.wait_for_function("() => !location.search.includes('edits=')")
        page.evaluate(QUIET)


def test_a_finger_holds_a_number_before_the_run_has_come_and_turns_no_page(
    new_page: Callable[..., Any], app: Any
) -> None:
    page = new_page(**PHONE)
    go_to(page, f"{app.url}/?{CAUSAL}")
    maps, finger = Maps(page), Finger(page)
    page.evaluate(LATE)
    x, y, was = maps.cell("weights", 0, 3, 1)
    finger.down(x, y)
    page.wait_for_function(f"() => {HOLDING}.number.pressed?.holds")
    page.wait_for_function(COME)
    page.wait_for_function(IS_HELD)
    for up in (4, 10, 20, 30):
        finger.to(x, y - up)
    page.evaluate(FRAMES, 2)
    held = maps.shown()
    assert held["weights"][0, 3, 1] > was + 0.1
    assert page.evaluate("() => document.querySelector('.stMain').scrollTop") == 0
    finger.up()
    page.wait_for_url("**edits=weights.1.1.4.2~**")
    page.evaluate(QUIET)
    box = page.locator("[data-knob=temperature]").bounding_box()
    finger.stroke(box["x"] + 20, box["y"] + 14, 90)
    finger.up()
    page.wait_for_url("**temperature=11.**")
    page.evaluate(QUIET)
    assert page.locator(".attn-name").inner_text().endswith("Weights"), "no page is turned"
