"""Where everything on the Explore page stands, measured in the browser: whole in the window whatever is set."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest

from attnviz import Config, run
from attnviz.pictures.static import svg
from attnviz.settings import url_codec
from attnviz.settings.language import LANGUAGES
from tests.browser_idle import QUIET, go_to
from tests.support.cases import for_each

pytestmark = pytest.mark.browser

WORDS = ("the", "cat", "sat", "on", "the", "warm", "mat", "while", "a", "dog", "slept", "under") * 6
DESK, LARGE_DESK, PHONE = (1280, 720), (1920, 1080), (390, 844)
FEW = [(4, 7, 4), (16, 64, 4), (1, 3, 16), (3, 33, 64), (12, 1, 1), (5, 40, 33)]

MEASURED = """() => {
    const box = (element) => {
        const { left, top, right, bottom } = element.getBoundingClientRect();
        return [left, top, right, bottom];
    };
    const measure = (chart, image, box_) => {
        const meta = chart.picture.meta;
        const { x, y } = chart.picture.tiling;
        const [columns, rows] = [Math.max(...meta.widths), Math.ceil(meta.rows.length / meta.block[0])];
        const texts = [...chart.querySelectorAll('.attn-layer text')];
        const read = (text) => [text.textContent, parseFloat(getComputedStyle(text).fontSize), ...box(text)];
        const cell = [x[columns] / columns, y[rows] / rows];
        const where = { chart: box(box_), image: box(image), texts: texts.map(read) };
        return { ...where, cell, rows: [...y], block: meta.block[0] };
    };
    const found = {};
    for (const chart of document.querySelectorAll('.st-key-explore [data-stage]')) {
        const [image, all] = ['.attn-cells', '.attn-box'].map((name) => chart.querySelector(name));
        found[chart.dataset.stage] = measure(chart, image, all);
    }
    const main = document.querySelector('[data-testid=stMain]');
    return { found, over: main.scrollWidth - main.clientWidth };
}"""


MIDDLE = "(e) => { const b = e.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; }"


class Page:
    """The Explore page in a window of a size, in the light or the dark."""

    def __init__(
        self, new_page: Callable[..., Any], app: Any, size: tuple[int, int], scheme: str = "light", **more: str
    ) -> None:
        self.size, self.app = size, app
        window = {"width": size[0], "height": size[1]}
        self.page = new_page(viewport=window, color_scheme=scheme, instead=True, **more)

    def measured(self, heads: int, words: int, wide: int, **more: str) -> dict[str, Any]:
        setting = {
            "sentence": "+".join(WORDS[:words]),
            "n_heads": str(heads),
            "d_v": str(wide),
            "d_model": "64",
            **more,
        }
        go_to(self.page, f"{self.app.url}/?" + "&".join(f"{name}={value}" for name, value in setting.items()))
        self.page.wait_for_function("document.querySelectorAll('.st-key-explore .attn-layer svg path').length > 1")
        self.page.evaluate(QUIET)
        return dict(self.page.evaluate(MEASURED))


@for_each("size", [DESK, LARGE_DESK, PHONE])
def test_a_visit_computes_the_page_once_in_any_window(
    new_page: Callable[..., Any], app: Any, size: tuple[int, int]
) -> None:
    for chosen in ({"head": "2", "query": "6", "key": "3"}, {}):
        at, frames_sent = Page(new_page, app, size), list[Any]()

        def keep(frame: Any, kept: list[Any] = frames_sent) -> None:
            kept.append(frame)

        at.page.on("websocket", lambda socket, keep=keep: socket.on("framesent", keep))
        at.measured(8, 12, 4, **chosen)
        assert len(frames_sent) <= 1


NEVER_BLANK = """() => {
    window.blank = 0;
    const shown = (image) => image.checkVisibility({ visibilityProperty: true }) && image.getBoundingClientRect().width;
    const look = () => {
        const all = [...document.querySelectorAll('.st-key-explore :is(.attn-canvas, .heatmaplayer image)')];
        window.blank += all.some(shown) ? 0 : 1;
        requestAnimationFrame(look);
    };
    look();
}"""
WIDTH = "document.querySelector('.st-key-explore [data-stage=weights] .attn-cells')?.getBoundingClientRect().width"


def test_charts_stay_in_sight_until_those_for_another_window_are_drawn(new_page: Callable[..., Any], app: Any) -> None:
    at = Page(new_page, app, DESK)
    image = at.measured(8, 12, 4)["found"]["weights"]["image"]
    at.page.evaluate(NEVER_BLANK)
    at.page.set_viewport_size({"width": LARGE_DESK[0], "height": LARGE_DESK[1]})
    at.page.wait_for_function(f"{WIDTH} > {image[2] - image[0] + 100}")
    at.page.evaluate(QUIET)
    assert at.page.evaluate("window.blank") == 0
    assert at.page.locator(".st-key-explore [data-stage=weights]").is_visible()


def check(measured: dict[str, Any], size: tuple[int, int], where: str) -> None:
    """Everything whole in the window, rows at the same heights, the weights the widest, no type too small."""
    found = measured["found"]
    assert measured["over"] <= 0, where
    assert {*found} == ({"weights"} if size == PHONE else {"scores", "weights", "heads"}), where
    for name, each in found.items():
        for left, top, right, bottom in (each["chart"], each["image"]):
            assert left >= -0.6, (where, name)
            assert top >= 0, (where, name)
            assert right <= size[0] + 0.6, (where, name)
            assert bottom <= size[1] + 0.6, (where, name)
        assert each["rows"] == found["weights"]["rows"], (where, name)
        assert each["image"][1] == pytest.approx(found["weights"]["image"][1], abs=0.6), (where, name)
        assert each["cell"][0] <= found["weights"]["cell"][0] + 0.6, (where, name)
        small = [text for text in each["texts"] if text[1] < 11]
        assert small == [], (where, name)
        out = [text for text in each["texts"] if text[4] > size[0] + 1 or text[5] > size[1] + 1 or text[2] < -1]
        assert out == [], (where, name)
    places = sorted(each["chart"] for each in found.values())
    for (_, _, right, _), (left, *_) in itertools.pairwise(places):
        assert right <= left + 0.6, where
    assert min(found["weights"]["cell"]) >= 4, where


def checked(page: Page, settings: list[tuple[int, int, int]]) -> None:
    boxes = set()
    for heads, words, wide in settings:
        where = f"{heads} heads, {words} words, d_v {wide} in {page.size}"
        measured = page.measured(heads, words, wide)
        check(measured, page.size, where)
        boxes.add(tuple(round(at) for at in measured["found"]["weights"]["chart"])[1::2])
    assert len(boxes) == 1, "the box depends on the window alone"


@for_each("size, scheme", [(DESK, "light"), (LARGE_DESK, "dark"), (PHONE, "light")])
def test_the_maps_are_whole_in_the_window(
    new_page: Callable[..., Any], app: Any, size: tuple[int, int], scheme: str
) -> None:
    checked(Page(new_page, app, size, scheme), FEW)


def test_eight_heads_of_twelve_words_have_every_word_beside_its_row_and_the_bars_are_explained(
    new_page: Callable[..., Any], app: Any
) -> None:
    page = Page(new_page, app, DESK)
    found = page.measured(8, 12, 4)["found"]
    for name in ("scores", "weights"):
        beside = Counter(text[0] for text in found[name]["texts"] if text[4] < found[name]["image"][0])
        assert not Counter(WORDS[:12] * 3) - beside, name
    keys = [
        " ".join(page.page.locator(f".st-key-explore [data-stage={name}] .attn-key text").all_text_contents())
        for name in found
    ]
    assert "a score above 0 a score below 0 own scales" in keys[0]
    assert "how many words a row attends to" in keys[1]
    page.page.mouse.move(
        *page.page.locator(".st-key-explore [data-stage=weights] text[data-head='1']").evaluate(MIDDLE)
    )
    assert "the weight that a word receives" in page.page.locator(".attn-tip", has_text="head 2").inner_text()


def test_beside_a_chosen_cell_its_row_is_framed_in_every_map(new_page: Callable[..., Any], app: Any) -> None:
    page = Page(new_page, app, DESK)
    page.measured(4, 7, 4, head="2", query="4", key="3")
    for name in ("scores", "weights", "heads"):
        assert page.page.locator(f".st-key-explore [data-stage={name}] .attn-layer path.attn-ring").count() == 1, name


def test_beside_an_answer_nothing_is_cut_and_heads_are_all_called_alike(new_page: Callable[..., Any], app: Any) -> None:
    page = Page(new_page, app, DESK)
    by_hand = {"initialiser": "by_hand", "patterns": "previous.same_word.first.uniform"}
    found = page.measured(4, 7, 4, **by_hand, head="1", query="7", key="6")["found"]
    texts = [text[0] for each in found.values() for text in each["texts"]]
    assert " ".join(texts).count("every score is 0") == 1
    assert not [text for text in texts if "…" in text]
    found = page.measured(8, 12, 4, head="3", query="4", key="6")["found"]
    assert page.page.locator(".st-key-explore [data-stage=weights] text[data-head] tspan").count() == 8, (
        "what each head does"
    )
    beside = [text for text in found["weights"]["texts"] if text[4] < found["weights"]["image"][0]]
    assert not Counter(WORDS[:12] * 3) - Counter(text[0] for text in beside)
    lines = sorted(
        {round((text[3] + text[5]) / 2, 1) for text in beside if text[0] in WORDS}
    )  # a chosen one is twice there
    assert min(later - line for line, later in itertools.pairwise(lines)) >= 10.9, "no line touches the next"
    for heads, words, stage in ((4, 7, "weights"), (12, 3, "heads")):
        page.measured(heads, words, 4, head="2", query="2", key="1")
        names = page.page.locator(f".st-key-explore [data-stage={stage}] text[data-head]").all_text_contents()
        assert len({name.startswith("head") for name in names}) == 1, names


@for_each("size", [DESK, LARGE_DESK])
def test_a_head_in_focus_has_cells_that_can_be_hit(
    new_page: Callable[..., Any], app: Any, size: tuple[int, int]
) -> None:
    page = Page(new_page, app, size)
    for words in (12, 64):
        measured = page.measured(16, words, 4, focus="11")
        check(measured, size, f"{words} words in focus")
        weights = measured["found"]["weights"]
        assert min(weights["cell"]) >= 7
        assert weights["block"] == 1
        film = page.page.locator(".st-key-explore .attn-film button[role=radio]")
        assert film.count() == 16
        last = film.nth(15).bounding_box()
        assert last["y"] + last["height"] <= size[1]


def test_focus_by_a_name_by_keys_and_by_the_film_strip(new_page: Callable[..., Any], app: Any) -> None:
    page = Page(new_page, app, DESK).page
    go_to(page, f"{app.url}/?n_heads=4&v=1")
    name = page.locator(".st-key-explore [data-stage=weights] .attn-layer text[data-head='2']")
    name.wait_for()
    page.evaluate(QUIET)

    def focused(head: int | None) -> None:
        condition = f"/[?&]focus={head}(&|$)/.test(location.search)" if head else "!/focus=/.test(location.search)"
        page.wait_for_function(condition)
        page.evaluate(QUIET)
        heads = page.locator(".st-key-explore [data-stage=weights]").evaluate("(c) => c.picture.meta.heads")
        assert heads == ([f"head {head}"] if head else [f"head {n + 1}" for n in range(4)])

    box = name.bounding_box()
    page.mouse.click(box["x"] + 8, box["y"] + box["height"] / 2)
    focused(3)
    page.keyboard.press("ArrowRight")
    focused(4)
    page.keyboard.press("Escape")
    focused(None)
    page.keyboard.press("f")
    page.wait_for_function("/focus=/.test(location.search)")
    page.evaluate(QUIET)
    page.locator(".st-key-explore .attn-film button[role=radio]").nth(1).click()
    focused(2)
    page.go_back()
    page.wait_for_function("!/focus=2/.test(location.search)")


def test_pointing_at_a_word_draws_what_it_takes_and_lights_its_row_everywhere(
    new_page: Callable[..., Any], app: Any
) -> None:
    page = Page(new_page, app, DESK)
    page.measured(4, 7, 4)
    text = page.page.locator(".attn-opening .at-text p")
    before = text.inner_text()
    page.page.locator(".attn-opening button").nth(2).hover()
    assert text.inner_text().startswith("sat attends to")
    assert page.page.locator(".attn-opening path").count() >= 1
    for name in ("scores", "weights", "heads"):
        light = page.page.locator(f".st-key-explore [data-stage={name}] .attn-layer svg >> nth=1").locator("path").first
        assert light.get_attribute("d").count("M") == 4
    page.page.mouse.move(700, 5)
    assert text.inner_text() == before


def test_a_cell_of_a_map_is_told_by_the_sentence_in_its_own_head(new_page: Callable[..., Any], app: Any) -> None:
    page = Page(new_page, app, DESK)
    image = page.measured(4, 7, 4)["found"]["weights"]["image"]
    page.page.mouse.move(image[2] - 40, image[3] - 10)
    page.page.locator(".attn-opening small", has_text="head 4").wait_for()
    assert page.page.locator(".attn-opening .at-text p").inner_text().startswith("mat attends to")


def test_every_picture_has_a_name_of_its_own_and_the_page_has_headings(new_page: Callable[..., Any], app: Any) -> None:
    page = Page(new_page, app, DESK)
    page.measured(4, 7, 4)
    names = page.page.locator(".st-key-explore .attn-focus").evaluate_all("(all) => all.map((e) => e.ariaLabel)")
    assert len({*names}) == len(names) == 3
    assert page.page.locator("h1").count() == 1
    assert page.page.locator(".attn-head h2").count() == 3


@for_each("scheme", ["light", "dark"])
def test_zero_is_as_the_ground_and_what_is_large_stands_out(
    new_page: Callable[..., Any], app: Any, scheme: str
) -> None:
    page = Page(new_page, app, DESK, scheme)
    page.measured(4, 7, 4)
    low, high, ground = page.page.evaluate("""() => {
        const { colorscale } = document.querySelector('.st-key-explore [data-stage=weights]').picture.filled;
        const pen = document.createElement('canvas').getContext('2d');
        const light = (colour) => {
            pen.fillStyle = colour;
            return [1, 3, 5].reduce((sum, at) => sum + parseInt(pen.fillStyle.slice(at, at + 2), 16), 0) / 765;
        };
        const ground = getComputedStyle(document.querySelector('.stApp')).backgroundColor;
        return [colorscale[0][1], colorscale.at(-1)[1], ground].map(light);
    }""")
    assert abs(low - ground) < 0.1
    assert abs(high - ground) > 0.6


CUT = """() => {
    const shown = [...document.querySelectorAll('.attn-phrase, .attn-formula, .attn-name, .attn-opening .at-text > *')];
    const inside = (each) => {
        const box = (each.closest('.attn-phrases') ?? each.parentElement).getBoundingClientRect();
        return each.getBoundingClientRect().top < box.bottom - 2;
    };
    return shown.filter(inside).filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.innerText);
}"""


KEY_BEYOND = """() => [...document.querySelectorAll('.st-key-explore .attn-key text')].filter((text) => {
    const { left, right } = text.closest('svg').getBoundingClientRect(), box = text.getBoundingClientRect();
    return box.left < left - 1 || box.right > right + 1;
}).map((text) => text.textContent)"""


@for_each("size, lang", itertools.product([DESK, PHONE], LANGUAGES))
def test_nothing_that_is_said_over_the_maps_is_cut(
    new_page: Callable[..., Any], app: Any, size: tuple[int, int], lang: str
) -> None:
    page = Page(new_page, app, size)
    for heads, words, wide in ((4, 7, 4), (8, 12, 4), (16, 64, 16)):
        page.measured(heads, words, wide, lang=lang)
        assert page.page.evaluate(CUT) == [], (heads, words)
        assert page.page.locator(".attn-head .attn-phrase").count() >= 1
        assert page.page.evaluate(KEY_BEYOND) == [], (heads, words)


def test_a_chinese_character_stands_below_its_column_on_the_page_and_in_the_svg(
    new_page: Callable[..., Any], app: Any
) -> None:
    page = new_page(viewport={"width": DESK[0], "height": DESK[1]})
    config = Config(sentence="我喜欢猫因为它很安静 dog 🐈", n_heads=8)
    go_to(page, f"{app.url}/?{urlencode(url_codec.encode(config))}")
    found = page.evaluate(
        "[...document.querySelectorAll('.st-key-explore .attn-layer text')]"
        ".filter((text) => /rotate/.test(text.getAttribute('transform'))).map((text) => text.textContent)"
    )
    static = re.findall(r"<text [^>]*rotate[^>]*>([^<]*)</text>", svg.page(run(config), 0))
    assert {*found} == {*static} == {"dog"}


def swipe(page: Any, by: int) -> None:
    """Move a finger sideways over the middle of the picture that is there, and hold it still before it is lifted.

    What is lifted while it moves ends in a fling, and what is tapped during that is no click. The browser goes by the
    times of the events, here half a second apart.
    """
    box = page.locator(".st-key-explore .attn-box").first.bounding_box()
    x, y = box["x"] + box["width"] / 2 - by / 2, box["y"] + 120
    finger = page.context.new_cdp_session(page)
    now = page.evaluate("Date.now() / 1000")
    parts = [("touchStart", 0), ("touchMove", 0.3), ("touchMove", 0.6), ("touchMove", 1), ("touchMove", 1)]
    for half_seconds, (kind, part) in enumerate(parts, start=-len(parts)):
        event = {"type": kind, "touchPoints": [{"x": x + by * part, "y": y}], "timestamp": now + half_seconds / 2}
        finger.send("Input.dispatchTouchEvent", event)
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": [], "timestamp": now})


def test_a_phone_turns_over_from_stage_to_stage_and_from_head_to_head(new_page: Callable[..., Any], app: Any) -> None:
    page = new_page(viewport={"width": PHONE[0], "height": PHONE[1]}, has_touch=True)
    page.goto(f"{app.url}/?n_heads=4&v=1&sentence=the+cat+sat")
    page.locator(".st-key-explore [data-stage=weights] .attn-layer svg path").first.wait_for(state="attached")
    page.evaluate(QUIET)

    def showing(name: str) -> None:
        page.locator(f".st-key-explore [data-stage={name}] .attn-layer svg path").first.wait_for(state="attached")
        page.evaluate(QUIET)
        assert page.locator(".st-key-explore [data-stage]").count() == 1

    page.locator(".attn-step", has_text="Scores").tap()
    showing("scores")
    swipe(page, -160)
    showing("weights")
    swipe(page, -160)
    showing("heads")
    assert "shown=heads" in page.url
    swipe(page, 160)
    showing("weights")
    name = page.locator(".st-key-explore [data-stage=weights] .attn-layer text[data-head='1']").bounding_box()
    page.touchscreen.tap(name["x"] + 8, name["y"] + name["height"] / 2)
    page.wait_for_function("/focus=2(&|$)/.test(location.search)")
    page.evaluate(QUIET)
    film = page.locator(".st-key-explore .attn-film button[role=radio]").last.bounding_box()
    assert film["y"] + film["height"] <= PHONE[1]
    swipe(page, -160)
    page.wait_for_function("/focus=3(&|$)/.test(location.search)")


def test_escape_brings_all_heads_back_also_while_a_cell_is_pointed_at(new_page: Callable[..., Any], app: Any) -> None:
    page = Page(new_page, app, DESK)
    image = page.measured(4, 7, 4, focus="2")["found"]["weights"]["image"]
    page.page.mouse.move(image[0] + 30, image[1] + 30)
    page.page.locator(".attn-tip .attn-value").wait_for()
    page.page.keyboard.press("Escape")
    page.page.wait_for_function("!/focus=/.test(location.search)")


LENS = """() => [...document.querySelectorAll('.attn-lens')].map((lens) => {
    const texts = [...lens.querySelectorAll('text')];
    const { left, top, right, bottom } = lens.getBoundingClientRect();
    const sizes = texts.map((text) => parseFloat(getComputedStyle(text).fontSize));
    const cells = [...lens.querySelectorAll('rect[fill^=rgb]')].length;
    const words = texts.map((text) => text.textContent);
    return { cells, smallest: Math.min(...sizes), words, box: [left, top, right, bottom] };
}).find(({ box }) => box[2] > box[0])"""


@for_each("size, scheme", [(DESK, "light"), (LARGE_DESK, "dark")])
def test_a_lens_shows_words_and_numbers_where_cells_are_too_small_for_them(
    new_page: Callable[..., Any], app: Any, size: tuple[int, int], scheme: str
) -> None:
    page = Page(new_page, app, size, scheme)
    weights = page.measured(16, 40, 4, focus="2")["found"]["weights"]
    assert min(weights["cell"]) < (11 if size == DESK else 24)
    small = min(weights["cell"]) < 11
    if not small:
        page.page.clock.install()
    for place in (0.5, 0.98):
        x, y = (weights["image"][at] + (weights["image"][at + 2] - weights["image"][at]) * place for at in (0, 1))
        page.page.mouse.move(x, y)
        if not small:
            page.page.locator(".attn-tip .attn-value").wait_for()
            page.page.clock.fast_forward(1000)  # runs what the page has put off by up to a second, as it does a lens
            assert page.page.evaluate(LENS) is None
            continue
        page.page.wait_for_function(f"({LENS})()")
        lens = page.page.evaluate(LENS)
        assert lens["cells"] == 49
        assert lens["smallest"] >= 11
        assert "head 2" in lens["words"]
        assert sum(word in WORDS for word in lens["words"]) == 14
        assert any(word.startswith(".") for word in lens["words"])
        assert lens["box"][0] >= 0
        assert lens["box"][1] >= 0
        assert lens["box"][2] <= size[0]
        assert lens["box"][3] <= size[1]


def test_shift_keeps_the_lens_and_a_finger_brings_it(new_page: Callable[..., Any], app: Any) -> None:
    page = Page(new_page, app, DESK)
    image = page.measured(1, 64, 4)["found"]["weights"]["image"]
    page.page.mouse.move(image[0] + 100, image[1] + 100)
    page.page.wait_for_function(f"({LENS})()")
    shown = page.page.evaluate(LENS)
    page.page.keyboard.down("Shift")
    page.page.mouse.move(image[0] + 200, image[1] + 200)
    page.page.mouse.move(700, 5)
    assert page.page.evaluate(LENS) == shown
    page.page.keyboard.up("Shift")
    page.page.wait_for_function(f"!({LENS})()")

    phone = new_page(viewport={"width": PHONE[0], "height": PHONE[1]}, has_touch=True)
    phone.goto(f"{app.url}/?n_heads=1&v=1&sentence={'+'.join(WORDS[:40])}")
    phone.locator(".st-key-explore [data-stage=weights] .attn-layer svg path").first.wait_for(state="attached")
    phone.evaluate(QUIET)
    box = phone.locator(".st-key-explore [data-stage=weights] .attn-cells").bounding_box()
    finger = phone.context.new_cdp_session(phone)
    point = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
    seen = phone.wait_for_function(f"({LENS})()")  # a finger that rests takes hold of the cell, and the lens goes
    assert seen.json_value()["cells"] == 49


@for_each("size, lang", itertools.product([DESK, PHONE], LANGUAGES))
def test_the_places_are_few_and_in_one_line_and_what_changes_something_takes_no_room_of_the_maps(
    new_page: Callable[..., Any], app: Any, size: tuple[int, int], lang: str
) -> None:
    page = Page(new_page, app, size)
    whole = page.measured(4, 7, 4, lang=lang)["found"]["weights"]["chart"]
    places = page.page.locator("[class*=st-key-pick-place] button")
    assert places.count() == 6
    assert page.page.locator(".st-key-places").bounding_box()["height"] == 42
    assert len({round(place["y"]) for place in (places.nth(at).bounding_box() for at in range(6))}) == 1
    bar, last = page.page.locator(".st-key-places").bounding_box(), places.nth(5).bounding_box()
    assert last["x"] + last["width"] <= bar["x"] + bar["width"] <= size[0], "none is cut"
    places.nth(1).click()
    page.page.wait_for_function("location.search.includes('panel=what_if')")
    page.page.evaluate(QUIET)
    assert page.page.locator("[class*=st-key-pick-part] button").count() == 3
    if size == DESK:
        check(page.page.evaluate(MEASURED), size, "beside what changes something")
        less = page.page.evaluate(MEASURED)["found"]["weights"]["chart"]
        assert (less[1], less[3]) == (pytest.approx(whole[1], abs=1), pytest.approx(whole[3], abs=1))
        band = page.page.locator(".st-key-band").bounding_box()
        assert bar["y"] + bar["height"] <= band["y"] < band["y"] + band["height"] <= whole[1]


def test_a_card_says_what_a_head_does_and_shows_it_large(new_page: Callable[..., Any], app: Any) -> None:
    page = new_page(viewport={"width": DESK[0], "height": DESK[1]})
    page.goto(f"{app.url}/?v=1&initialiser=by_hand&panel=statistics")
    cards = page.locator(".st-key-cards button")
    cards.nth(3).wait_for()
    page.evaluate(QUIET)
    assert cards.nth(0).inner_text().split("\n")[:2] == ["head 1", "previous token"]
    cards.nth(2).click()
    page.wait_for_function("/focus=3(&|$)/.test(location.search)")
    page.evaluate(QUIET)
    assert page.locator(".st-key-explore [data-stage=weights]").first.bounding_box()["y"] < DESK[1] - 200
    assert page.locator(".st-key-cards button[aria-pressed=true]").inner_text().startswith("head 3")


@for_each("size", [DESK, LARGE_DESK])
def test_the_class_page_fills_the_window_begins_at_the_first_step_and_explains_a_cell(
    new_page: Callable[..., Any], app: Any, size: tuple[int, int]
) -> None:
    page = new_page(viewport={"width": size[0], "height": size[1]}, instead=True)
    page.goto(f"{app.url}/?v=1&page=class&step=weights")
    page.locator(".st-key-class [data-stage=weights] .attn-layer text").first.wait_for()
    page.evaluate(QUIET)
    image = page.locator(".st-key-class [data-stage=weights] .attn-cells").bounding_box()
    assert image["y"] + image["height"] <= size[1]
    assert max(image["width"] / size[0], image["height"] / size[1]) > 0.55
    small = page.locator(".st-key-class [data-stage=weights] .attn-layer text").evaluate_all(
        "(all) => Math.min(...all.map((text) => parseFloat(getComputedStyle(text).fontSize)))"
    )
    assert small >= 11
    opacity = page.locator(".st-key-places").evaluate("(places) => getComputedStyle(places).opacity")
    assert float(opacity) == 0
    page.mouse.click(image["x"] + 12, image["y"] + 12)
    page.locator(".st-key-explained", has_text="(49 %)").wait_for()
    page.locator(".st-key-places").hover(position={"x": 20, "y": 20})
    page.wait_for_function("getComputedStyle(document.querySelector('.st-key-places')).opacity === '1'")


def test_a_lecture_begins_at_the_beginning(new_page: Callable[..., Any], app: Any) -> None:
    page = new_page(viewport={"width": DESK[0], "height": DESK[1]})
    page.goto(f"{app.url}/?v=1&page=assign")
    page.locator("[class*=st-key-pick-part] button").nth(1).click()
    page.get_by_text("1 of 11").wait_for()


def test_on_paper_the_maps_stand_side_by_side_and_nothing_is_there_to_be_pressed(browser_page: Any, app: Any) -> None:
    page = browser_page
    page.goto(f"{app.url}/?v=1&n_heads=8&sentence=the+quick+brown+fox+jumped+over+the+lazy+dog+in+the+rain")
    page.locator(".attn-layer").nth(2).wait_for()
    page.evaluate(QUIET)
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 718, "height": 1050})  # A4 within its margins; a printer shrinks what is wider
    page.evaluate(QUIET)
    tops = page.evaluate("[...document.querySelectorAll('.attn-layer')].map((map) => map.getBoundingClientRect().top)")
    assert len(tops) == 3
    assert len({*tops}) == 1
    assert not page.locator("[data-testid=stSidebar]").is_visible()
    assert not page.locator(".st-key-places").is_visible()


CUT_LEGENDS = """() => [...document.querySelectorAll(".st-key-explore .attn-legend")].filter((legend) => {
    const { left, right } = legend.getBoundingClientRect(), line = legend.parentElement.getBoundingClientRect();
    return right > left && (right > line.right + 0.5 || left < line.left - 0.5);
}).map((legend) => legend.textContent)"""


@for_each("width", [1024, 1280])
def test_a_legend_that_has_no_room_beside_a_name_stands_below_it(browser_page: Any, app: Any, width: int) -> None:
    page = browser_page
    page.set_viewport_size({"width": width, "height": 720})
    sentence = "a+dog+slept+under+the+old+tree+while+it+rained+all+day"
    for shown in ("weights", "scaled"):
        go_to(page, f"{app.url}/?sentence={sentence}&n_heads=8&d_model=64&colours=common&shown={shown}")
        assert page.locator(".st-key-explore .attn-legend").count() == 3
        assert page.evaluate(CUT_LEGENDS) == []
