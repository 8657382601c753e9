"""The word view as a person uses it: pointing, choosing, by keyboard, on a phone, and with words that mean harm."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.engine.records.trace import Trace
from attnviz.pictures.colours import SHARE
from attnviz.text.query_sentences import query_weights, sentence
from tests.support.cases import for_each

pytestmark = pytest.mark.browser

LONG = """when the old man came back to the house that he had left so many years before he found that the door was still
open and the light in the kitchen still burned as if someone had been waiting for him all that time with a cup of tea
and a chair by the fire that nobody else had ever been allowed to sit in"""
HARM = (
    "<b>x</b> <img/src=x/onerror=window.harm=1> __proto__ constructor $x$ {query} a\u202eb \u200b &amp; " + "long" * 30
)
ARABIC = "ذهب الولد إلى المدرسة"


class View:
    """The page with the word view alone, for some settings."""

    def __init__(
        self, page: Any, url: str, request: tuple[int | None, int | None] = (None, 0), **settings: Any
    ) -> None:
        self.page = page
        self.trace: Trace = run(Config(**{"n_heads": 4, **settings}))
        page.goto(f"{url}/?{urlencode({'config': json.dumps(settings), 'asked': json.dumps(request)})}")
        self.queries, self.keys = page.locator(".aw-queries .aw-word"), page.locator(".aw-keys .aw-word")
        self.sentence, self.heads = page.locator(".aw-sentence"), page.locator(".aw-heads button")
        self.queries.first.wait_for()
        self.settled()

    def settled(self) -> None:
        self.page.locator("[data-test-connection-state=CONNECTED][data-test-script-state=notRunning]").wait_for()

    def expect_request(self, answer: str) -> None:
        """Wait until the page has drawn this answer."""
        self.page.get_by_text(f"Asked {answer} times", exact=True).wait_for()
        self.settled()

    def expected(self, query: int, head: int | None = 0) -> str:
        return "".join(words for _, words in sentence(query_weights(self.trace, 0, head), query))

    def lines(self) -> dict[int, float]:
        """The width of the line to each key that has one."""
        paths = self.page.locator(".aw-field path[data-key]")
        found = paths.evaluate_all(
            "all => all.map((p) => [Number(p.dataset.key), Number(p.getAttribute('stroke-width'))])"
        )
        return dict(found)

    def lit(self) -> list[int]:
        highlighted = "all => all.flatMap((word, i) => (word.matches('[data-highlighted]') ? [i] : []))"
        return self.queries.evaluate_all(highlighted)

    def chosen(self) -> list[int]:
        return self.queries.evaluate_all("all => all.flatMap((word, i) => (word.ariaPressed === 'true' ? [i] : []))")

    def masked(self) -> list[int]:
        return self.keys.evaluate_all("all => all.flatMap((word, i) => (word.matches('[data-masked]') ? [i] : []))")

    def away(self) -> None:
        self.page.mouse.move(1, 1)


@pytest.fixture(scope="module")
def site(server: Callable[..., Any]) -> Any:
    return server("tests/browser/scripts/word.py")


@pytest.fixture
def view(new_page: Callable[..., Any], site: Any) -> Iterator[Callable[..., View]]:
    errors: list[str] = []

    def opened(*, width: int = 1280, **settings: Any) -> View:
        page = new_page(viewport={"width": width, "height": 720}, instead=True)
        page.on("pageerror", lambda error: errors.append(str(error)))
        return View(page, site.url, **settings)

    yield opened
    assert errors == []


@for_each(
    "head, settings",
    [
        (0, {}),
        (None, {"mask": "causal"}),
        (3, {"normaliser": "sigmoid"}),
        (0, {"mask": "custom", "custom_cells": "1: 2, 4: 1-3"}),
        (1, {"second_sentence": "le chat était assis"}),
        (0, {"sentence": HARM, "tokeniser": "whitespace"}),
        (0, {"sentence": ARABIC}),
        (None, {"sentence": "one", "n_heads": 1}),
    ],
)
def test_pointing_at_a_word_says_what_python_says(
    view: Callable[..., View], head: int | None, settings: dict[str, Any]
) -> None:
    page = view(request=(None, head), **settings)
    assert page.sentence.text_content() == "Choose a word above to see what it attends to."
    for query in range(len(page.trace.query_tokens)):
        page.queries.nth(query).hover()
        assert page.lit() == [query]
        assert page.sentence.text_content() == page.expected(query, head)
    page.away()
    assert page.lines() == {}


def test_a_sentence_that_is_read_from_the_right_begins_there_and_so_do_its_arrow_keys(
    view: Callable[..., View],
) -> None:
    page = view(sentence=ARABIC)
    for words in (page.queries, page.keys):
        lefts = [words.nth(at).bounding_box()["x"] for at in range(words.count())]
        assert len(lefts) > 3
        assert lefts == sorted(lefts, reverse=True)
    page.queries.first.focus()
    page.page.keyboard.press("ArrowLeft")
    assert page.lit() == [1]
    page.page.keyboard.press("ArrowRight")
    assert page.lit() == [0]


def test_lines_and_tints_are_the_weights_and_masked_keys_have_neither(view: Callable[..., View]) -> None:
    page = view(mask="causal")
    page.queries.nth(4).hover()
    weights = page.trace["weights"].array[0, 4]
    lines = page.lines()
    assert sorted(lines) == [0, 1, 2, 3, 4]
    assert page.masked() == [5, 6]
    assert list(lines) == sorted(lines, key=lambda key: weights[key])  # the strongest on top
    assert np.corrcoef([lines[key] for key in range(5)], weights[:5])[0, 1] > 0.999
    colours = page.keys.evaluate_all("all => all.map((key) => getComputedStyle(key).backgroundColor)")
    for key in range(5):
        assert np.abs(np.array(rgb(colours[key])) - shade(weights[key])).max() <= 1
    assert colours[5] == colours[6] == "rgb(255, 255, 255)"


def test_a_key_with_no_weight_has_no_line_and_is_not_masked(view: Callable[..., View]) -> None:
    page = view(normaliser="hardmax")
    page.queries.nth(4).hover()
    assert list(page.lines()) == [int(page.trace["weights"].array[0, 4].argmax())]
    assert page.masked() == []


def rgb(colour: str) -> list[int]:
    return [int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]


def shade(weight: float) -> np.ndarray:
    """The colour of a weight on the scale of the mosaics."""
    stops = np.array([[int(stop[at : at + 2], 16) for at in (1, 3, 5)] for stop in SHARE])
    return np.array([np.interp(weight, np.linspace(0, 1, len(stops)), stops[:, part]) for part in range(3)])


def test_every_line_starts_at_its_query_and_ends_at_its_key(view: Callable[..., View]) -> None:
    for width in (1280, 390):
        page = view(width=width, sentence=LONG, n_heads=2, mask="causal")
        page.queries.nth(40).hover()
        ends = page.page.locator(".aw-field").evaluate(
            """(field) => {
                const outer = field.getBoundingClientRect();
                const keys = [...field.querySelectorAll(".aw-keys .aw-word")];
                const query = field.querySelector("[data-highlighted]").getBoundingClientRect();
                return [...field.querySelectorAll("path[data-key]")].map((path) => {
                    const from = path.getPointAtLength(0), to = path.getPointAtLength(path.getTotalLength());
                    const key = keys[path.dataset.key].getBoundingClientRect();
                    const [start, end] = [query.x + query.width / 2, key.x + key.width / 2];
                    return [from.x + outer.x - start, to.x + outer.x - end, to.y + outer.y - key.y];
                });
            }"""
        )
        assert len(ends) == 41
        assert np.abs(ends).max() < 1
        overflow = "(box) => box.scrollWidth - box.clientWidth"
        assert page.page.locator(".attn-lines").evaluate(overflow) <= 0


def test_pointing_asks_the_server_nothing(view: Callable[..., View], new_page: Callable[..., Any], site: Any) -> None:
    sent: list[Any] = []
    page = new_page()
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    it = View(page, site.url)
    before = len(sent)
    assert before
    for query in range(7):
        it.queries.nth(query).hover()
    assert it.sentence.text_content() == it.expected(6)
    it.queries.nth(6).click()
    it.expect_request("Request(query=6, head=0), 1")
    assert len(sent) == before + 1  # the click, and nothing before it


def test_a_click_chooses_and_a_second_lets_go(view: Callable[..., View]) -> None:
    page = view(request=(1, 0))
    assert (page.chosen(), page.lit()) == ([1], [1])
    page.queries.nth(3).click()
    page.expect_request("Request(query=3, head=0), 1")
    page.away()
    assert (page.chosen(), page.lit()) == ([3], [3])
    page.queries.nth(5).hover()
    assert (page.chosen(), page.lit()) == ([3], [5])
    page.away()
    assert page.sentence.text_content() == page.expected(3)
    page.queries.nth(3).click()
    page.expect_request("Request(query=None, head=0), 2")
    page.away()
    assert (page.chosen(), page.lit(), page.lines()) == ([], [], {})
    page.page.get_by_role("button", name="Again").click()
    page.expect_request("None, 2")
    assert page.chosen() == []


def test_another_head_and_the_mean_are_drawn_at_once(view: Callable[..., View]) -> None:
    page = view(request=(2, 0))
    page.heads.nth(3).click()
    page.expect_request("Request(query=2, head=3), 1")
    assert page.sentence.text_content() == page.expected(2, 3)
    page.page.get_by_role("radio", name="average over heads").click()
    page.expect_request("Request(query=2, head=None), 2")
    assert page.sentence.text_content() == page.expected(2, None)
    assert page.sentence.text_content().startswith("On average over 4 heads, ")
    page.page.keyboard.press("ArrowLeft")
    page.expect_request("Request(query=2, head=3), 3")
    assert page.page.locator(".aw-heads button:focus").text_content() == "4"
    assert page.heads.nth(3).get_attribute("aria-checked") == "true"


def test_one_head_offers_no_choice(view: Callable[..., View]) -> None:
    assert not view(n_heads=1).page.locator(".aw-heads").is_visible()


def test_by_keyboard(view: Callable[..., View]) -> None:
    page = view()
    press = page.page.keyboard.press
    page.heads.first.focus()
    press("Tab")
    assert page.lit() == [0]
    press("ArrowRight")
    press("ArrowRight")
    assert page.lit() == [2]
    assert page.page.locator(".aw-live").text_content() == page.expected(2)
    press("Enter")
    page.expect_request("Request(query=2, head=0), 1")
    assert page.chosen() == [2]
    press("End")
    press("ArrowRight")
    assert page.lit() == [6]
    press("Home")
    press("ArrowLeft")
    assert page.lit() == [0]
    press("Escape")
    assert page.lit() == [2]
    press("Shift+Tab")
    assert page.page.locator(".aw-heads button:focus").text_content() == "1"


def test_arrow_keys_climb_the_lines_of_a_wrapped_sentence(view: Callable[..., View]) -> None:
    page = view(width=390, sentence=LONG)
    page.queries.nth(2).focus()
    tops = page.queries.evaluate_all("all => all.map((word) => word.offsetTop)")
    page.page.keyboard.press("ArrowDown")
    (below,) = page.lit()
    assert tops[below] == min(top for top in tops if top > tops[2])
    page.page.keyboard.press("ArrowUp")
    (above,) = page.lit()
    assert tops[above] == tops[2]
    page.page.keyboard.press("ArrowUp")
    assert page.lit() == [above]


def test_rows_of_the_mosaics_are_heard_and_told(view: Callable[..., View]) -> None:
    page = view(request=(1, 2))
    evaluate = page.page.evaluate
    tell = "(detail) => window.dispatchEvent(new CustomEvent('attnviz:row', { detail }))"
    evaluate(tell, {"row": 4, "head": 0})
    assert page.lit() == [4]
    assert page.sentence.text_content() == page.expected(4, 2)
    for nonsense in (
        {"row": 99, "head": 0},
        {"row": "length", "head": 0},
        {"row": -1, "head": 0},
        {"row": 1.5, "head": 0},
    ):
        evaluate(tell, nonsense)
        assert page.lit() == [4]
    evaluate(tell, {"row": None, "head": None})
    assert page.lit() == [1]
    evaluate(
        "() => { window.told = []; window.addEventListener('attnviz:row', ({ detail }) => window.told.push(detail)); }"
    )
    page.queries.nth(5).hover()
    page.away()
    assert evaluate("window.told") == [{"row": 5, "head": 2}, {"row": None, "head": 2}]


def test_words_that_mean_harm_are_only_ever_text(view: Callable[..., View]) -> None:
    page = view(sentence=HARM, tokeniser="whitespace", width=390)
    shown = page.queries.locator("bdi").all_text_contents()
    assert shown == HARM.replace("\u202e", "").replace("\u200b", "U+200B").split()
    for query in range(len(shown)):
        page.queries.nth(query).hover()
    assert page.page.locator(".attn-lines :is(b, img)").count() == 0
    assert page.page.evaluate("window.harm") is None
    assert page.queries.last.bounding_box()["width"] < 200


def test_colours_follow_the_theme_without_being_drawn_again(view: Callable[..., View]) -> None:
    page = view(request=(3, 0), mask="causal")
    colours = """() => ['.aw-keys .aw-word', '.aw-queries [data-highlighted]', '.aw-field path'].map((name) => {
        const style = getComputedStyle(document.querySelector(name));
        return [style.backgroundColor, style.color, style.stroke];
    })"""
    light = page.page.evaluate(colours)
    page.page.evaluate(
        """() => { const style = document.querySelector('.attn-lines').parentElement.style;
             style.setProperty('--st-background-color', '#111'); style.setProperty('--st-text-color', '#eee');
             style.setProperty('--st-primary-color', '#8fb4dc'); style.colorScheme = 'dark'; }"""
    )
    dark = page.page.evaluate(colours)
    assert light[0][0] != dark[0][0]
    assert light[1][1] != dark[1][1]
    assert light[2][2] != dark[2][2]


def test_a_new_sentence_replaces_the_old_one(view: Callable[..., View]) -> None:
    page = view(request=(6, 0))
    page.queries.nth(5).hover()
    field = page.page.get_by_label("Sentence")
    field.fill("a b c")
    field.press("Enter")
    page.page.locator(".aw-queries").get_by_text("c", exact=True).wait_for()
    assert page.queries.all_text_contents() == page.keys.all_text_contents() == ["a", "b", "c"]
    assert (page.chosen(), page.lit(), page.lines()) == ([], [], {})
    field.fill("the cat sat on the warm mat")
    field.press("Enter")
    page.page.locator(".aw-queries").get_by_text("mat", exact=True).wait_for()
    page.queries.nth(5).hover()
    assert page.sentence.text_content() == page.expected(5)
