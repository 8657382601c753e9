"""A long text in the browser: its frame is dragged, the maps follow, and little goes over the wire."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser_idle import QUIET

pytestmark = pytest.mark.browser

MOST_BYTES = 600_000
FIRST = """() => {
    const { rows, positions } = document.querySelector('.st-key-explore [data-stage=weights]').picture.meta;
    return [rows[0], positions[0][0], positions[1][0]];
}"""
SHARES = """(bar) => {
    const widths = [...bar.children].map((share) => share.getBoundingClientRect().width);
    const filled = widths.reduce((sum, width) => sum + width, 0) / bar.clientWidth;
    return { filled, inside: bar.scrollWidth <= bar.clientWidth + 1 };
}"""


def test_the_frame_is_dragged_and_the_maps_show_the_words_in_it(browser_page: Any, app: Any) -> None:
    page, got = browser_page, [0]

    def counted(socket: Any) -> None:
        socket.on("framereceived", lambda data: got.__setitem__(0, got[0] + len(data)))

    page.on("websocket", counted)
    page.goto(f"{app.url}/?v=1&sentence=the+cat&n_heads=2")
    page.locator(".st-key-explore [data-stage=weights] .attn-layer svg path").first.wait_for(state="attached")
    page.evaluate(QUIET)
    field = page.get_by_role("textbox", name="Sentence", exact=True)
    field.fill(" ".join(f"w{number}" for number in range(300)))
    field.press("Enter")
    page.get_by_role("button", name="Use 300 tokens").click()
    frame = page.locator(".st-key-explore .frame")
    frame.wait_for()
    page.evaluate(QUIET)
    assert page.evaluate(FIRST) == ["w0", 0, 0]
    got[0] = 0
    box = frame.locator("xpath=..").bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + 3)
    page.mouse.down()
    page.mouse.move(box["x"] + 3, box["y"] + box["height"] + 40)
    page.mouse.up()
    page.wait_for_function("/from_query=269/.test(location.search)")
    page.evaluate(QUIET)
    assert page.evaluate(FIRST) == ["w268", 268, 0]
    assert got[0] < MOST_BYTES
    frame.press("ArrowRight")
    page.wait_for_function("/from_key=9(&|$)/.test(location.search)")
    image = page.locator(".st-key-explore [data-stage=weights] .attn-cells").bounding_box()
    page.mouse.click(image["x"] + 4, image["y"] + 4)
    page.wait_for_function("/query=269(&|$)/.test(location.search) && /[?&]key=9(&|$)/.test(location.search)")
    page.locator(".ad-live", has_text="row").wait_for(state="attached")
    shares = page.locator(".ad-shares").evaluate(SHARES)
    assert shares["inside"]
    assert shares["filled"] > 0.7, "not gaps between hundreds of words"
