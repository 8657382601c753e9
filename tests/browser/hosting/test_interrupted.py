"""A server that dies of a setting: the page that comes back asks, and does not send it to its death again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser_idle import wait_until

pytestmark = pytest.mark.browser

LINK = "?v=1&n_heads=7&d_model=512&n_layers=6&d_k=64&d_v=64"
LOST = "The connection to the server was lost while it computed this setting"
NOTED = "document.cookie.includes('attnviz_unfinished=') && !document.cookie.includes('attnviz_unfinished=;')"
DRAWN_LATE = """() => attnvizScripts.parts.attnviz_interrupted.draw({
    data: { cookie: "attnviz_unfinished", key: "old", at: 1 }, parentElement: document.createElement("div"),
})"""
DRAWN = "!document.querySelector('[data-testid=stSkeleton]')"
PICTURES = ".st-key-explore [data-stage=heads] .attn-focus"


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "notes.txt"
    file.write_text("", "utf-8")
    monkeypatch.setenv("ATTNVIZ_TEST_NOTES", str(file))
    return file


def begun(notes: Path) -> int:
    return notes.read_text("utf-8").count("begun")


def died(page: Any, server: Callable[..., Any]) -> Any:
    """Open the link on a server that then ends in the middle of it, and is started again."""
    site = server("tests/browser/scripts/stops.py")
    page.goto(f"{site.url}/{LINK}")
    page.wait_for_function(NOTED)
    page.get_by_role("slider").first.wait_for()  # what comes with the run is there, so the page stays open
    page.wait_for_function(DRAWN)
    site.kill()
    site.start()
    return site


def test_what_the_server_died_of_is_not_begun_again_by_itself(
    browser_page: Any, server: Callable[..., Any], notes: Path
) -> None:
    died(browser_page, server)
    browser_page.get_by_text(LOST).wait_for()  # the page has come back by itself
    browser_page.reload()
    browser_page.get_by_text(LOST).wait_for()
    assert begun(notes) == 1
    assert "n_heads=7" in browser_page.url
    browser_page.get_by_role("button", name="Open the default setting").click()
    browser_page.locator(PICTURES).wait_for()
    assert begun(notes) == 1
    browser_page.get_by_text(LOST).wait_for(state="hidden")  # what a run leaves out goes once it has ended


def test_it_is_computed_where_the_visitor_says_so(browser_page: Any, server: Callable[..., Any], notes: Path) -> None:
    died(browser_page, server)
    browser_page.get_by_role("button", name="Compute it anyway").click()
    browser_page.get_by_text(LOST).wait_for(state="hidden")
    wait_until(browser_page, lambda: begun(notes) == 2)


def test_a_large_setting_that_was_finished_leaves_no_note(browser_page: Any, app: Any) -> None:
    browser_page.goto(f"{app.url}/{LINK.replace('=7', '=8')}")
    browser_page.locator(PICTURES).wait_for()
    browser_page.wait_for_function(f"!({NOTED})")
    browser_page.evaluate(DRAWN_LATE)
    assert not browser_page.evaluate(NOTED), "an old note that is drawn after the last one"
    for label, name in (("Statistics", "statistics"), ("Table", "table"), ("Statistics", "statistics")):
        browser_page.get_by_role("radio", name=label).click()
        browser_page.wait_for_function("part => location.search.includes(part)", arg=f"panel={name}")
        browser_page.wait_for_function(f"!({NOTED})")
    browser_page.reload()
    browser_page.locator(PICTURES).wait_for()
    assert browser_page.get_by_text(LOST).count() == 0
