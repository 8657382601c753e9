"""The band on top of every page, and what a lecture has in it: at the same place everywhere, and over nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser_idle import QUIET
from tests.support.cases import for_each

pytestmark = pytest.mark.browser

DESK, PHONE = (1280, 720), (390, 844)
BOXES = """() => ['[class*=st-key-pick-place]', '.st-key-languages'].map((name) => {
    const { left, top, bottom } = document.querySelector(`.stMain ${name}`).getBoundingClientRect();
    return [left, top, bottom].map(Math.round);
})"""
FREE = """() => {
    const menus = ['stExpandSidebarButton', 'stMainMenu'].map((id) => document.querySelector(`[data-testid=${id}]`));
    const bands = document.querySelectorAll('.stMain :is([class*=st-key-pick-place], .st-key-languages)');
    const boxes = [...menus, ...bands].filter(Boolean).map((element) => element.getBoundingClientRect());
    return boxes.every((a, i) => boxes.every((b, j) => i === j || a.right <= b.left + 1 || b.right <= a.left + 1));
}"""


def opened(new_page: Callable[..., Any], size: tuple[int, int]) -> Any:
    return new_page(viewport={"width": size[0], "height": size[1]}, instead=True)


@for_each("size", [DESK, PHONE])
def test_what_leads_from_page_to_page_is_at_the_same_place_on_each(
    new_page: Callable[..., Any], app: Any, size: tuple[int, int]
) -> None:
    page = opened(new_page, size)
    found = []
    for name in ("take", "explore"):
        page.goto(f"{app.url}/?v=1&page={name}")
        page.locator(".stMain .st-key-languages button").first.wait_for()
        page.evaluate(QUIET)
        found.append(page.evaluate(BOXES))
        assert page.evaluate(FREE), name
    assert found[0] == found[1]
    page.mouse.move(size[0] / 2, size[1] - 40)
    page.mouse.wheel(0, 400)
    page.wait_for_function("document.querySelector('.stMain .st-key-languages').getBoundingClientRect().bottom < 0")
    page.mouse.wheel(0, -400)
    page.wait_for_function("document.querySelector('.stMain .st-key-languages').getBoundingClientRect().top > 0")
    fold = page.locator("[data-testid=stSidebarCollapseButton] button")
    if size == DESK:
        page.mouse.move(100, 300)
        fold.click()
        page.locator("[data-testid=stExpandSidebarButton]").wait_for()
        page.evaluate(QUIET)
        assert page.evaluate(FREE), "the button that unfolds the sidebar stands over nothing"


def test_on_a_phone_a_lecture_has_its_title_over_its_formula_and_that_over_what_explains_a_cell(
    new_page: Callable[..., Any], app: Any
) -> None:
    page = opened(new_page, PHONE)
    page.goto(f"{app.url}/?v=1&page=class&step=weights")
    page.locator(".st-key-class [data-stage=weights] .attn-layer text").first.wait_for()
    page.evaluate(QUIET)
    title, formula, explained = (
        page.locator(f".st-key-{name}").first.bounding_box()
        for name in ("tools-class h2", "lecture [class*=st-key-formula] p", "explained")
    )
    assert title["y"] + title["height"] <= formula["y"] + 1
    assert formula["y"] + formula["height"] <= explained["y"] + 1


def test_a_lecture_prints_the_weights_of_eight_heads_of_twelve_words_on_a_usual_window(
    new_page: Callable[..., Any], app: Any
) -> None:
    page = opened(new_page, DESK)
    words = "+".join(["the", "cat", "sat", "on", "a", "warm", "mat", "while", "my", "dog", "slept", "under"])
    page.goto(f"{app.url}/?v=1&page=class&step=weights&n_heads=8&sentence={words}")
    page.locator(".st-key-class [data-stage=weights] .attn-layer text").first.wait_for()
    page.evaluate(QUIET)
    texts = page.locator(".st-key-class [data-stage=weights] .attn-layer text").all_text_contents()
    assert sum(text.startswith(".") for text in texts) > 200
    image = page.locator(".st-key-class [data-stage=weights] .attn-cells").bounding_box()
    assert image["width"] > 0.85 * DESK[0]


@for_each("query", ["", "focus=2&head=2&query=5&key=3"])
def test_what_follows_the_maps_is_scrolled_to_and_never_half_seen(
    new_page: Callable[..., Any], app: Any, query: str
) -> None:
    page = opened(new_page, (1280, 725))  # seven pixels more than the maps, which are laid out in steps of eight
    page.goto(f"{app.url}/?v=1&{query}")
    page.locator(".st-key-explore [data-stage=weights] .attn-layer text").first.wait_for()
    page.evaluate(QUIET)
    assert page.locator(".stMain .attn-line").first.bounding_box()["y"] >= 725
