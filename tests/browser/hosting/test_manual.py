"""The documentation that a host has made, reached from the page as a visitor reaches it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attnviz.ui import manual_route

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><title>before</title><h1>On the page</h1>
<script>document.title = "its own script runs"</script><h2 id="learn">Learn</h2>"""


def test_the_question_mark_opens_what_is_written_of_the_page(
    server: Callable[..., Any], new_page: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("index.html", manual_route.ABOUT_PAGE):
        (tmp_path / name).write_text(PAGE, encoding="utf-8")
    monkeypatch.setenv(manual_route.VARIABLE, str(tmp_path))
    below = server("app.py", "--server.baseUrlPath=see/attention")
    for width in (1280, 390):
        page = new_page(viewport={"width": width, "height": 720}, instead=True)
        page.goto(f"{below.url}/?page=lessons")
        page.locator(".st-key-places").wait_for()
        with page.context.expect_page() as opening:
            page.get_by_role("link", name="What this page can do").click()
        site = opening.value
        site.get_by_role("heading", name="Learn").wait_for()
        assert site.title() == "its own script runs"
        assert site.url == f"{below.url}/attnviz/docs/the-page.html#learn"
