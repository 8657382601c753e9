"""When a page in a browser has come to rest, also from the runs that pictures ask for once they know their room."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

QUIET = """() => new Promise((done) => {
    const rest = "[data-test-connection-state=CONNECTED][data-test-script-state=notRunning]";
    let still = 0;
    const look = () => {
        still = document.querySelector(rest) ? still + 1 : 0;
        still > 30 ? done() : requestAnimationFrame(look);
    };
    look();
})"""
"""For `page.evaluate`: comes back when no run has begun for thirty frames."""

FRAMES = """(n) => new Promise((done) => {
    const next = () => (n-- > 0 ? requestAnimationFrame(next) : done());
    next();
})"""
"""For `page.evaluate`: comes back when so many frames have been drawn."""

PATIENCE = 90  # seconds until what has not come about counts as broken, whatever else is running


def wait_until(page: Any, holds: Callable[[], bool]) -> None:
    """Look once a frame until something holds that only Python can tell; raises TimeoutError if it never does."""
    last = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > last:
            raise TimeoutError(f"not within {PATIENCE} s")
        page.evaluate(FRAMES, 1)
