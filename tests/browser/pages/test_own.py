"""The page of what people bring as a person uses it: a file, a paste, a cell, and words that mean harm."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from attnviz import Config, heatmaps, run, show
from tests.browser_idle import QUIET
from tests.support.cases import for_each

pytestmark = pytest.mark.browser

HARM = ["<b>x</b>", "**b**", "$x$", "constructor", "![x](http://evil.test/a.png)", "<img/src=x/onerror=window.harm=1>"]
A = np.random.default_rng(8).dirichlet(np.ones(6), size=(3, 6))


@pytest.fixture(scope="module")
def url(server: Callable[..., Any]) -> str:
    return server("tests/browser/scripts/own.py").url


def npz(**named: Any) -> bytes:
    out = io.BytesIO()
    np.savez(out, **named)
    return out.getvalue()


def bring(page: Any, name: str, data: bytes) -> None:
    page.locator("input[type=file]").set_input_files({"name": name, "mimeType": "x/y", "buffer": data})


def settled(page: Any) -> None:
    page.evaluate(QUIET)


def test_a_file_is_drawn_its_cells_are_followed_and_a_bad_one_leaves_it(url: str, browser_page: Any) -> None:
    urls: list[str] = []
    browser_page.on("request", lambda request: urls.append(request.url))
    browser_page.goto(url)
    browser_page.get_by_text("1 head of self-attention over 5 tokens").wait_for()
    settled(browser_page)
    bring(browser_page, "w.npz", npz(weights=A, tokens=HARM))
    browser_page.get_by_text("3 heads of self-attention over 6 tokens").wait_for()
    settled(browser_page)
    browser_page.locator(".attn-layer text", has_text=HARM[0]).first.wait_for()
    box = browser_page.locator(".st-key-explore [data-stage=weights] .attn-cells").bounding_box()
    browser_page.mouse.click(box["x"] + 12, box["y"] + 12)
    browser_page.get_by_text("head 1: 8 % of its attention").first.wait_for()
    browser_page.get_by_text("there is nothing before it").first.wait_for()
    bring(browser_page, "bad.csv", b"1,2\n3")
    browser_page.get_by_text("Numbers in row 2: 1").wait_for()
    settled(browser_page)
    assert browser_page.get_by_text("3 heads of self-attention over 6 tokens").count() == 1
    assert browser_page.evaluate("window.harm") is None
    assert not [each for each in urls if not each.startswith((url, url.replace("http", "ws"), "data:", "blob:"))]


def test_what_is_pasted_is_drawn(url: str, browser_page: Any) -> None:
    browser_page.goto(url)
    browser_page.get_by_text("1 head of self-attention over 5 tokens").wait_for()
    settled(browser_page)
    field = browser_page.get_by_label("Or paste rows of numbers, or JSON")
    field.fill(json.dumps(A.tolist()))
    field.press("Control+Enter")
    browser_page.get_by_text("3 heads of self-attention over 6 tokens").wait_for()
    settled(browser_page)
    browser_page.get_by_text("Q, K, V", exact=True).click()
    browser_page.get_by_text("give q, k, v as the names").wait_for()


@for_each("which", ["show", "heatmaps"])
def test_figures_for_a_notebook_name_every_cell_and_run_nothing(which: str, browser_page: Any, tmp_path: Any) -> None:
    figure = show(A, HARM) if which == "show" else heatmaps(run(Config(sentence="the cat the", n_heads=2)))
    words = HARM if which == "show" else ["the", "cat", "the"]
    figure.write_html(tmp_path / "figure.html", include_plotlyjs=True)
    browser_page.goto((tmp_path / "figure.html").as_uri())
    browser_page.locator(".yaxislayer-above").first.wait_for()
    ticks = browser_page.locator(".yaxislayer-above").first.locator("text").all_text_contents()
    shown = [f"{i} {word if len(word) <= 14 else word[:13] + '…'}" for i, word in enumerate(words, 1)]
    assert ticks == shown
    box = browser_page.locator(".subplot.xy .heatmaplayer").first.bounding_box()
    browser_page.mouse.move(box["x"] + box["width"] - 6, box["y"] + 6)
    browser_page.locator(".hoverlayer .hovertext").wait_for()
    tip = browser_page.locator(".hoverlayer").text_content()
    assert tip.startswith(f"{shown[0]} → {shown[-1]}: ")
    assert browser_page.evaluate("window.harm") is None
