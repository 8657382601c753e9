"""A model that writes on, in a browser: a word is appended, and a press on a head in a map opens it above."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.browser_idle import QUIET
from tests.support.cases import for_each
from tests.support.small_models import FOLDER, model

pytestmark = pytest.mark.browser

TEXT = "q w q w a"
MARY = "When Mary and John went to the shop, John gave a book to"
AT_REST = "[data-test-connection-state=CONNECTED][data-test-script-state=notRunning]"


@pytest.fixture(scope="module")
def site(server: Callable[..., Any]) -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ATTNVIZ_MODELS", f"gpt2={FOLDER / 'gpt2'}")
        yield server("app.py")


def opened(page: Any, site: Any, **query: str) -> Any:
    page.goto(f"{site.url}/?{urlencode({'v': '2', 'model': 'gpt2', 'sentence': TEXT} | query)}")
    page.locator(AT_REST).wait_for()
    page.evaluate(QUIET)
    return page


def in_address(page: Any, **wanted: str) -> None:
    page.wait_for_url(lambda url: {name: parse_qs(urlsplit(url).query).get(name) for name in wanted} == {
        name: [value] for name, value in wanted.items()
    })  # fmt: skip
    page.evaluate(QUIET)


def test_a_text_is_written_on_as_python_writes_it(browser_page: Any, site: Any) -> None:
    page = opened(browser_page, site, panel="next_word", draw_seed="74", draw_top_k="5")
    for n in (1, 2):
        page.get_by_role("button", name="Write on").click()
        in_address(page, sentence=model("gpt2").generate(TEXT, n, seed=74, top_k=5))
    page.get_by_role("radio", name="Whom is it owed to?").or_(
        page.get_by_role("button", name="Whom is it owed to?")
    ).first.click()
    in_address(page, panel="owed_to")
    heads = page.locator(".st-key-owed [data-map=off]")
    heads.wait_for()
    heads.scroll_into_view_if_needed()
    box = heads.bounding_box()
    page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.75 * box["height"])  # layer 2, head 3 of 4, then FF
    in_address(page, layer="2", focus="3", panel="owed_to")


def in_sight(page: Any, what: Any) -> None:
    """Wait until the whole of something stands in the window, so that nobody has to look for it."""
    what.wait_for()
    page.wait_for_function(
        "(e) => { const b = e.getBoundingClientRect();"
        " return b.width > 0 && b.left >= 0 && b.top >= 0 && b.right <= innerWidth && b.bottom <= innerHeight; }",
        arg=what.element_handle(),
    )


ROW_IS_SEEN = """() => {
    const ring = document.querySelector("[data-stage=weights] .attn-ring")?.getBoundingClientRect();
    const answer = document.querySelector(".attn-drawer[data-open]")?.getBoundingClientRect();
    if (!ring || !answer) return false;
    return ring.top > 0 && ring.bottom < (answer.top > 60 ? answer.top : innerHeight); // a sheet, or beside the maps
}"""


@for_each(("width", "height"), [(1280, 720), (390, 844)])
def test_three_presses_lead_from_the_opening_to_the_head_that_says_mary(
    browser_page: Any, site: Any, width: int, height: int
) -> None:
    page = browser_page
    page.set_viewport_size({"width": width, "height": height})
    page.goto(site.url)
    page.locator(AT_REST).wait_for()
    trained = page.get_by_text("Trained", exact=True).filter(visible=True)
    in_sight(page, trained)
    trained.click()
    in_address(page, sentence=MARY)
    in_sight(page, page.get_by_role("button", name="Whom is it owed to?").first)
    page.get_by_role("button", name="Next word: “mary”").wait_for()
    page.get_by_role("button", name="Whom is it owed to?").first.click()
    in_address(page, panel="owed_to")
    why = page.get_by_text("It is owed most to head 2.2", exact=False)
    why.wait_for()
    page.wait_for_function(
        "() => { const y = document.querySelector('.st-key-all-lines').getBoundingClientRect().top;"
        " return y > -60 && y < 120; }"
    )  # the panel is at the top of the window, though it grew below what was there
    assert why.bounding_box()["y"] < page.viewport_size["height"]
    in_sight(page, page.get_by_role("button", name="Show head 2.2 above"))
    page.get_by_role("button", name="Show head 2.2 above").click()
    in_address(page, layer="2", focus="2", query="15")  # the last word, which the next one is read off
    page.wait_for_function(ROW_IS_SEEN)
    if width > height:
        page.wait_for_function("() => document.querySelector('.st-key-stage').getBoundingClientRect().top > -60")
        in_sight(page, page.locator(".st-key-telling").get_by_text("to attends to john").first)
    else:  # the row stands over the answer, which names it
        in_sight(page, page.locator(".attn-drawer[data-open] h2", has_text="to"))


def test_the_logits_end_the_path_and_the_model_without_the_penalty_is_one_press_away(
    browser_page: Any, site: Any
) -> None:
    page = browser_page
    query = {"v": "2", "model": "small", "layer": "3", "sentence": MARY}
    page.goto(f"{site.url}/?{urlencode(query)}")
    page.locator(AT_REST).wait_for()
    page.evaluate(QUIET)
    page.locator(".path .node").last.click()
    in_address(page, panel="next_word", layer="3")
    page.get_by_text("After this sentence comes “mary”").wait_for()
    page.wait_for_function(
        "() => Math.abs(document.querySelector('.st-key-all-lines').getBoundingClientRect().top) < 120"
    )
    page.get_by_role("button", name="The same, trained without penalties").click()
    page.wait_for_function("() => new URLSearchParams(location.search).get('model').startsWith('plain~')")
    page.get_by_role("button", name="The same, trained with penalties").wait_for()


def test_a_head_that_many_sentences_tell_of_opens_above_them(browser_page: Any, site: Any) -> None:
    page = opened(browser_page, site, panel="many", texts="q w q w a\na q w", measure="share_on_first")
    page.get_by_text("Over 2 sentences").wait_for()
    heads = page.locator(".st-key-many-heads [data-map=many]")
    heads.scroll_into_view_if_needed()
    box = heads.bounding_box()
    page.mouse.click(box["x"] + 0.625 * box["width"], box["y"] + 0.75 * box["height"])  # layer 2, head 3
    in_address(page, layer="2", focus="3", panel="many", texts="q w q w a\na q w")
    page.get_by_text("Over 2 sentences").wait_for()
