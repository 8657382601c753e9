"""Runs of the page take turns.

Python computes on one processor at a time. If thirty visitors move at once and all runs share it, every one of them
waits until nearly the end; one after the other, half of them wait half as long, and changing between threads costs
nothing. A run that takes long is passed by, so that a large setting holds up nobody but others that are large: of
those there is one at a time, however long it takes, as together they would not fit into the memory of a small host.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from attnviz.core.config import Config

LONG = 0.25  # seconds for which a run has the processor to itself while others wait
LARGE = 2**20  # scores and parameters, in numbers of 8 bytes; what is kept of them is several times as much


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
        self.of_the_large = threading.Lock()

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


def is_large(config: Config) -> bool:
    """Whether a setting has so many scores and parameters that its runs should not be together in memory.

    >>> is_large(Config()), is_large(Config(d_model=512, n_heads=16, d_k=64, n_layers=6))
    (False, True)
    """
    n = min(config.max_tokens, max(len(config.sentence), len(config.second_sentence)))
    scores = config.n_heads * n * n
    parameters = 4 * config.d_model * config.n_heads * max(*config.key_widths(), *config.value_widths())
    return config.n_layers * (scores + parameters) > LARGE
