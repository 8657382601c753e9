"""A page with a trained model: all heads at once, one opened by a click, and a number down to its row in the file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser_idle import QUIET
from tests.support.cases import for_each
from tests.support.small_models import FOLDER

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(server: Callable[..., Any]) -> Any:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ATTNVIZ_MODELS", f"bert={FOLDER / 'bert'}")
        return server("app.py")


CUT = """spans => spans.filter((span) => {
  const range = document.createRange();
  range.selectNodeContents(span);
  const [text, box] = [range.getBoundingClientRect(), span.getBoundingClientRect()];
  return text.top < box.bottom - 1 && text.width > box.width + 1;
}).map((span) => span.textContent)"""
"""The words over the arrows that are seen in part."""


@for_each("width, cell", [(1280, "&head=1&query=1&key=1"), (390, "")])
def test_the_way_from_the_words_to_the_output_can_be_seen_to_its_end(
    browser_page: Any, site: Any, width: int, cell: str
) -> None:
    page = browser_page
    page.set_viewport_size({"width": width, "height": 720})
    page.goto(f"{site.url}/?v=1&model=bert&sentence=the+cat+sat{cell}")
    last = page.locator(".path .node").last
    last.wait_for()
    page.evaluate(QUIET)
    last.focus()
    node, way = last.bounding_box(), page.locator(".path").bounding_box()
    assert node["x"] + node["width"] <= way["x"] + way["width"] + 1
    assert page.locator(".path .step:not(.sign) span").evaluate_all(CUT) == []


def test_a_click_in_the_mosaic_opens_the_head_and_its_numbers_name_the_file(browser_page: Any, site: Any) -> None:
    page = browser_page
    page.goto(f"{site.url}/?v=1&model=bert&sentence=the+cat+sat&every=yes&panel=products&step=queries")
    tiles = page.locator(".mosaic .grid button")
    tiles.nth(5).wait_for()
    assert tiles.count() == 8
    tiles.nth(5).click()
    page.wait_for_function("new URLSearchParams(location.search).get('focus') === '2'")
    page.evaluate(QUIET)
    assert "layer=2" in page.url
    page.get_by_text("encoder.layer.1.attention.self.query.weight[").first.wait_for()
