"""Two settings beside each other: whole in the window, B flips in the place of A, and a click has its answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.text.format.number_format import short
from tests.browser.stage.test_stage import DESK, LARGE_DESK, PHONE
from tests.browser_idle import QUIET
from tests.support.cases import for_each

pytestmark = pytest.mark.browser

NUMBERS = """() => {
  const { values, mask, isShared, shape } = document.querySelector('.st-key-compare [data-stage=a]').picture.stage;
  const size = shape[1] * shape[2];
  return Array.from(values, (x, at) => (mask?.[isShared ? at % size : at] ? 0 : x));
}"""
BOXES = """() => [...document.querySelectorAll('.st-key-compare [data-stage] .attn-box')].map((box) => {
  const { x, y, width, height } = box.getBoundingClientRect();
  return [x, y, width, height];
})"""


@pytest.fixture(scope="module")
def site(server: Callable[..., Any]) -> Any:
    return server("app.py")


def weights(**settings: Any) -> Any:
    return run(Config(**settings))["weights"].array.ravel()


@for_each("width, changes", [(1280, "b_mask=causal"), (1920, "b_seed=3&b_mask=causal")])
def test_b_is_seen_in_the_place_of_a_while_a_key_or_a_button_is_held(
    browser_page: Any, site: Any, width: int, changes: str
) -> None:
    page = browser_page
    page.set_viewport_size({"width": width, "height": 720})
    page.goto(f"{site.url}/?page=compare&{changes}")
    page.locator(".st-key-compare [data-stage=b]").wait_for()
    page.evaluate(QUIET)
    b = weights(mask="causal", seed=3) if "seed" in changes else weights(mask="causal")
    boxes = page.evaluate(BOXES)
    assert len(boxes) == 3
    assert min(y for _, y, *_ in boxes) < 280
    assert max(y + height for _, y, _, height in boxes) <= 720
    np.testing.assert_allclose(page.evaluate(NUMBERS), weights(), atol=1e-15)
    for hold, let_go in (
        (lambda: page.keyboard.down("b"), lambda: page.keyboard.up("b")),
        (lambda: (page.get_by_role("button", name="hold B").hover(), page.mouse.down()), page.mouse.up),
    ):
        hold()
        page.get_by_text("this is B, in A's place").wait_for()
        np.testing.assert_allclose(page.evaluate(NUMBERS), b, atol=1e-15)
        assert page.evaluate(BOXES) == boxes
        let_go()
        page.get_by_text("this is B, in A's place").wait_for(state="hidden")
        np.testing.assert_allclose(page.evaluate(NUMBERS), weights(), atol=1e-15)


def test_what_is_not_of_one_size_does_not_flip_and_a_letter_that_is_typed_is_one(browser_page: Any, site: Any) -> None:
    page = browser_page
    page.goto(f"{site.url}/?page=compare&b_n_heads=2")
    page.locator(".st-key-compare [data-stage=b]").wait_for()
    page.evaluate(QUIET)
    page.keyboard.down("b")
    np.testing.assert_allclose(page.evaluate(NUMBERS), weights(), atol=1e-15)
    page.keyboard.up("b")
    assert page.get_by_role("button", name="hold B").count() == 0
    page.goto(f"{site.url}/?page=compare&b_mask=causal")
    page.locator(".st-key-compare [data-stage=b]").wait_for()
    page.evaluate(QUIET)
    page.get_by_role("textbox", name="Sentence").click()
    page.keyboard.down("b")
    np.testing.assert_allclose(page.evaluate(NUMBERS), weights(), atol=1e-15)
    page.keyboard.up("b")
    page.goto(f"{site.url}/?page=compare&b_temperature=2&step=scores")
    page.locator(".st-key-compare [data-stage=b]").wait_for()
    page.evaluate(QUIET)
    page.keyboard.down("b")
    assert page.locator(".attn-flip span").inner_text() == "this is B, in A's place: the same numbers"
    page.keyboard.up("b")


EVERYTHING = """() => {
    const seen = ".st-key-compare :is([data-stage], [data-map], .attn-box, .attn-cells, text[data-head]),"
        + ".stMain [class*=st-key-tools-], .stMain .attn-note, .stMain :is(button, input, .js-plotly-plot)";
    const all = [...document.querySelectorAll(seen)].filter((each) => !each.closest(".st-key-answer"));
    const { scrollTop } = document.querySelector("[data-testid=stMain]"); // a phone is scrolled to what is explained
    return all.map((each) => {
        const { left, top, width, height } = each.getBoundingClientRect();
        return [left, top + scrollTop, width, height];
    });
}"""
POINT = """([name, head, row, column]) => {
    const main = document.querySelector("[data-testid=stMain]");
    const { picture } = document.querySelector(`.st-key-compare [data-stage=${name}]`);
    if (innerWidth < 641) main.scrollTop += picture.layer.getBoundingClientRect().top - 90; // over the answer
    const [x, y, width, height] = picture.cells(head, row, column);
    const { left, top } = picture.light.closest("svg").getBoundingClientRect();
    return [left + x + width / 2, top + y + height / 2];
}"""
"""The middle of a cell, which a phone is scrolled to."""
RINGED = """() => Object.fromEntries([...document.querySelectorAll(".st-key-compare [data-stage]")].map((each) => {
    const { picture } = each;
    const rings = new Set([...picture.light.querySelectorAll("path")].map((path) => path.getAttribute("d")));
    const { widths } = picture.meta, found = [];
    for (let head = 0; head < widths.length; head++)
        for (let row = 0; row < picture.rows; row++)
            for (let column = 0; column < widths[head]; column++) {
                const [x, y, w, h] = picture.cells(head, row, column);
                if (rings.has(`M${x - 0.5},${y - 0.5}h${w + 1}v${h + 1}h${-w - 1}Z`)) found.push([head, row, column]);
            }
    return [picture.name, found];
}))"""
"""The cells in each map that have a ring of their own."""
THREE = ("a", "b", "difference")
LONG = "the cat sat on the warm mat while a dog slept under"


def opened(new_page: Callable[..., Any], app: Any, size: tuple[int, int], scheme: str, address: str) -> Any:
    page = new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, instead=True)
    page.goto(f"{app.url}/?page=compare&{address}")
    page.locator(".st-key-compare [data-stage=a] .attn-cells").wait_for()
    page.evaluate(QUIET)
    return page


def choose(page: Any, name: str, cell: tuple[int, int, int]) -> str:
    """Click a cell of a map; return what is said of A and B, once the page is at rest and the pointer elsewhere."""
    before = page.url
    page.mouse.click(*page.evaluate(POINT, [name, *cell]))
    page.wait_for_function("(before) => location.href !== before", arg=before)
    page.locator(".attn-drawer[data-open]").wait_for()
    page.mouse.move(2, 2)
    page.evaluate(QUIET)
    return str(page.locator(".attn-drawer .ad-beside").inner_text())


@for_each("size, scheme", [(DESK, "light"), (LARGE_DESK, "dark"), (PHONE, "light")])
def test_a_click_on_a_cell_of_either_is_answered_and_moves_nothing(
    new_page: Callable[..., Any], app: Any, size: tuple[int, int], scheme: str
) -> None:
    page = opened(new_page, app, size, scheme, f"sentence={LONG}&n_heads=8&d_model=64&b_seed=3".replace(" ", "+"))
    a, b = (run(Config(sentence=LONG, n_heads=8, d_model=64, seed=seed))["weights"].array for seed in (0, 3))
    before = page.evaluate(EVERYTHING)
    for name, cell in (("a", (0, 3, 2)), ("b", (1, 2, 7)), ("difference", (0, 5, 4))):
        said = choose(page, name, cell)
        numbers, how = [short(x[cell]) for x in (a, b)], "less" if b[cell] < a[cell] else "more"
        both = f"In A {numbers[0]}, in B {numbers[1]}: {short(float(f'{abs(b - a)[cell]:.2g}'))} {how}."
        assert said == f"This is {'A' if name == 'a' else 'B'}. {both}"
        _, query, key = (LONG.split()[at] for at in cell)
        heads = page.locator(".attn-drawer .ad-heads span").all_text_contents()
        assert [*filter(None, heads)] == [f"q {query}", f"k {key}", "product"], "as on Explore"
        assert page.evaluate(RINGED) == {each: [[*cell]] for each in THREE}
        assert page.evaluate(EVERYTHING) == before, name
        box = page.locator(".attn-drawer").bounding_box()
        assert box["x"] + box["width"] <= (288 if size != PHONE else PHONE[0])
    shown = [page.locator(".attn-drawer").inner_text(), page.evaluate(RINGED)]
    page.reload()
    page.locator(".attn-drawer[data-open]").wait_for()
    page.evaluate(QUIET)
    assert [page.locator(".attn-drawer").inner_text(), page.evaluate(RINGED)] == shown, "the link has all of it"
    page.keyboard.press("Escape")
    page.locator(".attn-drawer[data-open]").wait_for(state="hidden")
    page.evaluate(QUIET)
    assert page.evaluate(EVERYTHING) == before
    assert "query=" not in page.url
    if size == DESK:
        page.locator(".st-key-compare [data-stage=b] .attn-focus").focus()
        page.keyboard.press("Home")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        page.locator(".attn-drawer .ad-beside", has_text="This is B.").wait_for()
        page.keyboard.press("Escape")
        page.locator(".attn-drawer[data-open]").wait_for(state="hidden")
        page.keyboard.down("b")
        page.get_by_text("this is B, in A's place").wait_for()
        assert choose(page, "a", (0, 3, 2)).startswith("This is B."), "the number that was clicked is that of B"
        assert page.get_by_text("this is B, in A's place").is_visible(), "the key is held"
        page.keyboard.up("b")


@for_each(
    "b, name, cell, ringed, said",
    [
        ("the+old+cat+sat", "b", (1, 2, 3), {"a": [[1, 1, 2]], "b": [[1, 2, 3]], "difference": [[1, 2, 3]]}, "In A"),
        (
            "the+old+cat+sat",
            "b",
            (1, 1, 3),
            {"a": [], "b": [[1, 1, 3]], "difference": [[1, 1, 3]]},
            "A has no such cell.",
        ),
        ("the+cat+sat&b_n_heads=2", "a", (1, 2, 0), {each: [[1, 2, 0]] for each in THREE}, "In A"),
        (
            "the+cat+sat&b_n_heads=2",
            "a",
            (3, 2, 0),
            {"a": [[3, 2, 0]], "b": [], "difference": []},
            "B has no such cell.",
        ),
    ],
)
def test_a_cell_is_ringed_in_each_map_that_has_it(
    browser_page: Any, app: Any, b: str, name: str, cell: tuple[int, int, int], ringed: dict[str, Any], said: str
) -> None:
    page = browser_page
    page.goto(f"{app.url}/?page=compare&sentence=the+cat+sat&b_seed=3&b_sentence={b}")
    page.locator(".st-key-compare [data-stage=a] .attn-cells").wait_for()
    page.evaluate(QUIET)
    assert said in choose(page, name, cell)
    assert page.evaluate(RINGED) == ringed


def test_the_name_of_a_slider_in_the_band_stands_beside_its_number(browser_page: Any, site: Any) -> None:
    page = browser_page
    page.goto(f"{site.url}/?page=compare&b_n_heads=2")
    slider = page.locator(".st-key-tools-compare .stSlider")
    slider.wait_for()
    page.evaluate(QUIET)
    label = slider.locator("[data-testid=stWidgetLabel]").bounding_box()
    number = slider.locator("[data-testid=stSliderThumbValue]").bounding_box()
    assert label["x"] + label["width"] <= number["x"]
    assert page.locator(".st-key-tools-compare").bounding_box()["height"] <= 47, "as high as the band of the path"
