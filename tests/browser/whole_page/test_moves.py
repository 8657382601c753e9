"""A move of a number runs the part with the maps alone, and the page is then what a link to it opens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser_idle import QUIET, wait_until

pytestmark = pytest.mark.browser

SETTING = "v=1&sentence=a+king+saw+his+queen&n_heads=2&initialiser=by_hand&mask=causal"
SHOWN = """() => ["stSidebar", "stMain"].map((side) => {
    const box = document.querySelector(`[data-testid=${side}]`);
    const held = [...box.querySelectorAll("input")].map((field) => field.getAttribute("aria-valuetext") ?? field.value);
    return [box.innerText.replace(/\\s+/g, " "), held];
})"""


@pytest.fixture
def page(new_page: Callable[..., Any], app: Any) -> Any:
    """A page, and how its runs have ended: those of a part in another way than those of the whole page."""
    page = new_page(reduced_motion="reduce")
    page.ends = []

    def read(data: bytes) -> None:
        message = ForwardMsg.FromString(data)
        if message.WhichOneof("type") == "script_finished":
            page.ends.append(message.script_finished)

    page.on("websocket", lambda socket: socket.on("framereceived", read))
    page.goto(f"{app.url}/?{SETTING}")
    page.evaluate(QUIET)
    for group in ("Normaliser", "Heads and projections"):
        page.locator(f".st-key-group-{group.replace(' ', '-')} summary").click()
        page.evaluate(QUIET)
    return page


def stepped(page: Any, key: str, press: str, address: str) -> bool:
    """Whether a step of a field, which leads to an address, has run the part alone."""
    page.ends.clear()
    page.locator(f".st-key-{key} input").press(press)
    page.wait_for_url(f"**{address}**")
    page.evaluate(QUIET)
    return bool(page.ends[-1] == ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)


def test_a_move_runs_the_part_alone_and_shows_what_its_link_opens(page: Any, new_page: Callable[..., Any]) -> None:
    assert stepped(page, "seed", "ArrowUp", "seed=1")
    assert stepped(page, "temperature", "ArrowUp", "temperature=")
    assert stepped(page, "sharpness", "ArrowRight", "sharpness=")
    assert stepped(page, "d_model", "ArrowRight", "d_model=")
    assert not stepped(page, "n_heads", "ArrowRight", "n_heads=3"), "another head has a list of its own"
    assert stepped(page, "seed", "ArrowUp", "seed=2")
    page.locator(".st-key-sentence input").fill("a queen saw his king")
    assert stepped(page, "sentence", "Enter", "a+queen")
    shown = page.evaluate(SHOWN)
    opened = new_page(reduced_motion="reduce")
    opened.goto(page.url)
    opened.evaluate(QUIET)
    for group in ("Normaliser", "Heads-and-projections"):
        opened.locator(f".st-key-group-{group} summary").click()
        opened.evaluate(QUIET)
    assert opened.evaluate(SHOWN) == shown


def test_what_is_pressed_after_a_move_begins_where_that_has_led(page: Any) -> None:
    assert stepped(page, "seed", "ArrowUp", "seed=1")
    page.locator(".st-key-faces").get_by_text("Random", exact=True).click()
    wait_until(page, lambda: "by_hand" not in page.url)
    page.evaluate(QUIET)
    assert "seed=1" in page.url
    assert stepped(page, "seed", "ArrowUp", "seed=2")
    page.go_back()
    page.wait_for_url("**seed=1**")
    page.evaluate(QUIET)
    assert page.locator(".st-key-seed input").input_value() == "1"
    stepped(page, "seed", "ArrowUp", "seed=2")  # the whole page, as long as what a widget was told may be on its way
    assert page.locator(".st-key-seed input").input_value() == "2"


def test_a_move_beside_a_fault_leaves_it_said(page: Any) -> None:
    sentence = page.locator(".st-key-sentence input")
    sentence.fill("")
    sentence.press("Enter")
    fault = page.locator("[data-testid=stMain]").get_by_text("The pictures still show the last setting that worked.")
    fault.wait_for()
    page.evaluate(QUIET)
    page.ends.clear()
    page.locator(".st-key-seed input").press("ArrowUp")
    wait_until(page, lambda: bool(page.ends))
    page.evaluate(QUIET)
    assert page.ends[-1] == ForwardMsg.FINISHED_SUCCESSFULLY
    assert fault.is_visible()
    sentence.fill("a king saw his queen")
    assert not stepped(page, "sentence", "Enter", "seed=1")
    sentence.fill("a " * 80)
    assert not stepped(page, "sentence", "Enter", "a+a+a"), "the rest is offered above the maps"
    page.locator(".st-key-more-tokens button").click()
    page.wait_for_url("**max_tokens=80**")
    sentence.fill(("é" * 180 + " ") * 12)
    sentence.press("Enter")
    note = page.locator("[data-testid=stMain]").get_by_text("Too long for a link")
    note.wait_for()
    page.evaluate(QUIET)
    sentence.fill("a queen saw his king")
    assert not stepped(page, "sentence", "Enter", "a+queen")
    assert not note.is_visible()
