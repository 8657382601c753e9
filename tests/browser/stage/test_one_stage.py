"""A film, a lecture and a lesson on the stage of the Explore page: maps begin where its maps do, and stay there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import pytest

from attnviz import TASKS, run
from attnviz.settings import link_check, url_codec
from attnviz.settings.language import LANGUAGES
from attnviz.text.cell_sentence import percent
from tests.browser.stage.test_stage import DESK, LARGE_DESK, PHONE
from tests.browser_idle import QUIET
from tests.support.cases import for_each

pytestmark = pytest.mark.browser

CELLS = ".stMain [data-stage] .attn-cells"
FOUND = """() => {
    const seen = (each) => each.checkVisibility() && each.getBoundingClientRect().width > 4;
    const all = (selectors) => [...document.querySelectorAll(selectors)].filter(seen);
    const { scrollTop } = document.querySelector('[data-testid=stMain]'); // a phone is scrolled to what is explained
    const box = (each) => {
        const { left, top, right, bottom } = each.getBoundingClientRect();
        return [left, top + scrollTop, right, bottom + scrollTop];
    };
    const worked = all('.stMain :is(button, input, [role=slider], [role=radio])');
    return {
        maps: all('.stMain [data-stage] .attn-cells').map(box),
        worked: worked.filter((each) => !each.closest('.attn-drawer, .ad-rail')).map(box),
        bands: all('.stMain [class*=st-key-tools-]').map(box),
        rest: all('.stMain .js-plotly-plot, .st-key-learn-says, .st-key-lecture').map(box),
    };
}"""


def film(task: str, **more: Any) -> str:
    """The address of a film."""
    return urlencode(link_check.checked({"page": "learn", **url_codec.encode(TASKS[task].config(**more))}))


def opened(new_page: Callable[..., Any], app: Any, size: tuple[int, int], address: str, scheme: str = "light") -> Any:
    page = new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, instead=True)
    page.goto(f"{app.url}/?{address}")
    page.locator(CELLS).first.wait_for()
    page.evaluate(QUIET)
    return page


@for_each("size, scheme", [(DESK, "light"), (LARGE_DESK, "dark")])
def test_maps_begin_where_they_do_on_explore_below_one_band(
    new_page: Callable[..., Any], app: Any, size: tuple[int, int], scheme: str
) -> None:
    explored = opened(new_page, app, size, "v=1", scheme).evaluate(FOUND)["maps"][0][1]
    for address in ("page=learn", film("translation"), film("recall"), "v=1&page=class&step=weights"):
        found = opened(new_page, app, size, address, scheme).evaluate(FOUND)
        (band,) = found["bands"]
        assert band[1::2] == pytest.approx([42, 88], abs=1), address
        assert [top for _, top, *_ in found["maps"]] == pytest.approx([explored] * len(found["maps"]), abs=2), address
        assert max(bottom for *_, bottom in found["maps"] + found["worked"]) <= size[1], address


@for_each("size", [DESK, PHONE])
@for_each("task", ["translation", "recall"])
def test_a_cell_of_a_film_is_explained_where_it_stands_and_in_the_next_frame(
    new_page: Callable[..., Any], app: Any, size: tuple[int, int], task: str
) -> None:
    page = opened(new_page, app, size, film(task))
    before = page.evaluate(FOUND)
    box = page.locator(CELLS).first.bounding_box()
    config = TASKS[task].config()
    n_rows, n_columns = run(config).layers[0]["weights"].shape[1:]
    page.mouse.click(box["x"] + 0.5 * box["width"] / n_columns, box["y"] + 3.5 * box["height"] / n_rows)
    answer = page.locator(".attn-drawer[data-open] .ad-sentence")

    def explained(steps: int) -> None:
        weights = run(replace(config, learn_steps=steps)).layers[0]["weights"].array
        answer.get_by_text(f"head 1: {percent(weights[0, 3, 0])}").wait_for()
        page.wait_for_url("**query=4**")
        page.evaluate(QUIET)
        found = page.evaluate(FOUND)
        for name in ("maps", "rest", "bands"):
            assert found[name] == before[name], name

    explained(config.learn_steps)
    if size == DESK:
        page.get_by_test_id("stMain").get_by_role("slider", name="Steps of learning").press("ArrowLeft")
        explained(config.learn_steps - 10)
        page.get_by_test_id("stMain").get_by_role("button", name="Best frame").focus()
        page.keyboard.press("Escape")
        answer.wait_for(state="hidden")


@for_each("size", [DESK, PHONE])
def test_a_cell_of_a_lecture_is_explained_without_moving_anything(
    new_page: Callable[..., Any], app: Any, size: tuple[int, int]
) -> None:
    page = opened(new_page, app, size, "v=1&page=class&step=weights")
    page.mouse.move(4, size[1] - 4)
    before = page.evaluate(FOUND)
    box = page.locator(CELLS).first.bounding_box()
    page.mouse.click(box["x"] + 12, box["y"] + 12)
    page.locator(".st-key-explained", has_text="(49 %)").wait_for()
    page.evaluate(QUIET)
    assert page.evaluate(FOUND) == before


def test_a_lesson_has_its_way_in_the_band_and_what_is_pressed_below_its_number(
    new_page: Callable[..., Any], app: Any
) -> None:
    page = opened(new_page, app, DESK, "v=1&page=lessons&lesson=bits&slide=2")
    found = page.evaluate(FOUND)
    (band,) = found["bands"]
    assert band[1::2] == pytest.approx([42, 88], abs=1)
    for name in ("previous-slide", "next-slide"):
        button = page.locator(f".st-key-{name}").bounding_box()
        assert button["y"] >= band[1]
        assert button["y"] + button["height"] <= band[3]
    field = page.get_by_role("textbox", name="Your number")
    check = page.get_by_role("button", name="Check")
    number, below = field.bounding_box(), check.bounding_box()
    assert 0 <= below["y"] - number["y"] - number["height"] <= 24
    assert max(bottom for *_, bottom in found["maps"] + found["worked"]) <= DESK[1]
    assert min(top for _, top, *_ in found["maps"]) <= 160


@for_each("language", [*LANGUAGES])
def test_a_phone_says_in_a_line_what_a_click_does_until_something_is_answered(
    new_page: Callable[..., Any], app: Any, language: str
) -> None:
    page = opened(new_page, app, PHONE, f"lang={language}")
    hint, way = page.locator(".attn-hint"), page.locator(".st-key-way")
    assert hint.is_visible()
    assert hint.evaluate("(each) => each.scrollWidth <= each.clientWidth")
    box, below = hint.bounding_box(), way.bounding_box()
    assert box["height"] <= 16
    assert box["y"] + box["height"] <= 42
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE[0]
    cells = page.locator(CELLS).first.bounding_box()
    page.mouse.click(cells["x"] + 12, cells["y"] + 12)
    page.locator(".attn-drawer[data-open]").wait_for()
    assert not hint.is_visible()
    assert (hint.bounding_box(), way.bounding_box()) == (box, below)


def test_a_window_that_has_no_room_for_all_of_it_has_the_short_form(new_page: Callable[..., Any], app: Any) -> None:
    for width, height in ((1100, 720), (1269, 720)):
        hint = opened(new_page, app, (width, height), "").locator(".attn-hint")
        assert hint.inner_text() == "Click a cell to see how its number is computed."
        box = hint.bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 42
