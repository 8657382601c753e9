"""The runs that were made last, where they are small, and what was made of them for the page.

While a number moves, a browser asks for the stage of each setting at its address, and its page then runs the same
setting: what was made for the first is there for the second.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, TypeVar

from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.settings.language import current_language

MOST_BYTES = 24_000_000
"""Bytes that they may take by estimate, all of them together: the last five of an ordinary setting."""
MOST_MADE = 8
"""Things made of one of them that are kept: the pictures and the path of the heads that were shown last."""

Made = TypeVar("Made")


class _Run(NamedTuple):
    trace: Trace
    n_bytes: float
    made: OrderedDict[Hashable, Any]


_runs: OrderedDict[tuple[str, Config], _Run] = OrderedDict()
"""By the language, too, in which a run says what a reader should know of it."""
_lock = threading.Lock()


def run_of(config: Config, n_bytes: float, make: Callable[[], Trace]) -> Trace:
    """Return the run of a setting that takes so many bytes; `make` makes it where it is not there."""
    key = current_language(), config
    with _lock:
        if key in _runs:
            _runs.move_to_end(key)
            return _runs[key].trace
    trace = make()
    if n_bytes > MOST_BYTES:
        return trace
    with _lock:
        trace = _runs.setdefault(key, _Run(trace, n_bytes, OrderedDict())).trace  # another may have been sooner
        while sum(each.n_bytes for each in _runs.values()) > MOST_BYTES:
            _runs.popitem(last=False)
    return trace


def made_once(trace: Trace, key: Hashable, make: Callable[[], Made]) -> Made:
    """Return what `make` makes of a run, and nobody changes; the last of a run that is kept are there, by their key."""
    with _lock:
        made = next((each.made for each in _runs.values() if each.trace is trace), OrderedDict[Hashable, Any]())
        if key in made:
            made.move_to_end(key)
            kept: Made = made[key]
            return kept
    found = make()
    with _lock:
        made[key] = found
        while len(made) > MOST_MADE:
            made.popitem(last=False)
    return found


def forget() -> None:
    """Forget all of them, as for a test that counts them."""
    with _lock:
        _runs.clear()
