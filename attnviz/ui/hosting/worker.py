"""A process that computes what the server sends it: `python -m attnviz.ui.hosting.worker BYTES SECONDS`.

It reads (language, function, arguments) from standard input, one after the other, and writes (whether it went well,
result or exception) for each to standard output. The system ends it where a job takes more of the processor, and
refuses memory beyond what one computation may take. What is written to standard output otherwise goes to the log.
"""

from __future__ import annotations

import math
import os
import pickle
import resource
import select
import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from attnviz.engine.numerics import cancellation
from attnviz.engine.numerics.cancellation import Cancelled
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import set_language

PROTOCOL = 5
"""Of pickle: in this one the bytes of an array are written and read without a copy."""
BEHIND = 5
"""Levels of priority behind the server, so that whoever waits for a page has the processor first."""
SPARE = 128_000_000
"""Bytes that the interpreter may take beside a computation, such as buffers that are used again."""
_STATUS = Path("/proc/self/statm")  # where a system has it; elsewhere memory has no limit of its own


def main(most_bytes: int, most_seconds: int) -> None:
    """Do what is asked for, until nobody is there who asks."""
    asked, told = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.nice(BEHIND)
    import_module("attnviz.exports.formats")  # and with it what computes a run, before anybody waits
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _limit_memory(most_bytes + SPARE)
    with suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        while True:
            job = pickle.load(asked)  # noqa: S301 - from the process that has started this one
            if job is not None:  # which would ask to end what has ended already
                _limit_time(most_seconds)
                _answer(told, *_outcome(asked, *job))


def _limit_memory(n_bytes: int) -> None:
    with suppress(OSError, ValueError):
        used = int(_STATUS.read_text("ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + n_bytes, resource.RLIM_INFINITY))


def _limit_time(seconds: int) -> None:
    """Have the system end this process after so many seconds more of the processor."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time()) + seconds, hard))


def _outcome(asked: BinaryIO, language: str, make: Any, given: Any) -> tuple[bool, Any]:
    """Return whether a job went well, and what came of it: its result, or what it raised."""

    def check() -> None:
        if select.select([asked], [], [], 0)[0]:  # nobody waits any more, or nobody is there
            raise Cancelled

    set_language(language)
    try:
        with cancellation.checked_by(check):
            return True, make(*given)
    except Cancelled as error:
        return False, error
    except Exception as error:
        return False, _sendable(error)


def _sendable(error: Exception) -> Exception:
    """Return an exception as it was raised, or if it cannot be sent so, one that says the same."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - what was made here
    except Exception:
        return ConfigError(str(error)) if isinstance(error, ConfigError) else RuntimeError(type(error).__name__)
    return error.with_traceback(None)


def _answer(told: BinaryIO, *outcome: Any) -> None:
    pickle.dump(outcome, told, PROTOCOL)
    told.flush()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
