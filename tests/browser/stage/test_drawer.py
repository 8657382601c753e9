"""The answer to a click stands beside the maps, whole in the window, and both light each other."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from tests.browser.stage.test_stage import DESK, LARGE_DESK, PHONE, Page, check
from tests.browser.stage.test_stage import MEASURED as MAPS
from tests.browser_idle import QUIET
from tests.support.cases import for_each

pytestmark = pytest.mark.browser

OPEN = ".attn-drawer[data-open]"
MEASURED = """() => {
    const drawer = document.querySelector('.attn-drawer[data-open]');
    const box = (element) => {
        const { left, top, right, bottom } = element.getBoundingClientRect();
        return [left, top, right, bottom];
    };
    const foot = drawer.querySelector('.ad-foot').getBoundingClientRect().top;
    return {
        drawer: box(drawer),
        foot,
        lines: [...drawer.querySelectorAll('section')].map(box),
        scrolled: document.querySelector('[data-testid=stMain]').scrollTop,
    };
}"""


def clicked(page: Page, stage: str = "weights", at: tuple[float, float] = (0.08, 0.08)) -> dict[str, Any]:
    """Click a cell of a map, at a part of it, and measure the answer."""
    image = page.page.locator(f".st-key-explore-{stage} .heatmaplayer image").bounding_box()
    page.page.mouse.click(image["x"] + at[0] * image["width"], image["y"] + at[1] * image["height"])
    page.page.wait_for_selector(OPEN)
    page.page.evaluate(QUIET)
    return dict(page.page.evaluate(MEASURED))


def check_answer(found: dict[str, Any], size: tuple[int, int], lines: int) -> None:
    """All lines within the window and over the foot of the drawer, without any scrolling."""
    assert found["scrolled"] == 0
    assert len(found["lines"]) == lines
    left, top, right, bottom = found["drawer"]
    assert (right, bottom) == pytest.approx(size, abs=1)
    for line in found["lines"]:
        assert left <= line[0] <= line[2] <= right
        assert top <= line[1] <= line[3] <= found["foot"] + 1 <= size[1]


@for_each("size, scheme", [(DESK, "light"), (LARGE_DESK, "dark"), (PHONE, "light")])
def test_a_click_is_answered_in_the_window_and_the_maps_stay_whole(
    new_page: Callable[..., Any], app: Any, size: tuple[int, int], scheme: str
) -> None:
    page = Page(new_page, app, size, scheme)
    page.measured(4, 7, 4)
    check_answer(clicked(page), size, 4)
    maps = page.page.evaluate(MAPS)
    left, top, *_ = page.page.evaluate(MEASURED)["drawer"]
    beside = (round(left), size[1]) if left > 0 else (size[0], round(top))
    for each in maps["found"].values():
        assert each["chart"][2] <= beside[0] + 1
        assert each["chart"][3] <= beside[1] + 1
    check(maps, size, "beside an answer")
    assert "its share of the row" in page.page.locator(".ad-live").inner_text()
    page.page.keyboard.press("Escape")
    page.page.wait_for_selector(OPEN, state="detached")
    page.page.wait_for_function("!/query=/.test(location.search)")


def keyboard_stays_where_it_was(page: Any) -> None:
    """Choose a cell by keys and close its answer: the focus is in the map before, in between and after."""
    focused = "document.activeElement.className === 'attn-focus'"
    page.locator(".st-key-explore-weights .attn-focus").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_selector(OPEN)
    page.evaluate(QUIET)
    page.wait_for_function(focused)
    page.locator(".ad-close").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(OPEN, state="detached")
    page.evaluate(QUIET)
    page.wait_for_function(focused)


def test_the_keyboard_an_output_a_word_and_an_old_link_are_answered(new_page: Callable[..., Any], app: Any) -> None:
    page = Page(new_page, app, DESK)
    page.measured(4, 7, 4)
    keyboard_stays_where_it_was(page.page)
    check_answer(clicked(page, "heads", (0.05, 0.08)), DESK, 3)
    assert page.page.locator(".attn-drawer h2").inner_text().endswith("entry 1 of z")
    page.page.locator(".attn-opening button").nth(5).click()
    page.page.wait_for_function("document.querySelector('.attn-drawer h2')?.textContent === 'warm'")
    weights = page.page.locator(".attn-drawer .ad-term u").evaluate_all("(bars) => bars.map((bar) => bar.className)")
    assert len(weights) > 1
    assert {*weights} == {"ad-part"}, "those that are put together have the colour of the others"
    page.page.locator(".ad-close").click()
    page.page.wait_for_selector(OPEN, state="detached")
    page.measured(4, 7, 4, panel="cell", head="2", query="4", key="3")
    page.page.wait_for_selector(OPEN)
    check_answer(page.page.evaluate(MEASURED), DESK, 4)
    page.page.locator(".ad-all").click()
    page.page.wait_for_function("document.querySelector('[data-testid=stMain]').scrollTop > 300")
    page.page.locator(".st-key-part-score").wait_for()  # the page is there before its lines have come


def asked_for(page: Any) -> list[str]:
    """The parts of the page that the server is asked to run from now on, after the next visit; "" is all of it."""
    parts: list[str] = []

    def note(sent: str | bytes) -> None:
        message = BackMsg.FromString(sent.encode() if isinstance(sent, str) else sent)
        if message.HasField("rerun_script"):
            parts.append(message.rerun_script.fragment_id)

    page.on("websocket", lambda socket: socket.on("framesent", note))
    return parts


def test_a_click_runs_its_part_of_the_page_alone_and_the_rest_follows_it(
    new_page: Callable[..., Any], app: Any
) -> None:
    at = Page(new_page, app, DESK)
    page, asked = at.page, asked_for(at.page)
    at.measured(4, 7, 4)
    assert "" in asked, "the visit itself"
    asked.clear()
    clicked(at)
    assert asked
    assert "" not in asked
    cell = {name: parse_qs(urlparse(page.url).query)[name] for name in ("head", "query", "key")}
    title = page.locator(".attn-drawer h2").inner_text()
    page.get_by_role("spinbutton", name="Seed").press("ArrowUp")
    page.wait_for_url("**seed=1**")
    page.evaluate(QUIET)
    assert "" in asked
    assert page.locator(".attn-drawer h2").inner_text() == title
    assert cell.items() <= parse_qs(urlparse(page.url).query).items()
    page.get_by_text("Save and open", exact=True).click()
    page.get_by_role("button", name="Save this setting").wait_for()
    page.evaluate(QUIET)
    clicked(at, at=(0.02, 0.02))
    with page.expect_download() as download:
        page.get_by_role("button", name="Save this setting").click()
    kept = json.loads(Path(download.value.path()).read_text("utf-8"))
    assert kept["key"] == parse_qs(urlparse(page.url).query)["key"][0] != cell["key"][0]
    for _ in range(3):
        page.go_back()
        page.evaluate(QUIET)
    page.wait_for_selector(OPEN, state="detached")


def test_what_is_pointed_at_lights_its_cells_and_back(new_page: Callable[..., Any], app: Any) -> None:
    page = Page(new_page, app, DESK)
    page.measured(4, 7, 4, head="2", query="4", key="3", shown="queries")
    page.page.wait_for_selector(OPEN)

    def lit(stage: str) -> list[float]:
        """The middle of the ring in a map, over its width and height of a head."""
        light = page.page.locator(f".st-key-explore-{stage} .attn-layer svg >> nth=1").locator("path.attn-ring, path")
        box = light.last.bounding_box()
        return [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]

    page.page.locator(".ad-match .ad-term").nth(2).hover()
    assert page.page.locator(".ad-match .ad-term").nth(2).evaluate("(e) => e.classList.contains('ad-highlighted')")
    way = page.page.locator(".st-key-explore-way, nav.path").first
    assert {*way.locator(".highlight").evaluate_all("(all) => all.map((e) => e.parentNode.dataset.step)")} >= {
        "queries",
        "keys",
        "scores",
        "weights",
    }
    x, y = lit("queries")
    page.page.mouse.move(x, y)
    assert "value" in page.page.locator(".attn-tip").inner_html()
    assert page.page.locator(".ad-match .ad-highlighted").count() == 1
    assert page.page.locator(".ad-match .ad-term").nth(2).evaluate("(e) => e.classList.contains('ad-highlighted')")
    page.page.mouse.move(640, 20)
    assert page.page.locator(".ad-highlighted").count() == 0


def test_a_second_click_leaves_all_heads_where_the_first_one_left_them(new_page: Callable[..., Any], app: Any) -> None:
    page = Page(new_page, app, DESK)
    heads = page.measured(4, 11, 4)["found"]["weights"]
    assert min(heads["cell"]) > 12
    names = page.page.locator(".st-key-explore-weights [data-head]")
    assert names.count() == 4
    for part in ((0.1, 0.1), (0.8, 0.3), (0.2, 0.8)):
        clicked(page, "weights", part)
        assert names.count() == 4
    page.page.keyboard.press("Escape")
    page.page.wait_for_selector(OPEN, state="detached")
    page.page.evaluate(QUIET)
    assert page.page.evaluate(MAPS)["found"]["weights"]["cell"] == heads["cell"], "one Escape, and all is as it was"
