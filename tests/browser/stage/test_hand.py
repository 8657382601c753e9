"""A hand that comes before the run of which it is, that has keys or a finger alone, or goes where nothing is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.browser.stage.test_held import BOXES, PICTURE, check
from tests.browser.stage.test_held import Maps as MapsOfARun
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


class Maps(MapsOfARun):
    """The maps, which stay where they are whatever a hand does."""

    def at_rest(self) -> dict[str, np.ndarray]:
        """The numbers of each map once the server has answered."""
        self.page.wait_for_function(f"() => {HOLDING}.latest === 0")
        self.page.evaluate(QUIET)
        return self.shown()

    def top(self, stage: str) -> float:
        y = self.page.evaluate(
            f"() => document.querySelector('[data-stage={stage}] .attn-box').getBoundingClientRect().top"
        )
        return float(y)

    def boxes_are_where_they_were(self) -> None:
        assert self.page.evaluate(BOXES) == self.boxes


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
    maps.point(*maps.cell("weights", 0, 4, 4)[:2])  # whose tip says that a number can be typed
    page.keyboard.type(".5")
    assert page.locator(".attn-field").input_value() == ".5"
    page.keyboard.press("Enter")
    page.wait_for_url("**edits=weights.1.1.5.5~0.5**")


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
    heading = "() => document.querySelector('.attn-head').clientHeight"
    assert page.evaluate(heading) == 40 + 2 * 32, "two lines of handles, as there is room"
    page.touchscreen.tap(*maps.cell("weights", 0, 3, 1)[:2])
    page.wait_for_selector(".attn-drawer[data-open]")
    page.evaluate(QUIET)
    assert page.evaluate(heading) == 40 + 2 * 32, "an answer takes none of it"


SEEN_HANDLES = """() => [...document.querySelectorAll('.st-key-explore .attn-knob')].map((each) => {
    const { left, top, right, bottom } = each.getBoundingClientRect();
    const points = [[left + 2, top + 2], [right - 2, bottom - 2], [(left + right) / 2, (top + bottom) / 2]];
    const seen = points.filter(([x, y]) => document.elementFromPoint(x, y)?.closest('.attn-knob') === each);
    return [each.dataset.knob, seen.length / points.length];
})"""
HEADING = """() => [...document.querySelectorAll('[data-stage=weights] :is(.attn-legend, .attn-paint, .attn-formula)')]
    .every((each) => {
        const { left, top, right, bottom } = each.getBoundingClientRect();
        const box = each.closest('.attn-head > div').getBoundingClientRect();
        const head = each.closest('.attn-head').getBoundingClientRect();
        return left >= box.left && right <= box.right + 1 && top >= head.top && bottom <= head.bottom + 2;
    })"""
CROWDED = (
    "sentence=the+cat+sat+on+the+mat&n_heads=2",
    "mask=causal&bias=linear&bias_slope=0.5",
    "mask=window&reach=2&bias=alibi&temperature=0.8&softcap=3&normaliser=entmax",
)


def test_every_handle_is_reached_and_says_that_it_is_dragged(new_page: Callable[..., Any], app: Any) -> None:
    page = new_page(reduced_motion="reduce")
    for setting in CROWDED:
        go_to(page, f"{app.url}/?v=1&{setting}")
        maps = Maps(page)
        seen = dict(page.evaluate(SEEN_HANDLES))
        assert {*seen.values()} == {0, 1}, f"none is half seen: {seen}"
        assert page.evaluate(HEADING), setting
        assert page.locator("[data-stage=weights] .attn-formula").first.inner_text().startswith(("softmax", "entmax"))
        page.locator(".attn-others").click()
        assert {*dict(page.evaluate(SEEN_HANDLES)).values()} == {1}, setting
        for leave in (lambda: page.mouse.click(640, 5), lambda: page.keyboard.press("Escape")):
            leave()
            assert {*dict(page.evaluate(SEEN_HANDLES)).values()} == {0, 1}
            page.locator(".attn-others").click()
        page.keyboard.press("Escape")
        for name in (each for each in seen if not seen[each]):
            page.locator(f'[data-knob="{name}"]').focus()
            assert dict(page.evaluate(SEEN_HANDLES))[name] == 1, f"{name} with the keyboard"
        assert page.evaluate("() => document.querySelector('[data-stage=weights] .attn-handles').scrollTop") == 0
        maps.boxes_are_where_they_were()
    handle = page.locator("[data-knob=temperature]")
    handle.hover()
    arrows = "(each) => [getComputedStyle(each, '::before').opacity, getComputedStyle(each).cursor]"
    assert handle.evaluate(arrows) == ["1", "ew-resize"]
    page.mouse.down()
    page.mouse.move(640, 400)
    assert page.evaluate("() => getComputedStyle(document.elementFromPoint(640, 400)).cursor") == "ew-resize"
    page.keyboard.press("Escape")
    page.mouse.up()
    maps.point(*maps.cell("weights", 0, 3, 1)[:2])
    grip, (_, y, _) = page.locator(".attn-grip").bounding_box(), maps.cell("weights", 0, 3, 1)
    assert grip["y"] < y < grip["y"] + grip["height"], "a cell that is dragged up and down is marked"
    page.mouse.move(640, 5)
    assert page.locator(".attn-grip").count() == 0


def test_what_is_typed_and_not_understood_is_said_and_not_kept(new_page: Callable[..., Any], app: Any) -> None:
    page = new_page(reduced_motion="reduce")
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    maps, field, said = Maps(page, f"{app.url}/"), page.locator(".attn-field"), page.locator(".attn-misread")
    before, address = maps.shown(), page.url
    page.locator("[data-stage=scores] .attn-focus").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("3")
    page.wait_for_function(f"() => {HOLDING}.number.isHeld")
    for text in ("1e400", "1.2.3", "5e", "abc"):
        field.fill(text)
        page.evaluate(FRAMES, 2)
        assert (field.get_attribute("aria-invalid"), said.inner_text()) == (
            "true",
            "This is no number, so nothing is kept.",
        )
        check(maps.shown(), before, f"nothing of {text} is shown")
        page.keyboard.press("Enter")
        assert field.input_value() == text
    field.fill("-")
    assert field.get_attribute("aria-invalid") == "false", "a number that is begun is none that is wrong"
    field.fill("1e40")
    page.evaluate(FRAMES, 2)
    assert said.count() == 0
    assert page.locator(".attn-hold svg").bounding_box()["y"] >= maps.top("scores"), "it stays on the map"
    page.keyboard.press("Escape")
    for name, text, why in (
        ("d_k", "9999", "It goes from 1 to 64; nothing else is kept."),
        ("d_k", "2.5", "Only a whole number is kept."),
        ("temperature", "0", "It goes from 0.01 to 100; nothing else is kept."),
    ):
        page.locator(f'[data-knob="{name}"]').focus()
        page.wait_for_function(f"() => {HOLDING}.run !== null")
        page.keyboard.type(text)
        page.keyboard.press("Enter")
        assert said.inner_text() == why
        page.keyboard.press("Escape")
    page.evaluate(QUIET)
    assert (page.url, errors) == (address, [])


def test_what_was_changed_by_hand_is_taken_back_and_done_again_one_by_one(
    new_page: Callable[..., Any], app: Any
) -> None:
    page = new_page(reduced_motion="reduce")
    maps = Maps(page, f"{app.url}/?{CAUSAL}")
    pictures = [maps.shown()]
    page.locator("[data-stage=scores] .attn-focus").focus()
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    page.wait_for_url("**edits=scores.1.1.1.1~2**")
    pictures.append(maps.at_rest())
    page.locator("[data-stage=weights] .attn-paint").click()
    x, y, _ = maps.cell("weights", 0, 4, 0)
    maps.point(x, y)
    assert page.locator(".attn-tip").inner_text().endswith("with Shift a block, with Alt or Ctrl+Shift a diagonal")
    page.mouse.click(x - 30, y)  # the word of the row
    page.wait_for_url("**mask=custom**")
    pictures.append(maps.at_rest())
    assert np.isnan(pictures[2]["weights"][0, 4]).all()
    maps.boxes_are_where_they_were()
    page.get_by_text("Row 5 has nothing to attend to").wait_for()
    assert page.evaluate(HEADING)
    page.keyboard.down("Control")
    page.keyboard.down("Shift")
    x, y, _ = maps.cell("weights", 1, 2, 0)
    page.mouse.move(x, y)
    page.wait_for_function(f"() => {HOLDING}.run !== null")
    page.mouse.down()
    page.mouse.up()
    page.keyboard.up("Shift")
    page.keyboard.up("Control")
    maps.at_rest()
    assert np.isnan(maps.shown()["weights"][0, (2, 3), (0, 1)]).all(), "a diagonal"
    for keys, picture in (("Control+z", 2), ("Control+z", 1), ("Control+z", 0), ("Control+Shift+z", 1)):
        page.keyboard.press(keys)
        check(maps.at_rest(), pictures[picture], keys)
    assert "mask=causal" in page.url


def test_a_mask_is_painted_with_a_finger(new_page: Callable[..., Any], app: Any) -> None:
    page = new_page(**PHONE)
    go_to(page, f"{app.url}/?{CAUSAL}")
    maps, finger = Maps(page), Finger(page)
    names = page.evaluate("() => [...document.querySelectorAll('.attn-knob')].map((each) => each.dataset.knob)")
    assert {"n_heads", "d_v"} <= {*names}
    page.evaluate(LATE)
    button = page.locator(".attn-paint")
    assert button.bounding_box()["height"] >= 28
    button.tap()
    x, y, _ = maps.cell("weights", 0, 1, 0)
    to_x, to_y, _ = maps.cell("weights", 0, 4, 3)
    finger.down(x, y)  # before the run has come
    page.wait_for_function(COME)
    page.wait_for_function(f"() => {HOLDING}.mask.isHeld")
    for part in (0.25, 0.5, 0.75, 1):
        finger.to(x + part * (to_x - x), y + part * (to_y - y))
    held = maps.shown()
    assert np.isnan(held["weights"][0, (1, 2, 3, 4), (0, 1, 2, 3)]).all()
    finger.up()
    page.wait_for_url("**mask=custom**")
    check(maps.at_rest(), held, "it is kept")
    (x, y, _), (to_x, _, _) = maps.cell("weights", 0, 2, 0), maps.cell("weights", 0, 2, 4)
    page.wait_for_function(f"() => {HOLDING}.run !== null")
    finger.stroke(x, y, to_x - x)
    finger.up()
    maps.at_rest()
    assert page.evaluate("() => document.querySelector('.stMain').scrollTop") == 0
    assert page.locator(".attn-name").inner_text().endswith("Weights"), "no page is turned"
