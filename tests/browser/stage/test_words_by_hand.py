"""Words of the sentence that are dragged, replaced and left out: the maps follow, and what is kept is in the link."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.settings import link_check, url_codec
from tests.browser_idle import FRAMES, QUIET, go_to, wait_until
from tests.support.cases import for_each

pytestmark = pytest.mark.browser

SENTENCE = "a king saw his queen while dogs slept."
WEIGHTS = """() => {
    const { stage } = document.querySelector('.st-key-explore [data-stage=weights]').picture;
    return [stage.shape, Array.from(stage.values, (number) => (Number.isNaN(number) ? null : number))];
}"""
BOXES = """() => [...document.querySelectorAll('.st-key-explore :is(.attn-cells > div, .attn-box, .attn-stage)')]
    .map((each) => Object.values(each.getBoundingClientRect().toJSON()))"""
SHOWN = """() => [...document.querySelectorAll('.at-words button')]
    .sort((a, b) => a.getBoundingClientRect().left - b.getBoundingClientRect().left).map((each) => each.textContent)"""


def shows(page: Any, config: Config) -> bool:
    """Whether the maps have the weights of a setting, bit for bit."""
    shape, numbers = page.evaluate(WEIGHTS)
    wanted = run(config)["weights"].array
    return shape == list(wanted.shape) and bool(np.array_equal(np.array(numbers, float).reshape(shape), wanted))


def must_show(page: Any, config: Config) -> None:
    """Wait until the maps have them: a page that is busy draws later."""
    wait_until(page, lambda: shows(page, config))


SAID = """() => {
    const { picture } = document.querySelector('.st-key-explore [data-stage=weights]');
    const words = [...document.querySelectorAll('.at-words button')];
    return {
        row: words.findIndex((word) => word.hasAttribute('data-highlighted')),
        framed: picture.opening?.[1],
        text: document.querySelector('.at-text p').textContent,
        from: document.querySelector('.at-text small').textContent,
        isFaded: getComputedStyle(document.querySelector('.at-text p')).opacity < 1,
    };
}"""


def says(page: Any, config: Config, *, faded: str = "") -> list[str]:
    """What is said beside the maps, checked against a setting; `faded`: steps of the path of which nothing is known."""
    said, weights = page.evaluate(SAID), run(config)["weights"].array
    assert not said["isFaded"]
    assert said["framed"] in (None, said["row"])
    share = weights[int(re.findall(r"\d+", said["from"])[0]) - 1, said["row"]].max()
    assert (f"({share:.0%}".replace("%", " %") if 0.01 < share < 0.99 else "99 %") in said["text"], said
    nodes = page.locator(".path .node[data-step]")
    dim = [node.get_attribute("data-step") for node in nodes.all() if node.get_attribute("data-unknown") is not None]
    assert " ".join(str(each) for each in dim) == faded
    return list(page.locator(".path .node small").all_inner_texts())


OF_STAGES = "embedded queries keys values output"
"""The steps that are not in the maps."""


class Line:
    """The sentence of a page, and a hand over it."""

    def __init__(self, page: Any, url: str, **settings: Any) -> None:
        self.page = page
        self.config = Config(**{"n_heads": 2, **settings})
        go_to(page, f"{url}/?{urlencode(link_check.checked(url_codec.encode(self.config)))}")
        page.wait_for_function("document.querySelectorAll('.st-key-explore .attn-layer svg path').length > 1")
        self.boxes = page.evaluate(BOXES)

    def word(self, at: int) -> Any:
        return self.page.locator(".at-words button").nth(at)

    def middle(self, at: int) -> tuple[float, float]:
        box = self.word(at).bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def follows(self, sentence: str) -> None:
        """Wait until the maps are those of another sentence, of which the page has not heard."""
        follows = Config(sentence=sentence, n_heads=2)
        wait_until(self.page, lambda: shows(self.page, follows))
        assert self.linked().sentence != sentence

    def linked(self, url: str = "") -> Config:
        """The setting of the link."""
        (config,), _ = url_codec.open_link((url or self.page.url).partition("?")[2], Config)
        return config

    def kept(self, sentence: str) -> None:
        """Wait until it is in the link, and compare what is shown with the run of that."""
        self.page.wait_for_url(lambda url: self.linked(url).sentence == sentence)
        self.page.evaluate(QUIET)
        wait_until(self.page, lambda: shows(self.page, self.linked()))
        assert self.page.locator("[data-held], .at-ghost, .at-field").count() == 0


def test_a_word_is_moved_replaced_and_left_out_and_the_maps_follow(browser_page: Any, app: Any) -> None:
    page = browser_page
    line = Line(page, app.url, sentence=SENTENCE)
    (x, y), (to, _) = line.middle(6), line.middle(1)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 7, y)
    page.evaluate(FRAMES, 2)
    assert page.evaluate(BOXES) == line.boxes, "no map moves when a word is taken hold of"
    page.mouse.move(to - 4, y, steps=6)
    moved = "a dogs king saw his queen while slept."
    assert page.evaluate(SHOWN) == [*moved.removesuffix(".").split(), "."]
    assert page.locator(".at-text p").inner_text() == "“dogs” to place 2 of 9"
    line.follows(moved)
    assert page.evaluate(BOXES) == line.boxes
    page.mouse.move(to, y + 120, steps=3)
    assert page.locator(".attn-tip").is_hidden()
    line.follows("a king saw his queen while slept.")
    page.keyboard.press("Escape")
    page.mouse.up()
    wait_until(page, lambda: shows(page, line.config))
    assert page.evaluate(SHOWN) == [*SENTENCE.removesuffix(".").split(), "."]
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(to - 4, y, steps=6)
    page.mouse.up()
    line.kept(moved)
    assert page.locator(".attn-drawer[data-open]").count() == 0, "no click follows"
    line.word(1).dblclick(delay=40)
    page.keyboard.type("cats")
    line.follows("a cats king saw his queen while slept.")
    page.keyboard.press("Enter")
    line.kept("a cats king saw his queen while slept.")
    assert "query=" not in page.url, "a word that is replaced is not chosen"
    page.go_back()
    line.kept(moved)


def test_each_has_its_keys(browser_page: Any, app: Any) -> None:
    page = browser_page
    line = Line(page, app.url, sentence=SENTENCE)
    line.word(0).focus()
    for _ in range(8):
        page.keyboard.press("Alt+ArrowRight")
    line.follows("king saw his queen while dogs slept. a")
    page.keyboard.press("Escape")
    wait_until(page, lambda: shows(page, line.config))
    page.keyboard.press("Alt+ArrowRight")
    page.keyboard.press("Enter")
    line.kept("king a saw his queen while dogs slept.")
    assert page.locator(".at-words button:focus").inner_text() == "a"
    page.keyboard.press("Delete")
    line.kept("king saw his queen while dogs slept.")
    assert page.locator(".at-words button:focus").inner_text() == "saw"
    page.keyboard.press("F2")
    page.keyboard.type("missed")
    page.keyboard.press("Escape")
    assert page.locator(".at-words button:focus").inner_text() == "saw"
    page.keyboard.press("F2")
    page.keyboard.type("missed out")
    page.keyboard.press("Enter")
    line.kept("king missed out his queen while dogs slept.")


@for_each(
    "sentence, to, moved",
    [
        ("ذهب الولد إلى المدرسة", 3, "الولد إلى المدرسة ذهب"),
        ("猫が好き", 2, "が好猫き"),
    ],
)
def test_a_finger_moves_words_that_run_the_other_way_or_have_no_spaces(
    new_page: Callable[..., Any], app: Any, sentence: str, to: int, moved: str
) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, instead=True)
    line = Line(page, app.url, sentence=sentence)
    (x, y), (end, _) = line.middle(0), line.middle(to)
    touch = page.context.new_cdp_session(page)

    def finger(kind: str, *points: float) -> None:
        at = [{"x": points[0], "y": points[1]}] if points else []
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})

    finger("touchStart", x, y)
    page.locator(".at-ghost").wait_for()
    beyond = end + (-3 if end < x else 3)
    for step in range(1, 6):
        finger("touchMove", x + (beyond - x) * step / 5, y)
    line.follows(moved)
    finger("touchEnd")
    line.kept(moved)


IS_READY = """() => {
    const { heatmap } = document.querySelector('.st-key-explore [data-stage=weights]').picture;
    return heatmap.holding.run?.address === heatmap.data.live.address;
}"""
OUTLINED = """() => {
    const { differs } = document.querySelector('.st-key-explore [data-stage=weights]').picture.stage;
    return [differs.more, differs.less];
}"""


def test_what_is_pinned_is_seen_again_and_what_differs_from_it_is_outlined(browser_page: Any, app: Any) -> None:
    page = browser_page
    line = Line(page, app.url, sentence=SENTENCE)
    page.keyboard.press("p")
    page.get_by_role("button", name="unpin").wait_for()
    assert page.evaluate(BOXES) == line.boxes, "no map moves when a picture is pinned"
    assert page.evaluate(OUTLINED) == [[], []]
    said = page.locator(".attn-pin span")
    assert said.inner_text() == "pinned: change a setting to compare"
    page.keyboard.down("b")
    assert said.inner_text() == "this is the pinned picture, the same as now"
    page.keyboard.up("b")
    page.wait_for_url("**pinned=**")
    page.evaluate(QUIET)
    assert said.inner_text() == "pinned: change a setting to compare", "by the numbers of the run as well"
    line.word(4).focus()
    page.keyboard.press("Alt+ArrowLeft")
    page.keyboard.press("Enter")
    line.kept("a king saw queen his while dogs slept.")
    before, now = (run(config)["weights"].array for config in (line.config, line.linked()))
    more, less = (np.argwhere(part >= 0.1).tolist() for part in (now - before, before - now))
    assert len(more) > 3
    assert page.evaluate(OUTLINED) == [more, less]
    assert page.locator(".st-key-explore [data-stage=weights] :is(.attn-more, .attn-less)").count() == 2
    page.keyboard.down("b")
    must_show(page, line.config)  # what is pinned
    assert said.inner_text().startswith("this is the pinned picture · outlined")
    assert page.evaluate(SAID)["isFaded"], "the sentence is another one"
    assert page.evaluate(OUTLINED) == [less, more]
    assert page.evaluate(BOXES) == line.boxes
    page.keyboard.up("b")
    must_show(page, line.linked())
    page.locator(".attn-pin [data-flip]").hover()
    page.mouse.down()
    must_show(page, line.config)
    page.mouse.up()
    page.evaluate(QUIET)
    page.goto(page.url)  # as if it had been sent to somebody
    page.wait_for_function("() => window.attnvizPinned?.stages.length > 0")
    page.keyboard.down("b")
    must_show(page, line.config)
    assert page.evaluate(OUTLINED) == [less, more]
    page.keyboard.up("b")
    page.get_by_role("button", name="unpin").click()
    page.wait_for_function("() => !location.search.includes('pinned=')")
    assert page.locator(".attn-more").count() == 0
    page.evaluate(QUIET)  # a press in the few milliseconds between the address and the end of its run may be lost
    page.keyboard.press("p")
    pinned = line.linked()
    page.wait_for_url("**pinned=**")
    page.locator(".st-key-explore .attn-knob[data-knob=temperature]").hover()
    page.wait_for_function(IS_READY)
    page.mouse.down()
    page.mouse.move(900, 168)
    page.mouse.up()
    page.wait_for_url("**temperature=**")
    page.evaluate(QUIET)
    handle = page.locator(".attn-knob[data-knob=temperature] b")
    assert float(handle.inner_text()) == line.linked().temperature != 1
    says(page, line.linked())
    page.keyboard.down("b")
    must_show(page, pinned)
    assert handle.inner_text() == "1"
    says(page, pinned, faded=OF_STAGES)
    page.keyboard.up("b")
    page.evaluate(FRAMES, 2)
    says(page, line.linked())
