"""A sweep lays what it has reached out as small maps: one that is pointed at is on the stage, a press keeps it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from attnviz import Config
from attnviz.ui.panels.sweep import TEMPERATURES
from tests.browser.stage.test_words_by_hand import OF_STAGES, Line, must_show, says, shows
from tests.browser_idle import QUIET

pytestmark = pytest.mark.browser


def test_the_values_that_a_sweep_has_reached_are_moved_over_and_kept(browser_page: Any, app: Any) -> None:
    page = browser_page
    line = Line(page, app.url, sentence="a king saw his queen")
    assert page.locator(".attn-values button").count() == 0
    page.get_by_role("button", name="▶ Temperatures").first.click()
    strip = page.locator(".attn-values button:not(.all)")
    strip.nth(2).wait_for()
    page.get_by_role("button", name="■ Temperature").first.click()
    page.wait_for_url(lambda url: line.linked(url).temperature in TEMPERATURES[2:])
    page.evaluate(QUIET)
    reached = line.linked()
    assert shows(page, reached), "field, link and picture say the same"
    values = [float(value) for value in strip.all_inner_texts()]
    # One that was through before a slow browser had drawn it was not seen, and is not laid out.
    assert values == [each for each in TEMPERATURES[: TEMPERATURES.index(reached.temperature) + 1] if each in values]
    assert values[-1] == reached.temperature
    for at in (0, 1):
        strip.nth(at).hover()
        pointed = replace(reached, temperature=values[at])
        must_show(page, pointed)
        says(page, pointed, faded=OF_STAGES)
        handle = page.locator(".attn-knob[data-knob=temperature] b")
        assert handle.is_visible()
        assert handle.inner_text() == str(values[at])
    assert line.linked() == reached
    page.mouse.move(5, 5)
    must_show(page, reached)
    says(page, reached)
    strip.nth(len(values) - 1).focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    kept = replace(reached, temperature=values[-3])
    must_show(page, kept)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: line.linked(url) == kept)
    page.evaluate(QUIET)
    page.mouse.move(5, 5)
    assert shows(page, Config(sentence="a king saw his queen", n_heads=2, temperature=kept.temperature))
    page.get_by_role("button", name="close").click()
    page.wait_for_function("document.querySelector('.attn-values').hidden")


def test_on_a_phone_the_setting_gives_way_to_what_moves(browser_page: Any, app: Any) -> None:
    page = browser_page
    page.set_viewport_size({"width": 390, "height": 844})
    Line(page, app.url, sentence="a king saw his queen")
    page.locator("[data-testid=stExpandSidebarButton]").click()
    page.get_by_role("button", name="▶ Seeds").first.click()
    page.wait_for_function("document.querySelector('[data-testid=stSidebar]').getBoundingClientRect().right <= 0")
    page.locator(".attn-values button:not(.all)").nth(2).wait_for()
    page.locator("[data-testid=stExpandSidebarButton]").click()
    page.get_by_role("button", name="■ Seed").first.click()
    page.evaluate(QUIET)  # the buttons are where they are to stay
    page.get_by_role("button", name="▶ Temperatures").first.click()
    page.wait_for_function("document.querySelector('[data-testid=stSidebar]').getBoundingClientRect().right <= 0")


def test_where_it_is_closed_while_it_moves_is_the_setting(browser_page: Any, app: Any) -> None:
    page = browser_page
    line = Line(page, app.url, sentence="a king saw his queen")
    page.get_by_role("button", name="▶ Seeds").first.click()
    page.locator(".attn-values button:not(.all)").nth(2).wait_for()
    page.get_by_role("button", name="close").click()
    page.get_by_role("button", name="▶ Seeds").first.wait_for()
    page.evaluate(QUIET)
    assert line.linked().seed >= 3
    assert page.get_by_role("spinbutton", name="Seed").input_value() == str(line.linked().seed)
    assert shows(page, line.linked())
    assert page.locator(".attn-values").is_hidden()
