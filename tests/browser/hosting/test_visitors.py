"""The visitors of these tests: who comes to the page finds nothing that another left in the browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.conftest import emptied

pytestmark = pytest.mark.browser

LEFT = """async () => ({
    cookies: document.cookie.includes("left="), local: localStorage.length, session: sessionStorage.length,
    databases: (await indexedDB.databases()).length, caches: (await caches.keys()).length,
    dark: matchMedia("(prefers-color-scheme: dark)").matches, width: innerWidth })"""
LEAVE = """async () => {
    document.cookie = "left=1; max-age=1000"; localStorage.left = sessionStorage.left = 1;
    await new Promise((done) => { indexedDB.open("left").onsuccess = done; });
    await caches.open("left"); }"""
NOTHING = {"cookies": False, "local": 0, "session": 0, "databases": 0, "caches": 0}


def test_who_comes_after_another_finds_nothing_that_was_left(
    new_page: Callable[..., Any], chromium: Any, app: Any
) -> None:
    page = new_page(viewport={"width": 500, "height": 600}, color_scheme="dark")
    page.goto(f"{app.url}/_stcore/health")
    page.evaluate(LEAVE)
    left = {"cookies": True, "local": 1, "session": 1, "databases": 1, "caches": 1, "dark": True, "width": 500}
    assert page.evaluate(LEFT) == left
    emptied(chromium)
    assert page.is_closed()
    page = chromium.new_page()
    page.goto(f"{app.url}/_stcore/health")
    assert page.evaluate(LEFT) == NOTHING | {"dark": False, "width": 1280}


def test_two_at_once_are_strangers(new_page: Callable[..., Any], app: Any) -> None:
    for visitor in (new_page(), new_page(), new_page(locale="de-DE")):
        visitor.goto(f"{app.url}/_stcore/health")
        assert visitor.evaluate(LEFT) == NOTHING | {"dark": False, "width": 1280}
        visitor.evaluate(LEAVE)
