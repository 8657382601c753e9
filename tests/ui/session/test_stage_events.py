"""Events of the stage as a browser reports them: what is read of them, and in which order they apply."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import streamlit
from hypothesis import given
from hypothesis import strategies as st

import attnviz
from attnviz.ui.components.pickers import next_word_link
from attnviz.ui.session.browser.stage_events import KINDS, LARGEST, LONGEST, Event, heard, last, read
from tests.support.cases import for_each
from tests.support.events import event

UI = Path(attnviz.__file__).parent / "ui"
GOOD = {"panel": "owed_to", "stage": "weights", "is_on": True}
STATES = {"held", "swept", "edited", "cells"}
"""What is no click on the stage but changes the setting: by a hand in the maps or the sentence, a value, a mask."""
ODD = (-1, 1.0, "1", True, LARGEST, 10**400, [0], {}, float("nan"))


def fields(kind: str) -> dict[str, Any]:
    """What a browser says beside the kind."""
    return {name.rstrip("?"): GOOD.get(name, 2) for name in KINDS[kind].split()}


@for_each("kind", KINDS)
def test_an_event_of_each_kind_is_read_with_its_fields_and_no_others(kind: str) -> None:
    others = {"layer": 7, "head": 7, "query": 7, "key": 7, "row": 7, "column": 7, "is_on": True, "more": 7}
    assert read({"kind": kind} | others | fields(kind)) == Event(kind, **fields(kind))


@for_each("kind, name", [(kind, name) for kind, names in KINDS.items() for name in names.split()])
def test_a_field_that_is_not_there_or_is_no_position_makes_it_none(kind: str, name: str) -> None:
    said, field = {"kind": kind} | fields(kind), name.rstrip("?")
    without = {other: value for other, value in said.items() if other != field}
    assert (read(without) is not None) == (read(without | {field: None}) is not None) == name.endswith("?")
    odd = {"is_on": (0, 1, "true", [True]), "panel": (), "stage": ()}.get(field, ODD)
    for value in (*odd, *(("", "x" * (LONGEST + 1), "\ud800", "a\0", 3, ["x"]) if field in ("panel", "stage") else ())):
        assert read(said | {field: value}) is None, (field, value)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from([*KINDS]),
    lambda each: st.lists(each) | st.dictionaries(st.text() | st.sampled_from(["kind", *GOOD, "head", "row"]), each),
)


@given(ANYTHING)
def test_a_browser_may_say_anything(said: Any) -> None:
    found = read(said)
    assert found is None or (isinstance(said, dict) and said["kind"] == found.kind)


def test_what_is_reported_at_once_comes_in_one_order_wherever_it_was_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    said = [event(kind, **fields(kind))["event"] for kind in reversed(KINDS)]
    state = {"maps": {"event": said[1:]}, "answer": {"event": said[0]}, "odd": 3, "odder": {"event": [[], "x", None]}}
    state["path"] = event("show", stage="queries")
    monkeypatch.setattr(streamlit, "session_state", state)
    kinds = [each.kind for each in heard("answer", "odder", "maps", "odd")]
    assert kinds == [*KINDS]
    for keys, wins in ((("maps", "path"), "queries"), (("path", "maps"), "weights")):
        assert [each.stage for each in heard(*keys) if each.kind == "show"][-1] == wins
    assert last("show", "maps") == Event("show", stage="weights")
    assert last("show", "answer") is last("show", "none") is None
    state["twice"] = {"event": [{"kind": "word", "query": query} for query in (1, 2)]}
    assert last("word", "twice") == Event("word", query=2)
    monkeypatch.setattr(streamlit, "session_state", {"maps": {"event": [event("scale")["event"]] * 10**6}})
    assert len(heard("maps")) < 100


def test_scripts_report_the_kinds_that_are_read_with_their_fields_and_no_others() -> None:
    types = (UI / "types.d.ts").read_text("utf-8").partition("export type StageEvent =")[2].partition(";\n\n")[0]
    typed: dict[str, str] = {}
    for kinds, others in re.findall(r"\| \{ kind: ([^;}]+?)(?: \}|; (.*) \})", types):
        names = [f"{name}?" if "null" in of else name for name, of in re.findall(r"(\w+): ([^;]+)", others)]
        typed |= dict.fromkeys(re.findall(r'"(\w+)"', kinds), " ".join(names))
    assert typed == KINDS
    scripts = " ".join(path.read_text("utf-8") for path in (UI / "components").rglob("*.js"))
    reported = {*re.findall(r'\("event", \{ kind: "(\w+)"', scripts)}
    ways = json.loads(next_word_link.packed("a", "1 %"))["ways"]
    assert reported | {way["event"]["kind"] for way in ways} == {*KINDS}
    assert all(read(way["event"]) for way in ways)
    names = {*re.findall(r'(?:setTriggerValue|this\.report)\("(\w+)"', scripts)}
    assert names == {"event", "pointed", *STATES}, (
        "of the strip alone is what is pointed at, and nothing follows from it"
    )
