"""Processes that compute what is large, so that the one that talks to browsers never does.

Each is a Python of its own with limits that the system sets: of memory, and of processor seconds for a job. One that
is ended by them concerns whoever waited for it, who is told why, and nobody else; another stands in its place. What
nobody waits for any more ends between two of its parts, or with its process.

`multiprocessing` and `concurrent.futures` begin a process by running the main module again, and under Streamlit that
is the script of the page, whoever's thread it happens in. They also end all processes of a pool where one is to end.
"""

from __future__ import annotations

import multiprocessing.connection
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from typing import Any, TypeVar

from attnviz.engine.cost import estimate as cost
from attnviz.engine.cost.need import MOST_SECONDS
from attnviz.engine.numerics import cancellation
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words, current_language
from attnviz.ui.hosting import counts

VARIABLE = "ATTNVIZ_WORKERS"
MOST = 64
PATIENCE = 10
"""Times its seconds of processor for which a job is waited for: the machine has much to do, or the process hangs."""
CAN_BE = find_spec("resource") is not None
"""Whether the system can set the limits, which Windows cannot."""
POLLING, ENDING = 0.1, 0.5
"""Seconds after which it is asked whether anybody still waits, and that a job has to end when nobody does."""
PROTOCOL = 5

WORDS = Words(
    {
        "variable": "{variable} is {given}; choose 0 to {most} processes for large computations",
        "slow": "This took more than {most} seconds of the processor, so it was ended here. Make the setting smaller.",
        "lost": "The process that computed this has ended before it was done, probably for want of memory. "
        "Try again, or make the setting smaller.",
    }
)
Made = TypeVar("Made")
Job = tuple[Callable[..., Any], tuple[Any, ...]]


class Ended(ConfigError):  # noqa: N818 - no fault of the program
    """A computation that was ended before it was done; it says why."""


class Worker:
    """A process that does one job after the other.

    first  what it does before all of them, such as to read the rows of a host's own
    """

    def __init__(self, n_bytes: int, seconds: int, first: Sequence[Job] = ()) -> None:
        self._seconds, self._first = seconds, list(first)
        command = [sys.executable, "-m", f"{__package__}.worker", str(n_bytes), str(seconds)]
        found = os.pathsep.join(filter(None, sys.path))
        self.process = subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": found}
        )

    def __call__(self, make: Callable[..., Made], *given: Any) -> Made:
        """Return what a function of a module gives, called there.

        Raises what it raises, Ended where it was ended, and what `cancellation.check` raises once nobody waits.
        """
        is_late = threading.Event()

        def give_up() -> None:
            is_late.set()
            self.process.kill()

        late = threading.Timer(PATIENCE * self._seconds, give_up)
        late.daemon = True
        late.start()
        try:
            while self._first:
                self._do(*self._first.pop(0))
            went_well, result = self._do(make, given)
        except (EOFError, OSError, pickle.UnpicklingError):
            is_slow = self.process.wait() == -signal.SIGXCPU or is_late.is_set()
            raise self._ended("slow" if is_slow else "lost") from None
        except BaseException:
            self._stop()
            raise
        finally:
            late.cancel()
        if isinstance(result, MemoryError):
            raise self._ended("lost")
        if not went_well:
            raise result
        made: Made = result
        return made

    def _ended(self, why: str) -> Ended:
        counts.add("attnviz_kills_total")
        return Ended(WORDS[why].format(most=self._seconds))

    def _do(self, make: Callable[..., Any], given: tuple[Any, ...]) -> tuple[bool, Any]:
        """Return whether a job went well, and its result or what it raised."""
        self._send((current_language(), make, given))
        while not self._has_answered(POLLING):
            cancellation.check()
        outcome: tuple[bool, Any] = pickle.load(self.process.stdout)  # type: ignore[arg-type]  # noqa: S301
        return outcome

    def _send(self, job: object) -> None:
        pickle.dump(job, self.process.stdin, PROTOCOL)  # type: ignore[arg-type]
        self.process.stdin.flush()  # type: ignore[union-attr]

    def _has_answered(self, seconds: float) -> bool:
        return bool(multiprocessing.connection.wait([self.process.stdout], seconds))  # type: ignore[list-item]

    def _stop(self) -> None:
        """Have the job end that nobody waits for: between two of its parts, or else with its process."""
        with suppress(OSError, EOFError, pickle.UnpicklingError):
            self._send(None)
            if self._has_answered(ENDING):
                pickle.load(self.process.stdout)  # type: ignore[arg-type]  # noqa: S301
                return
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        """End the process, if it has not ended, and let go of what it was spoken to by."""
        self.process.kill()
        with suppress(OSError), self.process:  # words that nobody reads any more
            pass


class Workers:
    """So many processes, each begun when it is first needed, and again when one has ended."""

    def __init__(self, n: int, n_bytes: int, seconds: int = MOST_SECONDS, first: Sequence[Job] = ()) -> None:
        self.n = n
        self._begun = partial(Worker, n_bytes, seconds, first)
        self._free: queue.LifoQueue[Worker | None] = queue.LifoQueue()
        for _ in range(n):
            self._free.put(None)

    def __call__(self, make: Callable[..., Made], *given: Any) -> Made:
        """Return what a function of a module gives, called in a process that is free, or here where there are none.

        It raises as `Worker` does.
        """
        if not self.n:
            return make(*given)
        worker = self._next()
        try:
            if worker is not None and worker.process.poll() is not None:
                worker.end()
                worker = None
            worker = worker or self._begun()
            return worker(make, *given)
        finally:
            self._free.put(worker)

    def _next(self) -> Worker | None:
        while True:
            with suppress(queue.Empty):
                return self._free.get(timeout=POLLING)
            cancellation.check()

    def end(self) -> None:
        """End those that are free; one that works ends by itself when its server is gone."""
        while not self._free.empty():
            worker = self._free.get_nowait()
            if worker is not None:
                worker.end()


def number(written: str) -> int:
    """Return how many processes there are to be, as a host has written it: 1 if nothing is, 0 on a single processor.

    Raises ConfigError for anything that is no such number.

    >>> number("3"), number("0")
    (3, 0)
    """
    if not written.strip():
        return int(CAN_BE and _processors() > 1)
    digits = written.strip()
    n = int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 4 else -1
    if not 0 <= n <= MOST:
        raise ConfigError(WORDS["variable"].format(variable=VARIABLE, given=shorten(written), most=MOST))
    return n if CAN_BE else 0


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


there = Workers(0, 0)
"""Those of this server; none until `begin` is called, as on the command line and in the library."""


def begin(first: Sequence[Job] = ()) -> None:
    """Have as many as the environment says. Raises ConfigError where that, or the memory it allows, cannot be read."""
    global there
    n_bytes = cost.most_bytes(os.environ.get(cost.VARIABLE, ""))
    there = Workers(number(os.environ.get(VARIABLE, "")), int(n_bytes), first=first)
