"""The address as a person meets it: fast hands, Back and Forward, a server that dies, a link that is passed on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.browser_idle import FRAMES

pytestmark = pytest.mark.browser


class Visit:
    """The page of the tests' own, as a person sees and uses it."""

    def __init__(self, page: Any, url: str) -> None:
        self.page = page
        self.guests = page.locator(".st-key-guests input[type=range]")
        page.goto(url)
        page.locator(".st-key-plate input[type=range]").wait_for()
        self.settled()

    def settled(self) -> None:
        """Wait until the server has answered everything it was asked."""
        self.page.locator("[data-test-connection-state=CONNECTED][data-test-script-state=notRunning]").wait_for()

    @property
    def shown(self) -> dict[str, Any]:
        return json.loads(self.page.get_by_text(re.compile("^Shown ")).inner_text().removeprefix("Shown "))

    @property
    def address(self) -> dict[str, str]:
        """What the address says; without the check at its end, which follows from the rest."""
        said = dict(parse_qsl(urlsplit(self.page.url).query, keep_blank_values=True))
        said.pop("c", None)
        return said

    def wait_for(self, name: str, value: Any) -> None:
        self.page.get_by_text(f'"{name}": {json.dumps(value)}').wait_for()
        self.settled()

    def wait_for_address(self, name: str, value: str) -> None:
        self.page.wait_for_url(lambda url: dict(parse_qsl(urlsplit(url).query)).get(name) == value)

    def move(self, steps: int = 1) -> None:
        self.guests.focus()
        for _ in range(abs(steps)):
            self.page.keyboard.press("ArrowRight" if steps > 0 else "ArrowLeft")

    def type_into(self, name: str, text: str) -> None:
        field = self.page.locator(f".st-key-{name}").locator("input, textarea")
        field.fill(text)
        field.press("Control+Enter" if field.evaluate("it => it.tagName") == "TEXTAREA" else "Enter")


@pytest.fixture(scope="module")
def site(server: Callable[..., Any]) -> Any:
    return server("tests/browser/scripts/settings.py")


def test_a_button_right_after_a_move_never_undoes_it(browser_page: Any, site: Any) -> None:
    visit = Visit(browser_page, site.url)
    at = visit.page.get_by_role("button", name="Ring").bounding_box()
    for trial in range(1, 21):
        visit.guests.focus()
        visit.page.keyboard.press("ArrowRight")
        visit.page.evaluate(FRAMES, trial % 4)
        visit.page.mouse.click(at["x"] + 5, at["y"] + 5)
        visit.page.get_by_text(f"Rung {trial}", exact=True).wait_for()
        visit.wait_for("guests", 4 + trial)
        visit.wait_for_address("guests", str(4 + trial))
        assert visit.shown["guests"] == 4 + trial


def test_fast_moves_end_where_they_should_and_each_way_back_is_followed(browser_page: Any, site: Any) -> None:
    visit = Visit(browser_page, site.url)
    visit.move(8)
    visit.wait_for("guests", 12)
    visit.wait_for_address("guests", "12")
    visit.move()
    visit.wait_for("guests", 13)
    visit.wait_for_address("guests", "13")
    visit.page.go_back()
    visit.wait_for("guests", 12)
    visit.page.go_forward()
    visit.wait_for("guests", 13)
    visit.page.go_back()
    visit.wait_for("guests", 12)
    assert visit.guests.input_value() == "12"
    assert visit.address["guests"] == "12"
    visit.move(-1)
    visit.wait_for("guests", 11)
    visit.wait_for_address("guests", "11")


AGREE = """() => {
  const app = document.querySelector("[data-test-script-state=notRunning]");
  const shown = app?.innerText.match(/"guests": (\\d+)/)?.[1];
  const asked = new URLSearchParams(location.search).get('guests') || '4';
  const slider = document.querySelector('.st-key-guests input').value;
  window.agreed = shown === asked && shown === slider ? (window.agreed || 0) + 1 : 0;
  return window.agreed > 30; }"""


def test_back_at_once_leaves_page_and_address_in_agreement(browser_page: Any, site: Any) -> None:
    """Whether the move or the Back comes last is for the browser to say; they must not end half and half."""
    visit = Visit(browser_page, site.url)
    for trial in range(5):
        at = visit.shown["guests"] + 1
        visit.move()
        visit.wait_for("guests", at)
        visit.wait_for_address("guests", str(at))
        visit.page.keyboard.press("ArrowRight")
        visit.page.evaluate(FRAMES, trial)
        visit.page.evaluate("window.agreed = 0; history.back()")
        visit.page.wait_for_function(AGREE)


