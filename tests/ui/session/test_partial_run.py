"""The part of the page that runs alone: when the whole page is run instead, and what a session keeps of a run."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from typing import Any

import pytest

from attnviz import Config, run
from attnviz.engine.records.trace import Trace
from attnviz.settings import url_codec
from attnviz.ui.session import partial_run, session_state, widgets
from attnviz.ui.session.selection import Selection

pytestmark = pytest.mark.parts_run_alone

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
        partial_run._above(run(CONFIG)),
        run(CONFIG),
        SELECTION,
        compute=run,
        page=lambda _, selection: replace(selection, key=1),
        is_enough=lambda *_: True,
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


@pytest.mark.parametrize("name", ["notes", "query_tokens", "key_tokens"])
def test_a_run_of_which_something_else_is_told_above_is_left_to_the_whole_page(
    name: str, part: partial_run._Part
) -> None:
    part.above = partial_run._above(replace(run(CONFIG), **{name: ("another",)}))
    with pytest.raises(WholePageRunError):
        partial_run._draw(part)


class PartRunError(Exception):
    """The part is run alone."""


@pytest.fixture
def session(part: partial_run._Part, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A session in which the part is on the page, and the widgets say what is drawn."""

    def rerun(key: str) -> None:
        assert key == partial_run.KEY
        raise PartRunError

    held = {partial_run._DRAWN: part, "seed": CONFIG.seed, "sentence": CONFIG.sentence, "temperature": 1.0}
    monkeypatch.setattr(session_state, "_navigated", lambda: False)
    for module in (partial_run, session_state, widgets):
        monkeypatch.setattr(module.st, "session_state", held)
    monkeypatch.setattr(partial_run.st, "rerun", rerun)
    partial_run.accept_moves()
    return held


def test_a_number_that_moves_no_other_control_runs_the_part_with_it(
    part: partial_run._Part, session: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    session["seed"] = 7
    with pytest.raises(PartRunError):
        partial_run.move("seed")
    assert part.config == replace(CONFIG, seed=7)
    monkeypatch.undo()
    assert url_codec.decode(session["_address"], Config, Selection)[0] == (part.config, part.selection)


@pytest.mark.parametrize(
    ("name", "value", "others"),
    [
        pytest.param("seed", 7, {"sentence": "the dog sat"}, id="another widget says something new as well"),
        pytest.param("seed", 7, {"_unheard": (0.0, {})}, id="a value is on its way to a widget"),
        pytest.param("seed", 7, {partial_run._DRAWN: None}, id="another page"),
        pytest.param("n_heads", 6, {}, id="another list for the key and value heads"),
        pytest.param("temperature", 0, {}, id="a value that is refused"),
    ],
)
def test_other_moves_run_the_whole_page(
    name: str, value: float, others: dict[str, Any], part: partial_run._Part, session: dict[str, Any]
) -> None:
    session |= {name: value, **others}
    partial_run.move(name)
    assert part.config == CONFIG


def test_a_move_runs_the_whole_page_where_its_last_run_was_not_through(
    part: partial_run._Part, session: dict[str, Any]
) -> None:
    session["seed"] = 7
    part.accepts_moves = False
    partial_run.move("seed")
    partial_run.begin()
    partial_run.accept_moves()
    partial_run.move("seed")
    assert part.config == CONFIG


def test_a_move_beside_back_runs_the_whole_page(
    part: partial_run._Part, session: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_state, "_navigated", lambda: True)
    session["seed"] = 7
    partial_run.move("seed")
    assert part.config == CONFIG


def test_a_setting_for_which_the_part_is_not_enough_runs_the_whole_page(
    part: partial_run._Part, session: dict[str, Any]
) -> None:
    session["seed"] = 7
    part.is_enough = lambda config, selection: config.seed == CONFIG.seed
    partial_run.move("seed")
    assert part.config == CONFIG


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
