"""Things made of the settings that were asked for last: they are asked for again while one number moves."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Made = TypeVar("Made")


class Kept(Generic[Made]):
    """Things that are made once for each key, and that nobody changes; beyond so many it begins anew.

    >>> kept = Kept[int](most=2)
    >>> kept.get("a", lambda: 1), kept.get("a", lambda: 2)
    (1, 1)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: dict[Hashable, tuple[Made]] = {}

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what was made for a key, or make it."""
        found = self._made.get(key)
        if found is None:
            found = (make(),)
            if len(self._made) >= self._most:
                self._made.clear()
            self._made[key] = found
        return found[0]
