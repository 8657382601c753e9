"""Runs of the page take turns.

Python computes on one processor at a time. If thirty visitors move at once and all runs share it, every one of them
waits until nearly the end; one after the other, half of them wait half as long, and changing between threads costs
nothing. A run that takes long is passed by. Of those that need much memory there is one at a time, however long it
takes, as together they would not fit into the memory of a small host, or as many as there are processes for them;
whoever waits for that has no turn meanwhile.
Of those that open the page one at a time waits beside those that move in it: a class that comes by a link in one moment
has nothing yet to wait for, and whoever is at work would wait for all thirty of them.
The limiters of anyio and threading know no run that is passed by.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from attnviz.ui.hosting import counts

LONG = 0.25  # seconds for which a run has the processor to itself while others wait
POLLING = 0.5  # seconds after which one that waits for a large run looks whether it is still wanted


def _nothing() -> None:
    pass


@contextmanager
def _counted_wait() -> Iterator[None]:
    """Count who waits, and for how long."""
    began = time.monotonic()
    counts.add("attnviz_waiting")
    try:
        yield
    finally:
        counts.add("attnviz_waiting", -1)
        counts.add("attnviz_wait_seconds_total", time.monotonic() - began)


class RunQueue:
    """A queue of runs: one at a time, unless that one takes long.

    >>> turns = RunQueue()
    >>> with turns.turn():
    ...     "mine"
    'mine'
    """

    def __init__(self, long: float = LONG, polling: float = POLLING, large: int = 1) -> None:
        """Let so many large runs be at once."""
        self._long, self._polling = long, polling
        self._queue = threading.Lock()  # behind it all wait but the next
        self._openings = threading.Lock()  # and before that all that open the page but one
        self._changed = threading.Condition()
        self._owner: object | None = None
        self._here = threading.local()  # of the run in this thread: its turn, and whether it is the large one
        self.large_run_lock = threading.Lock() if large == 1 else threading.Semaphore(large)

    @contextmanager
    def turn(self, *, opens: bool = False, kind: str = "page") -> Iterator[None]:
        """Wait for a turn, and give it back at the end of the block, however that ends.

        opens  whether the run opens the page for a visitor who sees nothing of it yet
        kind   what it is for, by its name in `counts.KINDS`
        """
        counts.add("attnviz_runs_total", label=kind)
        with _counted_wait(), self._openings if opens else nullcontext():
            self._acquire()
        try:
            yield
        finally:
            if getattr(self._here, "is_large", False):
                self._here.is_large = False
                self.large_run_lock.release()
            self._release()
            self._here.turn = None

    @contextmanager
    def away(self) -> Iterator[None]:
        """Give the turn back, if there is one, for what is computed in another process, and take another at the end."""
        has_turn = getattr(self._here, "turn", None) is not None
        if has_turn:
            self._release()
        try:
            yield
        finally:
            if has_turn:
                self._acquire()

    def enter_large(self, waiting: Callable[[], object] = _nothing) -> None:
        """Wait until no other large run is left, and be the large one until the turn ends; once is enough.

        The turn is given back while waiting, and taken again. `waiting` is called now and then; what it raises ends it.
        """
        if getattr(self._here, "is_large", False):
            return
        if not self.large_run_lock.acquire(blocking=False):
            self._release()
            with _counted_wait():
                while not self.large_run_lock.acquire(timeout=self._polling):
                    waiting()
                self._here.is_large = True
                self._acquire()
        self._here.is_large = True

    @contextmanager
    def alone(self, waiting: Callable[[], object] = _nothing) -> Iterator[None]:
        """Be the only large computation, outside of any turn: for a file that is made while no page is run.

        `waiting` as in `enter_large`.
        """
        with _counted_wait():
            while not self.large_run_lock.acquire(timeout=self._polling):
                waiting()
        try:
            yield
        finally:
            self.large_run_lock.release()

    def _acquire(self) -> None:
        with self._queue, self._changed:
            self._changed.wait_for(lambda: self._owner is None, self._long)
            self._here.turn = self._owner = object()

    def _release(self) -> None:
        with self._changed:
            if self._owner is self._here.turn:  # nobody has passed by
                self._owner = None
                self._changed.notify()
