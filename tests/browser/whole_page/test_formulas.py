"""Formulas in a real browser: none is cut at the edge of the page so that what is left looks whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from tests.browser_idle import QUIET, go_to
from tests.support.cases import for_each

pytestmark = pytest.mark.browser

CUT = """() => [...document.querySelectorAll(".stMain .base, .stSidebar .base")].filter(part => {
    const room = part.closest("td, th, p"), seen = part.getBoundingClientRect();
    const edge = Math.min(room.getBoundingClientRect().right, document.documentElement.clientWidth);
    return seen.right > edge + 1 && !fades(room);
    function fades(scroller) {
        const style = getComputedStyle(scroller);
        return style.overflowX === "auto" && style.maskSize.startsWith("100%") && style.maskImage.includes("gradient");
    }
}).map(part => part.textContent)"""
"""Parts of formulas beyond the edge of their room, unless it scrolls and fades there."""

LAID_OUT = ".stMain .st-key-all-lines .stMarkdown { content-visibility: visible !important; }"
"""All formulas as they are once scrolled to; before that, a browser works out neither masks nor animations."""


LOW = """() => [...document.querySelectorAll("[class*=st-key-formula]")].filter(room => {
    const lines = [...room.querySelectorAll("p")].map(line => line.getBoundingClientRect().bottom);
    return Math.max(...lines) > room.getBoundingClientRect().bottom + 1;
}).map(room => room.textContent)"""
"""Formulas that are higher than their room: what comes next stands over their last line, such as a denominator."""

OUTSIDE = """() => [...document.querySelectorAll(".stMarkdown :is(td, th)")].filter(cell =>
    cell.getBoundingClientRect().right > document.documentElement.clientWidth).map(cell => cell.textContent)"""
"""Cells of a table in a text that go beyond the edge of the window: of a number what is left looks whole."""


def cell(page: Any, app: Any, query: str) -> Any:
    """The page of one cell with all its formulas opened."""
    go_to(page, f"{app.url}/?v=1&head=2&query=3&key=3&all_lines=yes&{query}")
    page.wait_for_selector(".st-key-part-output .katex")
    page.locator(".st-key-part-vectors summary").evaluate("summary => summary.parentElement.open || summary.click()")
    page.locator(".st-key-part-vectors .katex").first.wait_for(state="visible")
    page.add_style_tag(content=LAID_OUT)
    page.evaluate(QUIET)
    return page


@for_each(
    "query",
    [
        "initialiser=by_hand",
        "score=cosine&normaliser=entmax15&d_k=20&position=rope&mask=causal&bias=alibi&softcap=3",
        "score=additive&normaliser=quiet_softmax&temperature=0.5&digits=17",
    ],
)
def test_no_formula_is_cut_at_the_edge(browser_page: Any, app: Any, query: str) -> None:
    for width in (390, 1280):
        browser_page.set_viewport_size({"width": width, "height": 844})
        page = cell(browser_page, app, query)
        assert page.locator(".stMain .katex-html .base").count() > 100
        assert page.evaluate(CUT) == [], width
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_what_cannot_be_broken_scrolls_and_fades_until_its_end(new_page: Callable[..., Any], app: Any) -> None:
    page = cell(new_page(viewport={"width": 390, "height": 844}), app, "initialiser=by_hand")
    room = page.locator(".st-key-part-score td + td").first
    assert room.evaluate("td => getComputedStyle(td).maskSize") != "100%"
    room.evaluate("td => td.querySelector('.base').style.width = '40rem'")
    fades = "td => getComputedStyle(td).maskSize.split(' ')[0] === '100%'"  # of the frame after the one of its width
    page.wait_for_function(fades, arg=room.element_handle())
    room.evaluate("td => td.scrollLeft = td.scrollWidth")
    page.wait_for_function("td => getComputedStyle(td).maskSize.includes('+')", arg=room.element_handle())


@for_each("step", ["masked", "weights", "added"])
def test_the_formula_of_a_step_is_not_cut(browser_page: Any, app: Any, step: str) -> None:
    page = browser_page
    page.set_viewport_size({"width": 390, "height": 844})
    go_to(page, f"{app.url}/?v=1&page=class&step={step}&residual=yes&mask=causal&bias=t5&score=additive")
    page.wait_for_selector(".st-key-formula .katex")
    page.evaluate(QUIET)
    assert page.evaluate(CUT) == page.evaluate(LOW) == []


def test_a_typed_formula_breaks_in_the_room_of_the_settings(new_page: Callable[..., Any], app: Any) -> None:
    page = new_page(viewport={"width": 390, "height": 844})
    long = "t = tanh(q @ W_q + b + k @ W_k); sum(t * v) / sqrt(d_k) + exp(-norm(q - k)) - 3 * sum(q * k) / sqrt(d_k)"
    page.goto(f"{app.url}/?v=1&score=formula&score_formula={quote(long)}")
    page.locator("[data-testid=stExpandSidebarButton]").click()
    room = page.locator(".st-key-formula-score p")
    room.locator(".base").first.wait_for()
    page.evaluate(QUIET)
    assert room.evaluate("p => p.scrollWidth - p.clientWidth") <= 0
    assert page.evaluate(CUT) == []


def test_where_a_line_goes_wrong_is_seen_below_it_without_scrolling(new_page: Callable[..., Any], app: Any) -> None:
    page = new_page()
    page.goto(f"{app.url}/?v=1&score=formula")
    field = page.locator("[class*='st-key-score_formula'] :is(textarea, input)")
    field.fill("dot(q, k) / norm(q) norm(k)")
    field.press("Control+Enter")
    marked = page.locator("[data-testid=stSidebar] pre", has_text="^")
    marked.wait_for()
    line, mark = marked.inner_text().rstrip().split("\n")
    assert line[mark.index("^") :] == "norm(k)"
    box, typed = marked.bounding_box(), field.bounding_box()
    assert 0 <= box["y"] - typed["y"] - typed["height"] < 40
    assert box["y"] + box["height"] <= 720


@for_each(
    "query",
    [
        "panel=products&step=heads&column=2&head=2&query=3&score=additive&mask=causal",
        "panel=backward&head=2&query=3&key=3&mask=causal",
    ],
)
def test_no_formula_of_a_panel_is_cut_on_a_phone(browser_page: Any, app: Any, query: str) -> None:
    browser_page.set_viewport_size({"width": 390, "height": 844})
    go_to(browser_page, f"{app.url}/?v=1&{query}")
    browser_page.wait_for_selector("[data-test-script-state=notRunning] .stMain .stHtml:visible")
    browser_page.evaluate(QUIET)
    browser_page.wait_for_function("document.querySelector('.stMain').scrollWidth <= innerWidth")
    assert cut(browser_page) == []


def cut(page: Any) -> list[str]:
    """Formulas and cells of tables that are not whole in the window, or would not be once they are scrolled to."""
    page.add_style_tag(content=LAID_OUT)
    return [text for script in (CUT, LOW, OUTSIDE) for text in page.evaluate(script)]
