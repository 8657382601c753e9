"""The state of the server, in numbers for whoever watches it, and a line of the log for what it refuses.

Nothing that a visitor typed is in either: names and reasons are ours. Of several processes behind one port each can
tell of all of them, by what it has been told of the others.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

REASONS = ("full", "busy", "large", "address", "untrained", "short_link", "failed")
"""Why something was refused: no room for a visitor; too many others; too large for this host; an address that cannot be
read; heads that are not trained; a short link that is not whole; a fault of ours."""
KINDS = ("page", "stage", "live", "link", "picture")
"""What takes a turn: a move on the page, the stage at its address, the program of a run, the words of a link, and its
picture."""
METRICS = {
    "attnviz_visitors": ("gauge", "Open pages."),
    "attnviz_visits_total": ("counter", "Pages opened since the start."),
    "attnviz_runs_total": ("counter", "Turns to compute, by what for; one of a page is a move."),
    "attnviz_waiting": ("gauge", "Runs that wait for their turn."),
    "attnviz_wait_seconds_total": ("counter", "Seconds that runs waited for their turns."),
    "attnviz_refusals_total": ("counter", "What was refused, by reason."),
    "attnviz_kills_total": ("counter", "Computations whose process had to end before they were done."),
    "attnviz_memory_bytes": ("gauge", "Memory of the process."),
    "attnviz_start_time_seconds": ("gauge", "When the process started; another number means that it was ended."),
}
BETWEEN_LINES = 1.0
"""Seconds between two lines on refusals for one reason; a line says how many it stands for."""
OLD = 10.0
"""Seconds after which what was told of another process counts no more."""

_STARTED = time.time()
_STATUS = Path("/proc/self/statm")
_PAGE = 4096 if resource is None else resource.getpagesize()
_lock = threading.Lock()
_counted: defaultdict[tuple[str, str], float] = defaultdict(float)
_logged: dict[str, float] = {}
_unsaid: Counter[str] = Counter()
_place: str | None = None
_others: dict[str, tuple[float, Mapping[str, float]]] = {}


def add(name: str, n: float = 1, label: str = "") -> None:
    """Add to a number by its name in `METRICS`, and for those that have several by its label."""
    with _lock:
        _counted[name, label] += n


def refused(reason: str) -> None:
    """Count that something was refused, and say so in the log; at most once a second for a reason."""
    now = time.monotonic()
    with _lock:
        _counted["attnviz_refusals_total", reason] += 1
        _unsaid[reason] += 1
        if now - _logged.get(reason, -BETWEEN_LINES) < BETWEEN_LINES:
            return
        _logged[reason], n = now, _unsaid.pop(reason)
    line = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "event": "refused", "reason": reason, "n": n}
    with suppress(OSError, ValueError):  # a full disk, or nobody who reads
        print(json.dumps(line), file=sys.stderr, flush=True)


def among(place: int) -> None:
    """Say that this is one of several processes, and which."""
    global _place
    _place = str(place)


def told(place: int, numbers_there: Mapping[str, float]) -> None:
    """Note the numbers of another process."""
    with _lock:
        _others[str(place)] = time.monotonic(), numbers_there


def numbers() -> dict[str, float]:
    """Return all numbers of this process, each by its name and its label."""
    with _lock:
        counted = {f"{name} {label}": n for (name, label), n in _counted.items()}
    return counted | {"attnviz_memory_bytes ": _memory(), "attnviz_start_time_seconds ": _STARTED}


def _of_all() -> dict[str, Mapping[str, float]]:
    """Return the numbers of each process by its place; of one that is alone by no name."""
    if _place is None:
        return {"": numbers()}
    with _lock:
        others = {place: there for place, (when, there) in _others.items() if time.monotonic() - when < OLD}
    return dict(sorted((others | {_place: numbers()}).items(), key=lambda each: int(each[0])))


def text() -> str:
    """Return all numbers in Prometheus' text format, version 0.0.4; of several processes each names its own."""
    processes = _of_all()
    labels = {"attnviz_refusals_total": ("reason", REASONS), "attnviz_runs_total": ("kind", KINDS)}
    lines = []
    for name, (kind, about) in METRICS.items():
        lines += [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
        label, values = labels.get(name, ("", ("",)))
        for value in values:
            for place, counted in processes.items():
                pairs = ",".join(f'{key}="{of}"' for key, of in ((label, value), ("process", place)) if of)
                shown = f"{{{pairs}}}" if pairs else ""
                lines.append(f"{name}{shown} {counted.get(f'{name} {value}', 0):.15g}")
    return "\n".join([*lines, ""])


def _memory() -> int:
    """Return the bytes that the process holds; the most that it has held where a system tells no more."""
    with suppress(OSError):
        return int(_STATUS.read_text("ascii").split()[1]) * _PAGE
    if resource is None:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
