"""The Lessons page in a real browser: a question is answered, and a lesson is gone through by keys alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from attnviz.classroom import open_questions
from attnviz.classroom.question_kinds import resolve
from attnviz.engine.run import run
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.lesson import Lesson, Slide
from attnviz.text.captions import NAMES
from tests.browser.whole_page.test_formulas import cut
from tests.browser_idle import QUIET, go_to
from tests.support.cases import for_each
from tests.support.lesson_leaks import found_in, hidden

pytestmark = pytest.mark.browser


def settled(page: Any, part: str) -> None:
    """Wait until the address says so: it is written when the run is through; and until the page has come to rest."""
    page.wait_for_function("part => location.search.includes(part)", arg=part)
    page.evaluate(QUIET)


def drawn(page: Any, name: str) -> None:
    """Wait until a picture is drawn."""
    page.wait_for_selector(f".st-key-lesson-0 [data-stage={name}] .attn-cells")


def test_a_question_is_answered_and_the_slide_opens_in_explore(browser_page: Any, app: Any) -> None:
    page = browser_page
    page.goto(f"{app.url}/?v=1&page=lessons&sentence=mine")
    page.get_by_text("Check another printed example").click()
    settled(page, "lesson=tied")
    for slide in (2, 3):
        page.locator(".st-key-next-slide").get_by_role("button").click()
        settled(page, f"slide={slide}")
    drawn(page, "keys")
    drawn(page, "scores")
    page.locator(".st-key-lesson-0 [data-stage=scores]").get_by_text("?", exact=True).wait_for()
    assert "5.993" not in page.content()
    page.get_by_role("textbox", name="Your number").fill("5")
    page.get_by_role("button", name="Check").click()
    page.get_by_text("Not quite. Multiply the query and the key").wait_for()
    assert "5.993" not in page.content()
    page.get_by_role("textbox", name="Your number").fill("5,99")
    page.get_by_role("button", name="Check").click()
    page.get_by_text("It is 5.993.").wait_for()
    page.locator(".st-key-lesson-0 [data-stage=scores]").get_by_text("?", exact=True).wait_for(state="detached")
    drawn(page, "scores")
    page.get_by_text("The products added up.").wait_for()
    settled(page, "sentence=mine")
    page.get_by_role("button", name="Open this in Explore").click()
    settled(page, "own_numbers=")
    page.go_back()
    settled(page, "sentence=mine")


def test_a_room_sees_a_lesson_by_keys_alone_and_nothing_needs_scrolling(browser_page: Any, app: Any) -> None:
    page, slides = browser_page, LESSONS["translation"].slides
    page.goto(f"{app.url}/?v=1&page=lessons&lesson=translation&presenter=yes")
    for number, slide in enumerate(slides, 1):
        page.get_by_text(f"{number} of {len(slides)}").wait_for()
        if slide.question:
            page.locator(".st-key-asked").wait_for()
            page.evaluate(QUIET)
            page.keyboard.press("Space")
            page.get_by_text(slide.question.why[-30:]).wait_for()
        drawn(page, "a" if slide.beside else slide.steps[-1])
        page.wait_for_function(BOTTOM + " <= innerHeight")
        assert page.locator(".st-key-space button").is_hidden()
        if number < len(slides):
            page.evaluate(QUIET)
            page.keyboard.press("ArrowRight" if number % 2 else "Space")
    page.keyboard.press("ArrowLeft")
    page.get_by_text(f"{len(slides) - 1} of {len(slides)}").wait_for()


@for_each("name", ["why_root", "padding"])
def test_no_slide_of_a_room_is_scrolled(browser_page: Any, app: Any, name: str) -> None:
    page, slides = browser_page, LESSONS[name].slides
    page.goto(f"{app.url}/?v=1&page=lessons&lesson={name}&presenter=yes")
    for number, slide in enumerate(slides, 1):
        question = slide.question
        changed = (
            [question.at.get("step", "weights")] if question and "change" in question.at and not slide.beside else []
        )
        stops = [""] * bool(question) + (list(slide.steps) if slide.beside else [slide.steps[-1], *changed])
        compared = set(slide.steps if slide.beside else changed)
        for step in stops:
            page.get_by_text(f"· {number} of {len(slides)}").wait_for()
            if step in compared and step != "":
                page.locator(".attn-formula").get_by_text(NAMES[step].lower(), exact=False).first.wait_for()
            elif step:
                drawn(page, step)
            else:
                page.locator(".st-key-asked").wait_for()
            page.evaluate(QUIET)  # pictures tell their room, and a key that is pressed in that run is lost
            page.wait_for_function(UNSCROLLED)
            page.keyboard.press("Space")


@for_each("address", ["lesson=next_word&slide=4", "lesson=indirect_object&slide=7&lang=de"])
def test_a_room_sees_the_scale_of_a_narrow_picture_whole(browser_page: Any, app: Any, address: str) -> None:
    page = browser_page
    go_to(page, f"{app.url}/?v=1&page=lessons&{address}&presenter=yes")
    page.wait_for_selector(".st-key-lesson-0 .attn-legend")
    page.wait_for_function(WHOLE_SCALES)


@for_each("name, slide", [("bits", 1), ("bits", 2), ("causal", 3)])
def test_a_learners_slide_fits_into_a_small_window(browser_page: Any, app: Any, name: str, slide: int) -> None:
    page = browser_page
    go_to(page, f"{app.url}/?v=1&page=lessons&lesson={name}&slide={slide}")
    drawn(page, LESSONS[name].slides[slide - 1].steps[0])
    page.wait_for_function(UNSCROLLED)


WORKED_WITH = """() => {
    const box = (element) => { const b = element.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; };
    const all = (parts) => [...document.querySelectorAll(parts)].filter((each) => each.checkVisibility()).map(box);
    return { maps: all(".st-key-column-maps [data-stage] .attn-box"), words: all(".st-key-slide")[0],
        fields: all(".st-key-column-words :is(button, label, textarea, [role=slider])"),
        check: all(".st-key-check")[0], choices: all(".st-key-slide [role=radiogroup]") };
}"""


ABOVE = ("two_meanings", 3), ("causal", 6), ("tied", 4)
"""Slides whose words stand above their maps: beside these is no room for numbers, now or later, or for a table."""


def test_the_words_of_a_slide_stand_beside_its_maps_and_nothing_to_work_with_is_below_the_window(
    new_page: Callable[..., Any], app: Any
) -> None:
    slides = ("two_meanings", 1), ("why_root", 7), ("mask_polarity", 3), ("not_explanation", 4), ("agreement", 1)
    slides += (("why_both", 5), *ABOVE)
    page, height = new_page(instead=True), 720
    for name, number in slides:
        go_to(page, f"{app.url}/?v=1&page=lessons&lesson={name}&slide={number}")
        page.locator(".st-key-lesson-0 [data-stage] .attn-cells").first.wait_for()
        page.evaluate(QUIET)
        found = page.evaluate(WORKED_WITH)
        at, (_, _, right, bottom), top = (name, number), found["words"], min(map[1] for map in found["maps"])
        assert all(each[3] <= height for each in (*found["maps"], *found["fields"])), at
        if at in ABOVE:
            assert top > bottom, at
        else:
            assert top <= 140, at
            assert all(each[0] > right for each in found["maps"]), at
        assert not found["check"] or all(each[3] <= found["check"][1] for each in found["choices"]), at


CELLS = """() => Object.fromEntries([...document.querySelectorAll(".st-key-lesson-0 [data-stage]")].map((part) => {
    const { width, height } = part.querySelector(".attn-cells").getBoundingClientRect(), { x, y } = part.picture.tiling;
    const side = (drawn, edges) => ({ drawn, planned: edges.at(-1), cell: drawn * edges[1] / edges.at(-1) });
    return [part.dataset.stage, [side(width, x), side(height, y)]];
}))"""
"""Pixels of the pictures of a slide, across and down: as drawn, as laid out, and those of one cell as drawn."""

AS_LAID_OUT = f"""steps => {{
    const sizes = ({CELLS})(), near = side => Math.abs(side.drawn - side.planned) <= 1;
    return steps.every(step => sizes[step]?.every(near));
}}"""

SMALLEST_SHARE = 0.6
"""Of its side before that a cell keeps when up to three pictures come to stand beside its own."""


@pytest.mark.usefixtures("language_models")
def test_a_cell_keeps_its_size_when_other_pictures_come(browser_page: Any, app: Any) -> None:
    page, kinds = browser_page, joined()
    assert len(kinds) > 10
    for name, number in kinds.values():
        lesson, slide = LESSONS[name], LESSONS[name].slides[number - 1]
        go_to(page, f"{app.url}/?v=1&page=lessons&lesson={name}&slide={number}")
        then = cells(page, while_open(lesson, slide))
        page.get_by_role("button", name="Show the answer").click()
        now = cells(page, slide.steps)
        for step in {*then} & {*now}:
            for was, has in zip(then[step], now[step], strict=True):
                assert has["cell"] >= SMALLEST_SHARE * was["cell"], (name, number, step, then, now)


def joined() -> dict[tuple[int, tuple[bool, ...]], tuple[str, int]]:
    """Find slides on which pictures come to stand beside those of the question: one of each number of heads and order.

    Where they stand and how large they are follows from these, and from nothing else of a lesson.
    """
    found: dict[tuple[int, tuple[bool, ...]], tuple[str, int]] = {}
    for name, lesson in LESSONS.items():
        for number, slide in enumerate(lesson.slides, 1):
            shown = while_open(lesson, slide) if slide.question and not slide.beside else []
            there = tuple(step in shown for step in slide.steps)
            if any(there) and not all(there):
                found.setdefault((lesson.on(slide).n_heads, there), (name, number))
    return found


def cells(page: Any, steps: Sequence[str]) -> Any:
    """Return the measures of the pictures of a slide once these are there, each as large as it was laid out."""
    for step in steps:
        drawn(page, step)
    page.evaluate(QUIET)
    page.wait_for_function(AS_LAID_OUT, arg=list(steps))
    return page.evaluate(CELLS)


def while_open(lesson: Lesson, slide: Slide) -> list[str]:
    """Return the names of the pictures of which a cell is drawn while the question of a slide is open."""
    assert slide.question is not None
    own, shown = run(lesson.config), run(lesson.on(slide, None))
    question = resolve(slide.question, shown, own)
    pictures = open_questions.pictures(slide, slide.question, question, own, shown)
    return [picture.name for picture in pictures if np.isfinite(picture.array).any()]


WHOLE_SCALES = """[...document.querySelectorAll('.attn-head')].every(head => {
    const legend = head.querySelector(".attn-legend");
    return legend.getBoundingClientRect().right <= head.getBoundingClientRect().right + 0.5;
})"""
UNSCROLLED = "(main => main.scrollHeight <= main.clientHeight)(document.querySelector('[data-testid=stMain]'))"
BOTTOM = "Math.max(...[...document.querySelectorAll('.attn-box')].map(e => e.getBoundingClientRect().bottom))"


def test_the_slides_and_the_notes_on_them_turn_together(browser_page: Any, app: Any) -> None:
    slides, shown = browser_page, f"{app.url}/?v=1&page=lessons&lesson=why_root&presenter=yes&slide=2"
    slides.goto(shown)
    slides.get_by_text("· 2 of 7").wait_for()
    slides.evaluate(QUIET)
    notes = slides.context.new_page()
    notes.goto(f"{shown.replace('slide=2', 'slide=1')}&notes=yes")
    notes.get_by_text("· 2 of 7").wait_for()  # where the slides are, not where the link was made
    notes.evaluate(QUIET)
    notes.get_by_role("button", name="Next").click()
    slides.get_by_text("· 3 of 7").wait_for()
    slides.evaluate(QUIET)
    slides.keyboard.press("ArrowLeft")
    slides.get_by_text("· 2 of 7").wait_for()
    notes.get_by_text("· 2 of 7").wait_for()


def test_space_on_a_button_goes_on_once(browser_page: Any, app: Any) -> None:
    page = browser_page
    page.goto(f"{app.url}/?v=1&page=lessons&lesson=bits&slide=2&presenter=yes")
    page.locator(".st-key-asked").wait_for()
    page.evaluate(QUIET)
    page.locator(".st-key-next-slide").get_by_role("button").click()
    page.get_by_text("It is ").wait_for()
    page.evaluate(QUIET)
    page.locator(".st-key-next-slide").get_by_role("button").press("Space")
    page.get_by_text("3 of 7").wait_for()
    page.evaluate(QUIET)
    page.keyboard.press("ArrowLeft")
    page.get_by_text("2 of 7").wait_for()
    page.evaluate(QUIET)
    page.keyboard.press("ArrowRight")
    page.get_by_text("3 of 7").wait_for()
    page.locator(".st-key-asked").get_by_text("What shape do the scores have").wait_for()
    assert page.get_by_text("5 queries, 5 keys").count() == 0


def test_a_room_sees_the_code_of_a_slide_and_reads_what_its_pictures_are(browser_page: Any, app: Any) -> None:
    page = browser_page
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{app.url}/?v=1&page=lessons&lesson=causal&slide=4&presenter=yes")
    drawn(page, "weights")
    page.evaluate(QUIET)
    sizes = page.evaluate(
        """() => [...document.querySelectorAll(".attn-head :is(.attn-name, .attn-phrase, .attn-legend)")].map(
            part => parseFloat(getComputedStyle(part).fontSize))"""
    )
    assert min(sizes) >= 16
    page.locator(".st-key-slide-code button").first.click()
    page.wait_for_function("document.querySelector('.attn-code img')?.complete")
    assert page.evaluate("document.querySelector('.attn-code img').naturalWidth") > 0
    assert page.locator(".attn-code img").bounding_box()["height"] > 300


def test_no_slide_of_the_first_lessons_is_cut_on_a_phone(browser_page: Any, app: Any) -> None:
    whole_on_a_phone(browser_page, app, [*LESSONS][: len(LESSONS) // 2])


def test_no_slide_of_the_other_lessons_is_cut_on_a_phone(browser_page: Any, app: Any) -> None:
    whole_on_a_phone(browser_page, app, [*LESSONS][len(LESSONS) // 2 :])


def whole_on_a_phone(page: Any, app: Any, names: Sequence[str]) -> None:
    """Open the slides of lessons on which there is a long formula, a table or a control, and each last one."""
    page.set_viewport_size({"width": 390, "height": 844})
    for name in names:
        slides = LESSONS[name].slides
        for number, slide in enumerate(slides, 1):
            wide = re.search(r"\$[^$]{10,}\$|[|]---|\[\[divisors", slide.text)
            if not (wide or slide.control or number == len(slides)):
                continue
            go_to(page, f"{app.url}/?v=1&page=lessons&lesson={name}&slide={number}")
            page.wait_for_selector("[data-map]")
            if slide.question and (slide.control or number == len(slides)):
                page.get_by_role("button", name="Show the answer").click()
                page.evaluate(QUIET)
            for part in ("document.documentElement", "document.querySelector('.stMain')"):
                assert page.evaluate(f"{part}.scrollWidth") <= 390, (name, number)
            assert page.evaluate(HIDDEN_AT_THE_SIDE) == [], (name, number)
            assert cut(page) == [], (name, number)


HIDDEN_AT_THE_SIDE = """() => [
    ...document.querySelectorAll(".st-key-slide table, .st-key-known button, .st-key-control [role=radiogroup]"),
].filter(part => [part, part.parentElement, ...part.querySelectorAll(".stMarkdownEllipsis")].some(
    each => each.scrollWidth > each.clientWidth + 4 && getComputedStyle(each).overflowX !== "visible")
).map(part => part.textContent)"""
"""The tables and buttons of a slide of which a part can only be scrolled to, or is cut."""


@for_each("name, slide", [("tied", 3), ("bits", 4), ("what_makes_a_score", 4)])
def test_nothing_that_the_browser_receives_holds_the_answer(
    new_page: Callable[..., Any], app: Any, name: str, slide: int
) -> None:
    page, frames = new_page(instead=True), list[bytes]()

    def keep(payload: str | bytes) -> None:
        frames.append(payload.encode() if isinstance(payload, str) else payload)

    page.on("websocket", lambda socket: socket.on("framereceived", keep))
    lesson = LESSONS[name]
    question = lesson.slides[slide - 1]
    values = hidden(lesson, question)
    page.goto(f"{app.url}/?v=1&page=lessons&lesson={name}&slide={slide}")
    page.get_by_role("button", name="Show the answer").wait_for()
    drawn(page, question.steps[0])
    page.evaluate(QUIET)
    assert values
    assert sum(map(len, frames)) > 10_000
    received = [*frames, page.content().encode(), page.evaluate("document.body.innerText").encode(), page.url.encode()]
    assert found_in(received, values) == []
    page.get_by_role("button", name="Show the answer").click()
    page.get_by_text("It is ").first.wait_for()
    page.evaluate(QUIET)
    assert found_in(frames, values) == list(values)
