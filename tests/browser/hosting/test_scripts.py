"""The scripts of the page come as a file, beside Streamlit's own, and again where the line was lost for a moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser

DRAWN = "document.querySelectorAll('.st-key-explore .attn-layer svg path').length > 1"
LARGEST = 60_000  # bytes of a message over the socket: the page's style and the numbers have 20,000 each at most


def test_the_scripts_are_a_file_that_is_asked_for_again_where_it_did_not_come(
    new_page: Callable[..., Any], app: Any
) -> None:
    page = new_page()
    asked: list[str] = []
    sizes: list[int] = []

    def refuse_the_first(route: Any) -> None:
        asked.append(route.request.url)
        route.abort() if len(asked) < 3 else route.continue_()

    def weigh(socket: Any) -> None:
        socket.on("framereceived", lambda data: sizes.append(len(data)))

    page.route("**/attnviz/scripts-*", refuse_the_first)
    page.on("websocket", weigh)
    page.goto(app.url)
    page.wait_for_function(DRAWN)
    assert len(asked) > 2
    assert max(sizes) < LARGEST
    address = asked[0].rpartition("/")[2].partition("?")[0]
    page.unroute("**/attnviz/scripts-*")
    page.reload()
    page.wait_for_function(DRAWN)
    (preloaded,) = page.locator("head link[rel=modulepreload][href*=attnviz]").all()
    assert preloaded.get_attribute("href").endswith(address)
