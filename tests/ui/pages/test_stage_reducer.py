"""What follows from each kind of event, from the selection before it and the run: no page is needed for that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import streamlit
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import Config, run
from attnviz.engine.records.trace import Trace
from attnviz.text import opening_sentence
from attnviz.ui.pages.stage_reducer import reduce
from attnviz.ui.panels import window
from attnviz.ui.session.browser.stage_events import KINDS, Event
from attnviz.ui.session.selection import Selection, within
from tests.support.cases import for_each

TRACE = run(Config(sentence="the cat sat on it", n_heads=2, n_layers=2, d_k=4, d_v=4))
ONE_HEAD = run(Config(sentence="the cat sat", n_heads=1))
LONG = run(Config(sentence=" ".join(f"w{n}" for n in range(100)), n_heads=2, max_tokens=100))
BEFORE = Selection(head=1, query=3, key=2, dimension=1)
EVERY = replace(BEFORE, every=True)


@pytest.fixture(autouse=True)
def pure(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A test that a session is asked for fails."""
    with monkeypatch.context() as patched:
        patched.setattr(streamlit, "session_state", None)
        yield


def pick(stage: str, head: int | None = None, row: int | None = None, column: int | None = None) -> Event:
    return Event("pick", stage=stage, head=head, row=row, column=column)


NO_CELL: dict[str, Any] = {"query": None, "key": None, "dimension": None}
NUMBER: dict[str, Any] = NO_CELL | {"entry": 3}
CELL: dict[str, Any] = {"head": 0, "query": 4, "key": 3, "dimension": None}
OF_NUMBER = Selection(head=1, query=3, number_of="queries", entry=2)
CASES: list[tuple[Selection, Event, dict[str, Any]]] = [
    (EVERY, Event("panel", panel="owed_to"), {"panel": "owed_to", "every": False}),
    (EVERY, Event("panel", panel="next_word"), {"panel": "next_word", "every": False}),
    (EVERY, Event("panel", panel="mask"), {}),
    (EVERY, Event("pair", row=4, column=0), {"head": None, "query": 4, "key": 0, "dimension": None}),
    (EVERY, Event("pair"), NO_CELL | {"head": None}),
    (EVERY, Event("pair", row=5, column=0), {}),
    (BEFORE, Event("pair", row=4, column=0), {}),
    (EVERY, Event("open", layer=1, head=0), {"every": False, "layer": 1, "head": 0, "focus": 0}),
    (
        replace(EVERY, key=None, shown="queries"),
        Event("open", layer=1, head=0),
        {"every": False, "layer": 1, "head": None, "focus": 0, "shown": "weights"},
    ),
    (BEFORE, Event("open", layer=1), {"layer": 1, "head": None, "focus": None, "shown": "ff_output"}),
    (BEFORE, Event("open", layer=2, head=0), {}),
    (BEFORE, Event("open", layer=1, head=2), {}),
    (
        replace(BEFORE, panel="owed_to"),
        Event("open", layer=1, head=1),
        {"layer": 1, "head": None, "focus": 1, "query": 4, "key": None, "dimension": None},
    ),
    (replace(EVERY, panel="owed_to"), Event("open", layer=1, head=1), {"every": False, "layer": 1, "focus": 1}),
    (
        replace(BEFORE, panel="many"),
        pick("many", 0, 1, 0),
        {"layer": 1, "head": 0, "focus": 0},
    ),
    (BEFORE, pick("many", 0, 1, 0), {}),
    (BEFORE, Event("close"), {**NO_CELL, "head": None}),
    (BEFORE, Event("close", head=0), {**NO_CELL, "head": 0}),
    (BEFORE, Event("close", head=2), {}),
    (BEFORE, pick("scores", 0, 4, 1), {"head": 0, "query": 4, "key": 1, "dimension": None}),
    (replace(BEFORE, focus=1), pick("weights", 0, 4, 1), {"query": 4, "key": 1, "dimension": None}),
    (BEFORE, pick("weights", None, 4), {"head": None, "query": 4, "key": None, "dimension": None}),
    (BEFORE, pick("weights", None, None, 4), {"head": None, "query": None, "key": 4, "dimension": None}),
    (BEFORE, pick("heads", 0, 4, 3), {"head": 0, "query": 4, "key": None, "dimension": 3}),
    (BEFORE, pick("heads", None, 4), {"query": 4, "key": None, "dimension": None}),
    (BEFORE, pick("heads", None, None, 3), {}),
    (
        replace(BEFORE, shown="queries"),
        pick("queries", 0, 4, 3),
        NUMBER | {"head": 0, "query": 4, "number_of": "queries"},
    ),
    (replace(BEFORE, shown="queries"), pick("keys", 0, 4, 3), NUMBER | {"head": 0, "key": 4, "number_of": "keys"}),
    (replace(BEFORE, shown="queries"), pick("keys", 0, 4), {"key": 4}),
    (replace(BEFORE, shown="embedded"), pick("embedded", 0, 4, 3), NUMBER | {"query": 4, "number_of": "embedded"}),
    (replace(BEFORE, shown="token_embeddings"), pick("token_embeddings", 0, 4, 3), {"head": 0, "query": 4}),
    (replace(OF_NUMBER, number_of="w_q"), Event("word", query=3), {"query": None, "dimension": None, "number_of": ""}),
    (OF_NUMBER, Event("open", layer=1, head=0), {"head": None, "focus": 0, "layer": 1, "number_of": ""}),
    (OF_NUMBER, Event("card", head=0), {"head": 0, "focus": 0, "number_of": ""}),
    (OF_NUMBER, Event("focus", head=0), {"focus": 0}),
    (replace(OF_NUMBER, shown="queries"), pick("scores", 0, 4, 3), CELL | {"number_of": ""}),
    (OF_NUMBER, Event("word", query=3), {"dimension": None, "number_of": ""}),
    (OF_NUMBER, Event("close", head=1), NO_CELL | {"number_of": ""}),
    (BEFORE, pick("queries", 0, 4, 3), {}),
    (BEFORE, pick("weights", 0, 5, 0), {}),
    (replace(BEFORE, panel="mask"), Event("lines", is_on=True), {"panel": "cell", "all_lines": True}),
    (replace(BEFORE, panel="table", all_lines=True), Event("lines"), {"all_lines": False}),
    (replace(BEFORE, all_lines=True), Event("close"), {**NO_CELL, "head": None, "all_lines": False}),
    (BEFORE, Event("key", key=4), {"key": 4, "dimension": None}),
    (replace(BEFORE, focus=0), Event("key", key=4), {"key": 4, "dimension": None}),
    (Selection(), Event("key", key=4), {}),
    (BEFORE, Event("key", key=5), {}),
    (
        Selection(query=3, head=1),
        Event("key", key=4),
        {"key": 4, "head": opening_sentence.telling(TRACE, 0, 1)[0]},
    ),
    (
        Selection(query=3),
        Event("key", key=4),
        {"key": 4, "head": opening_sentence.telling(TRACE, 0, None)[0]},
    ),
    (BEFORE, Event("focus", head=0), {"focus": 0}),
    (replace(BEFORE, focus=1), Event("focus"), {"focus": None}),
    (BEFORE, Event("focus", head=2), {}),
    (BEFORE, Event("card", head=0), {"focus": 0, "head": 0}),
    (BEFORE, Event("scale"), {"colours": "common"}),
    (replace(BEFORE, colours="common"), Event("scale"), {"colours": "apart"}),
    (BEFORE, Event("show", stage="queries"), {"shown": "queries"}),
    (BEFORE, Event("show", stage="logits"), {"panel": "next_word"}),
    (replace(BEFORE, pinned="seed=3"), Event("pin", is_on=False), {"pinned": ""}),
    (BEFORE, Event("word", query=3), {"key": None, "dimension": None}),
    (replace(BEFORE, key=None), Event("word", query=3), NO_CELL),
    (BEFORE, Event("word", query=1), {"query": 1, "key": None, "dimension": None}),
    (BEFORE, Event("word", query=5), {}),
    (BEFORE, Event("window", row=1, column=1), {}),
    (BEFORE, Event("whole"), {}),
    (BEFORE, Event("of no kind"), {}),
]


