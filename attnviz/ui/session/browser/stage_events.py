"""Events that the parts of the stage report, path, sentence, maps, answer, cards and mosaic: each has a kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from attnviz.ui.session.browser import component

KINDS = {
    "panel": "panel",  # a way to a panel below was taken
    "pair": "row? column?",  # two of the words above the mosaic, none where they were let go
    "open": "layer head?",  # a head of all layers, none for the feed-forward block
    "close": "head?",  # the answer; the head that is chosen again
    "pick": "stage head? row? column?",  # a cell of a map; a whole row or column by its word
    "lines": "is_on",  # all lines of the answer were asked for, or put away
    "key": "key",  # another key in the answer
    "focus": "head?",  # a head is to be shown alone, none for all of them
    "card": "head",  # a head by its card
    "scale": "",  # of the colours
    "show": "stage",  # a step was turned to
    "pin": "is_on",
    "word": "query",  # a word of the sentence
    "window": "row column",  # where a long text is shown from
    "whole": "",  # the stages of a run are not at their address
}
"""The fields of each kind, those with a ? may be none; in the order in which events without a number apply."""
LARGEST, LONGEST = 10**6, 40


@dataclass(frozen=True)
class Event:
    """An event; positions count from 0, and `row` and `column` among what is shown. Only fields of its kind are set.

    number  by which it comes after others that one run hears of; 0 where nothing says when it came
    """

    kind: str
    panel: str = ""
    stage: str = ""
    layer: int = 0
    head: int | None = None
    query: int | None = None
    key: int | None = None
    row: int | None = None
    column: int | None = None
    is_on: bool = False
    number: int = field(default=0, compare=False)


def heard(*keys: str) -> list[Event]:
    """Return what the components of these keys have reported since the last run, in the order in which it came.

    What has no number comes first, in the order of `KINDS`; of a kind, that of the last key that is named comes last.
    """
    said = (read(each) for key in keys for each in component.events(key))
    return sorted(filter(None, said), key=lambda event: (event.number, list(KINDS).index(event.kind)))


def last(kind: str, key: str) -> Event | None:
    """Return what the component of a key has reported last of a kind since the last run; None as a rule."""
    return next((event for event in reversed(heard(key)) if event.kind == kind), None)


def read(said: Any) -> Event | None:
    """Read an event from a browser, which may say anything; None where it is none of a kind, or its fields are not."""
    kind = said.get("kind") if isinstance(said, Mapping) else None
    if not isinstance(kind, str) or kind not in KINDS:
        return None
    fields = {name: said.get(name.rstrip("?")) for name in KINDS[kind].split()}
    if not all(_fits(name, value) for name, value in fields.items()):
        return None
    event, number = Event(kind, **{name.rstrip("?"): value for name, value in fields.items()}), said.get("number")
    return replace(event, number=number) if type(number) is int else event


def _fits(name: str, value: Any) -> bool:
    match value:
        case None:
            return name.endswith("?")
        case bool():
            return name == "is_on"
        case str():
            return name in ("panel", "stage") and 0 < len(value) <= LONGEST and value.isprintable()
        case int():
            return name.rstrip("?") not in ("panel", "stage", "is_on") and 0 <= value < LARGEST
    return False
