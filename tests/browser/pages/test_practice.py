"""Practice in a real browser: answers by click and by brush, and a record that the browser keeps."""

from __future__ import annotations

from typing import Any

import pytest

from attnviz.classroom.practice.deals import deal
from attnviz.classroom.practice.record import Asked
from tests.browser_idle import QUIET

pytestmark = pytest.mark.browser
RECORD = "localStorage.getItem('attnviz:practice')"


def opened(page: Any, app: Any, **query: str) -> None:
    """The page at a question."""
    rest = "".join(f"&{name}={value}" for name, value in query.items())
    page.goto(f"{app.url}/?v=1&page=lessons&course=practice{rest}")
    page.locator(".st-key-check").get_by_role("button").wait_for()
    page.evaluate(QUIET)


def test_a_cell_is_pointed_at_and_the_browser_keeps_that(browser_page: Any, app: Any) -> None:
    page = browser_page
    opened(page, app, practised="cell", deal="0")
    dealt = deal(Asked("cell", 1, 0))
    n = len(dealt.trace.key_tokens)
    (right,) = dealt.question.right
    row, column = divmod(right, n)
    box = page.locator(".st-key-practice-0 [data-map=weights]").first.bounding_box()

    def click(row: int, column: int) -> None:
        page.mouse.click(box["x"] + box["width"] * (column + 0.5) / n, box["y"] + box["height"] * (row + 0.5) / n)

    click(column, row)
    chosen = f"row {column + 1}, column {row + 1}"
    page.wait_for_function(
        "text => document.querySelector('.st-key-slide [data-testid=stSelectbox]').outerHTML.includes(text)", arg=chosen
    )
    page.get_by_role("button", name="Check").click()
    page.get_by_text("That is the cell across the diagonal").wait_for()
    page.wait_for_function(f"{RECORD} === 'cell.1.0.0'")
    page.evaluate(QUIET)
    opened(page, app, practised="cell", deal="0")
    page.wait_for_function("location.search.includes('deal=1')")  # the first one was answered: it goes on
    page.get_by_role("button", name="This one again").click()
    page.get_by_text("Review: 1 left").wait_for()
    page.get_by_role("button", name="Show the answer").click()
    page.wait_for_function(f"{RECORD} === 'cell.1.0.0\\ncell.1.0.0'")


def test_a_mask_is_drawn(browser_page: Any, app: Any) -> None:
    page = browser_page
    number = next(n for n in range(20) if deal(Asked("mask", 1, n)).config.mask == ("causal",))
    opened(page, app, practised="mask", deal=str(number))
    page.get_by_role("button", name="Check").click()
    page.get_by_text("Paint the mask first").wait_for()
    cells = page.get_by_role("gridcell")
    for row, column in ((0, 1), (0, 2)):
        cells.nth(3 * row + column).click()
        page.evaluate(QUIET)
    page.get_by_role("button", name="Check").click()
    page.get_by_text("Allowed, but should be forbidden: 1 of the cells.").wait_for()
    cells.nth(5).click()
    page.evaluate(QUIET)
    page.get_by_role("button", name="Check").click()
    page.get_by_text("Right.").wait_for()
