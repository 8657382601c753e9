"""The strip as a person uses it: seen, clicked, walked through by keyboard, unfolded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from attnviz.pictures.colours import MASKED

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(server: Callable[..., Any]) -> Any:
    return server("tests/browser/scripts/strip.py")


@pytest.fixture
def view(site: Any, browser_page: Any) -> Any:
    browser_page.goto(site.url)
    browser_page.locator("[data-step=scores]").wait_for()
    settled(browser_page)
    return browser_page


def settled(page: Any) -> None:
    page.locator("[data-test-connection-state=CONNECTED][data-test-script-state=notRunning]").wait_for()


def steps(page: Any) -> list[str]:
    return page.locator("[data-step]").evaluate_all("nodes => nodes.map((node) => node.dataset.step)")


def in_focus(page: Any) -> str:
    return page.locator("[data-step]:focus").get_attribute("data-step")


def chosen(page: Any) -> list[str]:
    return page.locator("[aria-current=step]").evaluate_all("nodes => nodes.map((node) => node.dataset.step)")


def test_a_click_chooses_a_step_and_only_that(view):
    assert chosen(view) == ["scores"]
    view.locator("[data-step=weights]").click()
    view.get_by_text("Chosen weights, 1 times").wait_for()
    settled(view)
    assert chosen(view) == ["weights"]
    view.locator("[data-step=weights]").click()
    view.get_by_text("Chosen weights, 2 times").wait_for()


def test_the_last_of_quick_clicks_stays(view):
    for name in ("queries", "keys", "values", "heads"):
        view.locator(f"[data-step={name}]").click()
    view.get_by_text("Chosen heads,").wait_for()
    settled(view)
    assert chosen(view) == ["heads"]


def test_a_person_can_walk_through_it_by_keyboard(view):
    view.get_by_role("checkbox").focus()
    view.keyboard.press("Tab")
    assert in_focus(view) == "scores"
    view.keyboard.press("ArrowRight")
    assert in_focus(view) == "scaled"
    view.keyboard.press("ArrowLeft")
    view.keyboard.press("ArrowLeft")
    assert in_focus(view) == "values"
    view.keyboard.press("Enter")
    view.get_by_text("Chosen values, 1 times").wait_for()
    settled(view)
    assert in_focus(view) == "values"
    view.keyboard.press("End")
    view.keyboard.press("Space")
    view.get_by_text("Chosen output, 2 times").wait_for()
    view.keyboard.press("Home")
    assert in_focus(view) == "embedded"
    view.keyboard.press("Tab")
    assert view.get_by_role("button", name="all 19 steps").evaluate("node => node.getRootNode().activeElement === node")


def test_arrows_go_up_and_down_where_it_wraps(new_page, site):
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto(site.url)
    page.locator("[data-step=scores]").wait_for()
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator("[data-step=queries]").focus()
    top = page.locator("[data-step=queries]").bounding_box()["y"]
    page.keyboard.press("ArrowDown")
    below = page.locator(f"[data-step={in_focus(page)}]").bounding_box()["y"]
    assert below > top + 40
    page.keyboard.press("ArrowUp")
    assert page.locator(f"[data-step={in_focus(page)}]").bounding_box()["y"] == top


def test_folded_steps_can_be_unfolded(view):
    assert steps(view) == [
        "embedded",
        "queries",
        "keys",
        "values",
        "scores",
        "scaled",
        "weights",
        "heads",
        "concat",
        "w_o",
        "output",
    ]
    view.get_by_role("button", name="all 19 steps").click()
    assert len(steps(view)) == 19
    assert steps(view)[:5] == ["token_embeddings", "positions", "embedded", "w_q", "w_k"]
    view.locator("[data-step=capped]").click()
    view.get_by_text("Chosen capped,").wait_for()
    view.get_by_role("button", name="fewer steps").click()
    assert steps(view)[5:7] == ["scaled", "capped"]  # what is chosen stays in sight


def test_every_button_says_what_it_is(view):
    text = view.locator("[data-step=scores]").get_attribute("aria-label")
    assert text == "scores, S, (4 heads, 7 queries, 7 keys), how well each query matches each key"
    assert view.get_by_role("toolbar", name="From the sentence to the output").count() == 1
    assert view.locator("[data-step][tabindex='0']").count() == 1


def test_a_picture_has_the_colours_of_its_numbers(view):
    """The causal mask: its own blue below the diagonal, the pale grey of masked cells above."""
    view.get_by_text("Busy").click()
    view.locator("[data-step=masked]").wait_for()
    view.get_by_role("button", name="steps").click()
    pixels = view.locator("[data-step=allowed] canvas").evaluate(
        "node => [...node.getContext('2d').getImageData(0, 0, 2, 1).data]"
    )
    assert pixels == [0x86, 0xB2, 0xDA, 255, *bytes.fromhex(MASKED[0].removeprefix("#")), 255]
    assert view.locator("[data-step=allowed] canvas").evaluate("node => [node.width, node.height]") == [7, 7]


def test_new_numbers_are_drawn(view):
    before = view.locator("[data-step=weights] canvas").evaluate("node => node.toDataURL()")
    view.get_by_role("slider").focus()
    view.keyboard.press("ArrowRight")
    view.locator("[data-step=weights]").get_by_text("5 × 7 × 7").wait_for()
    settled(view)
    assert view.locator("[data-step=weights] canvas").evaluate("node => node.toDataURL()") != before
    assert chosen(view) == ["scores"]
