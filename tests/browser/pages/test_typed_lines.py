"""A line that is typed, in a real browser: its examples by one press, and the line that was meant after a slip."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest

from attnviz import Config, run
from attnviz.ui.panels.typed_formula import EXAMPLES, LABELS
from tests.support.cases import for_each

pytestmark = pytest.mark.browser

GROUPS = {"bias": "Score", "normaliser": "Normaliser"}
"""The folded groups in which a field stands."""


def typed_in(url: str, kind: str) -> str:
    field = f"{kind}_formula"
    return parse_qs(urlparse(url).query).get(field, [getattr(Config(), field)])[0]


@for_each("kind", EXAMPLES)
def test_an_example_is_computed_by_one_press(new_page: Callable[..., Any], app: Any, kind: str) -> None:
    """The first and the last of each kind; that every one is right is shown without a browser."""
    page = new_page(instead=True)
    few = "n_heads=1&d_model=8&d_k=2&d_v=2"  # all lines are written, with each number of the vectors
    page.goto(f"{app.url}/?v=1&{few}&sentence=a+king+saw+the+queen&{kind}=formula&head=1&query=3&key=3&all_lines=yes")
    page.locator(".st-key-part-weight .katex-html").first.wait_for()
    page.locator(".ad-chip").first.click()  # the setting, which the answer stands in the room of
    if kind in GROUPS:
        page.locator("[data-testid=stSidebar] summary", has_text=GROUPS[kind]).first.click()
    for name, line in [*EXAMPLES[kind].items()][:: len(EXAMPLES[kind]) - 1]:
        page.get_by_role("radio", name=LABELS[name], exact=True).click()
        page.wait_for_url(lambda url, line=line: typed_in(url, kind) == line)
        typed = {kind: "formula", f"{kind}_formula": line}
        config = Config(**typed, sentence="a king saw the queen", n_heads=1, d_model=8, d_k=2, d_v=2)
        wanted = f"{run(config)['weights'].array[0, 2, 2]:.4g}".replace("-", "−")
        page.locator(".st-key-part-weight .katex-html", has_text=wanted).first.wait_for()


def test_what_was_meant_is_taken_over_by_one_press(new_page: Callable[..., Any], app: Any) -> None:
    page = new_page()
    page.goto(f"{app.url}/?v=1&score=formula&sentence=a+b+c")
    field = page.locator("[class*='st-key-score_formula'] :is(textarea, input)")
    field.fill("QK^T / √d_k")
    field.press("Control+Enter")
    marked = page.locator("[data-testid=stSidebar] pre", has_text="^")
    marked.wait_for()
    _, mark = marked.inner_text().rstrip().split("\n")
    assert mark == "  ^^"
    page.get_by_role("button", name="Write q @ k / sqrt(d_k)").click()
    page.wait_for_url(lambda url: typed_in(url, "score") == "q @ k / sqrt(d_k)")
    page.get_by_text("In general this is the same as Scaled dot product.").wait_for()
    assert field.input_value() == "q @ k / sqrt(d_k)"
    assert not marked.count()
