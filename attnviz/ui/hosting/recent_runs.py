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

MOST_BYTES = 24_000_000
"""Bytes that they may take by estimate, all of them together: the last five of an ordinary setting."""

Made = TypeVar("Made")


class _Run(NamedTuple):
    trace: Trace
    n_bytes: float
    made: dict[Hashable, Any]


_runs: OrderedDict[Config, _Run] = OrderedDict()
_lock = threading.Lock()


def run_of(config: Config, n_bytes: float, make: Callable[[], Trace]) -> Trace:
    """Return the run of a setting that takes so many bytes; `make` makes it where it is not there."""
    with _lock:
        found = _runs.get(config)
    if found is not None:
        return found.trace
    trace = make()
    if n_bytes > MOST_BYTES:
        return trace
    with _lock:
        _runs[config] = _Run(trace, n_bytes, {})
        while sum(each.n_bytes for each in _runs.values()) > MOST_BYTES:
            _runs.popitem(last=False)
    return trace


def made_once(trace: Trace, key: Hashable, make: Callable[[], Made]) -> Made:
    """Return what `make` makes of a run, and nobody changes; of a run that is kept it is made once, by its key."""
    with _lock:
        made = next((each.made for each in _runs.values() if each.trace is trace), {})
    if key not in made:
        made[key] = make()
    found: Made = made[key]
    return found


def forget() -> None:
    """Forget all of them, as for a test that counts them."""
    with _lock:
        _runs.clear()