def test_back_is_followed_if_another_request_joins_it(browser_page: Any, site: Any) -> None:
    """As pictures send one that find another room, and a visitor who presses a button."""
    visit = Visit(browser_page, f"{site.url}/?plate=03&v=1")
    visit.page.evaluate("""() => {
        const button = [...document.querySelectorAll("button")].find((each) => each.innerText === "Ring");
        window.addEventListener("popstate", () => button.click());
    }""")

    def go(way: str, guests: int) -> None:
        rung = int(visit.page.get_by_text(re.compile("^Rung ")).inner_text().removeprefix("Rung "))
        visit.page.evaluate(f"history.{way}()")
        visit.page.get_by_text(f"Rung {rung + 1}", exact=True).wait_for()
        visit.wait_for("guests", guests)
        assert visit.guests.input_value() == str(guests)

    for _ in range(4):
        visit.move()
        visit.wait_for("guests", 5)
        visit.wait_for_address("guests", "5")
        go("back", 4)
        assert visit.address == {"plate": "03", "v": "1"}
        go("forward", 5)
        go("back", 4)


def test_a_killed_server_loses_nothing(browser_page: Any, server: Callable[..., Any]) -> None:
    site = server("tests/browser/scripts/settings.py")
    visit = Visit(browser_page, f"{site.url}/?v=1&heat=0.1234567890123456&dish=curry&embed_options=light_theme&who=me")
    visit.type_into("name", "Käse & <b>π</b> 👩‍🍳")
    visit.wait_for("name", "Käse & <b>π</b> 👩‍🍳")
    visit.type_into("notes", "two\nlines")
    visit.wait_for("notes", "two\nlines")
    visit.move(3)
    visit.wait_for("guests", 7)
    visit.wait_for_address("guests", "7")
    before, address = visit.shown, visit.address
    assert (address["who"], address["embed_options"]) == ("me", "light_theme")
    site.kill()
    visit.page.locator("[data-test-connection-state=CONNECTED]").wait_for(state="detached")
    site.start()
    visit.settled()
    visit.move()  # the first that the new server hears of this page
    visit.wait_for("guests", 8)
    visit.wait_for_address("guests", "8")
    assert visit.shown == before | {"guests": 8}
    assert visit.address == address | {"guests": "8"}
    visit.page.reload()
    visit.wait_for("guests", 8)
    assert visit.shown == before | {"guests": 8}


def test_a_link_gives_the_same_values_in_another_browser(new_page: Callable[..., Any], site: Any) -> None:
    first = Visit(new_page(), site.url)
    first.type_into("name", "+ & % # é 👩‍🍳")
    first.wait_for("name", "+ & % # é 👩‍🍳")
    first.type_into("spoons", "4, 3, 2")
    first.wait_for("spoons", [4, 3, 2])
    first.move(2)
    first.wait_for("guests", 6)
    first.wait_for_address("guests", "6")
    second = Visit(new_page(), first.page.url)
    assert second.shown == first.shown
    assert second.page.locator(".st-key-spoons input").input_value() == "4, 3, 2"
    assert second.page.url == first.page.url


def test_a_broken_link_says_what_it_could_not_read(browser_page: Any, site: Any) -> None:
    visit = Visit(browser_page, f"{site.url}/?guests=1e9&dish=%00&warm=perhaps&guest=2&name=fine&utm_source=x")
    assert visit.shown["guests"] == 24
    assert visit.shown["name"] == "fine"
    texts = visit.page.get_by_text(re.compile("^Problem: ")).all_inner_texts()
    assert [text for text in texts if "Guests" in text and "24" in text]
    assert [text for text in texts if "Dish" in text]
    assert [text for text in texts if "Warm" in text]
    assert [text for text in texts if "'guest'" in text]
    assert len(texts) == 4


def test_what_is_too_long_for_a_link_stays_in_the_page(new_page: Callable[..., Any], site: Any) -> None:
    visit = Visit(new_page(), site.url)
    visit.type_into("notes", "x" * 8_000)
    visit.page.get_by_text("Left out: Notes").wait_for()
    visit.move()
    visit.wait_for("guests", 5)
    visit.wait_for_address("guests", "5")
    visit.page.go_back()
    visit.wait_for("guests", 4)
    assert visit.shown["notes"] == "x" * 8_000
    visit.page.go_forward()
    visit.wait_for("guests", 5)
    other = Visit(new_page(), visit.page.url)
    assert (other.shown["guests"], other.shown["notes"]) == (5, "")
    assert other.page.get_by_text("Problem: Too long for a link: Notes").is_visible()