@for_each("before, event, changed", CASES)
def test_what_follows_from_an_event(before: Selection, event: Event, changed: dict[str, Any]) -> None:
    assert reduce(before, event, TRACE) == replace(before, **changed)


def test_every_kind_has_its_cases() -> None:
    assert {event.kind for _, event, _ in CASES} == {*KINDS, "of no kind"}


def test_what_is_pinned_is_the_setting_as_an_address() -> None:
    pinned = reduce(BEFORE, Event("pin", is_on=True), TRACE)
    assert "n_heads=2" in pinned.pinned.split("&")
    assert replace(pinned, pinned="") == BEFORE


def test_one_head_is_not_brought_forward() -> None:
    assert reduce(Selection(), Event("focus", head=0), ONE_HEAD) == Selection()
    assert reduce(Selection(), Event("card", head=0), ONE_HEAD) == Selection(head=0)


def test_of_a_long_text_what_is_picked_is_among_what_is_shown_and_the_window_stays() -> None:
    before = Selection(from_query=40, from_key=50)
    picked = reduce(before, pick("weights", 1, 3, 4), LONG)
    assert picked == replace(before, head=1, query=43, key=54)
    away = reduce(before, Event("word", query=99), LONG)
    assert (away.query, away.from_query, away.from_key) == (99, None, 50)
    assert window.seen(LONG, away).has(99)
    moved = reduce(before, Event("window", row=7, column=999), LONG)
    assert moved == replace(before, from_query=7, from_key=99)
    assert reduce(before, pick("weights", 1, 32, 4), LONG) == before
    for linked in (Selection(head=0, query=70, key=60), Selection(query=70), Selection(), Selection(query=5)):
        looked_at = replace(linked, shown="queries")
        seen = window.seen(LONG, looked_at)
        for event in (
            pick("keys", 0, 3, 1),
            pick("queries", 0, 3, 1),
            Event("close"),
            Event("word", query=seen.queries[9]),
        ):  # type: ignore[index]
            after = window.seen(LONG, reduce(looked_at, event, LONG))
            assert (after.queries, after.keys) == (seen.queries, seen.keys), "no map moves"
    away = window.seen(LONG, reduce(Selection(query=36), Event("word", query=95), LONG))
    assert away.queries == away.keys, "keys go with their queries"
    assert away.has(95)
    assert reduce(Selection(query=5), Event("close"), LONG).from_query is None, "at the beginning nothing is to be kept"


def _events(trace: Trace) -> st.SearchStrategy[Event]:
    at = st.integers(0, len(trace.query_tokens) + 2)
    some = st.none() | at
    return st.builds(
        Event, st.sampled_from([*KINDS]), st.sampled_from(["owed_to", "next_word", "mask"]),
        st.sampled_from(["weights", "scores", "heads", "queries", "off", "many", "logits", "x"]),
        st.integers(0, 3), some, some, some, some, some, st.booleans(),
    )  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_whatever_is_reported_leaves_a_selection_that_the_run_has(data: st.DataObject) -> None:
    trace = data.draw(st.sampled_from([TRACE, ONE_HEAD, LONG]))
    selection = Selection()
    for event in data.draw(st.lists(_events(trace), max_size=6)):
        selection = reduce(selection, event, trace)
        assert within(selection, trace) == selection, event
