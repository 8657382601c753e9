"""The pictures as a person uses them: looking, pointing, choosing, by keyboard, on a phone, in print."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from attnviz.text.format.number_format import short
from tests.browser_idle import QUIET
from tests.support.cases import for_each

pytestmark = pytest.mark.browser

DRAWN = "document.querySelectorAll('.attn-layer svg path').length >= 3"
PIXELS = """[...document.querySelectorAll('.attn-cells')].map((cells) => {
    const canvas = document.querySelector('.attn-canvas');
    const [box, all] = [cells, canvas].map((each) => each.getBoundingClientRect());
    const at = [box.x - all.x, box.y - all.y, box.width, box.height];
    return canvas.getContext('2d').getImageData(...at).data.join();
})"""
"""The pixels of each map."""
COUNTED = """() => {
    window.painted = 0;
    const { putImageData } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.putImageData = function (...given) {
        window.painted++;
        putImageData.apply(this, given);
    };
}"""
"""Count how often a map is drawn, in `painted`."""


@pytest.fixture(scope="module")
def url(server: Callable[..., Any]) -> str:
    return str(server("tests/browser/scripts/mosaic.py").url)


class Mosaic:
    """The page with three pictures, as its address asks for them."""

    def __init__(self, page: Any, url: str, query: str = "") -> None:
        self.page = page
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.goto(f"{url}/?{query}")
        page.wait_for_function(DRAWN)
        self.settled()
        self.tip, self.live = page.locator(".attn-tip"), page.locator(".attn-live")

    def settled(self) -> None:
        self.page.evaluate(QUIET)

    def picture(self, name: str) -> Any:
        return self.page.locator(f".st-key-mosaic [data-stage={name}]")

    def words(self, name: str) -> list[str]:
        """What is written over a picture, without what its axes are called."""
        texts = self.picture(name).locator(".attn-layer svg >> nth=0").locator("text")
        script = "(all) => all.filter((text) => !text.closest('.attn-axes')).map((text) => text.textContent)"
        return list(texts.evaluate_all(script))

    def image(self, name: str) -> dict[str, float]:
        """Where the heat map is; while a chart is being drawn anew it has none, so ask until it has one."""
        image = self.picture(name).locator(".attn-cells")
        while not (box := image.bounding_box()):
            self.page.wait_for_function(DRAWN)
        return dict(box)

    def meta(self, name: str) -> dict[str, Any]:
        script = "(chart) => chart.picture.meta"
        return dict(self.picture(name).evaluate(script))

    def edges(self, name: str) -> tuple[list[float], list[float]]:
        """The edges of all cells and gutters, as the picture was laid out."""
        script = "(chart) => [[...chart.picture.tiling.x], [...chart.picture.tiling.y]]"
        x, y = self.picture(name).evaluate(script)
        return x, y

    def centre(self, name: str, head: int, row: int, column: int) -> tuple[float, float]:
        """The middle of a cell on the screen, from the position of the image and the layout alone."""
        image, meta, (x, y) = self.image(name), self.meta(name), self.edges(name)
        columns, rows = max(meta["widths"]) + 1, -(-len(meta["rows"]) // meta["block"][0]) + 1
        at_x, at_y = (head % meta["across"]) * columns + column, (head // meta["across"]) * rows + row
        return (
            image["x"] + (x[at_x] + x[at_x + 1]) / 2 * image["width"] / x[-1],
            image["y"] + (y[at_y] + y[at_y + 1]) / 2 * image["height"] / y[-1],
        )

    def point(self, name: str, head: int, row: int, column: int) -> list[str]:
        """Point at a cell; the lines of the tip."""
        self.page.mouse.move(*self.centre(name, head, row, column))
        self.tip.wait_for()
        return [line.inner_text() for line in self.tip.locator("div").all()]

    def chosen(self, text: str) -> None:
        """Wait until the page says what has been chosen."""
        self.page.get_by_text(f"picked {text}").wait_for()

    def pixels(self) -> np.ndarray:
        from PIL import Image

        return np.asarray(Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")).astype(int)


@pytest.fixture
def open_at(browser_page: Any, url: str) -> Callable[..., Mosaic]:
    return lambda query="": Mosaic(browser_page, url, query)


def tokens(count: int) -> list[str]:
    return (["the", "cat", "sat", "on", "the", "warm", "mat", "while", "a", "dog", "slept", "under"] * 6)[:count]


@for_each(
    "query, cell",
    [
        ("heads=4&rows=7", (3, 5, 2)),
        ("heads=3&rows=5&keys=9", (2, 4, 8)),
        ("heads=8&rows=12", (5, 0, 11)),
        ("heads=2&rows=40", (1, 30, 0)),
        ("heads=1&rows=3", (0, 1, 2)),
    ],
)
def test_the_words_stand_beside_the_pixels_they_name(
    open_at: Callable[..., Mosaic], query: str, cell: tuple[int, int, int]
) -> None:
    mosaic = open_at(f"{query}&one={'.'.join(map(str, cell))}")
    image = mosaic.image("scores")
    pixels = mosaic.pixels()[int(image["y"]) : int(image["y"] + image["height"]), int(image["x"]) :]
    pixels = pixels[:, : int(image["width"])]
    ys, xs = np.nonzero((abs(pixels - (0x2A, 0x5E, 0xA8)) < 6).all(-1))
    middle = image["x"] + xs.mean() + 0.5, image["y"] + ys.mean() + 0.5
    assert middle == pytest.approx(mosaic.centre("scores", *cell), abs=1.5)
    mosaic.page.mouse.move(*middle)
    head, row, column = cell
    where = [f"head {head + 1}"] * (mosaic.meta("scores")["heads"] != [""])
    words = tokens(64)
    lines = [line.inner_text().removeprefix("≈ ") for line in mosaic.tip.locator("div").all()]
    assert lines == [*where, f"query {words[row]}{row + 1}", f"key {words[column]}{column + 1}", "−1"]
    lit = mosaic.picture("scores").locator(".attn-layer svg >> nth=1").locator("text")
    boxes = [word.bounding_box() for word in lit.all()]
    rows = [box["y"] + box["height"] / 2 for box in boxes if box["x"] + box["width"] < image["x"]]
    columns = [box["x"] + box["width"] / 2 for box in boxes if box["x"] + box["width"] > image["x"]]
    assert min(abs(at - middle[1]) for at in rows) < 3
    assert min(abs(at - middle[0]) for at in columns) < 3


def test_every_word_and_every_head_is_named(open_at: Callable[..., Mosaic]) -> None:
    mosaic = open_at()
    found = mosaic.words("scores")
    assert found[:4] == ["head 1", "head 2", "head 3", "head 4"]
    assert found[4:18] == tokens(7) * 2
    assert found[18:32] == tokens(7) * 2
    assert mosaic.words("heads")[-5:] == ["1", "2", "3", "4", "5"]


def test_unequal_heads_say_how_wide_they_are(open_at: Callable[..., Mosaic]) -> None:
    found = open_at("ragged=1&heads=2&rows=4").words("heads")
    assert found[:2] == ["head 1 · 5 wide", "head 2 · 2 wide"]


def told(number: float) -> str:
    """A number in a tip: as everywhere, and after it all of its digits."""
    return short(number) + str(number).replace("-", "−")


def test_the_tip_has_four_digits_and_then_all_there_are(open_at: Callable[..., Mosaic]) -> None:
    expected = np.random.default_rng(0).normal(size=(4, 7, 7))
    mosaic = open_at()
    report = mosaic.point("scores", 2, 3, 4)
    assert report == ["head 3", "query on4", "key the5", told(expected[2, 3, 4])]
    mosaic = open_at("heads=16&rows=20")
    expected = np.random.default_rng(0).normal(size=(16, 20, 20))
    number = mosaic.point("scores", 1, 3, 4)[-1]
    four, _, number = number.partition("≈ ")
    assert four == short(expected[1, 3, 4])
    assert np.float32(number.replace("−", "-")) == np.float32(expected[1, 3, 4])


def test_masked_infinite_and_no_number_are_three_things(open_at: Callable[..., Mosaic]) -> None:
    mosaic = open_at("odd=1&masked=1&heads=1&rows=4")
    assert mosaic.point("scores", 0, 0, 1)[-1] == "masked"
    assert mosaic.point("scores", 0, 0, 0)[-1] == "not a number"
    assert mosaic.point("scores", 0, 1, 0)[-1] == "∞"
    assert mosaic.point("scores", 0, 1, 1)[-1] == "−∞"
    written = mosaic.words("scores")
    assert {"NaN", "∞", "−∞"} <= set(written)
    pixels = mosaic.pixels()
    for cell, yellow in (((0, 0, 0), True), ((0, 1, 0), True), ((0, 0, 1), False), ((0, 2, 0), False)):
        x, y = mosaic.centre("scores", *cell)
        near = pixels[int(y) - 14, int(x) - 14]
        assert (abs(near - (0xF5, 0xC5, 0x18)).max() < 8) == yellow


def test_a_click_chooses_and_redraws_no_chart(open_at: Callable[..., Mosaic]) -> None:
    mosaic = open_at()
    mosaic.page.evaluate(COUNTED)
    mosaic.page.mouse.click(*mosaic.centre("weights", 1, 4, 2))
    mosaic.chosen("Picked(stage='weights', head=1, row=4, column=2)")
    mosaic.settled()
    assert mosaic.page.evaluate("window.painted") == 0
    mosaic.page.mouse.move(2, 2)
    marks = mosaic.picture("scores").locator(".attn-chosen text")
    assert marks.all_text_contents() == ["the", "sat", "sat"]
    x, y = mosaic.centre("scores", 1, 4, 2)
    boxes = [
        box.bounding_box() for box in mosaic.picture("scores").locator(".attn-layer svg >> nth=1").locator("path").all()
    ]
    assert any(abs(box["x"] + box["width"] / 2 - x) < 2 and abs(box["y"] + box["height"] / 2 - y) < 2 for box in boxes)
    assert mosaic.picture("heads").locator(".attn-layer svg >> nth=1").locator("path").count() == 2


def test_new_numbers_are_drawn_by_the_charts_that_are_there(open_at: Callable[..., Mosaic]) -> None:
    """A chart that is built from nothing costs more than all else in a move. A theme gives it other colours only."""
    mosaic = open_at("heads=2&rows=5")
    page = mosaic.page
    mosaic.settled()
    page.evaluate("document.querySelectorAll('.attn-stage').forEach((chart) => (chart.known = true))")
    seen = [page.evaluate(PIXELS)]
    for seed in (1, 2, 3):
        page.get_by_role("slider").press("ArrowRight")
        page.wait_for_function(f"(before) => {PIXELS}.every((map, at) => map !== before[at])", arg=seen[-1])
        page.get_by_text(f"seed {seed},").wait_for()
        seen.append(page.evaluate(PIXELS))
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"(before) => {PIXELS}.every((map, at) => map !== before[at])", arg=seen[-1])
    page.emulate_media(color_scheme="light")
    page.wait_for_function(f"(before) => {PIXELS}.every((map, at) => map === before[at])", arg=seen[-1])
    assert page.evaluate("[...document.querySelectorAll('.attn-stage')].every((chart) => chart.known)")


def test_a_choice_outlives_new_numbers(open_at: Callable[..., Mosaic]) -> None:
    mosaic = open_at()
    mosaic.page.mouse.click(*mosaic.centre("scores", 0, 1, 2))
    mosaic.chosen("Picked(stage='scores', head=0, row=1, column=2)")
    mosaic.point("scores", 2, 2, 2)
    mosaic.page.get_by_role("slider").press("ArrowRight")
    mosaic.page.get_by_text("seed 1,").wait_for()
    mosaic.tip.wait_for(state="hidden")
    expected = np.random.default_rng(1).normal(size=(4, 7, 7))
    mosaic.page.wait_for_function("document.querySelectorAll('.attn-chosen text').length > 4")
    assert mosaic.point("scores", 0, 1, 2)[-1] == told(expected[0, 1, 2])
    assert mosaic.picture("scores").locator(".attn-layer").count() == 1
    assert mosaic.errors == []


def test_a_word_lights_its_row_in_every_head_of_every_stage(open_at: Callable[..., Mosaic]) -> None:
    mosaic = open_at()
    heard = "window.heard = []; addEventListener('attnviz:row', (event) => heard.push(event.detail.row))"
    mosaic.page.evaluate(heard)
    _, y = mosaic.centre("weights", 0, 2, 0)
    x = mosaic.image("weights")["x"] - 12
    mosaic.page.mouse.move(x, y)
    assert mosaic.tip.inner_text() == "query sat3"
    for name in ("scores", "weights", "heads"):
        light = mosaic.picture(name).locator(".attn-layer svg >> nth=1")
        assert light.locator("text").all_text_contents() == ["sat", "sat"] * (name != "heads")
        assert light.locator("path").get_attribute("d").count("M") == 4
    mosaic.page.mouse.click(x, y)
    mosaic.chosen("Picked(stage='weights', head=None, row=2, column=None)")
    mosaic.page.mouse.move(2, 2)
    assert mosaic.page.evaluate("heard") == [2, None]
    mosaic.page.evaluate("dispatchEvent(new CustomEvent('attnviz:row', {detail: {row: 5, head: null}}))")
    light = mosaic.picture("scores").locator(".attn-layer svg >> nth=1")
    assert set(light.locator("text").all_text_contents()) == {"sat", "warm"}


def test_everything_can_be_reached_by_keyboard(open_at: Callable[..., Mosaic]) -> None:
    expected = np.random.default_rng(0).normal(size=(4, 7, 7))
    mosaic = open_at()
    keyboard = mosaic.page.keyboard
    mosaic.page.get_by_role("slider").focus()
    keyboard.press("Tab")
    focus = mosaic.picture("scores").locator(".attn-focus")
    assert focus.evaluate("(box) => box === document.activeElement")
    assert focus.evaluate("(box) => getComputedStyle(box).outlineStyle") == "solid"
    keys = ["ArrowRight", "ArrowRight", "ArrowDown", "PageDown"]
    cells = [(0, 0, 1), (0, 0, 2), (0, 1, 2), (1, 1, 2)]
    for key, (head, row, column) in zip(keys, cells, strict=True):
        keyboard.press(key)
        words = tokens(7)
        number = short(expected[head, row, column])
        assert mosaic.live.text_content() == f"head {head + 1}, query {words[row]}, key {words[column]}: {number}"
    keyboard.press("Enter")
    mosaic.chosen("Picked(stage='scores', head=1, row=1, column=2)")
    mosaic.settled()
    assert focus.evaluate("(box) => box === document.activeElement")
    for key, report in (
        ("Home", "head 2, query cat, key the"),
        ("ArrowLeft", "head 1, query cat, key mat"),
        ("End", "head 1, query cat, key mat"),
        ("ArrowUp", "head 1, query the, key mat"),
        ("ArrowUp", "head 1, query the, key mat"),
        ("PageUp", "head 1, query the, key mat"),
        ("ArrowRight", "head 2, query the, key the"),
    ):
        keyboard.press(key)
        assert str(mosaic.live.text_content()).startswith(f"{report}:"), key
    keyboard.press("Escape")
    assert not mosaic.tip.is_visible()
    keyboard.press("Tab")
    assert mosaic.picture("weights").locator(".attn-focus").evaluate("(box) => box === document.activeElement")


def test_words_that_mean_harm_are_only_words(open_at: Callable[..., Mosaic]) -> None:
    mosaic = open_at("hostile=1&heads=1&rows=12")
    found = mosaic.words("scores")[1:13]
    assert found[1].startswith("constru")
    assert found[2:5] == ["$x$", "👩‍👩‍👧", "السلام"]
    assert found[5].startswith("aaa")
    assert found[5].endswith("…")
    assert found[6:] == ["(empty)", "··", "U+200B", "the", "the", "&lt;"]
    assert found[0].startswith("<img")
    assert mosaic.point("scores", 0, 0, 1)[1] == "query <img src=x onerror=harm()>1"
    assert len(mosaic.point("scores", 0, 5, 0)[1]) < 60
    assert mosaic.page.locator(".attn-layer img, .attn-tip img, .attn-layer b").count() == 0
    assert mosaic.errors == []


def test_a_finger_chooses_and_reads_at_once(new_page: Callable[..., Any], url: str) -> None:
    mosaic = Mosaic(new_page(has_touch=True), url)
    mosaic.page.touchscreen.tap(*mosaic.centre("scores", 1, 2, 3))
    mosaic.chosen("Picked(stage='scores', head=1, row=2, column=3)")
    expected = np.random.default_rng(0).normal(size=(4, 7, 7))[1, 2, 3]
    assert mosaic.tip.locator(".attn-value").inner_text() == told(expected)


@for_each("query", ["heads=4&rows=7", "heads=8&rows=12", "heads=16&rows=64", "heads=1&rows=3"])
def test_a_phone_shows_everything_within_its_width(new_page: Callable[..., Any], url: str, query: str) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, instead=True)
    mosaic = Mosaic(page, url, query)
    page.get_by_text("run 1,").wait_for()
    mosaic.settled()
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
    image, (x, y) = mosaic.image("scores"), mosaic.edges("scores")
    assert image["x"] + image["width"] <= 390
    assert (image["width"], image["height"]) == pytest.approx((x[-1], y[-1]), abs=0.5)
    assert min(x[1] - x[0], y[1] - y[0]) >= 4


def test_another_width_of_the_window_makes_another_picture_once(open_at: Callable[..., Mosaic]) -> None:
    mosaic = open_at("heads=8&rows=12")
    before = mosaic.edges("heads")[0][-1]
    mosaic.page.set_viewport_size({"width": 500, "height": 720})
    mosaic.page.wait_for_function(
        "(before) => ![before, undefined].includes("
        "document.querySelector('.st-key-mosaic [data-stage=heads]')?.picture.tiling.x.at(-1))",
        arg=before,
    )
    mosaic.settled()
    run = mosaic.page.get_by_text("seed 0, run").inner_text()
    mosaic.page.mouse.click(*mosaic.centre("scores", 0, 0, 0))
    mosaic.chosen("Picked(stage='scores', head=0, row=0, column=0)")
    number = int(run.split("run ")[1].split(",")[0])
    assert f"run {number + 1}," in mosaic.page.get_by_text("seed 0, run").inner_text()


def test_cells_are_whole_pixels_and_numbers_are_printed_where_they_fit(open_at: Callable[..., Mosaic]) -> None:
    mosaic = open_at("heads=1&rows=3")
    expected = np.random.default_rng(0).normal(size=(1, 3, 3))[0]
    image, (x, y) = mosaic.image("scores"), mosaic.edges("scores")
    assert all(edge == int(edge) for edge in (*x, *y))
    assert (image["width"], image["height"]) == (x[-1], y[-1])
    written = mosaic.words("scores")[-9:]
    assert [float(word.replace("−", "-")) for word in written] == pytest.approx(expected.ravel(), abs=5e-3)


def test_in_print_small_negative_cells_carry_their_sign(open_at: Callable[..., Mosaic]) -> None:
    mosaic = open_at("rows=16")
    bars = mosaic.picture("scores").locator(".attn-layer svg >> nth=0").locator("rect")
    assert bars.count() == 0
    mosaic.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert bars.count() == (np.random.default_rng(0).normal(size=(4, 16, 16)) < 0).sum()
    mosaic.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert bars.count() == 0


def test_words_follow_the_theme(open_at: Callable[..., Mosaic]) -> None:
    mosaic = open_at()
    word = mosaic.picture("scores").locator(".attn-layer text >> nth=5")
    light = word.evaluate("(word) => getComputedStyle(word).fill")
    mosaic.page.emulate_media(color_scheme="dark")
    mosaic.page.wait_for_function(
        "(before) => getComputedStyle(document.querySelector('.attn-layer text')).fill !== before", arg=light
    )
    mosaic.page.wait_for_function(
        """() => {
            const page = getComputedStyle(document.querySelector('.stBidiComponent > *'));
            const gaps = document.querySelector('.attn-layer path').getAttribute('stroke');
            return gaps.trim() === page.getPropertyValue('--st-background-color').trim();
        }"""
    )
