"""What a browser is sent after the first run: what changes, and of that it shows what a new visit would."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser_idle import QUIET

pytestmark = pytest.mark.browser

DESK = {"viewport": {"width": 1280, "height": 720}}
OPENED = "v=1&n_heads=8&sentence=" + "+".join("abcdefghijkl")
MOST = 10  # messages of a move, the three that say how a run goes among them
MOST_CHOSEN = 25_000  # bytes of what is chosen in maps whose numbers take 40,000
FIRST_VISIT = 40  # at least, for the whole page
WITH_A_GAP = """() => ['history', 'scripts', 'stages-sent', 'stage-message', 'cells-facts'].filter((key) =>
    getComputedStyle(document.querySelector(`.stMain .st-key-${key}`)).position !== 'absolute')"""
TEXT = """() => [...document.querySelectorAll('.st-key-part, [data-testid=stSidebarUserContent], .stMain')]
  .map((part) => part.innerText.replace(/\\s+/g, ' ').trim())"""


@pytest.fixture(scope="module")
def site(server: Callable[..., Any]) -> Any:
    return server("app.py")


def typed(label: str, value: str) -> Callable[[Any], None]:
    """Return what types a value into a field."""

    def act(page: Any) -> None:
        field = page.get_by_label(label, exact=True).first
        field.fill(value)
        field.press("Enter")

    return act


def test_a_move_sends_few_messages_and_the_page_is_that_of_its_address(new_page: Callable[..., Any], site: Any) -> None:
    page, got = new_page(**DESK), [0, 0]

    def counted(data: str | bytes) -> None:
        got[0] += 1
        got[1] += len(data)

    page.on("websocket", lambda socket: socket.on("framereceived", counted))
    page.goto(f"{site.url}/?{OPENED}")
    page.evaluate(QUIET)
    assert got[0] >= FIRST_VISIT
    assert page.evaluate(WITH_A_GAP) == [], "what draws nothing takes no room"
    moves = {
        "seed": typed("Seed", "5"),
        "seed again": typed("Seed", "6"),
        "fewer heads": lambda page: page.locator(".st-key-n_heads input[type=range]").press("ArrowLeft"),
        "a word": lambda page: page.locator(".at-words button").nth(3).click(),
        "another word": lambda page: page.locator(".at-words button").nth(5).click(),
        "none": lambda page: page.keyboard.press("Escape"),
    }
    for name, move in moves.items():
        got[:] = [0, 0]
        move(page)
        page.evaluate(QUIET)
        assert 4 < got[0] <= MOST, (name, got[0])
        assert got[1] <= MOST_CHOSEN or name not in ("another word", "none"), (
            "no number is sent again for what is chosen"
        )
    for act in (
        lambda: page.get_by_role("radio", name="Statistics", exact=True).click(),
        lambda: page.locator("summary").filter(has_text="Normaliser").click(),
        lambda: page.locator("summary").filter(has_text="Normaliser").click(),
        lambda: page.get_by_role("radio", name="This cell", exact=True).first.click(),
        lambda: typed("Sentence", "the cat sat")(page),
        lambda: page.go_back(),
    ):
        act()
        page.evaluate(QUIET)
    again = new_page(**DESK)
    again.goto(page.url)
    again.evaluate(QUIET)
    assert page.evaluate(TEXT) == again.evaluate(TEXT)
