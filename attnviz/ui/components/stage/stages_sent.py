"""The stages that the maps draw by their names: a run has sent them apart, or they are at their addresses.

What is chosen in them, and a run of what was handed out, does not send them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from threading import Event
from typing import Any, NamedTuple
from weakref import ReferenceType, ref

from attnviz.arrays import Array
from attnviz.pictures.answer.browser_facts import CellFacts
from attnviz.pictures.stage_bytes import NamedArray
from attnviz.ui.session.browser.component import component

UNNAMED = "0" * 16
MOST_WAITED = 0.25
"""Seconds in which what is being made has to come, as long as a run has its turn to itself."""
MOST_HANDED_OUT = 2000
"""Names that are kept, two of an answer, 1 MB; the route keeps some 900 answers."""

# It draws nothing: it keeps what the maps draw.
_component = component(__file__, is_isolated=False)


class SentApart(NamedTuple):
    """Stages with the numbers that explain their cells, packed, and their name: another one for others."""

    name: str
    data: bytes


def named(make: Callable[[Mapping[str, Any]], bytes]) -> SentApart:
    """Return packed stages with their name; `make` packs them with it at the beginning of their header."""
    data = make({"name": UNNAMED})
    name = blake2b(data, digest_size=len(UNNAMED) // 2).hexdigest()
    return SentApart(name, data.replace(UNNAMED.encode(), name.encode(), 1))


def send(stages: SentApart | None, *, key: str) -> None:
    """Send the stages of a run; None where a browser has them from elsewhere."""
    _component(key=key, data=b"" if stages is None else stages.data, height="content")


class AtAddress(NamedTuple):
    """Stages that a browser can have from their address: the name of what is there, and its arrays while they last."""

    name: str
    arrays: Mapping[str, ReferenceType[Array]]

    def shared(self, cells: CellFacts | None) -> list[str]:
        """Return the names of the numbers that explain a cell and are there: of the same run, and not masked."""
        return [name for name, (_, array) in (cells.arrays if cells else {}).items() if self.has(name, array)]

    def has(self, name: str, array: Array) -> bool:
        """Return whether an array is there under its name."""
        return name in self.arrays and self.arrays[name]() is array


class HandedOut:
    """The stages at addresses, by their names, and those that are on their way there."""

    def __init__(self) -> None:
        self._there: dict[str, AtAddress] = {}
        self._coming: dict[str, Event] = {}

    def note(self, names: Iterable[str], arrays: Mapping[str, NamedArray]) -> None:
        """Note what is at an address from now on, by its names."""
        kept = {each: ref(array) for each, (_, array) in arrays.items() if "." not in each}
        for name in names:
            self._there.pop(name, None)  # the last one is the last to go
            self._there[name] = AtAddress(name, kept)
        for oldest in [*self._there][:-MOST_HANDED_OUT]:
            self._there.pop(oldest, None)

    def get(self, name: str) -> AtAddress | None:
        """Return what was handed out under a name; None if nothing was."""
        return self._there.get(name)

    def has(self, name: str) -> bool:
        """Return whether something was handed out under a name; wait for it where it is being made."""
        made = self._coming.get(name)
        if made is not None:
            made.wait(MOST_WAITED)
        return name in self._there

    @contextmanager
    def coming(self, name: str) -> Iterator[None]:
        """Note that something is being made: a run of the same setting that comes meanwhile need not send it."""
        self._coming[name] = made = Event()
        try:
            yield
        finally:
            self._coming.pop(name, None)
            made.set()

    def clear(self) -> None:
        """Forget all, as for a test of a page that has asked for nothing."""
        self._there.clear()
