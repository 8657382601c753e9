"""What is done on the stage while the server is busy: all of it is heard, though Streamlit passes on only the last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser_idle import QUIET, wait_until

pytestmark = pytest.mark.browser


class Line:
    """The socket of a page, on which what it asks for can be kept back."""

    def __init__(self, page: Any) -> None:
        self.kept: list[Any] | None = None
        page.route_web_socket("**/_stcore/stream**", self._open)

    def _open(self, near: Any) -> None:
        self.server = near.connect_to_server()
        near.on_message(lambda message: self.server.send(message) if self.kept is None else self.kept.append(message))

    def release(self) -> None:
        """Pass on the last of them alone, as Streamlit does of what one element asks for while a run is busy."""
        kept, self.kept = self.kept or [], None
        self.server.send(kept[-1])


def test_nothing_that_is_done_while_a_run_is_busy_is_lost(new_page: Callable[..., Any], app: Any) -> None:
    page = new_page()
    line = Line(page)
    words, path = (page.locator(each) for each in (".at-words button", ".st-key-way button"))
    title = page.locator(".attn-drawer h2")

    def cell(x: int, y: int, stage: str = "weights") -> Callable[[], None]:
        cells = page.locator(f".st-key-explore [data-stage={stage}] .attn-cells").first
        return lambda: cells.click(position={"x": x, "y": y})

    def opened(address: str) -> None:
        page.goto(address)
        page.locator(".st-key-explore [data-stage=scores] .attn-cells").first.wait_for()
        page.evaluate(QUIET)

    number = cell(20, 60, "queries")  # the server alone can say how it came to be
    opened(f"{app.url}?v=1&shown=queries")
    number()
    page.wait_for_url("**number_of**")
    page.evaluate(QUIET)
    chosen = page.url
    for first, acts, found in (
        (
            app.url,
            (words.nth(2).click, cell(40, 60), lambda: page.keyboard.press("p"), path.nth(1).click),
            "shown head pinned",
        ),
        (app.url, (cell(40, 60), cell(60, 40), lambda: page.keyboard.press("Escape"), path.nth(1).click), "shown"),
        (chosen, (cell(40, 60, "scores"), number), "shown head number_of"),
        (chosen, (cell(20, 80, "queries"), cell(40, 60, "scores")), "shown head key"),
    ):
        opened(first)
        for act in acts:
            before = page.url
            act()
            page.wait_for_function("(url) => location.href !== url", arg=before)
            page.evaluate(QUIET)
        wanted, said = page.url, title.all_inner_texts()
        names = ("shown", "head", "key", "number_of", "pinned")
        assert {each for each in names if f"&{each}=" in wanted} >= {*found.split()}
        opened(first)
        line.kept, address = [], page.url
        for asked, act in enumerate(acts, 1):
            act()
            wait_until(page, lambda asked=asked: len(line.kept or ()) == asked)
        assert page.url == address, "the server has heard of nothing"
        line.release()
        page.wait_for_url(wanted)
        page.evaluate(QUIET)
        assert title.all_inner_texts() == said
