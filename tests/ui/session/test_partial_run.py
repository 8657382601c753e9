"""The part of the page that runs alone: when the whole page is run instead, and what a session keeps of a run."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from typing import Any

import pytest
import streamlit as st

from attnviz import Config, run
from attnviz.engine.records.trace import Trace
from attnviz.ui import main
from attnviz.ui.session import partial_run, session_state, widgets
from attnviz.ui.session.browser import component
from attnviz.ui.session.selection import Selection

TASK = "tom red ann blue joe gold eve pink ann"
CONFIG, SELECTION = Config(sentence="the cat sat"), Selection(head=1, query=2, key=0)


class WholePageRunError(Exception):
    """The whole page is run."""


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> partial_run._Part:
    """A part that was drawn with the whole page, in a session that holds what was drawn."""

    def rerun() -> None:
        raise WholePageRunError

    monkeypatch.setattr(partial_run.st, "rerun", rerun)
    monkeypatch.setattr(session_state, "resume", lambda: None)
    monkeypatch.setattr(session_state, "saved", lambda *_: (CONFIG, SELECTION))
    monkeypatch.setattr(session_state, "write", lambda *_: ())
    drawn = partial_run._Part(
        CONFIG,
        run(CONFIG),
        SELECTION,
        compute=run,
        page=lambda _, selection: replace(selection, key=1),
        is_enough=lambda *_: True,
        after_move=lambda *_: None,
        are_numbers=lambda *_: False,
    )
    partial_run._draw(drawn)
    assert drawn.selection == replace(SELECTION, key=1)
    return drawn


def test_a_choice_runs_the_part_with_what_was_saved(part: partial_run._Part) -> None:
    shown: list[Any] = []

    def page(trace: Trace, selection: Selection) -> Selection:
        shown.append((trace.config, selection))
        return selection

    part.page = page
    partial_run._draw(part)
    assert shown == [(CONFIG, SELECTION)]
    assert part.selection == SELECTION


@pytest.mark.parametrize("left_out", [("Sentence",), ()])
def test_the_whole_page_is_run_where_something_outside_follows(
    left_out: tuple[str, ...], part: partial_run._Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_state, "write", lambda *_: left_out)
    part.is_enough = lambda config, selection: bool(left_out)
    with pytest.raises(WholePageRunError):
        partial_run._draw(part)
    assert part.selection == replace(SELECTION, key=1), "what was chosen has been heard"


@pytest.mark.parametrize("saved", [replace(CONFIG, seed=1), CONFIG])
def test_another_setting_and_one_that_is_refused_are_left_to_the_whole_page(
    saved: Config, part: partial_run._Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_state, "saved", lambda *_: (saved, SELECTION))
    part.compute = lambda config: None
    with pytest.raises(WholePageRunError):
        partial_run._draw(part)


def test_a_move_runs_the_part_where_nothing_else_follows(
    part: partial_run._Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved, ran, kept = replace(CONFIG, seed=1), list[str](), list[Any]()
    session: dict[str, Any] = {partial_run._PART: part}
    changed = 1
    monkeypatch.setattr(partial_run.st, "session_state", session)
    monkeypatch.setattr(partial_run.st, "rerun", ran.append)
    monkeypatch.setattr(partial_run.streamlit_private, "is_served", lambda: True)
    monkeypatch.setattr(partial_run.streamlit_private, "n_changed", lambda _: changed)
    monkeypatch.setattr(session_state, "are_widgets_told", lambda: True)
    monkeypatch.setattr(session_state, "keep", lambda *records: kept.append(records))
    partial_run.moved("seed")
    assert not ran, "more follows from it"
    part.after_move = lambda config, name: replace(config, **{name: 1})
    part.is_enough = lambda config, selection: config != moved
    partial_run.moved("seed")
    assert not ran, "the setting it leads to is one for the whole page"
    part.is_enough, changed = lambda *_: True, 2
    partial_run.moved("seed")
    assert not ran, "another widget was used, too"
    changed = 1
    partial_run.moved("seed")
    assert (ran, kept, part.config) == ([partial_run.KEY], [(moved, SELECTION)], moved)
    partial_run.moved("seed")
    assert len(ran) == 1, "the part is of another setting than the session"
    part.config, part.are_numbers = CONFIG, lambda after, name, selection: (after, name) == (moved, "seed")
    partial_run.moved("seed")
    assert ran[1:] == [partial_run.NUMBERS], "nothing but numbers follows"
    part.config, part.is_whole = CONFIG, False
    partial_run.moved("seed")
    assert ran[2:] == [partial_run.KEY], "another request has ended its last run, before a panel was there"
    part.config, part.is_whole = CONFIG, True
    session[component._HEARD] = {"explore": {}}
    partial_run.moved("seed")
    assert ran[3:] == [partial_run.KEY], "a click waits to be heard"
    partial_run.begin()
    part.config = CONFIG
    partial_run.moved("seed")
    assert len(ran) == 4, "the whole page may have another part, or none"


def test_more_follows_where_heads_begin_to_learn_or_a_list_offers_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main.sweep, "is_moving", lambda: False)
    session: dict[str, Any] = {"seed": 1, "learn_steps": 100, "d_model": 24}
    monkeypatch.setattr(widgets.st, "session_state", session)
    task = Config(initialiser="learned", task="recall", n_heads=1, sentence=TASK, learn_steps=0)
    assert main._after_move(CONFIG, "seed") == replace(CONFIG, seed=1)
    assert main._after_move(task, "learn_steps") is None
    assert main._after_move(replace(CONFIG, d_model=32), "d_model") == replace(CONFIG, d_model=24)
    assert main._after_move(replace(CONFIG, d_model=23), "d_model") is None, "the stop of a link is there no more"


def test_numbers_are_drawn_with_the_part_and_then_alone(
    part: partial_run._Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn, fragments, keys = list[Any](), list[Any](), list[str]()
    session: dict[str, Any] = {}
    monkeypatch.setattr(partial_run.st, "session_state", session)
    monkeypatch.setattr(
        partial_run.st, "fragment", lambda draw, key: (fragments.append(draw), keys.append(key), draw)[-1]
    )
    partial_run.numbers(lambda: drawn.append("first"), lambda trace, selection: drawn.append((trace.config, selection)))
    assert (drawn, keys) == (["first"], [partial_run.NUMBERS])
    with pytest.raises(WholePageRunError):  # the part is no longer on the page
        fragments[0]()
    session[partial_run._PART] = part
    fragments[0]()
    assert drawn[1:] == [(CONFIG, SELECTION)]
    assert part.selection == SELECTION


def test_a_part_is_not_whole_until_all_of_it_is_drawn(part: partial_run._Part, monkeypatch: pytest.MonkeyPatch) -> None:
    assert part.is_whole
    seen = list[bool]()
    part.page = lambda _, selection: (seen.append(part.is_whole), selection)[-1]
    partial_run._draw(part)
    assert (seen, part.is_whole) == ([False], True)

    def ended(*_: object) -> Selection:
        raise WholePageRunError

    part.page = ended
    with pytest.raises(WholePageRunError):
        partial_run._draw(part)
    assert not part.is_whole


@pytest.mark.slow
def test_a_session_keeps_no_run(part: partial_run._Part) -> None:
    kept: list[weakref.ref[Trace]] = []

    def compute(config: Config) -> Trace:
        trace = run(config)
        kept.append(weakref.ref(trace))
        return trace

    part.compute = compute
    partial_run._draw(part)
    gc.collect()
    assert part.fresh is None
    assert [each() for each in kept] == [None]


def test_a_run_of_the_page_that_another_ends_at_once_leaves_no_part_to_run_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def end() -> None:
        raise TimeoutError

    monkeypatch.setattr(main, "offer_models", end)
    monkeypatch.setattr(st, "session_state", {partial_run._PART: "of the run before"})
    with pytest.raises(TimeoutError):
        main.page()
    assert st.session_state == {}
