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


def test_two_words_that_are_pressed_sort_all_heads_and_frame_their_cell(browser_page: Any, site: Any) -> None:
    page = browser_page
    page.goto(f"{site.url}/?v=1&model=bert&sentence=the+cat+sat&every=yes")
    words = page.locator(".mosaic .words button")
    words.nth(3).wait_for()
    page.evaluate(QUIET)
    tokens = words.all_text_contents()
    words.nth(3).click()
    page.get_by_text(f"“{tokens[3]}” attends to … press a second word.").wait_for()
    words.nth(2).click()
    page.wait_for_function("new URLSearchParams(location.search).get('key') === '3'")
    page.get_by_text(f"“{tokens[3]}” → “{tokens[2]}” is framed in each head.").wait_for()
    page.evaluate(QUIET)
    shares = page.locator(".mosaic .grid bdi").evaluate_all("all => all.map((each) => parseFloat(each.textContent))")
    assert shares == sorted(shares, reverse=True)
    assert len(shares) == 8
    map_, frame = (page.locator(f".mosaic .map {part}").first.bounding_box() for part in ("canvas", "i"))
    at = [(frame[axis] - map_[axis]) / map_[size] for axis, size in (("x", "width"), ("y", "height"))]
    assert at == pytest.approx([2 / len(tokens), 3 / len(tokens)], abs=0.02)
    page.get_by_role("button", name="no pair").click()
    page.wait_for_function("!new URLSearchParams(location.search).has('key')")
