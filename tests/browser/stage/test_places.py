"""One stage in all places: what a place adds stands in the band of the path, and no map has another box for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from attnviz.settings.language import LANGUAGES
from tests.browser.stage.test_stage import DESK, LARGE_DESK, MIDDLE, PHONE, Page
from tests.browser_idle import QUIET
from tests.support.cases import for_each

pytestmark = pytest.mark.browser

CAUSAL = {"mask": "causal", "v": "1"}
BAND = """() => {
    const box = (element) => { const b = element.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; };
    const band = document.querySelector('.st-key-band');
    const inside = [...band.querySelectorAll('button, p')].filter((each) => each.checkVisibility());
    const cut = inside.filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.textContent);
    return { band: box(band), inside: inside.map(box), cut };
}"""


@for_each("size, scheme", [(DESK, "light"), (LARGE_DESK, "dark")])
def test_maps_stand_where_they_stood_where_a_mask_is_painted_or_numbers_are_changed(
    new_page: Callable[..., Any], app: Any, size: tuple[int, int], scheme: str
) -> None:
    at = Page(new_page, app, size, scheme)
    explored = at.measured(8, 12, 4, **CAUSAL)["found"]
    for panel in ("mask", "what_if"):
        found = at.measured(8, 12, 4, **CAUSAL, panel=panel)["found"]
        for name in ("scores", "weights", "heads"):
            assert found[name]["image"] == pytest.approx(explored[name]["image"], abs=0.6), (panel, name)
            assert found[name]["cell"] == pytest.approx(explored[name]["cell"], abs=0.1), (panel, name)
        band = at.page.evaluate(BAND)
        _, top, right, bottom = band["band"]
        assert (top, bottom) == (42, 88), panel
        assert right >= size[0] - 1, panel
        assert all(top <= each[1] and each[3] <= bottom and each[2] <= size[0] for each in band["inside"]), panel
    at.page.get_by_role("button", name="Done").click()
    at.page.wait_for_function("!document.querySelector('.st-key-band')")
    at.page.evaluate(QUIET)
    assert at.page.locator(".st-key-way").is_visible()


@for_each("language", [*LANGUAGES])
def test_nothing_in_the_band_is_cut_in_any_language(new_page: Callable[..., Any], app: Any, language: str) -> None:
    at = Page(new_page, app, DESK)
    changed = {"edits": "weights.1.1.1.2~0.5"}
    for more in ({"panel": "mask"}, {"panel": "what_if", **changed}):
        at.measured(8, 12, 4, **CAUSAL, **more, lang=language)
        band = at.page.evaluate(BAND)
        assert band["cut"] == [], more
        assert max(each[2] for each in band["inside"]) <= DESK[0], more


def test_a_mask_is_painted_and_started_from_without_scrolling(new_page: Callable[..., Any], app: Any) -> None:
    at = Page(new_page, app, DESK)
    page = at.page
    at.measured(1, 4, 4, v="1", panel="mask")
    assert "16 of 16 cells are allowed." in page.locator(".st-key-band").inner_text()
    page.get_by_role("button", name="Start from").click()
    page.get_by_test_id("stPopoverBody").get_by_role("combobox").click()
    page.get_by_role("option", name="Causal", exact=True).click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Use these").click()
    page.wait_for_url("**mask=causal**")
    page.locator(".st-key-band", has_text="10 of 16").wait_for()
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") == 0


@for_each("size", [DESK, PHONE])
def test_own_data_stand_on_the_stage_and_are_answered_there(
    new_page: Callable[..., Any], app: Any, size: tuple[int, int]
) -> None:
    at = Page(new_page, app, size)
    page = at.page
    page.goto(f"{app.url}/?page=data")
    weights = page.locator(".st-key-explore [data-stage=weights] .attn-cells")
    weights.wait_for()
    page.evaluate(QUIET)
    before = weights.bounding_box()
    assert before["y"] + before["height"] <= size[1]
    assert page.locator("[data-testid=stSidebar] textarea").count() == 1
    assert page.locator(".st-key-own-where").is_visible() == (size == PHONE), "it says where the fields are"
    page.mouse.click(*weights.evaluate(MIDDLE))
    page.locator(".attn-drawer[data-open]", has_text="As it was given").wait_for()
    page.evaluate(QUIET)
    after = weights.bounding_box()
    if size == DESK:
        assert after == before, "a click moves nothing"
        assert page.evaluate("document.querySelector('.st-key-own-data').getBoundingClientRect().bottom") <= size[1]
    assert after["y"] + after["height"] <= size[1]


TOP = """() => [...document.querySelectorAll('.stMain [class*=st-key-tools-], .stMain [data-stage] .attn-box')]
    .map((each) => each.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom])"""


@for_each(
    "address, most",
    [
        ("page=compare&b_mask=causal&b_temperature=2", 190),
        ("page=compare", 280),
        ("page=experiments&experiment=scale", 250),
        ("page=learn", 260),
    ],
)
def test_a_band_of_the_same_height_stands_over_the_maps_of_other_places(
    new_page: Callable[..., Any], app: Any, address: str, most: int
) -> None:
    page = new_page(viewport={"width": DESK[0], "height": DESK[1]}, instead=True)
    page.goto(f"{app.url}/?{address}")
    page.locator(".stMain [data-stage] .attn-box").first.wait_for()
    page.evaluate(QUIET)
    band, *maps = page.evaluate(TOP)
    assert band == pytest.approx([42, 88], abs=1.5)
    assert min(top for top, _ in maps) <= most
    assert max(bottom for _, bottom in maps) <= DESK[1]
    assert page.evaluate("document.documentElement.scrollWidth") <= DESK[0]


COMPARED = """() => {
    const band = document.querySelector('.st-key-tools-compare');
    const seen = (each) => each.checkVisibility() && each.getBoundingClientRect().width > 0;
    const lists = [...band.querySelectorAll('.st-key-changes [data-testid=stMultiSelectTagsContainer]')].filter(seen);
    return { room: lists.map((each) => [each.clientWidth, each.scrollWidth]),
        chips: lists.map((each) => each.querySelectorAll('[data-tag]').length),
        helped: [...band.querySelectorAll('.stTooltipIcon')].filter(seen).length,
        band: [band.getBoundingClientRect().top, band.getBoundingClientRect().bottom] };
}"""


@for_each("size, helped", [(DESK, 1), (LARGE_DESK, 3)])
@for_each("language", ["en", "de", "zh"])
def test_two_changes_are_read_whole_beside_their_fields(
    new_page: Callable[..., Any], app: Any, size: tuple[int, int], helped: int, language: str
) -> None:
    page = new_page(viewport={"width": size[0], "height": size[1]}, instead=True)
    page.goto(f"{app.url}/?page=compare&b_mask=causal&b_score=additive&lang={language}")
    page.locator(".stMain [data-stage] .attn-box").first.wait_for()
    page.evaluate(QUIET)
    found = page.evaluate(COMPARED)
    assert found["chips"] == [2]
    [[room, needed]] = found["room"]
    assert needed <= room
    assert found["helped"] == helped
    assert found["band"] == pytest.approx([42, 88], abs=1.5)


ROW = """() => {
    const box = (element) => { const b = element.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; };
    const chart = document.querySelector('.st-key-explore [data-stage=weights]');
    const [line] = chart.querySelectorAll('.attn-row-says');
    const others = [...chart.querySelectorAll('.attn-layer text')].filter((each) => each !== line);
    return line && { text: line.textContent, box: box(line), ring: box(chart.querySelector('.attn-ring')),
        others: others.map(box) };
}"""


def test_the_row_that_a_page_opens_on_says_to_what_it_attends_and_what_a_click_does_is_written(
    new_page: Callable[..., Any], app: Any
) -> None:
    page = new_page(viewport={"width": DESK[0], "height": DESK[1]}, instead=True)
    page.goto(app.url)
    page.locator(".attn-row-says").wait_for()
    page.evaluate(QUIET)
    found = page.evaluate(ROW)
    assert found["text"] == "attends to cat 50 %"
    left, top, right, bottom = found["box"]
    ring = found["ring"]
    assert ring[0] <= left
    assert right <= ring[2]
    assert ring[1] <= (top + bottom) / 2 <= ring[3]
    assert not [o for o in found["others"] if o[0] < right and left < o[2] and o[1] < bottom - 2 and top + 2 < o[3]]
    hint = page.locator(".attn-hint")
    assert hint.is_visible()
    assert "Click a cell to see how its number is computed" in hint.inner_text()
    box = hint.bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 42
    assert box["width"] <= 400
    assert box["x"] + box["width"] <= page.locator(".st-key-languages").bounding_box()["x"]
    weights = page.locator(".st-key-explore [data-stage=weights] .attn-cells").bounding_box()
    page.mouse.click(weights["x"] + 12, weights["y"] + 12)
    page.locator(".attn-drawer[data-open]").wait_for()
    assert page.locator(".attn-row-says").count() == 0


def test_a_row_that_leaves_one_cell_free_does_not_write_the_share_of_another_word_into_it(
    new_page: Callable[..., Any], app: Any
) -> None:
    page = new_page(viewport={"width": DESK[0], "height": DESK[1]}, instead=True)
    page.goto(f"{app.url}/?page=data")
    page.locator(".st-key-explore [data-stage=weights] .attn-ring").first.wait_for()
    page.evaluate(QUIET)
    assert page.locator(".attn-opening").inner_text().startswith("the")
    assert page.locator(".attn-row-says").count() == 0


def test_what_is_wrong_with_data_is_read_beside_their_fields_on_a_phone(new_page: Callable[..., Any], app: Any) -> None:
    page = new_page(viewport={"width": PHONE[0], "height": PHONE[1]}, instead=True)
    page.goto(f"{app.url}/?page=data")
    page.locator(".st-key-explore [data-stage=weights] .attn-ring").first.wait_for()
    page.get_by_test_id("stExpandSidebarButton").click()
    field = page.get_by_label("Or paste rows of numbers, or JSON")
    field.fill("1 2\n3")
    field.press("Control+Enter")
    fault = page.get_by_text("Numbers in row 2: 1")
    fault.wait_for()
    page.evaluate(QUIET)
    box = fault.bounding_box()
    left, right, bottom = box["x"], box["x"] + box["width"], box["y"] + box["height"]
    side = page.get_by_test_id("stSidebar").bounding_box()
    assert side["x"] <= left
    assert right <= side["x"] + side["width"]
    assert bottom <= PHONE[1]


def test_scores_that_are_all_masked_are_not_called_zero(new_page: Callable[..., Any], app: Any) -> None:
    at = Page(new_page, app, DESK)
    at.measured(8, 12, 4, v="1", panel="mask")
    at.page.get_by_role("button", name="Forbid all").click()
    at.page.get_by_text("0 of 144 cells are allowed").wait_for()
    at.page.evaluate(QUIET)
    assert at.page.locator(".st-key-explore [data-stage=scores]").get_by_text("every score is 0").count() == 0


def test_the_sum_of_a_changed_row_lies_over_no_other_head(new_page: Callable[..., Any], app: Any) -> None:
    at = Page(new_page, app, DESK)
    at.measured(8, 12, 4, v="1", edits="weights.1.1.1.2~0.5")
    assert at.page.locator("[data-stage=weights] .attn-total").count() == 0
    at.measured(1, 6, 4, v="1", edits="weights.1.1.1.2~0.5", lang="de")
    assert "," in at.page.locator("[data-stage=weights] .attn-total").text_content()
