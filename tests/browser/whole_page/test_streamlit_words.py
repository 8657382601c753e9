"""Streamlit's own words, which it has in English alone, in every language of the page."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from attnviz.settings.language import LANGUAGES, WRITTEN, set_language, tag
from attnviz.ui.components.streamlit_words import WORDS
from tests.browser_idle import go_to, wait_until
from tests.support.cases import for_each

pytestmark = pytest.mark.browser

OTHERS = [code for code in LANGUAGES if code != WRITTEN]
SAID = """() => {
    const words = "[data-testid=stMarkdownContainer]:not(button *)";
    const found = [], ours = `.stBidiComponent, [data-testid=stIconMaterial], ${words}`;
    for (const node of document.querySelectorAll("body *")) {
        if (node.closest(ours) || /^(STYLE|SCRIPT)$/.test(node.tagName)) continue;
        for (const name of ["aria-label", "placeholder", "title"]) found.push(node.getAttribute(name) ?? "");
        for (const child of node.childNodes) if (child.nodeType === Node.TEXT_NODE) found.push(child.nodeValue.trim());
    }
    return [...new Set(found.filter(Boolean))];
}"""
PAGES = ("?v=1&page=data", "?v=1&panel=statistics&score=additive", "?v=1&page=experiments&experiment=sharing")


def english(said: list[str], code: str) -> set[str]:
    """The words of Streamlit among what is said, but for those that are the same in the language."""
    set_language(code)
    same = {text for text in WORDS if WORDS[text] == text}
    set_language(WRITTEN)
    plain = [text for text in WORDS if "{" not in text and text not in same]
    filled = [re.compile(re.sub(r"\\\{\w+\\\}", ".+", re.escape(text))) for text in WORDS if "{" in text]
    return {text for text in said if text in plain or any(each.fullmatch(text) for each in filled)}


def seen(page: Any, app: Any, code: str) -> list[str]:
    """What Streamlit says on some pages, with its menu open on one of them and a list that finds nothing."""
    said: list[str] = []
    for at in PAGES:
        go_to(page, f"{app.url}/{at}&lang={code}")
        page.locator(f"html[lang={tag(code)}]").wait_for(state="attached")
        said += page.evaluate(SAID)
    field = page.locator(".stSelectbox input").first
    field.fill("zzzz")
    page.locator("[role=option]").first.wait_for()
    said += page.evaluate(SAID)
    page.keyboard.press("Escape")
    page.locator("[data-testid=stMainMenuButton]").click()
    page.locator("[data-testid=stMainMenuList]").wait_for()
    said += page.evaluate(SAID)
    page.keyboard.press("Escape")
    return said


@for_each("code", OTHERS)
def test_no_english_of_streamlit_is_left(code: str, new_page: Callable[..., Any], app: Any) -> None:
    assert english(seen(new_page(locale="en-GB", instead=True), app, code), code) == set()


def test_streamlit_has_the_words_that_are_looked_for(new_page: Callable[..., Any], app: Any) -> None:
    """They are Streamlit's own and may change with it: then they would be English again, unseen by others."""
    found = english(seen(new_page(locale="en-GB"), app, WRITTEN), "zh")
    wanted = {"Upload", "5MB per file", "file upload", "No results", "Main menu", "Light", "Dark", "Print", "Sidebar"}
    wanted |= {"Choose an option", "Increment", "Decrement", "Collapse sidebar", "Skip to main content", "Fullscreen"}
    assert wanted - found == set()


def test_a_switch_of_the_language_says_them_in_the_next_and_in_english_again(
    new_page: Callable[..., Any], app: Any
) -> None:
    page = new_page(locale="en-GB")
    go_to(page, f"{app.url}/?v=1&page=data&lang=zh")
    menu = page.locator("[data-testid=stMainMenuButton]")
    turns = {"": "主菜单", "Deutsch": "Hauptmenü", "English": "Main menu", "Español": "Menú principal"}
    for name, word in turns.items():
        if name:
            page.locator(".st-key-languages").get_by_role("button").first.click()
            page.get_by_role("menuitem", name=name, exact=True).click()
        wait_until(page, lambda word=word: menu.get_attribute("aria-label") == word)  # type: ignore[misc]


@for_each("code", LANGUAGES)
def test_on_a_phone_the_parts_of_a_place_are_not_under_the_menu_of_languages(
    code: str, new_page: Callable[..., Any], app: Any
) -> None:
    page = new_page(locale="en-GB", viewport={"width": 390, "height": 844}, instead=True)
    for at in ("page=compare", "panel=what_if", "page=lessons", "page=assign"):
        go_to(page, f"{app.url}/?v=1&{at}&lang={code}")
        menu = page.locator(".st-key-languages").bounding_box()
        for button in page.locator("[class*=st-key-pick-part] button").all():
            box = button.bounding_box()
            beside = box["x"] + box["width"] <= menu["x"] or box["y"] >= menu["y"] + menu["height"]
            assert beside
            assert box["x"] + box["width"] <= 390
