"""What one sees tells what a press does: no step, number or word looks pressable and then shows nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from attnviz import Config, run
from attnviz.settings.language import LANGUAGES
from attnviz.text.cell_sentence import percent
from tests.browser.stage.test_drawer import HELD, SPOT
from tests.browser.stage.test_hand import HOLDING
from tests.browser.stage.test_held import IS_ANSWERED, Maps, check
from tests.browser.stage.test_one_stage import film
from tests.browser.stage.test_stage import DESK, Page
from tests.browser_idle import QUIET, go_to
from tests.support.cases import for_each

pytestmark = pytest.mark.browser

LOOK = "(each) => { const { cursor, color } = getComputedStyle(each); return [cursor, color]; }"

END_OF_TEXT = """(each) => {
    const text = document.createRange();
    text.selectNodeContents(each);
    const { right, bottom } = text.getBoundingClientRect();
    return [right, bottom];
}"""


def opened(
    new_page: Callable[..., Any],
    app: Any,
    address: str = "v=1",
    size: tuple[int, int] = DESK,
    place: str = ".st-key-explore [data-stage=weights]",
) -> Any:
    page = new_page(viewport={"width": size[0], "height": size[1]}, instead=True)
    go_to(page, f"{app.url}/?{address}")
    page.locator(f"{place} .attn-layer text").first.wait_for()
    page.evaluate(QUIET)
    return page


def test_a_step_whose_map_is_shown_is_current_and_no_other_looks_like_it(
    new_page: Callable[..., Any], app: Any
) -> None:
    page = opened(new_page, app)
    current = page.locator(".path .node[aria-current=true]")
    assert current.evaluate_all("(all) => all.map((each) => each.dataset.step)") == ["scores", "weights", "heads"]
    address = page.url
    for step in page.locator(".path [data-step=scores], .path [data-step=weights]").all():
        assert step.evaluate(LOOK)[0] == "default"
        step.click(force=True)
    page.evaluate(QUIET)
    assert page.url == address, "a press that shows nothing changes nothing"
    words = page.locator(".path .words b")
    before = words.evaluate(LOOK)
    words.hover()
    assert words.evaluate(LOOK) == before, "no hover on what is not pressed"
    assert before[0] == "default"
    page.locator(".path .node[data-step=queries]").click()
    page.wait_for_url("**shown=queries**")
    page.locator(".path .node[data-step=queries][aria-current=true]").wait_for()
    assert page.locator(".path .node[data-step=weights]").evaluate(LOOK)[0] == "pointer"


def test_the_path_of_a_window_that_becomes_narrow_has_one_current_step(new_page: Callable[..., Any], app: Any) -> None:
    page = opened(new_page, app)
    page.set_viewport_size({"width": 800, "height": 720})
    page.wait_for_function("() => !document.querySelector('.st-key-explore [data-stage=scores]')")
    page.evaluate(QUIET)
    current = page.locator(".path .node[aria-current=true]")
    assert current.evaluate_all("(all) => all.map((each) => each.dataset.step)") == ["weights"]
    page.locator(".path .node[data-step=scores]").click()
    page.locator(".st-key-explore [data-stage=scores]").wait_for()


def test_a_number_that_is_dragged_looks_like_no_link(new_page: Callable[..., Any], app: Any) -> None:
    page = opened(new_page, app)
    knob = page.locator(".attn-knob").first
    assert knob.evaluate(LOOK)[0] == "ew-resize"
    assert "drag sideways or type" in knob.get_attribute("title")
    assert knob.locator("b").evaluate("(each) => getComputedStyle(each).textDecorationLine") == "none"
    arrows = "(each) => ['::before', '::after'].map((part) => getComputedStyle(each, part).opacity > 0.3)"
    assert knob.evaluate(arrows) == [True, True], "also before the pointer is there"


@for_each("language", [*LANGUAGES])
def test_a_window_of_any_width_says_what_a_click_does(new_page: Callable[..., Any], app: Any, language: str) -> None:
    at = Page(new_page, app, DESK)
    for width in (641, 800, 1099):
        at.page.set_viewport_size({"width": width, "height": 720})
        at.measured(4, 5, 4, lang=language)
        hint = at.page.locator(".attn-hint")
        assert hint.is_visible(), width
        assert hint.evaluate("(each) => each.scrollWidth <= each.clientWidth"), width
        right, bottom = hint.evaluate(END_OF_TEXT)
        assert right <= at.page.locator(".st-key-languages").bounding_box()["x"], width
        assert bottom <= 42.5, width


def drag(page: Any, x: float, y: float, by: int) -> None:
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - by / 2)
    page.mouse.move(x, y - by)
    page.mouse.up()


def test_a_click_that_slips_is_a_click_and_escape_takes_back_what_was_dragged(
    new_page: Callable[..., Any], app: Any
) -> None:
    page = opened(new_page, app)
    maps = Maps(page)
    x, y, _ = maps.cell("weights", 1, 4, 3)
    maps.point(x, y + 3)
    drag(page, x, y + 3, 7)
    page.locator(".attn-drawer[data-open]").wait_for()
    page.wait_for_url("**head=2&query=5&key=4**")
    page.evaluate(QUIET)
    assert "edits=" not in page.url
    before = maps.shown()
    for is_answered in (False, True):
        maps.point(x, y)
        drag(page, x, y, 40)
        if is_answered:
            page.wait_for_url("**edits=weights.1.2.5.4~**")
            page.wait_for_function(IS_ANSWERED)
            page.evaluate(QUIET)
        page.keyboard.press("Escape")
        page.wait_for_function(f"() => {HOLDING}.now.length === 0 && !{HOLDING}.returns && {HOLDING}.latest === 0")
        page.wait_for_function("() => !location.search.includes('edits=')")
        page.evaluate(QUIET)
        assert page.locator(".attn-drawer[data-open]").count() == 1, "one step back"
        check(maps.shown(), before, "the number is what it was")
    page.keyboard.press("Escape")
    page.locator(".attn-drawer:not([data-open])").wait_for(state="attached")


def test_escape_after_an_answer_gives_back_the_head_that_was_chosen_before(
    new_page: Callable[..., Any], app: Any
) -> None:
    page = opened(new_page, app, "v=1")
    said = page.locator(".attn-opening .at-text").inner_text()
    for head, word in ((2, 6), (3, 1)):
        page.mouse.click(*Maps(page, is_at_rest=True).cell("weights", head, word, 2)[:2])
        page.locator(".attn-drawer[data-open]").wait_for()
        page.wait_for_url(f"**head={head + 1}&query={word + 1}&key=3**")
        if head == 2:
            page.locator(".attn-opening button").nth(2).click()
            page.wait_for_url("**query=3&**")
        page.evaluate(QUIET)
        page.keyboard.press("Escape")
        page.wait_for_function("() => !/head=|query=/.test(location.search)")
        page.evaluate(QUIET)
        page.mouse.move(640, 5)
        assert page.locator(".attn-opening .at-text").inner_text() == said
    page = opened(new_page, app, "v=1&head=3")
    page.mouse.click(*Maps(page, is_at_rest=True).cell("weights", 1, 4, 2)[:2])
    page.wait_for_url("**head=2&query=5&key=3**")
    page.keyboard.press("Escape")
    page.wait_for_url("**head=3&**")


def test_an_answer_is_as_it_was_once_the_pinned_picture_is_let_go_of(new_page: Callable[..., Any], app: Any) -> None:
    page = opened(new_page, app, "v=1&mask=causal&head=2&query=5&key=3")
    page.keyboard.press("p")
    page.wait_for_url("**pinned=**")
    page.evaluate(QUIET)
    page.locator(".st-key-explore [data-stage=weights] .attn-knob[data-knob=temperature]").press("ArrowUp")
    page.evaluate(QUIET)
    answer = page.locator(".attn-drawer")
    said, flip = answer.inner_text(), page.locator(".attn-pin [data-flip]")
    flip.hover()
    page.mouse.down()
    page.wait_for_function("(said) => document.querySelector('.attn-drawer').innerText !== said", arg=said)
    page.mouse.up()
    page.wait_for_function("(said) => document.querySelector('.attn-drawer').innerText === said", arg=said)
    assert answer.get_attribute("data-aside") is None


CROSSES = """() => [...document.querySelectorAll('[data-stage=weights] .attn-switch')].map((cross) => {
    const { left, top, right, bottom, width } = cross.getBoundingClientRect();
    const written = '[data-stage=weights] .attn-layer :is(text[data-head], .attn-soft text)';
    const names = [...document.querySelectorAll(written)];
    const over = names.filter((each) => {
        const box = each.getBoundingClientRect();
        return box.left < right && left < box.right && box.top < bottom - 2 && top + 2 < box.bottom;
    });
    const hit = document.elementFromPoint(left + width / 2, (top + bottom) / 2) === cross;
    return [over.map((each) => each.textContent), hit];
})"""


def test_what_switches_a_head_off_has_a_place_of_its_own(new_page: Callable[..., Any], app: Any) -> None:
    page = opened(new_page, app)
    settings = ("n_heads=12&seed=3", "n_heads=8&seed=4", "n_heads=3&lang=de", "n_heads=8&seed=7")
    for address in (f"v=1&{each}" for each in settings):
        go_to(page, f"{app.url}/?{address}")
        found = page.evaluate(CROSSES)
        assert found
        assert all(each == [[], True] for each in found), (address, found)
    page.locator("[data-switch='6']").click()  # beyond its head
    page.locator("[data-switch='6'][aria-pressed=true]").wait_for()


STOOD = """() => [...document.querySelectorAll('.stMain .attn-box, .attn-opening, .attn-drawer')].map((each) => {
    const { left, top, width, height } = each.getBoundingClientRect();
    return [left, top, width, height];
})"""
PANE = """() => {
    const { top, bottom } = document.querySelector('.st-key-all-lines').getBoundingClientRect();
    return [top, bottom];
}"""
AWAY = "() => document.querySelector('.st-key-all-lines').getBoundingClientRect().top >= innerHeight"


def test_all_lines_open_beside_the_maps_and_escape_puts_them_away(new_page: Callable[..., Any], app: Any) -> None:
    page = opened(new_page, app, "v=1&mask=causal&head=2&query=5&key=3")
    before = page.evaluate(STOOD)
    lines, button = page.locator(".st-key-part-score"), page.locator(".ad-all")
    for put_away in (
        lambda: page.keyboard.press("Escape"),
        button.click,
        page.locator(".st-key-all_lines label").first.click,
    ):
        button.click()
        lines.wait_for()
        page.evaluate(QUIET)
        assert page.evaluate(STOOD) == before, "the maps stay"
        top, bottom = page.evaluate(PANE)
        assert top >= 0.55 * DESK[1], "under them"
        assert bottom == DESK[1]
        assert button.get_attribute("aria-expanded") == "true"
        put_away()
        page.wait_for_function(AWAY)
        assert page.evaluate(STOOD) == before
        assert button.get_attribute("aria-expanded") == "false"
    assert button.evaluate("(each) => each === document.activeElement"), "not on a switch out of sight"
    page.evaluate(QUIET)
    page.keyboard.press("Escape")
    page.locator(".attn-drawer:not([data-open])").wait_for(state="attached")
    page = opened(new_page, app, "v=1&mask=causal&head=2&query=5&key=3&all_lines=yes")
    page.wait_for_function(f"() => ({PANE})()[1] === {DESK[1]}")
    page.locator(".ad-all").click()
    page.wait_for_function(AWAY)


def test_all_lines_stand_below_the_maps_of_a_narrow_window(new_page: Callable[..., Any], app: Any) -> None:
    page = opened(new_page, app, "v=1&head=2&query=5&key=3", (900, 720))
    page.locator(".ad-all").click()
    page.wait_for_function("() => document.querySelector('[data-testid=stMain]').scrollTop > 300")
    page.locator(".st-key-part-score").wait_for()


READ = """() => [document.querySelector('.attn-drawer h2').innerText.replace(/\\s+/g, ' '),
    [...document.querySelectorAll('.attn-drawer .ad-term')].map((row) => row.innerText.trim().split(/\\s*\\n\\s*/))]"""


def test_a_word_below_a_map_says_by_which_words_it_is_attended_to_most_first(
    new_page: Callable[..., Any], app: Any
) -> None:
    page = opened(new_page, app, "v=1&n_heads=2")
    trace = run(Config(n_heads=2))
    page.evaluate(HELD)
    page.mouse.click(*page.evaluate(SPOT, "column"))
    page.locator(".attn-drawer[data-open]").wait_for()
    title, rows = page.evaluate(READ)  # before the server has heard of it
    page.evaluate("release()")
    page.wait_for_url("**key=**")
    page.evaluate(QUIET)
    key = int(page.url.partition("key=")[2].partition("&")[0]) - 1
    assert title == f"{trace.key_tokens[key]} is attended to by"
    head = int(page.locator(".ad-sentence").inner_text().split(":")[0].removeprefix("head ")) - 1
    weights = trace["weights"].array[head, :, key]
    order = sorted(range(len(weights)), key=lambda at: -weights[at])
    assert [row[:2] for row in rows[:4]] == [[trace.query_tokens[at], percent(weights[at])] for at in order[:4]]
    page.reload()
    page.locator(".attn-drawer[data-open]").wait_for()
    page.evaluate(QUIET)
    assert page.evaluate(READ) == [title, rows], "the server says the same"
    assert page.locator(".ad-all").count() == 0, "a column has no lines of arithmetic"
    page.keyboard.press("Escape")
    page.wait_for_function("() => !location.search.includes('key=')")
    page = opened(new_page, app, film("translation"), place=".stMain")
    page.mouse.click(
        *page.evaluate(SPOT.replace(".st-key-explore [data-stage=weights]", ".stMain [data-stage]"), "column")
    )
    page.locator(".attn-drawer[data-open] h2", has_text="is attended to by").wait_for()
