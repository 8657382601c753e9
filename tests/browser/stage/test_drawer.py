"""The answer to a click stands where the setting was, whole in the window; no map moves, and both light each other."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from attnviz import Config, run
from attnviz.pictures.answer.explanation_parts import number as written
from attnviz.settings import url_codec
from attnviz.text import step_names
from attnviz.ui.session.selection import Selection
from tests.browser.stage.test_held import CELL
from tests.browser.stage.test_stage import DESK, LARGE_DESK, PHONE, Page, check
from tests.browser.stage.test_stage import MEASURED as MAPS
from tests.browser_idle import FRAMES, QUIET, go_to
from tests.support.cases import for_each

pytestmark = pytest.mark.browser

OPEN = ".attn-drawer[data-open]"
WEIGHTS = ".st-key-explore [data-stage=weights] .attn-cells"
RUN = "document.querySelector('.st-key-explore [data-stage=weights]').picture.heatmap.holding"
SETTING = 288  # pixels that the setting takes in a wide window
BOXES = """() => {
    const seen = ".st-key-explore :is([data-stage], [data-map], .attn-box), .st-key-way,"
        + " .st-key-explore text[data-head], .attn-opening, .attn-opening .at-line";
    const words = [...document.querySelectorAll(".attn-opening button")]; // of a long line those in question are seen
    const boxes = [...document.querySelectorAll(seen)].map((element) => {
        const { left, top, width, height } = element.getBoundingClientRect();
        return [left, top, width, height];
    });
    return [...boxes, ...words.map((word) => [word.offsetLeft, word.offsetTop, word.offsetWidth, word.offsetHeight])];
}"""
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
    image = page.page.locator(f".st-key-explore [data-stage={stage}] .attn-cells").bounding_box()
    page.page.mouse.click(image["x"] + at[0] * image["width"], image["y"] + at[1] * image["height"])
    page.page.wait_for_selector(OPEN)
    page.page.evaluate(QUIET)
    return dict(page.page.evaluate(MEASURED))


def check_answer(found: dict[str, Any], size: tuple[int, int], lines: int) -> None:
    """All lines within the window and over the foot of the drawer, without any scrolling."""
    assert found["scrolled"] == 0
    assert len(found["lines"]) == lines
    left, top, right, bottom = found["drawer"]
    assert (right, bottom) == pytest.approx((SETTING, size[1]), abs=1)
    for line in found["lines"]:
        assert left <= line[0] <= line[2] <= right
        assert top <= line[1] <= line[3] <= found["foot"] + 1 <= size[1]


MOVES = """() => {
    const seen = ".st-key-explore :is([data-stage], .attn-box, .attn-cells, text[data-head]), .st-key-way";
    const now = () => JSON.stringify([...document.querySelectorAll(seen)].map((element) => {
        const { left, top, width, height } = element.getBoundingClientRect();
        return [left, top, width, height];
    }));
    const before = now();
    window.moves = [];
    window.kind = "";
    const look = () => {
        if (now() !== before && moves.at(-1) !== kind) moves.push(kind);
        if (kind !== null) requestAnimationFrame(look);
    };
    look();
}"""
"""Looks at every frame, until `kind` is null, and notes in `moves` during which click a box was another."""
SPOT = """(kind) => {
    const { picture } = document.querySelector(".st-key-explore [data-stage=weights]");
    const { left, top, width, height } = picture.layer.getBoundingClientRect();
    for (let down = 0; down < height; down += 2)
        for (let x = left; x < left + width; x += 2) {
            const y = kind === "column" ? top + height - 2 - down : top + down;
            const spot = picture.locate({ clientX: x, clientY: y });
            if (spot && Object.keys(spot).join() === kind) return [x + 1, y];
        }
}"""
"""A point in the map of the weights where a row or a column has its word, or a head its name."""


def in_map(page: Any, stage: str, part: tuple[float, float]) -> tuple[float, float]:
    """A point of a map, at a part of its width and height."""
    image = page.locator(f".st-key-explore [data-stage={stage}] .attn-cells").bounding_box()
    return image["x"] + part[0] * image["width"], image["y"] + part[1] * image["height"]


def clicks(page: Any) -> Iterator[tuple[str, Callable[[], object]]]:
    """Every kind of click, by its name, but that on the name of a head, which is to show it alone."""
    yield "a cell", lambda: page.mouse.click(*in_map(page, "weights", (0.08, 0.08)))
    yield "a score", lambda: page.mouse.click(*in_map(page, "scores", (0.02, 0.98)))
    yield "an output", lambda: page.mouse.click(*in_map(page, "heads", (0.05, 0.3)))
    yield "the word of a row", lambda: page.mouse.click(*page.evaluate(SPOT, "row"))
    yield "the word of a column", lambda: page.mouse.click(*page.evaluate(SPOT, "column"))
    yield "a word of the sentence", lambda: page.locator(".attn-opening button").nth(1).click()
    yield "close", lambda: page.locator(".attn-drawer .ad-close").click()
    yield "a cell once more", lambda: page.mouse.click(*in_map(page, "weights", (0.08, 0.08)))
    yield "Escape", lambda: page.keyboard.press("Escape")


def test_no_click_moves_or_resizes_anything_in_the_main_area(new_page: Callable[..., Any], app: Any) -> None:
    """At no frame, in settings at random and in windows from the narrowest that has room for an answer beside them; but
    a click on the name of a head shows it alone."""
    at, dice = Page(new_page, app, DESK), random.Random(7)  # noqa: S311 - nothing secret
    page = at.page
    for number, (width, height) in enumerate((DESK, LARGE_DESK, (1100, 800))):
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=("light", "dark")[number % 2])
        heads, words, wide = dice.choice((2, 3, 4, 8, 16)), dice.randint(3, 30), dice.randint(1, 9)
        mask, colours = dice.choice(("none", "causal", "window")), dice.choice(("apart", "common"))
        at.measured(heads, words, wide, mask=mask, colours=colours, score=dice.choice(("scaled_dot", "additive")))
        before = page.evaluate(BOXES)
        page.evaluate(MOVES)
        for kind, click in clicks(page):
            address = page.evaluate("(kind) => ((window.kind = kind), location.search)", kind)
            click()
            page.wait_for_function("(before) => location.search !== before", arg=address)
        page.evaluate(QUIET)
        assert page.evaluate("moves") == [], (heads, words, wide, mask, width)
        assert page.evaluate(BOXES) == before, "all is as it was"
        page.mouse.click(*page.evaluate(SPOT, "name"))
        page.wait_for_function("() => moves.length")
        page.evaluate("() => (window.kind = null)")


def test_a_number_of_any_other_map_is_answered_by_what_it_is_the_sum_of(new_page: Callable[..., Any], app: Any) -> None:
    at = Page(new_page, app, DESK)
    page, first = at.page, ".attn-drawer section b"
    for stage, shown in (("embedded", "embedded"), ("queries", "queries"), ("keys", "queries"), ("output", "output")):
        at.measured(4, 7, 4, n_kv_heads="2", shown=shown)
        before = page.evaluate(BOXES)
        page.mouse.click(*in_map(page, stage, (0.62, 0.3)))
        page.wait_for_url(f"**number_of={stage}**")
        page.wait_for_selector(OPEN)
        page.evaluate(QUIET)
        assert page.evaluate(BOXES) == before
        (config, chosen), problems = url_codec.open_link(page.url, Config, Selection)
        assert not problems
        step = step_names.steps(run(config), 0)[stage]
        row = chosen.query if step.axes[-2] == "query" else chosen.key
        head = (chosen.head or 0) // (config.group_size if stage == "keys" else 1)
        assert page.locator(first).first.inner_text() == written(step.head(head)[row, chosen.entry]), stage
        framed = page.locator(f".st-key-explore [data-stage={stage}]").evaluate(
            "({ picture }) => picture.heatmap.picking.chosen"
        )
        assert [framed["row"], framed["column"]] == [row, chosen.entry]
        assert page.locator(f"{OPEN} .ad-part").count() == 0, "signed numbers, and no shares"
        said = page.locator(OPEN).inner_text()
        go_to(page, page.url)
        page.wait_for_selector(OPEN)
        assert page.locator(OPEN).inner_text() == said, "a link opens with it"
    at.measured(4, 7, 4, shown="queries", number_of="queries", query="3", entry="2")
    x, y, _ = page.evaluate(CELL, ["queries", 0, 2, 1])
    page.mouse.move(x, y)
    page.wait_for_function(f"() => {RUN.replace('weights', 'queries')}.run !== null")
    page.mouse.down()
    page.mouse.move(x, y - 40, steps=8)
    page.wait_for_selector(".attn-drawer[data-aside]", state="attached")
    page.keyboard.press("Escape")
    page.mouse.up()
    page.wait_for_selector(".attn-drawer[data-open]:not([data-aside])")
    page.locator(".attn-opening button").nth(2).click()
    page.wait_for_url(lambda url: "number_of" not in url)
    assert page.locator(f"{OPEN} h2").inner_text() == "sat", "its word, and not nothing"


def test_the_rail_keeps_the_setting_in_reach_and_calls_it_back(new_page: Callable[..., Any], app: Any) -> None:
    at = Page(new_page, app, DESK)
    at.measured(4, 7, 4, head="2", query="4", key="3")
    page, setting = at.page, "document.querySelector('[data-testid=stSidebar]').inert"
    page.wait_for_selector(OPEN)
    chips = page.locator(".ad-chip[data-field]:not([data-field=''])")
    assert [chip.split()[-1] for chip in chips.all_inner_texts()] == ["64", "4", "none", "√d", "0"]
    assert page.evaluate(setting), "what is behind the answer is out of reach"
    page.locator(".ad-chip[data-field=n_heads]").press("ArrowUp")
    page.wait_for_url("**n_heads=5**")
    page.evaluate(QUIET)
    assert page.evaluate("document.activeElement.dataset.field") == "n_heads"
    assert page.locator(".attn-drawer h2").inner_text().split() == ["on", "attends", "to", "sat"], "the same cell"
    page.locator(".ad-chip[data-field=seed]").click()
    page.wait_for_selector(OPEN, state="hidden")
    assert not page.evaluate(setting)
    page.keyboard.press("ArrowUp")  # the field has the focus
    page.wait_for_url("**seed=1**")
    page.evaluate(QUIET)
    assert page.locator(OPEN).is_hidden(), "whoever is at work in the setting stays there"
    page.locator(".ad-back").click()
    page.wait_for_selector(OPEN)
    page.keyboard.press("Escape")
    page.wait_for_selector(OPEN, state="detached")
    assert not page.evaluate(setting)


def test_where_the_setting_is_folded_away_an_answer_lies_over_what_was_not_pressed(
    new_page: Callable[..., Any], app: Any
) -> None:
    at = Page(new_page, app, DESK)
    at.measured(4, 7, 4)
    at.page.locator("[data-testid=stSidebar]").hover()
    at.page.locator("[data-testid=stSidebarCollapseButton] button").click()
    at.page.wait_for_function("document.querySelector('[data-testid=stMain]').clientWidth > 1200")
    at.page.evaluate(QUIET)
    before = at.page.evaluate(BOXES)
    assert clicked(at, "heads", (0.9, 0.9))["drawer"][0] == 0
    assert at.page.evaluate(BOXES) == before
    at.page.keyboard.press("Escape")
    at.page.wait_for_selector(OPEN, state="detached")
    assert clicked(at, "scores", (0.1, 0.1))["drawer"][2] == DESK[0]
    assert at.page.evaluate(BOXES) == before
    at.page.locator("[data-testid=stExpandSidebarButton]").click()
    at.page.wait_for_selector(OPEN, state="hidden")
    assert at.page.locator(".ad-back").is_visible(), "the setting was called back, and the answer waits"


RINGS = """() => [...document.querySelectorAll(".st-key-stage .attn-ring")].map((ring) => {
    const { top, bottom } = ring.getBoundingClientRect();
    return [top, bottom];
})"""
ON_PAGE = f"""() => {{
    const scrolled = document.querySelector("[data-testid=stMain]").scrollTop;
    return ({BOXES})().map(([left, top, ...size], at, all) => [left, top + scrolled, ...size]);
}}"""
"""The boxes, wherever the page was scrolled to."""


@for_each("size", [PHONE, (820, 1100)])
def test_in_a_narrow_window_nothing_moves_and_what_is_explained_stands_over_the_answer(
    new_page: Callable[..., Any], app: Any, size: tuple[int, int]
) -> None:
    at = Page(new_page, app, size, has_touch=True)
    page = at.page
    at.measured(8, 12, 4)
    words = 'document.querySelectorAll(".attn-opening button").length'  # they stand in a line that scrolls by itself
    before = page.evaluate(ON_PAGE)[: -page.evaluate(words)]
    scrolled = []
    for part in ((0.08, 0.02), (0.9, 0.6), (0.08, 0.93)):
        page.touchscreen.tap(*in_map(page, "weights", part))
        page.wait_for_selector(OPEN)
        page.evaluate(QUIET)
        found = page.evaluate(MEASURED)
        scrolled.append(found["scrolled"])
        left, top, right, _ = found["drawer"]
        assert (right, left) == (size[0], page.locator("[data-testid=stMain]").bounding_box()["x"])
        assert len(found["lines"]) == 4
        assert any(ring[0] > 0 and ring[1] < top for ring in page.evaluate(RINGS)), part
        assert page.evaluate(ON_PAGE)[: -page.evaluate(words)] == before, part
        link = page.url
        page.keyboard.press("Escape")
        page.wait_for_selector(OPEN, state="detached")
        page.wait_for_function("!/query=/.test(location.search)")
        page.evaluate(QUIET)
        assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") == 0
    assert scrolled[0] == 0, "what stands over the answer stays where it is"
    assert scrolled[-1] > 0
    go_to(page, link)
    page.wait_for_selector(OPEN)
    page.evaluate(QUIET)
    assert page.evaluate(MEASURED)["scrolled"] == scrolled[-1], "a link opens as it was left"
    at.measured(8, 12, 4)
    page.locator(".attn-opening button").nth(2).click()
    page.wait_for_selector(OPEN)
    page.evaluate(QUIET)
    assert page.evaluate(MEASURED)["scrolled"] < 60, "its row in the first head stands high enough"


def test_where_stages_come_one_by_one_what_was_chosen_is_marked_in_each_and_no_tip_lies_on_the_answer(
    new_page: Callable[..., Any], app: Any
) -> None:
    at = Page(new_page, app, PHONE, has_touch=True)
    page = at.page
    for name in ("scores", "weights", "heads"):
        at.measured(4, 7, 4, shown=name)
        for part in ((0.08, 0.1), (0.6, 0.2), (0.08, 0.3)):
            page.touchscreen.tap(*in_map(page, name, part))
            page.wait_for_selector(OPEN)
            page.evaluate(QUIET)
            assert page.evaluate(RINGS), (name, part)
            assert page.locator(".attn-tip").is_hidden()
        page.reload()
        page.wait_for_selector(OPEN)
        page.locator(".st-key-stage .attn-ring").first.wait_for(state="attached")
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": DESK[0], "height": DESK[1]})
    page.locator(".st-key-explore [data-stage=scores]").wait_for()
    order = page.locator(".st-key-explore [data-stage]").evaluate_all("(all) => all.map((each) => each.dataset.stage)")
    assert order == ["scores", "weights", "heads"], "the Tab key goes from left to right"


@for_each("size, scheme", [(DESK, "light"), (LARGE_DESK, "dark")])
def test_a_click_is_answered_in_the_window_and_the_maps_stay_whole(
    new_page: Callable[..., Any], app: Any, size: tuple[int, int], scheme: str
) -> None:
    page = Page(new_page, app, size, scheme)
    page.measured(4, 7, 4)
    check_answer(clicked(page), size, 4)
    maps = page.page.evaluate(MAPS)
    right = page.page.evaluate(MEASURED)["drawer"][2]
    for each in maps["found"].values():
        assert each["chart"][0] >= right - 1
    check(maps, size, "beside an answer")
    assert "its share of the row" in page.page.locator(".ad-live").inner_text()
    page.page.keyboard.press("Escape")
    page.page.wait_for_selector(OPEN, state="detached")
    page.page.wait_for_function("!/query=/.test(location.search)")


def keyboard_stays_where_it_was(page: Any) -> None:
    """Choose a cell by keys and close its answer: the focus is in the map before, in between and after."""
    focused = "document.activeElement.className === 'attn-focus'"
    page.locator(".st-key-explore [data-stage=weights] .attn-focus").focus()
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
    page.page.locator(".st-key-part-score").wait_for()


HELD = """() => {
    const held = [], send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (message) { held.push([this, message]); };
    window.release = () => {
        WebSocket.prototype.send = send;
        held.splice(0).forEach(([socket, message]) => socket.send(message));
    };
    const drawer = document.querySelector(".attn-drawer");
    window.drawn = 0;
    window.drawings?.disconnect();
    window.drawings = new MutationObserver(() => drawn++);
    drawings.observe(drawer, { childList: true });
}"""
"""Nothing reaches the server until `release()`; `drawn` counts how often the answer is drawn."""


ANSWER = "() => document.querySelector('.attn-drawer').innerHTML.replaceAll(' ad-highlighted', '')"
"""The answer, whatever of it the pointer that rests on a map lights up."""


def test_a_choice_is_explained_before_the_server_hears_of_it_and_its_run_changes_nothing(
    new_page: Callable[..., Any], app: Any
) -> None:
    at = Page(new_page, app, DESK)
    at.measured(4, 7, 4, mask="causal", score="additive")
    page = at.page
    page.wait_for_function("window.attnvizCells")
    words = page.locator(".attn-opening button")
    weights = page.locator(".st-key-explore [data-stage=weights] .attn-cells").bounding_box()

    def cell(x: float, y: float) -> None:
        page.mouse.click(weights["x"] + x * weights["width"], weights["y"] + y * weights["height"])

    def by_keys() -> None:
        page.locator(".st-key-explore [data-stage=weights] .attn-focus").focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")

    for name, choose in (
        ("a cell", lambda: cell(0.08, 0.38)),
        ("one that is masked", lambda: cell(0.4, 0.02)),
        ("by keys", by_keys),
        ("a word", words.nth(4).click),
        ("another key in the answer", page.locator(".attn-drawer .ad-term").nth(1).click),
    ):
        page.evaluate(HELD)
        address = page.evaluate("location.search")
        before = page.evaluate(ANSWER)
        choose()
        page.wait_for_function(f"(before) => ({ANSWER})() !== before", arg=before)
        answer = page.evaluate(ANSWER)
        page.evaluate("release()")
        page.wait_for_function("(before) => location.search !== before", arg=address)
        page.evaluate(QUIET)
        assert page.evaluate(ANSWER) == answer, name
        assert page.evaluate("drawn") == 1, name
    page.evaluate(HELD)
    page.keyboard.press("Escape")
    page.wait_for_selector(OPEN, state="detached")
    page.evaluate("release()")
    page.evaluate(QUIET)
    assert page.locator(OPEN).count() == 0


LARGE = (
    (20, "n_heads=8&mask=causal&score=additive&bias=alibi&temperature=0.7"),
    (20, "n_heads=8&n_kv_heads=2&normaliser=entmax&score=general&softcap=2&d_v=3"),
    (150, "n_heads=9&mask=window&reach=6&score=cosine&edits=scores.1.3.99.98~2.5&max_tokens=150&from_query=70"),
    (20, "n_heads=8&normalise_over=queries&mask=dilated&n_layers=2&layer=1"),
)
"""Numbers of words and settings with more scores than a message is worth: the browser computes what explains a cell."""
COMPUTED = """({ heatmap }) => {
    const { cells, live } = heatmap.data, known = window.attnvizCellArrays;
    return cells.is_computed && (!known || known.address === `${live.address}#${live.layer}`);
}"""
"""Whether the numbers that explain a cell are computed here: of this setting, or none yet."""
SOME_CELL = """([name, share]) => {
    const { picture } = document.querySelector(`.st-key-explore [data-stage=${name}]`);
    const { layer, rows, meta: { widths } } = picture;
    let rest = share;
    const at = [widths.length, rows, widths[0]].map((n) => ((rest *= n), (rest %= n), Math.floor(rest)));
    const { left, top } = layer.getBoundingClientRect(), [x, y, w, h] = picture.cells(...at);
    return [left + x + w / 2, top + y + h / 2];
}"""
"""The middle of a cell of a map, another one for another share of 1."""


def check_explained_early(page: Any, dice: random.Random, stages: tuple[str, ...], why: str) -> None:
    """A cell is explained before the server hears that it was chosen, and what that sends changes nothing."""
    page.mouse.move(0, 0)
    page.locator(WEIGHTS).hover()
    page.wait_for_function("window.attnvizCells")
    x, y = page.evaluate(SOME_CELL, [dice.choice(stages), dice.random()])
    page.evaluate(HELD)
    answer = changed(page, lambda: page.mouse.click(x, y))
    assert answered(page) == answer, why
    assert page.evaluate("drawn") == 1, why


def changed(page: Any, act: Callable[[], Any]) -> str:
    """Do something, and return the answer once it is another one."""
    before = page.evaluate(ANSWER)
    act()
    page.wait_for_function(f"(before) => ({ANSWER})() !== before", arg=before)
    return str(page.evaluate(ANSWER))


def answered(page: Any) -> str:
    """Let the server hear what it was not told, and return the answer that then stands there."""
    address = page.evaluate("location.search")
    page.evaluate("release()")
    page.wait_for_function("(before) => location.search !== before", arg=address)
    page.evaluate(QUIET)
    return str(page.evaluate(ANSWER))


def test_where_numbers_are_too_many_to_be_sent_a_choice_is_explained_as_early(
    new_page: Callable[..., Any], app: Any
) -> None:
    dice, page = random.Random(16), new_page(reduced_motion="reduce")  # noqa: S311 - nothing secret
    words = [f"word{at}" for at in range(150)]
    page.set_viewport_size({"width": DESK[0], "height": DESK[1]})
    for length, setting in LARGE:
        page.mouse.move(0, 0)
        go_to(page, f"{app.url}/?v=1&sentence={'+'.join(words[:length])}&{setting}")
        assert page.evaluate(f"() => ({COMPUTED})({RUN})"), "no number that explains a cell was sent"
        for _ in range(3):
            check_explained_early(page, dice, ("scores", "weights", "heads"), setting)
        if length == len(words):
            continue  # a cell of its maps is of several numbers, and none can be held
        x, y, _ = page.evaluate(CELL, ["scores", 1, 9, 9])
        page.mouse.click(x, y)
        page.evaluate(QUIET)
        page.evaluate(HELD)
        page.mouse.down()
        changed(page, partial(page.mouse.move, x, y + dice.choice((-30, 30)), steps=3))
        page.mouse.up()
        page.evaluate(FRAMES, 2)
        answer = page.evaluate(ANSWER)
        assert answered(page) == answer, f"{setting}: as it was while a number was held"
        check_explained_early(page, dice, ("scores", "weights", "heads"), f"{setting}: by the run of what was held")


def test_no_choice_is_explained_by_the_numbers_of_another_run_or_layer(new_page: Callable[..., Any], app: Any) -> None:
    dice, page = random.Random(3), new_page(reduced_motion="reduce")  # noqa: S311 - nothing secret
    page.set_viewport_size({"width": DESK[0], "height": DESK[1]})
    sentence = "+".join(f"word{at}" for at in range(20))
    start = f"{app.url}/?v=1&sentence={sentence}&n_heads=8&mask=causal&n_layers=2"
    focus = page.locator(".st-key-explore [data-stage=weights] .attn-focus")

    def pressed(*keys: str) -> None:
        focus.focus()
        for key in keys:
            page.keyboard.press(key)
            page.evaluate(QUIET)

    def dragged() -> None:
        x, y, _ = page.evaluate(CELL, ["scores", 1, 9, 9])
        page.mouse.move(x, y)
        page.wait_for_function("window.attnvizCells")
        page.mouse.down()
        page.mouse.move(x, y - 30, steps=3)
        page.mouse.up()
        page.wait_for_url("**edits=**")
        page.evaluate(QUIET)

    go_to(page, start)
    check_explained_early(page, dice, ("scores", "weights"), "as it was opened")
    for why, act in (
        ("nothing was there to undo", lambda: pressed("Control+z")),
        ("another layer", lambda: go_to(page, f"{start}&layer=2")),
        ("nothing to undo, and another layer", lambda: (pressed("Control+z"), go_to(page, start))),
        ("a number was dragged", dragged),
        ("it was taken back", lambda: pressed("Control+z")),
        ("a head was switched off", lambda: pressed("x")),
        ("it was switched on again", lambda: pressed("x")),
        ("the same where no output is shown", lambda: (go_to(page, f"{start}&shown=masked"), pressed("x", "x"))),
        ("another seed", lambda: go_to(page, f"{start}&seed=1")),
    ):
        act()
        page.evaluate(QUIET)
        check_explained_early(page, dice, ("weights",), why)
    for link in (f"{start}&edits=allowed.1.7.4~0.0", start.replace("mask=causal", "mask=causal.no_self")):
        go_to(page, link)
        page.mouse.move(0, 0)
        page.locator(WEIGHTS).hover()
        page.wait_for_function(f"() => {RUN}.run?.address === {RUN}.heatmap.data.live.address")
        assert page.evaluate("window.attnvizCells === null"), f"{link}: no browser knows what forbids a cell"


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
    page.locator(".ad-chip[data-field=seed]").press("ArrowUp")
    page.wait_for_url("**seed=1**")
    page.evaluate(QUIET)
    assert "" in asked
    assert page.locator(".attn-drawer h2").inner_text() == title
    assert cell.items() <= parse_qs(urlparse(page.url).query).items()
    page.locator(".ad-chip").first.click()
    page.get_by_text("Save and open", exact=True).click()
    page.get_by_role("button", name="Save this setting").wait_for()
    page.evaluate(QUIET)
    clicked(at, at=(0.02, 0.02))
    page.locator(".ad-chip").first.click()
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
        light = page.page.locator(f".st-key-explore [data-stage={stage}] .attn-layer svg >> nth=1").locator(
            "path.attn-ring, path"
        )
        box = light.last.bounding_box()
        return [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]

    page.page.locator(".ad-match .ad-term:not(.ad-heads)").nth(2).hover()
    assert (
        page.page.locator(".ad-match .ad-term:not(.ad-heads)")
        .nth(2)
        .evaluate("(e) => e.classList.contains('ad-highlighted')")
    )
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
    assert (
        page.page.locator(".ad-match .ad-term:not(.ad-heads)")
        .nth(2)
        .evaluate("(e) => e.classList.contains('ad-highlighted')")
    )
    page.page.mouse.move(640, 20)
    assert page.page.locator(".ad-highlighted").count() == 0
