"""What if and Compare as a person uses them: numbers typed into a table, one after the other, and taken back."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from attnviz import Config, run
from attnviz.engine.records.edits import decode
from tests.browser_idle import QUIET, go_to

pytestmark = pytest.mark.browser


def address(page: Any) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs(urlsplit(page.url).query).items()}


def wait_for(page: Any, name: str, value: str | None) -> None:
    page.wait_for_url(lambda url: parse_qs(urlsplit(url).query).get(name, [None])[-1] == value)
    page.locator("[data-test-connection-state=CONNECTED][data-test-script-state=notRunning]").wait_for()


def choose(page: Any, row: int, column: int) -> None:
    """Click a cell of the table of four columns, counted from 0: Streamlit draws it on a canvas."""
    page.evaluate(QUIET)  # a table that is drawn anew forgets which cell was chosen
    grid = page.locator("[data-testid=stDataFrame] canvas").first
    grid.scroll_into_view_if_needed()
    box = grid.bounding_box()
    width = (box["width"] - 60) / 4
    page.mouse.click(box["x"] + 60 + width * (column + 0.5), box["y"] + 36 + 35 * (row + 0.5))
    chosen = f"#glide-cell-{column + 1}-{row}[aria-selected=true]"  # the first column is that of the names
    page.locator(f"[data-testid=stDataFrame] canvas {chosen}").wait_for(state="attached")


def enter(page: Any, number: str) -> None:
    """Type a number into the chosen cell; Enter goes on to the cell below."""
    page.keyboard.press("Enter")
    page.locator("#portal input").fill(number)
    page.keyboard.press("Enter")


def test_numbers_are_typed_one_after_the_other_and_taken_back(browser_page: Any, app: Any) -> None:
    page = browser_page
    go_to(page, f"{app.url}/?v=1&sentence=a+b+c+d&n_heads=1&panel=what_if&step=scores")
    page.locator("[data-testid=stDataFrame] canvas").first.wait_for()
    page.evaluate(QUIET)
    choose(page, 0, 1)
    enter(page, "9.5")
    wait_for(page, "edits", "scores.1.1.1.2~9.5")
    enter(page, "-3")  # in the cell below: the table has not let go of the keyboard
    wait_for(page, "edits", "scores.1.1.1.2~9.5~-3")
    page.get_by_text("S, “b” → “b”").or_(page.get_by_text("S, head 1, “b” → “b”")).wait_for()
    edits, _ = decode(address(page)["edits"])
    share = run(Config(sentence="a b c d", n_heads=1, edits=edits))["weights"].array[0, 0, 1]
    page.locator(".st-key-explore [data-stage=weights]").get_by_text(f"{share:.2f}"[1:], exact=True).wait_for()
    page.get_by_role("button", name="Undo", exact=True).first.click()
    wait_for(page, "edits", "scores.1.1.2.2~-3.0")
    page.go_back()
    wait_for(page, "edits", "scores.1.1.1.2~9.5~-3")
    page.evaluate(QUIET)  # the address is there before the run of it
    page.get_by_role("button", name="Compare with the unchanged run").click()
    wait_for(page, "page", "compare")
    assert address(page)["b_edits"] == "scores.1.1.1.2~9.5~-3"
    assert "edits" not in address(page)
    page.get_by_text("Attention scores: 2 of 16 numbers moved").wait_for()


def test_a_pasted_matrix_is_set_and_a_bad_one_is_refused_with_its_position(browser_page: Any, app: Any) -> None:
    page = browser_page
    go_to(page, f"{app.url}/?v=1&sentence=a+b&n_heads=1&d_model=2&panel=what_if&step=embedded&edits=scores.1.1.1.1~2.0")
    page.get_by_text("Paste or upload a whole matrix").click()
    area = page.locator(".st-key-pasted_matrix textarea")
    area.fill("1 2\n3 oops")
    area.press("Control+Enter")
    page.get_by_role("button", name="Set these numbers").click()
    page.get_by_role("alert").get_by_text(re.compile("Nothing was changed: .*row 2.*column 2")).wait_for()
    assert address(page)["edits"] == "scores.1.1.1.1~2.0"
    area = page.locator(".st-key-pasted_matrix textarea")
    area.fill("1\t2\n3\t4")
    area.press("Control+Enter")
    page.get_by_role("button", name="Set these numbers").click()
    wait_for(page, "edits", "embedded.1.1~1_2~3_4~~scores.1.1.1.1~2.0")


def test_an_emptied_cell_goes_back_to_what_it_was(browser_page: Any, app: Any) -> None:
    page = browser_page
    go_to(page, f"{app.url}/?v=1&sentence=a+b+c+d&n_heads=1&panel=what_if&step=scores&edits=scores.1.1.2.2~-3.0")
    page.locator("[data-testid=stDataFrame] canvas").first.wait_for()
    whole = (
        "() => [...document.querySelectorAll('[data-testid=stDataFrame] canvas [role=gridcell]')]"
        ".filter(each => each.textContent && each.textContent !== 'None').length === 4 * 5"  # a name in each row
    )
    page.wait_for_function(whole)
    choose(page, 0, 1)
    page.evaluate("document.querySelector('[data-testid=stDataFrame] canvas').dataset.old = 'yes'")
    page.keyboard.press("Delete")
    page.locator("[data-testid=stDataFrame] canvas:not([data-old])").first.wait_for()  # the table is drawn anew
    page.locator("[data-test-connection-state=CONNECTED][data-test-script-state=notRunning]").wait_for()
    assert address(page)["edits"] == "scores.1.1.2.2~-3.0"
    page.wait_for_function(whole)
    choose(page, 1, 1)
    page.keyboard.press("Delete")
    wait_for(page, "edits", None)


def test_a_visitor_finds_compare_and_changes_one_thing(browser_page: Any, app: Any) -> None:
    page = browser_page
    go_to(page, f"{app.url}/?v=1")
    page.get_by_role("button", name="Compare").or_(page.get_by_role("radio", name="Compare")).first.click()
    page.get_by_role("button", name="A causal mask").wait_for()
    page.evaluate(QUIET)  # a button that is drawn anew under a press has not heard it
    page.get_by_role("button", name="A causal mask").click()
    wait_for(page, "b_mask", "causal")
    page.get_by_text("The first step that differs: mask M").wait_for()
    assert page.locator(".st-key-compare [data-stage]").count() == 3
    page.evaluate(QUIET)
    page.get_by_role("button", name="Swap A and B").click()
    wait_for(page, "mask", "causal")
    assert address(page)["b_mask"] == "none"
    page.evaluate(QUIET)
    page.get_by_role("button", name="Make B the setting").click()
    wait_for(page, "b_mask", None)
    assert "mask" not in address(page)
    page.evaluate(QUIET)
    page.go_back()
    wait_for(page, "b_mask", "none")
    page.locator(".st-key-b_mask").wait_for()


def test_a_comparison_is_whole_within_the_window(browser_page: Any, app: Any) -> None:
    page = browser_page
    query = urlencode({"v": 1, "sentence": "the quick brown fox jumped over the lazy dog in the rain", "n_heads": 8})
    go_to(page, f"{app.url}/?{query}&page=compare&b_score=additive")
    for width, height in ((1280, 720), (1920, 1080)):
        page.set_viewport_size({"width": width, "height": height})
        page.locator(".st-key-compare .attn-layer").nth(2).wait_for()
        page.evaluate(QUIET)
        boxes = page.evaluate(
            "[...document.querySelectorAll('.st-key-compare .attn-layer')].map((map) => map.getBoundingClientRect())"
        )
        assert len(boxes) == 3
        for box in boxes:
            assert box["bottom"] <= height
            assert box["right"] <= width
            assert box["height"] >= height / 3  # the maps are what the page is for


def test_ten_megabytes_are_refused_in_a_sentence_and_nothing_is_lost(new_page: Callable[..., Any], app: Any) -> None:
    """Sent, they would break the connection again and again: a browser that is back sends what its fields hold."""
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    for query, key in (("page=data", "own_paste_weights"), ("panel=what_if&step=embedded", "pasted_matrix")):
        page.goto(f"{app.url}/?v=1&{query}")
        if "what_if" in query:
            page.get_by_text("Paste or upload a whole matrix").click()
        area = page.locator(f".st-key-{key} textarea")
        if "data" in query:  # the example is there a moment after the field
            page.wait_for_function(
                "key => document.querySelector(`.st-key-${key} textarea`)?.value.length > 20", arg=key
            )
        before = area.input_value()
        page.evaluate("navigator.clipboard.writeText('1 2 3 4\\n'.repeat(1250000))")
        area.focus()
        area.press("Control+a")
        area.press("Control+v")
        page.get_by_role("alert").get_by_text("The pasted text has 10,000,000 characters").wait_for()
        assert area.input_value() == before
        assert page.locator("[data-test-connection-state=CONNECTED]").count() == 1
        page.evaluate("navigator.clipboard.writeText('0.5 0.5\\n0.25 0.75')")
        area.press("Control+a")
        area.press("Control+v")
        assert area.input_value() == "0.5 0.5\n0.25 0.75"
        assert not page.locator(".attn-toast").is_visible()
