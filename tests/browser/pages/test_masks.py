"""The mask builder and the mask-value lab as a person uses them: painted, typed, undone, shared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from attnviz import Config, run
from tests.browser_idle import QUIET, go_to, wait_until

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)> constructor __proto__ {row} $&"


@pytest.fixture(scope="module")
def lab(server: Callable[..., Any]) -> Any:
    return server("tests/browser/scripts/mask_values.py")


def opened(page: Any, app: Any, query: str) -> Any:
    go_to(page, f"{app.url}/?panel=mask&{query}")
    page.locator("[role=gridcell]").first.wait_for()
    quiet(page)
    return page


def quiet(page: Any) -> None:
    page.evaluate(QUIET)


def settled(page: Any, part: str) -> None:
    """Wait until the address says so: it is written when the run is through."""
    page.wait_for_function("part => decodeURIComponent(location.search).replaceAll('+', ' ').includes(part)", arg=part)


def cell(page: Any, row: int, column: int) -> Any:
    """The cell of a query and a key, counted from 1."""
    return page.locator("[role=grid] [role=row]").nth(row).locator("[role=gridcell]").nth(column - 1)


def grid(page: Any) -> list[str]:
    """The grid as marks: x may be attended to, . may not."""
    marks = page.locator("[role=gridcell]").evaluate_all("cells => cells.map((cell) => cell.ariaSelected)")
    columns = page.locator("[role=columnheader]").count()
    text = "".join("x" if mark == "true" else "." for mark in marks)
    return [text[at : at + columns] for at in range(0, len(text), columns)]


def middle(page: Any, row: int, column: int) -> tuple[float, float]:
    box = cell(page, row, column).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page: Any, start: tuple[int, int], end: tuple[int, int], steps: int = 1) -> None:
    cell(page, *start).scroll_into_view_if_needed()
    page.mouse.move(*middle(page, *start))
    page.mouse.down()
    page.mouse.move(*middle(page, *end), steps=steps)
    page.mouse.up()


def weights(page: Any) -> np.ndarray:
    """The numbers of the picture of the weights."""
    chart = page.locator(".st-key-explore [data-stage=weights]")
    return np.array(
        chart.evaluate("(chart) => Array.from(chart.picture?.filled.z ?? [], (row) => [...row])"), dtype=float
    )


def drawn_as(page: Any, **settings: Any) -> None:
    """Wait until the picture of the weights holds those of one head under these settings."""
    expected = run(Config(n_heads=1, **settings))["weights"].array[0]
    expected = np.where(run(Config(n_heads=1, **settings))["allowed"].array, expected, np.nan)

    def agrees() -> bool:
        found = weights(page)
        return found.shape == expected.shape and np.allclose(found, expected, rtol=1e-6, equal_nan=True)

    wait_until(page, agrees)


def test_a_stroke_changes_the_weights_travels_in_the_link_and_is_undone(new_page: Callable[..., Any], app: Any) -> None:
    page = opened(new_page(), app, "sentence=a+b+a+b&n_heads=1&mask=causal")
    drag(page, (1, 2), (1, 4))
    assert grid(page) == ["xxxx", "xx..", "xxx.", "xxxx"]
    settled(page, "custom_cells=1: 1-4, 2: 1-2, 3: 1-3, 4: 1-4")
    painted = {"sentence": "a b a b", "mask": "custom", "custom_cells": "1: 1-4, 2: 1-2, 3: 1-3, 4: 1-4"}
    drawn_as(page, **painted)
    other = new_page()
    other.goto(page.url)
    other.locator("[role=gridcell]").first.wait_for()
    assert grid(other) == grid(page)
    drawn_as(other, **painted)
    drag(page, (4, 1), (2, 1))
    settled(page, "custom_cells=1: 1-4, 2: 2, 3: 2-3, 4: 2-4")
    page.go_back()
    settled(page, "custom_cells=1: 1-4, 2: 1-2, 3: 1-3, 4: 1-4")
    drawn_as(page, **painted)
    page.go_back()
    settled(page, "mask=causal")
    drawn_as(page, sentence="a b a b", mask="causal")
    quiet(page)
    assert grid(page) == ["x...", "xx..", "xxx.", "xxxx"]
    page.go_forward()
    drawn_as(page, **painted)


def test_a_fast_stroke_over_64_tokens_has_no_holes(browser_page: Any, app: Any) -> None:
    words = "+".join(f"w{i}" for i in range(64))
    page = opened(browser_page, app, f"sentence={words}&n_heads=1&mask=none&max_tokens=64")
    assert page.locator("[role=gridcell]").count() == 64 * 64
    drag(page, (2, 3), (2, 63))
    settled(page, "custom_cells=bits.64.")
    assert [row for row in grid(page) if "." in row] == ["xx" + 61 * "." + "x"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_two_strokes_at_once_are_both_kept(browser_page: Any, app: Any) -> None:
    page = opened(browser_page, app, "sentence=a+b+c+d+e&n_heads=1&mask=none")
    drag(page, (1, 2), (1, 5))
    drag(page, (3, 2), (5, 2))
    drag(page, (2, 4), (2, 4))
    settled(page, "custom_cells=1: 1, 2: 1-3 5, 3: 1 3-5, 4: 1 3-5, 5: 1 3-5")
    quiet(page)
    assert grid(page) == ["x....", "xxx.x", "x.xxx", "x.xxx", "x.xxx"]


def test_a_stroke_in_progress_is_not_drawn_over(browser_page: Any, app: Any) -> None:
    page = opened(browser_page, app, "sentence=a+b+c&n_heads=1&mask=none")
    cell(page, 3, 3).scroll_into_view_if_needed()
    page.mouse.move(*middle(page, 1, 1))
    page.mouse.down()
    page.mouse.move(*middle(page, 1, 3))
    page.get_by_role("button", name="Invert").dispatch_event("click")
    settled(page, "custom_cells=")
    quiet(page)
    assert grid(page) == ["...", "xxx", "xxx"]
    page.mouse.move(*middle(page, 2, 3))
    page.mouse.up()
    settled(page, "custom_cells=2: 1-2, 3: 1-3")
    quiet(page)
    assert grid(page) == ["...", "xx.", "xxx"]


def test_a_finger_paints_too(new_page: Callable[..., Any], app: Any) -> None:
    page = opened(
        new_page(viewport={"width": 390, "height": 844}, has_touch=True), app, "sentence=a+b+c&n_heads=1&mask=none"
    )
    cell(page, 3, 1).scroll_into_view_if_needed()
    touch = page.context.new_cdp_session(page)
    for kind, touched in (("touchStart", (1, 3)), ("touchMove", (2, 2)), ("touchMove", (3, 1)), ("touchEnd", None)):
        x, y = middle(page, *touched) if touched else (0, 0)
        points = [{"x": x, "y": y}] if touched else []
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    settled(page, "custom_cells=1: 1-2, 2: 1 3, 3: 2-3")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_keyboard_moves_and_toggles_and_the_state_is_said(browser_page: Any, app: Any) -> None:
    page = opened(browser_page, app, "sentence=the+cat+the&n_heads=1&mask=causal")
    assert page.locator("[role=gridcell][tabindex='0']").count() == 1
    cell(page, 1, 1).focus()
    for key in ("ArrowUp", "ArrowDown", "End", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
    in_focus = page.locator("[role=gridcell]:focus")
    assert in_focus.get_attribute("aria-label") == "query 2 cat, key 2 cat: may attend"
    page.keyboard.press("Space")
    assert in_focus.get_attribute("aria-label") == "query 2 cat, key 2 cat: may not attend"
    assert in_focus.get_attribute("aria-selected") == "false"
    page.locator("[aria-live=polite]", has_text="may not attend").wait_for(state="attached")
    settled(page, "custom_cells=1: 1, 2: 1, 3: 1-3")
    quiet(page)
    page.keyboard.press("Control+End")
    assert in_focus.get_attribute("aria-label") == "query 3 the, key 3 the: may attend"
    page.keyboard.press("Enter")
    settled(page, "custom_cells=1: 1, 2: 1, 3: 1-2")
    assert page.locator("[role=grid][aria-multiselectable=true]").count() == 1
    assert page.locator("[role=rowheader]").all_inner_texts() == ["1\nthe", "2\ncat", "3\nthe"]


def test_a_mask_without_a_cell_survives_a_reload(browser_page: Any, app: Any) -> None:
    page = opened(browser_page, app, "sentence=a+b&n_heads=1&mask=none")
    page.get_by_role("button", name="Forbid all").click()
    settled(page, "custom_cells=")
    quiet(page)
    page.reload()
    page.locator("[role=gridcell]").first.wait_for()
    assert grid(page) == ["..", ".."]
    page.get_by_text("rows 1, 2").first.wait_for()


def test_hostile_words_stay_words(browser_page: Any, app: Any) -> None:
    alarms: list[str] = []
    page = browser_page
    page.on("dialog", lambda dialog: (alarms.append(dialog.message), dialog.dismiss()))
    page.on("pageerror", lambda error: alarms.append(str(error)))
    page.goto(
        f"{app.url}/?panel=mask&n_heads=1&tokeniser=whitespace&sentence={HOSTILE.replace(' ', '+').replace('&', '%26')}"
    )
    page.locator("[role=gridcell]").first.wait_for()
    assert page.locator("[role=columnheader] .word").all_inner_texts() == HOSTILE.split()
    cell(page, 6, 7 - 1).focus()
    assert cell(page, 6, 6).get_attribute("aria-label") == "query 6 {row}, key 6 {row}: may attend"
    assert alarms == []


def test_the_lab_shows_five_ways_and_an_emptied_row(browser_page: Any, lab: Any) -> None:
    page = browser_page
    page.goto(f"{lab.url}/?mask=causal&head=2")
    page.wait_for_selector(".st-key-lab [data-stage=fills] .attn-focus")
    page.evaluate(QUIET)
    names = "() => document.querySelector('.st-key-lab [data-stage=fills]')?.picture.meta.heads"
    assert page.evaluate(names) == ["−∞", "−1e9", "0 as a score", "0 afterwards", "renormalised"]
    page.get_by_text("Empty a row").click()
    page.get_by_text("may attend to nothing").wait_for()
    slider = page.get_by_role("slider")
    slider.focus()
    page.keyboard.press("End")
    page.wait_for_function(f"() => ({names})()?.[1] === '−1'")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_a_map_with_every_cell_masked_has_its_words_and_can_be_chosen(browser_page: Any, app: Any) -> None:
    page = browser_page
    go_to(page, f"{app.url}/?v=1&mask=custom&custom_cells=&sentence=a+b+c&n_heads=1")
    weights = page.locator(".st-key-explore [data-stage=weights]")
    weights.locator("text[data-head='0']").wait_for()
    page.evaluate(QUIET)
    assert weights.locator(".attn-layer text").all_text_contents().count("b") == 2
    box = weights.locator("[data-map]").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url("**query=2**")
    assert "key=2" in page.url
