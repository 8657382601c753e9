"""The page as a person uses it, in a real browser: type, choose, look, follow a number down, share the link."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from attnviz import Config, run

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def app(server: Callable[..., Any]) -> Any:
    return server("app.py")


def opened(page: Any, app: Any, query: str = "") -> Any:
    page.goto(f"{app.url}/?{query}")
    page.wait_for_selector(".st-key-explore-heads .attn-focus")
    return page


def read_cell(page: Any, stage: str, head: int, row: int, column: int) -> str:
    """What the page says of a cell to someone who goes there with the keyboard; all counted from 0."""
    picture = page.locator(f".st-key-explore-{stage} .attn-focus")
    picture.focus()
    page.keyboard.press("Home")
    page.keyboard.press("Control+Home")
    for key, times in (("PageDown", head), ("ArrowDown", row), ("ArrowRight", column)):
        for _ in range(times):
            page.keyboard.press(key)
    return str(page.locator(".st-key-explore .attn-live").inner_text())


def number_in(words: str) -> float:
    return float(re.findall(r"[-−]?\d[\d.]*(?:e[-−]?\d+)?$", words.strip())[-1].replace("−", "-"))


def address(page: Any) -> dict[str, str]:
    return dict(part.split("=") for part in page.evaluate("location.search").lstrip("?").split("&") if part)


def settled(page: Any, part: str) -> None:
    """Wait until the address says so: it is written when the run is through."""
    page.wait_for_function("part => location.search.includes(part)", arg=part)


def shown(page: Any, stage: str) -> int:
    """How many heads a picture holds."""
    return int(
        page.evaluate(f"document.querySelector('.st-key-explore-{stage} .js-plotly-plot').data[0].meta.heads.length")
    )


def test_a_person_types_chooses_and_reads_the_new_numbers(browser_page: Any, app: Any) -> None:
    page = opened(browser_page, app)
    sentence = page.get_by_role("textbox", name="Sentence", exact=True)
    sentence.fill("dogs chase small cats")
    sentence.press("Enter")
    settled(page, "sentence=")
    heads = page.get_by_role("slider", name="Heads")
    heads.focus()
    page.keyboard.press("ArrowLeft")
    settled(page, "n_heads=3")
    page.get_by_role("combobox", name="Mask").click()
    page.get_by_role("option", name="Causal", exact=True).click()
    settled(page, "mask=causal")
    page.keyboard.press("Escape")
    page.get_by_role("combobox", name="Score function").click()
    page.get_by_role("option", name="Cosine").click()
    settled(page, "score=cosine")
    page.wait_for_function(
        "document.querySelector('.st-key-explore-weights .js-plotly-plot').data[0].meta.heads.length === 3"
    )
    trace = run(Config(sentence="dogs chase small cats", n_heads=3, mask="causal", score="cosine"))
    for stage in ("scores", "weights"):
        said = read_cell(page, stage, head=2, row=3, column=1)
        assert number_in(said) == pytest.approx(trace[stage].array[2, 3, 1], rel=1e-4)
    assert "cats" in said
    assert "chase" in said
    assert "masked" in read_cell(page, "weights", head=0, row=0, column=2)


def test_a_copied_link_shows_the_same_numbers_in_another_browser(new_page: Callable[..., Any], app: Any) -> None:
    first = opened(new_page(), app, "sentence=one+two+three&seed=42&score=additive&n_heads=2")
    number = read_cell(first, "weights", head=1, row=2, column=0)
    second = new_page()
    second.goto(first.url)
    second.wait_for_selector(".st-key-explore-heads .attn-focus")
    assert read_cell(second, "weights", head=1, row=2, column=0) == number


def test_a_cell_is_followed_down_to_its_products(browser_page: Any, app: Any) -> None:
    page = opened(browser_page, app, "mask=causal")
    read_cell(page, "weights", head=1, row=4, column=2)
    page.keyboard.press("Enter")
    page.get_by_text("looks at key 3").wait_for()
    assert {"head": "2", "query": "5", "key": "3"}.items() <= address(page).items()
    weight = run(Config(mask="causal"))["weights"].array[1, 4, 2]
    formulas = page.locator(".katex annotation").all_text_contents()
    assert any(f"{weight:.4g}" in formula and "a_{5,3}" in formula for formula in formulas)
    page.get_by_role("slider", name="Digits").focus()
    page.keyboard.press("End")
    settled(page, "digits=17")
    page.wait_for_function(
        "w => [...document.querySelectorAll('.katex annotation')].some(a => a.textContent.includes(w))",
        arg=f"{weight:.17g}",
    )


def test_one_word_says_what_it_takes(browser_page: Any, app: Any) -> None:
    page = opened(browser_page, app, "mask=causal&panel=word&head=2")
    page.locator(".st-key-explore-weights .attn-focus").focus()
    for key in ("Home", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    words = page.locator("body").inner_text()
    assert "Queries ask" in words


def test_every_panel_opens_by_its_button(browser_page: Any, app: Any) -> None:
    page = opened(browser_page, app)
    for label, part in (
        ("This word", "panel=word"),
        ("Every step", "panel=flow"),
        ("Statistics", "panel=statistics"),
        ("Deal again", "panel=redeal"),
        ("Table", "panel=table"),
    ):
        page.get_by_role("radio", name=label).or_(page.get_by_role("button", name=label)).first.click()
        settled(page, part)
    page.get_by_test_id("stDataFrame").wait_for()


def test_the_class_page_goes_on_with_the_arrow_keys(browser_page: Any, app: Any) -> None:
    page = browser_page
    page.goto(f"{app.url}/?page=class&step=embedded")
    page.get_by_role("heading", name="Input").wait_for()
    page.keyboard.press("ArrowRight")
    page.get_by_role("heading", name="Queries").wait_for()
    page.keyboard.press("ArrowLeft")
    page.get_by_role("heading", name="Input").wait_for()


def test_a_saved_setting_is_opened_again(new_page: Callable[..., Any], app: Any, tmp_path: Any) -> None:
    page = opened(new_page(), app, "sentence=one+two&n_heads=3&score=dot")
    page.get_by_text("Save and open").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save this setting").click()
    target = tmp_path / "setting.json"
    download.value.save_as(target)
    assert json.loads(target.read_text())["n_heads"] == "3"
    other = opened(new_page(), app)
    other.get_by_text("Save and open").click()
    other.locator("input[type=file]").set_input_files(str(target))
    settled(other, "n_heads=3")
    assert {"score": "dot", "n_heads": "3"}.items() <= address(other).items()


def test_a_broken_link_and_hostile_words_leave_the_page_whole(browser_page: Any, app: Any) -> None:
    alarms: list[str] = []
    page = browser_page
    page.on("dialog", lambda dialog: (alarms.append(dialog.message), dialog.dismiss()))
    page.on("pageerror", lambda error: alarms.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None
            if app.url.split("//")[1] in request.url or request.url.startswith(("data:", "blob:"))
            else alarms.append(request.url)
        ),
    )
    words = "<img src=x onerror=alert(1)> constructor __proto__ $x$ %{y} [a](http://example.invalid)"
    page.goto(f"{app.url}/?n_heads=1e9&tokeniser=whitespace&score=nope&panel=word&query=1")
    page.wait_for_selector(".st-key-explore-heads .attn-focus")
    page.get_by_text("1 to 16").first.wait_for()
    sentence = page.get_by_role("textbox", name="Sentence", exact=True)
    sentence.fill(words)
    sentence.press("Enter")
    settled(page, "sentence=")
    page.wait_for_function(
        "document.querySelector('.st-key-explore-weights .js-plotly-plot').data[0].meta.rows.includes('constructor')"
    )
    assert page.locator("a[href*='example.invalid'], img[src='x']").count() == 0
    assert alarms == []


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_scrolls_sideways(new_page: Callable[..., Any], app: Any, width: int, height: int, scheme: str) -> None:
    page = opened(
        new_page(viewport={"width": width, "height": height}, color_scheme=scheme),
        app,
        "n_heads=8&head=1&query=1&key=1",
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= width
