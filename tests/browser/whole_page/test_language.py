"""The language as a person meets it: the browser's, the link's, one click on the other, and the way back."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from attnviz.settings import language
from tests.browser_idle import FRAMES, QUIET

pytestmark = pytest.mark.browser


class Visit:
    """The page in a browser; ⟦so⟧ it speaks its second language."""

    def __init__(self, page: Any, url: str) -> None:
        self.page = page
        page.goto(url)
        self.drawn()

    def drawn(self) -> None:
        """Wait until the pictures stand, and no run has begun for a while: one that begins closes an open list."""
        self.page.locator("[data-map][data-head]").first.wait_for()
        self.page.evaluate(QUIET)

    @property
    def address(self) -> dict[str, str]:
        """What the address says; without the check at its end, which follows from the rest."""
        said = dict(parse_qsl(urlsplit(self.page.url).query, keep_blank_values=True))
        said.pop("c", None)
        return said

    def within(self, key: str) -> Any:
        return self.page.locator(f".st-key-{key}")

    def heard(self, code: str) -> None:
        """Wait until the page speaks a language."""
        self.page.locator(f"html[lang={code}]").wait_for(state="attached")
        words = re.compile("^⟦Explore⟧$" if code == "de" else "^Explore$")
        self.within("places").get_by_role("radio", name=words).wait_for()
        self.drawn()

    def switch(self, name: str) -> None:
        self.within("languages").get_by_role("button").click()
        self.page.get_by_role("menuitem", name=name, exact=True).click()

    def choose(self, key: str, word: str) -> None:
        """Pick a word from a list."""
        field = self.within(key).locator("input").first
        field.wait_for()
        self.drawn()
        field.evaluate("field => field.scrollIntoView({ block: 'center' })")  # a list closes when what it is in scrolls
        self.page.evaluate(FRAMES, 3)  # and the browser tells of that only when it draws
        field.fill(word)
        self.page.get_by_role("option", name=word, exact=True).click()
        self.page.keyboard.press("Escape")
        self.drawn()


@pytest.fixture(scope="module")
def site(server: Callable[..., Any]) -> Any:
    return server("tests/browser/scripts/brackets.py")


def test_the_browser_decides_and_a_link_decides_over_it(new_page: Callable[..., Any], site: Any) -> None:
    german = Visit(new_page(locale="de-AT"), site.url)
    german.heard("de")
    assert "lang" not in german.address
    french = Visit(new_page(locale="fr-FR"), site.url)
    french.heard("en")
    Visit(french.page, f"{site.url}?lang=de&n_heads=99").page.get_by_text("⟦was '99'; 16 is used").wait_for()


def test_the_words_of_the_second_language_are_on_the_page(new_page: Callable[..., Any], app: Any) -> None:
    visit = Visit(new_page(locale="de-DE"), app.url)
    visit.page.locator("html[lang=de]").wait_for(state="attached")
    word = language.catalogue("de").gettext("Explore")
    visit.within("places").get_by_role("radio", name=word, exact=True).wait_for()


def test_maps_write_numbers_as_the_language_does(new_page: Callable[..., Any], app: Any) -> None:
    """A comma in German, in cells, at the ends of a scale, and in the tip."""
    found = {}
    for code in ("de", "en"):
        visit = Visit(new_page(locale="en-GB", instead=True), f"{app.url}?v=1&n_heads=1&mask=none&lang={code}")
        visit.drawn()
        stage = visit.page.locator(".st-key-explore [data-stage=scores]")
        stage.locator(".attn-layer text").first.wait_for()
        texts = [*stage.locator(".attn-layer text").all_text_contents(), stage.locator(".attn-legend").inner_text()]
        found[code] = [text for text in texts if any(map(str.isdigit, text)) and ("," in text or "." in text)]
    assert len(found["de"]) == len(found["en"]) > 10
    assert [text.replace(",", ".") for text in found["de"]] == found["en"]
    assert not [text for text in found["de"] if "." in text]


def test_what_scripts_join_has_the_signs_of_the_language_from_the_first_picture(
    new_page: Callable[..., Any], app: Any
) -> None:
    for tongue, is_spaced in (("zh", False), ("de", True)):
        visit = Visit(new_page(instead=True), f"{app.url}?v=2&lang={tongue}")
        shares = visit.page.locator("[data-share]").evaluate_all("words => words.map((word) => word.dataset.share)")
        assert len(shares) > 2
        assert all((" %" in share) == is_spaced for share in shares), (tongue, shares)


def test_a_switch_keeps_every_value_and_back_goes_back(new_page: Callable[..., Any], site: Any) -> None:
    visit = Visit(new_page(locale="en-GB"), f"{site.url}?v=1&panel=word&query=2&n_heads=2&slide=2")
    visit.page.locator(".ad-chip").first.click()  # the setting, which the answer stands in the room of
    field = visit.within("sentence").locator("input")
    field.fill("red blue red green")
    field.press("Enter")
    visit.page.wait_for_url("**sentence=**")
    visit.choose("mask", "Causal")
    visit.choose("score", "Cosine")
    visit.page.wait_for_url("**score=cosine**")
    seed = visit.within("seed").locator("input")
    seed.fill("77")
    seed.press("Enter")
    visit.page.wait_for_url("**seed=77**")
    visit.page.locator("summary", has_text="Normaliser").click()
    visit.choose("normaliser", "Sparsemax")
    visit.page.wait_for_url("**normaliser=sparsemax**")
    before = visit.address

    visit.switch("Deutsch")
    visit.heard("de")
    visit.page.wait_for_url("**lang=de**")
    assert visit.address == before | {"lang": "de"}
    assert field.input_value() == "red blue red green"
    assert seed.input_value() == "77"
    visit.within("mask").get_by_text("⟦Causal⟧", exact=True).wait_for()
    visit.within("score").locator('input[value="⟦Cosine⟧"]').wait_for()
    visit.page.locator("details[open] summary", has_text="⟦Normaliser⟧").wait_for()
    visit.within("normaliser").locator('input[value="⟦Sparsemax⟧"]').wait_for()
    assert visit.page.locator("details[open]").count() == 1
    visit.within("pick-group").get_by_role("radio", name="⟦This word⟧", checked=True).wait_for()

    visit.choose("mask", "⟦Not itself⟧")
    visit.page.wait_for_url("**mask=causal.no_self**")
    assert visit.address == before | {"lang": "de", "mask": "causal.no_self"}

    visit.page.go_back()
    visit.page.wait_for_url("**mask=causal&**")
    visit.drawn()
    visit.page.go_back()
    visit.heard("en")
    assert visit.address == before
    visit.within("score").locator("input[value=Cosine]").wait_for()


def test_words_that_a_browser_still_says_in_the_language_before_change_nothing(
    new_page: Callable[..., Any], site: Any
) -> None:
    """A move right after the switch arrives with the words that the browser had then."""
    visit = Visit(new_page(locale="en-GB"), f"{site.url}?v=1&score=cosine&mask=causal&n_heads=2")
    slider = visit.within("n_heads").locator("input[type=range]")
    visit.within("languages").get_by_role("button").click()
    visit.page.get_by_role("menuitem", name="Deutsch", exact=True).hover()  # once the menu has come to rest
    visit.page.mouse.down()
    visit.page.mouse.up()
    slider.focus()
    visit.page.keyboard.press("ArrowRight")
    visit.heard("de")
    visit.page.wait_for_url("**n_heads=3**")
    visit.page.wait_for_url("**lang=de**")
    assert visit.address == {"v": "2", "score": "cosine", "mask": "causal", "n_heads": "3", "lang": "de"}


def test_the_choice_takes_no_room_from_the_pictures(new_page: Callable[..., Any], site: Any) -> None:
    for size in ({"width": 1280, "height": 720}, {"width": 390, "height": 844}):
        visit = Visit(new_page(locale="en-GB", viewport=size), f"{site.url}?v=1")
        button = visit.within("languages").get_by_role("button", name="English").bounding_box()
        bar = visit.within("places").bounding_box()
        assert button["x"] + button["width"] <= size["width"]
        assert min(button["x"], button["y"]) >= 0
        assert button["y"] + button["height"] <= bar["y"] or button["x"] >= bar["x"] + bar["width"]
        visit.switch("Deutsch")
        visit.heard("de")
