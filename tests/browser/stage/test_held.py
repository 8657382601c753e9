"""Numbers that are held in the maps: what they show before the hand lets go is the run of the link after it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.settings import url_codec
from tests.browser.stage.test_words_by_hand import says
from tests.browser_idle import FRAMES, QUIET, go_to

pytestmark = pytest.mark.browser

SETTINGS = (
    "sentence=the+cat+sat+on+the+warm+mat&n_heads=3&mask=causal&bias=alibi&temperature=0.8",
    "sentence=a+dog+slept+under+the+old+tree+while+it+rained+all+day&n_heads=8&normaliser=entmax&softcap=3&n_layers=2",
    "sentence=who+saw+him&n_heads=2&score=additive&mask=window&reach=1&n_kv_heads=1&d_v=5",
)
KNOBS = "sentence=the+cat+sat+on+the+warm+mat&n_heads=6&score=dot&mask=window&reach=1&bias=linear&temperature=0.5"
PICTURE = "document.querySelector('.st-key-explore [data-stage=weights]').picture"
SHOWN = """async () => {
    const { holding } = PICTURE.heatmap; // a slow machine leaves frames out, and draws the last one
    for (let n = 0; n < 2 || holding.frame; n++) await new Promise(requestAnimationFrame);
    return Object.fromEntries([...document.querySelectorAll('.st-key-explore [data-stage]')].map((each) => {
    const { stage, heatmap } = each.picture;
    const hidden = (at) => stage.mask?.[stage.isShared ? at % (stage.shape[1] * stage.shape[2]) : at];
    const numbers = [...stage.values].map((number, at) => (hidden(at) ? 'masked' : String(number)));
    return [stage.name, { shape: stage.shape, numbers }];
}))}""".replace("PICTURE", PICTURE)
PARTS = ".st-key-explore :is(.attn-cells > div, .attn-box, .attn-stage)"
BOXES = f"""() => [...document.querySelectorAll('{PARTS}')].map((each) => {{
    const {{ left, top, width, height }} = each.getBoundingClientRect();
    return [left, top, width, height];
}})"""
CELL = """([name, head, row, column]) => {
    const { picture } = document.querySelector(`.st-key-explore [data-stage=${name}]`);
    const { left, top } = picture.layer.getBoundingClientRect(), [x, y, w, h] = picture.cells(head, row, column);
    return [left + x + w / 2, top + y + h / 2, picture.value({ head, row, column })];
}"""
OVER_WORDS = """() => {
    const a = document.querySelector('.attn-hold span').getBoundingClientRect();
    const words = [...document.querySelectorAll('.attn-head :is(.attn-phrase, .attn-formula, .attn-name, button)')];
    const meets = (b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    return words.filter((each) => meets(each.getBoundingClientRect())).map((each) => each.textContent);
}"""
"""What stands in headings under what a number was."""
NOTED = """() => [...document.querySelectorAll("[data-stage=weights] text[data-head]:has(tspan)")].map(
    (name) => Number(name.dataset.head))"""
"""The heads beside which it is said what they do."""
IS_READY = f"() => {PICTURE}.heatmap.holding.run?.address === {PICTURE}.heatmap.data.live.address"
IS_ANSWERED = f"() => {PICTURE}.heatmap.holding.latest === 0"
IS_ASKED_FOR = f"() => {PICTURE}.heatmap.preview.stages && !{PICTURE}.heatmap.ahead.isAsking"


class Maps:
    """The maps of a setting on a page, and the hand over them."""

    def __init__(self, page: Any, address: str = "", *, is_at_rest: bool = False) -> None:
        self.page = page
        if address:
            page.goto(address)
        page.wait_for_function("document.querySelectorAll('.st-key-explore .attn-layer svg path').length > 1")
        if not is_at_rest:
            page.evaluate(QUIET)
        self.boxes = page.evaluate(BOXES)

    def shown(self) -> dict[str, np.ndarray]:
        """The numbers of each map once what was done last is drawn, NaN where they are masked."""
        found = self.page.evaluate(SHOWN)
        as_number = {"masked": "nan", "Infinity": "inf", "-Infinity": "-inf"}
        return {
            name: np.array([float(as_number.get(text, text)) for text in each["numbers"]]).reshape(each["shape"])
            for name, each in found.items()
        }

    def cell(self, *place: Any) -> list[float]:
        return list(self.page.evaluate(CELL, list(place)))

    def point(self, x: float, y: float) -> None:
        """Rest on a point until what follows from it can be computed."""
        self.page.mouse.move(x, y)
        self.page.mouse.move(x, y + 1)
        self.page.wait_for_function(IS_READY)

    def run(self) -> dict[str, np.ndarray]:
        """The numbers of the link once the server has confirmed what was let go of."""
        self.page.wait_for_function(IS_ANSWERED)
        self.page.evaluate(QUIET)
        (config, *_), problems = url_codec.open_link(self.page.url.partition("?")[2], Config)
        assert problems == []
        steps = run(config).layers[0]
        forbidden = np.isneginf(steps["masked"].array)
        arrays = {name: np.array(steps[name].array, float) for name in ("scores", "weights", "heads")}
        return {name: np.where(forbidden, np.nan, each) if name != "heads" else each for name, each in arrays.items()}


def check(shown: dict[str, np.ndarray], wanted: dict[str, np.ndarray], why: str) -> None:
    """What was shown is what a run records, to the digits that hold through it."""
    assert {*shown} == {*wanted}, why
    for name, numbers in wanted.items():
        scale = float(np.abs(numbers[np.isfinite(numbers)]).max(initial=1.0))
        np.testing.assert_allclose(shown[name], numbers, rtol=0, atol=1e-9 * scale, err_msg=f"{why}: {name}")


def test_what_is_held_is_shown_as_a_run_would_have_it(new_page: Callable[..., Any], app: Any) -> None:
    dice = random.Random(31)  # noqa: S311 - nothing secret
    page = new_page()
    for at, setting in enumerate(SETTINGS):
        maps = Maps(page, f"{app.url}/?{setting}")
        before = maps.shown()
        for name in ("scores", "weights") if at == 0 else (dice.choice(("scores", "heads")),):
            head, row, column = dice.choice(np.argwhere(np.isfinite(before[name])).tolist())
            x, y, was = maps.cell(name, head, row, column)
            maps.point(x, y)
            assert "ns-resize" in page.evaluate(
                f"() => document.querySelector('[data-stage={name}] .attn-box').style.cursor"
            )
            noted = page.evaluate(NOTED)
            assert head in noted
            page.mouse.down()
            page.mouse.move(x, y - 40 if was <= before[name][np.isfinite(before[name])].mean() else y + 40, steps=4)
            held, boxes = maps.shown(), page.evaluate(BOXES)
            assert boxes == maps.boxes, "no map moves while a number is held"
            assert held[name][head, row, column] != before[name][head, row, column]
            assert page.locator(".attn-hold").inner_text().startswith("was ")
            rail = page.locator(".attn-hold").bounding_box()
            assert rail["x"] > x, "the rail leaves the number to be seen"
            if name == "weights":
                sum_of_row = held[name][head, row, : row + 1].sum()
                assert page.locator("[data-stage=weights] .attn-total").text_content().endswith(f"{sum_of_row:.2f}")
                assert page.evaluate(NOTED) == [each for each in noted if each != head], "it does what it did no more"
            assert page.evaluate("String(getSelection())") == "", "a drag selects no words"
            page.mouse.up()
            check(maps.shown(), held, "what was let go of stays")
            check(held, maps.run(), f"{setting}: {name} {head, row, column}")
            check(maps.shown(), held, "the server draws the same")
            assert page.evaluate(BOXES) == maps.boxes
            assert "edits=" in page.url
            before = held
    maps.point(x, y)
    page.keyboard.press("Control+a")
    assert page.evaluate("String(getSelection())"), "words that are selected are no obstacle"
    page.mouse.down()
    page.mouse.move(x, y - 30, steps=4)
    page.evaluate(FRAMES, 2)
    assert page.locator(".attn-hold").is_visible()
    page.keyboard.press("Escape")
    page.mouse.up()
    check(maps.shown(), before, "Escape takes it back")
    page.go_back()
    page.wait_for_function("() => !location.search.includes('edits=')")


PLACE = "(each) => { const { left, top, right } = each.getBoundingClientRect(); return [left, top, right]; }"


def test_a_mask_is_painted_on_the_weights(new_page: Callable[..., Any], app: Any) -> None:
    dice = random.Random(7)  # noqa: S311 - nothing secret
    page = new_page()
    maps = Maps(page, f"{app.url}/?{SETTINGS[0].replace('&mask=causal', '')}")
    paint = page.locator("[data-stage=weights] .attn-paint")
    paint.click()
    pressed = paint.evaluate(PLACE)
    maps.point(*maps.cell("weights", 1, 3, 0)[:2])
    assert page.evaluate("() => document.querySelector('[data-stage=weights] .attn-box').style.cursor") == "cell"
    for _ in range(2):
        before = np.isnan(maps.shown()["weights"])
        row, column = dice.randrange(7), dice.randrange(7)
        (x, y, _), (to_x, to_y, _) = maps.cell("weights", 1, row, column), maps.cell("weights", 1, 6 - row, 6 - column)
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(to_x, to_y, steps=5)
        held = maps.shown()
        assert page.evaluate(BOXES) == maps.boxes
        hidden = np.isnan(held["weights"])
        assert hidden[0, row, column] != before[0, row, column]
        assert hidden[2, 6 - row, 6 - column] == hidden[0, row, column], "of all heads, to the end of the stroke"
        page.mouse.up()
        check(held, maps.run(), f"painted from {row, column}")
        assert page.locator("[data-stage=weights] .attn-hatched").count() == 1
        assert paint.evaluate(PLACE) == pressed, "where it is pressed once more"
    for key, way in (("Shift", np.ix_(range(1, 4), range(2, 6))), ("Alt", (np.arange(2, 7), np.arange(5)))):
        before = np.isnan(maps.shown()["weights"][1])
        (x, y, _), (to_x, to_y, _) = maps.cell("weights", 1, 3, 2), maps.cell("weights", 1, 1, 5)
        if key == "Alt":
            to_x, to_y, _ = maps.cell("weights", 1, 4, 2)
        page.mouse.move(x, y)
        page.keyboard.down(key)
        page.mouse.down()
        page.mouse.move(to_x, to_y, steps=4)
        page.mouse.up()
        page.keyboard.up(key)
        wanted = before.copy()
        wanted[way] = not before[3, 2]
        held = maps.shown()
        assert np.array_equal(np.isnan(held["weights"][1]), wanted), key
        check(held, maps.run(), f"with {key}")
    x, y, _ = maps.cell("weights", 0, 4, 0)
    page.mouse.click(x - 30, y)  # the word of the row
    held = maps.shown()
    assert len({*np.isnan(held["weights"])[:, 4].ravel().tolist()}) == 1
    page.locator("[data-stage=weights] .attn-focus").focus()
    page.keyboard.press("Space")
    check(maps.shown(), maps.run(), "by its word, and by the keyboard")
    assert "mask=custom" in page.url
    page.evaluate("() => document.activeElement.blur()")
    page.keyboard.press("Escape")
    assert paint.get_attribute("aria-pressed") == "false", "one step back"
    assert page.evaluate("() => document.activeElement === document.body")
    paint.click()
    assert (paint.get_attribute("aria-pressed"), paint.evaluate("(each) => each.matches(':focus')")) == ("true", True)


def test_a_number_over_the_weights_is_moved_and_one_of_a_cell_typed(new_page: Callable[..., Any], app: Any) -> None:
    page = new_page(reduced_motion="reduce")
    maps = Maps(page, f"{app.url}/?{KNOBS}")
    maps.point(*maps.cell("weights", 0, 1, 1)[:2])
    names = page.evaluate("() => [...document.querySelectorAll('.attn-knob')].map((each) => each.dataset.knob)")
    assert names == ["temperature", "d_k", "reach", "bias_slope", "scale", "d_v", "n_heads"]
    for name, by in (("temperature", 30), ("reach", 20)):
        handle = page.locator(f"[data-knob={name}]")
        if name == "reach":
            page.locator(".attn-others").click()  # it has no room beside the others
        box = handle.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + by, y, steps=3)
        held = maps.shown()
        assert page.evaluate(BOXES) == maps.boxes
        assert page.locator(".attn-hold").inner_text().startswith("was ")
        assert page.evaluate(OVER_WORDS) == [], "it covers no words"
        page.mouse.up()
        check(held, maps.run(), name)
    assert "temperature=1.13" in page.url
    assert "reach" not in page.url, "2 is the default"
    held = asked_for(maps, page.locator("[data-knob=d_k]"))
    handle.hover()
    page.wait_for_function(IS_READY)
    handle.focus()
    page.keyboard.press("ArrowLeft")
    page.evaluate(FRAMES, 2)
    assert handle.get_attribute("aria-valuenow") == "1"
    page.keyboard.press("Escape")
    page.evaluate(FRAMES, 2)
    assert handle.get_attribute("aria-valuenow") == "2"
    check(maps.shown(), held, "Escape takes it back")
    page.locator("[data-stage=scores] .attn-focus").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.type("-1.5")
    held = maps.shown()
    assert held["scores"][0, 0, 1] == -1.5
    page.keyboard.press("Enter")
    check(held, maps.run(), "typed")
    assert "edits=scores.1.1.1.2~-1.5" in page.url


def linked(page: Any, **other: Any) -> Config:
    """The setting of the link, but for what is held."""
    (config, *_), _ = url_codec.open_link(page.url.partition("?")[2], Config)
    return replace(config, **other)


def asked_for(maps: Maps, handle: Any) -> dict[str, np.ndarray]:
    """Hold the width of queries and keys, of which the server is asked, and return the maps once it is kept."""
    page, before = maps.page, maps.shown()
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for is_kept in (False, True):
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 30, y, steps=3)
        page.wait_for_function(IS_ASKED_FOR)
        held = maps.shown()
        assert page.locator(".attn-hold").inner_text() == "was 4"
        assert page.evaluate(BOXES) == maps.boxes
        assert "d_k" not in page.url
        assert "× 6" in " ".join(says(page, linked(page, d_k=6))), "the path and the sentence follow"
        if is_kept:
            page.mouse.up()
        else:
            page.keyboard.press("Escape")
            page.mouse.up()
            check(maps.shown(), before, "Escape takes it back")
    page.wait_for_url("**d_k=6**")
    check(held, maps.run(), "d_k")
    check(maps.shown(), held, "the server draws the same")
    return held


WIDE = "() => [document.documentElement, document.querySelector('.stMain')].map((each) => each.scrollWidth)"
COVERED = """() => {
    const boxes = (query) => [...document.querySelectorAll(`.st-key-explore [data-stage=weights] ${query}`)]
        .map((each) => ({ text: each.textContent, box: each.getBoundingClientRect() }));
    const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    const words = boxes(".attn-layer text");
    return boxes(".attn-switch").map(({ box }) => words.filter((word) => meet(word.box, box)).map(({ text }) => text));
}"""
"""For each button that switches a head off, the words that it covers."""


def test_on_a_phone_a_head_is_switched_beside_its_words_and_a_finger_moves_a_number(
    new_page: Callable[..., Any], app: Any
) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    words = "+".join(["king", "saw", "her", "dog"] * 3)
    go_to(page, f"{app.url}/?v=1&n_heads=8&mask=causal&sentence={words}")
    page.locator(".attn-switch").nth(7).wait_for()
    assert page.evaluate(COVERED) == [[]] * 8
    handle = page.locator("[data-knob=temperature]")
    handle.tap()  # the first touch asks for the run, too
    field = page.locator(".attn-field")
    field.wait_for()
    page.keyboard.type("2.5")
    page.evaluate(FRAMES, 2)
    assert handle.inner_text() == "T 2.5"
    assert page.evaluate(WIDE) == [390, 390], "nothing scrolls sideways"
    field.press("Enter")
    page.wait_for_url("**temperature=2.5**")
    page.evaluate(QUIET)
    box, touch = handle.bounding_box(), page.context.new_cdp_session(page)
    for at in range(4):
        point = {"x": box["x"] + 15 - 20 * at, "y": box["y"] + 14}
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove" if at else "touchStart", "touchPoints": [point]})
    page.wait_for_function(f"() => {PICTURE}.heatmap.holding.setting.value < 2")
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_function("() => /temperature=0[.]/.test(location.search)")
