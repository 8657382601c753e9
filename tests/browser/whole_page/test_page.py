"""The page as a person uses it, in a real browser: type, choose, look, follow a number down, share the link."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.ui.main import OPENING
from attnviz.ui.pages.explore import GONE
from attnviz.ui.session import places
from attnviz.ui.session.selection import PANEL_NAMES
from tests.browser_idle import QUIET, go_to, wait_until
from tests.support.cases import for_each

pytestmark = pytest.mark.browser


def opened(page: Any, app: Any, query: str = "") -> Any:
    go_to(page, f"{app.url}/?{query}")
    page.wait_for_selector(".st-key-explore [data-stage=weights] .attn-focus")
    return page


def read_cell(page: Any, stage: str, head: int, row: int, column: int) -> str:
    """What the page says of a cell to someone who goes there with the keyboard; all counted from 0."""
    picture = page.locator(f".st-key-explore [data-stage={stage}] .attn-focus")
    picture.focus()
    first = (("PageUp", 16), ("Home", 1), ("ArrowUp", 16))
    for key, times in (*first, ("PageDown", head), ("ArrowDown", row), ("ArrowRight", column)):
        for _ in range(times):
            page.keyboard.press(key)
    return str(page.locator(".st-key-explore .attn-live").inner_text())


def read_until(page: Any, stage: str, cell: tuple[int, int, int], number: float) -> str:
    """Read a cell until it holds the number: the picture follows the address by a moment."""
    report = ""

    def agrees() -> bool:
        nonlocal report
        report = read_cell(page, stage, *cell)
        return bool(report) and number_in(report) == pytest.approx(number, rel=1e-3)

    wait_until(page, agrees)
    return report


def number_in(words: str) -> float:
    """The number at the end of what is said of a cell, before what share of its row it is."""
    said = re.sub(r"\s\([^()]*%\)$", "", words.strip())
    return float(re.findall(r"[-−]?\d[\d.]*(?:e[-−]?\d+)?$", said)[-1].replace("−", "-"))


GROUND = "getComputedStyle(document.querySelector('.stApp')).backgroundColor"
RESTS = "document.querySelector('.attn-canvas')?.style.visibility === 'hidden'"
"""Nothing has moved for a while, so Plotly has drawn what is there."""


def address(page: Any) -> dict[str, str]:
    return dict(part.split("=") for part in page.evaluate("location.search").lstrip("?").split("&") if part)


def settled(page: Any, part: str) -> None:
    """Wait until the address says so: it is written when the run is through; and until the page has come to rest."""
    page.wait_for_function("part => location.search.includes(part)", arg=part)
    page.evaluate(QUIET)


PICTURE = """([stage, part]) => {
    const chart = document.querySelector(`.st-key-explore [data-stage=${stage}]`);
    const meta = chart?.picture.meta;
    return meta !== undefined && JSON.stringify([meta.rows, meta.heads.length]) === part;
}"""


def drawn(page: Any, stage: str, rows: list[str], n_heads: int) -> None:
    """Wait until a picture has these words and so many heads."""
    part = json.dumps([rows, n_heads], separators=(",", ":"), ensure_ascii=False)
    page.wait_for_function(PICTURE, arg=[stage, part])


def says(page: Any, *parts: str) -> None:
    """Wait until the rows of one formula on the page hold all the parts."""
    page.wait_for_function(
        "parts => [...document.querySelectorAll('.stMain table')]"
        ".map(sheet => [...sheet.querySelectorAll('.katex annotation')].map(formula => formula.textContent).join())"
        ".some(formula => parts.every(part => formula.includes(part)))",
        arg=list(parts),
    )


def test_a_person_types_chooses_and_reads_the_new_numbers(browser_page: Any, app: Any) -> None:
    page = opened(browser_page, app)
    sentence = page.get_by_role("textbox", name="Sentence", exact=True)
    sentence.fill("dogs chase small cats")
    sentence.press("Enter")
    settled(page, "sentence=")
    heads = page.get_by_test_id("stSidebar").get_by_role("slider", name="Heads")
    heads.focus()
    page.keyboard.press("ArrowLeft")
    settled(page, "n_heads=3")
    page.get_by_role("combobox", name="Mask").click()
    page.get_by_role("option", name="Causal", exact=True).click()
    settled(page, "mask=causal")
    page.evaluate(QUIET)  # a list that is drawn anew neither hears Escape nor lets the next one open
    page.keyboard.press("Escape")
    page.get_by_role("listbox").wait_for(state="hidden")
    page.get_by_role("combobox", name="Score function").fill("Cosine")  # a list opened by a click may close again
    page.get_by_role("option", name="Cosine", exact=True).click()
    settled(page, "score=cosine")
    drawn(page, "weights", ["dogs", "chase", "small", "cats"], 3)
    trace = run(replace(OPENING, sentence="dogs chase small cats", n_heads=3, mask="causal", score="cosine"))
    for stage in ("scores", "weights"):
        values = read_until(page, stage, (2, 3, 1), trace[stage].array[2, 3, 1])
    assert "cats" in values
    assert "chase" in values
    assert "masked" in read_cell(page, "weights", head=0, row=0, column=2)


def test_a_copied_link_shows_the_same_numbers_in_another_browser(new_page: Callable[..., Any], app: Any) -> None:
    first = opened(new_page(), app, "sentence=one+two+three&seed=42&score=additive&n_heads=2")
    number = read_cell(first, "weights", head=1, row=2, column=0)
    second = new_page()
    second.goto(first.url)
    second.wait_for_selector(".st-key-explore [data-stage=weights] .attn-focus")
    second.evaluate(QUIET)
    assert read_cell(second, "weights", head=1, row=2, column=0) == number


def test_a_cell_is_followed_down_to_its_products(browser_page: Any, app: Any) -> None:
    page = opened(browser_page, app, "mask=causal&all_lines=yes")
    read_cell(page, "weights", head=1, row=4, column=2)
    page.keyboard.press("Enter")
    page.get_by_text("attends to key 3").wait_for()
    settled(page, "key=3")
    assert {"head": "2", "query": "5", "key": "3"}.items() <= address(page).items()
    weight = run(Config(mask="causal"))["weights"].array[1, 4, 2]
    says(page, f"{weight:.4g}", "a_{5,3}")
    page.get_by_role("slider", name="Digits").focus()
    page.keyboard.press("End")
    settled(page, "digits=17")
    says(page, f"{weight:.17g}", "a_{5,3}")


def test_one_word_says_what_it_takes_without_asking_the_server(browser_page: Any, app: Any) -> None:
    frames: list[object] = []
    browser_page.on("websocket", lambda socket: socket.on("framesent", lambda frame: frames.append(frame)))
    page = opened(browser_page, app, "mask=causal&panel=word&head=2")
    page.get_by_text("Queries ask").wait_for()
    assert frames, "the visit itself"
    frames.clear()
    before = page.evaluate("location.search")
    page.locator(".st-key-explore [data-stage=weights] .attn-focus").focus()
    for key in ("PageDown", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    row = run(Config(mask="causal"))["weights"].array[1, 2]
    page.get_by_text(re.compile(rf"sat.*attends to.*{round(100 * row.max())}.%")).first.wait_for()
    assert page.evaluate("location.search") == before
    assert frames == []


def test_pictures_that_come_back_show_the_numbers_of_now(
    browser_page: Any, new_page: Callable[..., Any], app: Any
) -> None:
    """Once on the canvas, and once by Plotly."""
    images = """() => ({
        canvas: document.querySelector(".attn-canvas").toDataURL(),
        plotly: [...document.querySelectorAll(".heatmaplayer image")].map((image) => image.href.baseVal),
    })"""
    page = opened(browser_page, app, "n_heads=2")
    page.wait_for_function(RESTS)
    before = page.evaluate(images)
    page.get_by_text("Compare", exact=True).click()
    settled(page, "page=compare")
    page.get_by_role("spinbutton", name="Seed").press("ArrowUp")
    settled(page, "seed=1")
    page.get_by_text("Explore", exact=True).click()
    page.wait_for_function("!location.search.includes('page=')")
    page.evaluate(QUIET)
    page.wait_for_function(RESTS)
    fresh = opened(new_page(), app, "n_heads=2&seed=1")
    fresh.evaluate(QUIET)
    fresh.wait_for_function(RESTS)
    now, new = page.evaluate(images), fresh.evaluate(images)
    assert len(now["plotly"]) == 3
    for drawn in ("canvas", "plotly"):
        assert now[drawn] == new[drawn] != before[drawn]


def test_every_picture_says_in_words_what_it_shows(browser_page: Any, app: Any) -> None:
    page = opened(browser_page, app, "n_heads=2")
    for figure in page.get_by_role("figure").all()[:3]:
        assert "of 2 heads" in figure.get_attribute("aria-label")
    page.get_by_test_id("stSidebar").get_by_role("slider", name="Heads").press("ArrowRight")
    page.get_by_role("figure", name="of 3 heads").nth(2).wait_for()


def test_a_step_of_the_way_is_opened_large(browser_page: Any, app: Any) -> None:
    page = opened(browser_page, app)
    page.get_by_role("button", name=re.compile("^Q [0-9]")).click()
    settled(page, "shown=queries")
    page.wait_for_selector(".st-key-explore [data-stage=queries] .attn-layer text")
    assert page.locator(".st-key-explore [data-stage]").count() == 3
    page.get_by_role("button", name=re.compile("^A [0-9]")).click()
    page.evaluate(QUIET)
    page.wait_for_selector(".st-key-explore [data-stage=weights] .attn-layer text")


def test_the_one_row_of_a_vector_has_no_word(browser_page: Any, app: Any) -> None:
    page = browser_page
    go_to(page, f"{app.url}/?initialiser=glorot&score=additive&n_heads=2&d_a=5&panel=flow&step=score_v")
    page.wait_for_selector(".st-key-explore [data-stage=score_v] .attn-layer text")
    page.evaluate(QUIET)
    words = page.locator(".st-key-explore [data-stage=score_v] .attn-layer text").all_text_contents()
    assert {"head 1", "head 2", "5"} <= set(words)
    assert not [word for word in words if word.endswith(("…", ")"))]


SHOWN = {
    "word": ".st-key-word",
    "layers": ".st-key-cosines",
    "statistics": "[data-testid=stDataFrame]",
    "twin": ".st-key-twin-heads",
    "many": ".st-key-many-take",
    "redeal": ".st-key-redeal",
    "table": "[data-testid=stDataFrame]",
    "what_if": ".st-key-what-if",
    "mask": ".st-key-mask-panel",
    "cell": ".attn-drawer[data-open]",
    "backward": ".st-key-slope-sizes",
    "products": "[data-testid=stDataFrame]",
}
"""A text that each panel shows; each of these can be reached from the one before."""
PRESSED = {"redeal": "Other seeds", "what_if": "Change", "mask": "Mask", "cell": "Explore"}
"""The button that leads there from the panel before, where it is not named for the panel in the row below the maps."""
NAMED = "name => (new URLSearchParams(location.search).get('panel') ?? 'cell') === name"


def test_every_panel_opens_by_its_button(browser_page: Any, app: Any) -> None:
    few = "n_heads=2&d_model=8&d_k=2&d_v=2"  # lines are written, with each number of the vectors
    page = opened(browser_page, app, f"{few}&head=1&query=2&key=2&all_lines=yes")
    assert set(SHOWN) == set(PANEL_NAMES) - {*GONE, *places.OF_DECODERS}  # these need a model
    page.locator("[class*=st-key-part-]").first.wait_for()
    page.locator(".ad-all").click()  # the lines of a link stand over the maps
    page.wait_for_function("() => !location.search.includes('all_lines')")
    for name, part in SHOWN.items():
        label = PRESSED.get(name, PANEL_NAMES[name].label)
        radio, button = (page.get_by_role(role, name=label, exact=True) for role in ("radio", "button"))
        radio.or_(button).first.click()
        page.wait_for_function(NAMED, arg=name)
        page.evaluate(QUIET)
        page.locator(part).first.wait_for()


def test_the_statistics_are_those_of_the_run(browser_page: Any, app: Any) -> None:
    page = opened(browser_page, app, "v=1&panel=statistics&n_heads=2")
    cells = page.get_by_test_id("stDataFrame").first.locator("[role=gridcell]")
    cells.nth(19).wait_for(state="attached")
    head, second = cells.all_text_contents()[:10], cells.all_text_contents()[10:20]
    for A, shown in zip(run(Config(n_heads=2))["weights"].array, (head, second), strict=True):
        entropy = -(A * np.log(A)).sum(axis=1)
        assert float(shown[2]) == pytest.approx(np.exp(entropy).mean(), rel=1e-9)
        assert float(shown[3]) == pytest.approx(entropy.mean(), rel=1e-9)
        assert float(shown[4]) == pytest.approx(A.max(), rel=1e-9)
        assert float(shown[7]) == pytest.approx(np.diag(A).mean(), rel=1e-9)


def test_the_class_page_goes_on_with_the_arrow_keys(browser_page: Any, app: Any) -> None:
    page = browser_page
    go_to(page, f"{app.url}/?page=class&step=embedded")
    page.wait_for_selector(".st-key-class [data-stage=embedded] .attn-focus")
    page.keyboard.press("ArrowRight")
    page.get_by_role("heading", name="Queries").wait_for()
    page.wait_for_selector(".st-key-class [data-stage=queries] .attn-focus")
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
    page.wait_for_selector(".st-key-explore [data-stage=weights] .attn-focus")
    page.get_by_text("1 to 16").first.wait_for()
    page.locator(".ad-chip").first.click()  # the setting, which the answer stands in the room of
    sentence = page.get_by_role("textbox", name="Sentence", exact=True)
    sentence.fill(words)
    sentence.press("Enter")
    settled(page, "sentence=")
    drawn(page, "weights", words.split(), 16)
    assert page.locator("a[href*='example.invalid'], img[src='x']").count() == 0
    assert alarms == []


@for_each("width, height", [(1280, 720), (390, 844)])
def test_nothing_scrolls_sideways(new_page: Callable[..., Any], app: Any, width: int, height: int) -> None:
    page = new_page(viewport={"width": width, "height": height}, color_scheme="light", instead=True)
    opened(page, app, "n_heads=8&head=1&query=1&key=1&all_lines=yes")
    page.evaluate(QUIET)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    light = page.evaluate(GROUND)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"(light) => {GROUND} !== light", arg=light)
    page.evaluate(QUIET)
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "in the dark"


def test_the_page_buttons_can_be_hit_all_over(browser_page: Any, app: Any) -> None:
    page = opened(browser_page, app)
    for label in ("Teach", "Explore"):
        box = (
            page.get_by_role("radio", name=label)
            .or_(page.get_by_role("button", name=label, exact=True))
            .first.bounding_box()
        )
        hit = page.evaluate(
            "([x, y]) => document.elementFromPoint(x, y).closest('button')?.innerText",
            [box["x"] + box["width"] / 2, box["y"] + 3],
        )
        assert hit == label
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 3)
        if label == "Teach":
            settled(page, "page=assign")
        else:
            page.wait_for_selector(".st-key-explore [data-stage=weights] .attn-focus")


def test_the_class_page_is_in_large_type(browser_page: Any, app: Any) -> None:
    page = browser_page
    go_to(page, f"{app.url}/?v=1&page=class&step=weights")
    page.wait_for_selector(".st-key-class [data-stage=weights] .attn-layer text")
    texts = "document.querySelectorAll('.st-key-class [data-stage=weights] .attn-layer text')"
    sizes = f"[...{texts}].map(text => parseFloat(getComputedStyle(text).fontSize))"
    assert max(page.evaluate(sizes)) >= 18
