"""The setting that a link pins, which may say anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest

from attnviz import Config, run
from attnviz.engine.pretrained.model_registry import MODELS
from attnviz.engine.records.offered_models import FORMER
from attnviz.models import boxed, hosting
from attnviz.settings import url_codec
from attnviz.ui.pages import held_fields, pinned
from attnviz.ui.pages.stage_reducer import reduce
from attnviz.ui.session.browser.stage_events import Event
from attnviz.ui.session.selection import LONGEST_PINNED, Selection

BEFORE = Config(sentence="a & b = #c", n_heads=2, temperature=0.5)
SELECTION = Selection(shown="queries", head=1, query=2, colours="common")


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the page says of the pin."""
    found: dict[str, Any] = {"notices": []}
    monkeypatch.setattr(pinned, "notice", lambda text, **_: found["notices"].append(text))
    return found


@pytest.fixture
def offered() -> Iterator[None]:
    yield
    MODELS.clear()
    FORMER.clear()


def test_a_link_pins_the_setting_that_was_shown_whatever_is_shown_after_it(said: dict[str, Any]) -> None:
    trace = run(BEFORE)
    kept = reduce(SELECTION, Event("pin", is_on=True), trace)
    (now, selection), problems = url_codec.open_link(url_codec.query_string(Config(), kept), Config, Selection)
    assert (now, selection, problems) == (Config(), kept, [])
    address = pinned.address(selection, held_fields.of_run(run(now), selection))
    assert address is not None
    path, _, query = address.partition("?")
    asked = dict(parse_qsl(query))
    (config, looked_at), problems = url_codec.decode(asked, Config, Selection)
    assert (path, config, problems) == ("attnviz/stage", BEFORE, [])
    assert looked_at == replace(SELECTION, head=None, query=None, lang="en"), "no cell that was chosen meanwhile"
    assert asked["__edition"]
    assert reduce(kept, Event("pin", is_on=False), trace) == SELECTION


def test_what_cannot_be_shown_is_said_and_not_asked_for(said: dict[str, Any]) -> None:
    follow = held_fields.of_run(run(Config()), SELECTION)
    for text in ("temperature=-1", "n_heads=x", "what=3", "n_heads=2&n_heads=3&d_k=99", "=&&;", "\u202e%00"):
        address = pinned.address(replace(SELECTION, pinned=text), follow)
        (config,), problems = url_codec.decode(dict(parse_qsl(text)), Config)
        assert (address is None) == bool(problems), text
        assert address is None or config == Config()
    assert len(said["notices"]) > 2
    assert all(text.startswith("What the link pins cannot be shown: ") for text in said["notices"])
    assert pinned.address(replace(SELECTION, pinned="seed=3"), None) is None, "numbers that were brought along"
    long = run(Config(sentence="é" * 390))
    assert len(urlencode(url_codec.encode(long.config))) > LONGEST_PINNED
    assert reduce(SELECTION, Event("pin", is_on=True), long).pinned == "", "no link has room for it"


def test_a_pin_with_weights_that_were_shipped_before_shows_the_present_ones_and_says_so(
    said: dict[str, Any], offered: None
) -> None:
    hosting.offer_those_in_the_package()
    former, here = boxed.card("small")["former"][0][:8], f"small~{MODELS['small'].digest}"
    follow = held_fields.of_run(run(Config()), SELECTION)
    address = pinned.address(replace(SELECTION, pinned=f"sentence=the+king&model=small~{former}"), follow)
    assert address is not None
    assert dict(parse_qsl(address.partition("?")[2]))["model"] == here
    assert said["notices"] == [f"Model small~{former} has been trained further; the numbers are those of {here}."]
