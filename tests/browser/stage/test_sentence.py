"""The sentence over the maps says what the pointer is on, in the room that it has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.text.cell_sentence import percent
from tests.browser_idle import QUIET, go_to
from tests.support.cases import for_each

pytestmark = pytest.mark.browser

WORDS = [f"word{n}" for n in range(64)]
LONG = ("antidisestablishmentarianism", "attends", "to", "electroencephalographically", "long", "words")
LONGER = (
    "antidisestablishmentarianism",
    "meets",
    "Donaudampfschifffahrtsgesellschaft",
    "while",
    "incomprehensibilities",
    "remain",
)
IMAGE = ".st-key-explore [data-stage=weights] .attn-cells"
MIDDLE = "(word) => { const { left, right } = word.getBoundingClientRect(); return (left + right) / 2; }"
CUT = """() => [...document.querySelectorAll('.at-text p, .at-text p > *')].map((e) => e.scrollWidth - e.clientWidth)"""
ENDS = """(spacings) => spacings.flatMap((spacing) => {
    const style = document.head.appendChild(document.createElement("style"));
    style.textContent = `.at-text p > * { letter-spacing: ${spacing}px }`;
    const ends = [...document.querySelectorAll(".at-words button")].map((word) => {
        word.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
        const line = document.querySelector(".at-text p"), said = document.createRange();
        said.selectNodeContents(line.lastChild);
        return said.getBoundingClientRect().right - line.getBoundingClientRect().right;
    });
    style.remove();
    return ends;
})"""
"""How far what is said of each word goes beyond its line, while letters stand so much further apart."""
BY_MEANING = "embedding=meaning&d_model=64&d_k=5&initialiser=by_hand&patterns=alike.previous.next.first&sharpness=3.5"
LEFT = "() => [...document.querySelectorAll('.at-words button')].map((word) => word.getBoundingClientRect().left)"


def opened(page: Any, app: Any, query: str) -> dict[str, float]:
    go_to(page, f"{app.url}/?v=1&{query}")
    page.locator(".st-key-explore [data-stage=weights] .attn-layer text").first.wait_for()
    page.evaluate(QUIET)
    return dict(page.locator(IMAGE).bounding_box())


def test_of_maps_in_blocks_it_says_the_row_and_the_head_that_are_pointed_at(browser_page: Any, app: Any) -> None:
    box = opened(browser_page, app, f"n_heads=16&d_model=64&sentence={'+'.join(WORDS)}")
    meta = browser_page.evaluate("document.querySelector('.st-key-explore [data-stage=weights]').picture.meta")
    assert meta["block"][0] > 1
    weights = run(Config(sentence=" ".join(WORDS), n_heads=16, d_model=64))["weights"].array
    line, reading = browser_page.locator(".at-line").bounding_box(), browser_page.locator(".at-text")
    before = browser_page.evaluate("document.querySelector('.at-line').scrollLeft")
    for down, across in ((0.02, 0.02), (0.45, 0.4), (0.97, 0.9)):
        browser_page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"])
        browser_page.wait_for_function("document.querySelector('.attn-tip').style.display === 'block'")
        head, row, *_ = browser_page.locator(".attn-tip > div").all_text_contents()
        head, word = int(head.split()[1]) - 1, row.removeprefix("query ").rstrip("0123456789–")
        query = int(browser_page.locator(".attn-tip bdi").nth(1).text_content().removeprefix("word"))
        assert word == "word"
        best = int(weights[head, query].argmax())
        target = "itself" if best == query else WORDS[best]
        said = f"{WORDS[query]} attends to {target} ({percent(weights[head, query, best])})."
        assert reading.locator("p").text_content() == said
        assert reading.locator("small").text_content().startswith(f"head {head + 1} ")
        assert (
            line["x"] < browser_page.locator(".at-words button").nth(query).evaluate(MIDDLE) < line["x"] + line["width"]
        )
        shares = browser_page.locator(".at-words button[data-share]").count()
        assert shares == min(4, int(np.count_nonzero(weights[head, query] >= 0.05)))
    browser_page.mouse.move(box["x"], box["y"] - 90)
    browser_page.wait_for_function("(at) => document.querySelector('.at-line').scrollLeft === at", arg=before)


@for_each("size", [(1280, 720), (390, 844)])
def test_long_words_are_cut_and_not_what_is_said_of_them(
    new_page: Callable[..., Any], app: Any, size: tuple[int, int]
) -> None:
    page = new_page(viewport={"width": size[0], "height": size[1]}, instead=True)
    for sentence in ("Die+Katze+jagte+eine+Maus+und+ein+Hund+sah+zu&lang=de", "الملك+رأى+الملكة+والكلب"):
        opened(page, app, f"sentence={sentence}&{BY_MEANING}")
        assert page.locator(".at-text p .at-whole").count() == 1, "it attends to itself"
        assert max(page.evaluate(CUT)) <= 0, "there is room for all"
    for n_heads, sentence in ((8, LONG), (4, LONGER)):
        opened(page, app, f"n_heads={n_heads}&sentence={'+'.join(sentence)}")
        lines = []
        for at in range(len(sentence)):
            page.locator(".at-words button").nth(at).focus()
            page.keyboard.press("Home")
            for _ in range(at):
                page.keyboard.press("ArrowRight")
            line, *words = page.evaluate(CUT)
            assert line <= 0, sentence[at]
            lines.append(max(words))
        assert max(lines) > 0, "a word was too long"
        ends = page.evaluate(ENDS, [n / 50 for n in range(1, 16)])
        assert len(ends) == 15 * len(sentence)
        assert max(ends) <= 0, "whatever part of a pixel the words are wide"
        roles = [
            role
            for role in page.locator(".st-key-explore [data-stage=weights] tspan.attn-soft").all_text_contents()
            if role
        ]
        assert {role.split("“")[0].strip() for role in roles if "“" in role} <= {"mostly", "often"}, roles


def test_words_stand_where_they_stood_once_an_answer_is_closed(browser_page: Any, app: Any) -> None:
    box = opened(browser_page, app, "sentence=the+king+saw+his+queen+while+a+dog+chased+our+cat")
    before = browser_page.evaluate(LEFT)
    browser_page.mouse.click(box["x"] + 30, box["y"] + 30)
    browser_page.locator(".attn-drawer[data-open]").wait_for()
    browser_page.evaluate(QUIET)
    browser_page.keyboard.press("Escape")
    browser_page.evaluate(QUIET)
    browser_page.mouse.move(5, 400)
    assert browser_page.evaluate(LEFT) == pytest.approx(before, abs=0.5)
