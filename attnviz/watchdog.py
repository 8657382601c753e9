"""A server that is ended and started anew when it does not answer any more: `attnviz --watch`.

A process that hangs still takes connections, so nothing that only restarts what has ended helps. It is asked for its
health from outside, every two seconds, and twenty seconds without an answer are its end.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Sequence
from contextlib import suppress

HEALTH = "/attnviz/health"
SILENT, BEGINNING, ENDING = 20.0, 60.0, 30.0
"""Seconds without an answer before it is replaced, and those that it has for its first and for its end."""
EVERY = 2.0


class Watchdog:
    """A server that runs until it is stopped, as one process after the other."""

    def __init__(self, command: Sequence[str], address: str, *, silent: float = SILENT, every: float = EVERY) -> None:
        """Start `command`, which answers at `address` + HEALTH while it is well."""
        self._command, self._health = list(command), address + HEALTH
        self._silent, self._every, self._stopped = silent, every, threading.Event()
        self._begin()

    def _begin(self) -> None:
        self.process = subprocess.Popen(self._command)  # noqa: S603
        self._heard, self.has_answered = time.monotonic(), False

    def watch(self) -> int:
        """Replace the server whenever it has to be, until `stop`; return its exit code.

        One that ends before it has ever answered is not started again: it would end for the same reason.
        """
        while not self._stopped.wait(self._every):
            if self._answers():
                self._heard, self.has_answered = time.monotonic(), True
            code, most = self.process.poll(), self._silent if self.has_answered else BEGINNING
            if code is None and time.monotonic() - self._heard < most:
                continue
            self.process.kill()
            last = self.process.wait()
            if not self.has_answered:
                return last
            say("silent" if code is None else "ended")
            self._begin()
        return self._end()

    def stop(self, *_: object) -> None:
        """End the server, and `watch`."""
        self._stopped.set()

    def _answers(self) -> bool:
        with suppress(OSError, ValueError), urllib.request.urlopen(self._health, timeout=self._every) as answer:  # noqa: S310
            return bool(answer.status == 200)
        return False

    def _end(self) -> int:
        """Have the server end, as it was told to; return 0."""
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(ENDING)
        self.process.kill()
        self.process.wait()
        return 0


def say(reason: str, **more: int) -> None:
    """Say in the log that a server was replaced, and why."""
    line = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "event": "replaced", "reason": reason, **more}
    with suppress(OSError, ValueError):  # a full disk, or nobody who reads
        print(json.dumps(line), file=sys.stderr, flush=True)


def watched(command: Sequence[str], address: str) -> int:
    """Run a server and watch it until this process is told to stop; return the server's exit code."""
    dog = Watchdog(command, address)
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, dog.stop)
    return dog.watch()
