"""Two settings beside each other: their maps are whole in the window, and B flips in the place of A."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from attnviz import Config, run
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
