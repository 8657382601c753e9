"""Things made of the settings that were asked for last: they are asked for again while one number moves."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar
from weakref import WeakSet

Made = TypeVar("Made")

_all: WeakSet[Kept[Any]] = WeakSet()


class Kept(Generic[Made]):
    """Things that are made once for each key, and that nobody changes; beyond so many it begins anew.

    >>> kept = Kept[int](most=2)
    >>> kept.get("a", lambda: 1), kept.get("a", lambda: 2)
    (1, 1)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: dict[Hashable, tuple[Made]] = {}
        _all.add(self)

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what was made for a key, or make it."""
        found = self._made.get(key)
        if found is None:
            found = (make(),)
            if len(self._made) >= self._most:
                self._made.clear()
            self._made[key] = found
        return found[0]

    def clear(self) -> None:
        """Forget what was made."""
        self._made.clear()


def clear_all() -> None:
    """Forget whatever was made anywhere, as for a test in which the same is said in other words."""
    for kept in _all:
        kept.clear()
