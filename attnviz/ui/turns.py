"""Runs of the page take turns.

Python computes on one processor at a time. If thirty visitors move at once and all runs share it, every one of them
waits until nearly the end; one after the other, half of them wait half as long, and changing between threads costs
nothing. A run that takes long is passed by, so that a large setting holds up nobody but itself.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

LONG = 0.25  # seconds for which a run has the processor to itself while others wait


class Turns:
    """Whose turn it is: one at a time, unless that one takes long.

    >>> turns = Turns()
    >>> with turns.one():
    ...     "mine"
    'mine'
    """

    def __init__(self, long: float = LONG) -> None:
        self._long = long
        self._door = threading.Lock()  # behind it all wait but the next
        self._changed = threading.Condition()
        self._whose: object | None = None

    @contextmanager
    def one(self) -> Iterator[None]:
        """Wait for a turn, and give it back at the end of the block, however that ends."""
        with self._door, self._changed:
            self._changed.wait_for(lambda: self._whose is None, self._long)
            mine = self._whose = object()
        try:
            yield
        finally:
            with self._changed:
                if self._whose is mine:  # nobody has passed by
                    self._whose = None
                    self._changed.notify()
