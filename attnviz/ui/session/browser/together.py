"""Components that are drawn together: what each of them shows is kept, for one element of a page and one message."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

_run = threading.local()


class Drawn(NamedTuple):
    """A component that is drawn together with others: its name, and what it is to be drawn in.

    callbacks  by the names of what it says
    """

    name: str
    container: str
    is_isolated: bool
    callbacks: Mapping[str, Callable[[], None]]


@dataclass
class Together:
    """Several components that are one element of the page, and their data, for one message to the browser.

    key        of the message
    are_there  whether they are on the page already
    drawn      what each of them is, by its key
    parts      the data of each
    apart      what one of them leaves to a message of its own, by its key
    """

    key: str
    are_there: bool = False
    drawn: dict[str, Drawn] = field(default_factory=dict)
    parts: dict[str, bytes] = field(default_factory=dict)
    apart: dict[str, Any] = field(default_factory=dict)


@contextmanager
def as_one(key: str, *, are_there: bool = False) -> Iterator[Together]:
    """Keep the components that are drawn within it, for one element (`parts`) and for one message of their data."""
    _run.together = sent = Together(key, are_there)
    try:
        yield sent
    finally:
        _run.together = None


def leave_apart(key: str, make: Callable[[], Any]) -> Any:
    """Leave what `make` makes to a message of its own, and return it; None where there is none for it."""
    sent = current()
    if sent is None or sent.are_there:
        return None
    sent.apart[key] = made = make()
    return made


def is_there() -> bool:
    """Return whether what is drawn is on the page already, so that a browser has the words that belong to it."""
    sent = current()
    return sent is not None and sent.are_there


def current() -> Together | None:
    """Return what keeps the components that are drawn now; None where each is drawn by itself."""
    return getattr(_run, "together", None)
