"""When a page in a browser has come to rest, also from the runs that pictures ask for once they know their room."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

PATIENCE = 90  # seconds until what has not come about counts as broken, whatever else is running
STILL = 36  # frames, 0.6 s: a run begins later than a quarter of one after what asks for it, and is told 0.1 s later

QUIET = """(frames) => new Promise((done, fail) => {
    const rest = "[data-test-connection-state=CONNECTED][data-test-script-state=notRunning]";
    const coming = "[data-testid=stSkeleton]"; // stands for a part of the page whose script is being loaded
    const rests = () => document.querySelector(rest) && !document.querySelector(coming);
    let still = 0;
    const look = () => {
        still = rests() ? still + 1 : 0;
        still > (frames ?? STILL) ? done() : requestAnimationFrame(look);
    };
    setTimeout(() => fail(new Error("no rest within PATIENCE s")), 1000 * PATIENCE);
    look();
})""".replace("PATIENCE", str(PATIENCE)).replace("STILL", str(STILL))
"""For `page.evaluate`: comes back when no run has begun for so many frames, by itself for `STILL` of them."""

LEAVE = """(address) => {
    history.pushState(null, "", address);
    dispatchEvent(new PopStateEvent("popstate"));
}"""
"""For `page.evaluate`: goes to an address as Forward does."""

FRAMES = """(n) => new Promise((done) => {
    const next = () => (n-- > 0 ? requestAnimationFrame(next) : done());
    next();
})"""
"""For `page.evaluate`: comes back when so many frames have been drawn."""


def go_to(page: Any, address: str) -> None:
    """Show an address and wait for rest: in the page that is open if it is of this server: a third of a load."""
    if page.url.partition("?")[0].rstrip("/") == address.partition("?")[0].rstrip("/"):
        page.evaluate(QUIET, 3)  # a run that is under way writes its own address at its end
        heard = page.heard
        page.evaluate(LEAVE, address)
        wait_until(page, lambda: page.heard > heard)
    else:
        page.heard = 0  # what the server has said: a run may be too short for the page to say that it is running
        page.on("websocket", lambda socket: socket.on("framereceived", partial(_count, page)))
        page.goto(address)
        page.locator(".stMain [data-testid=stVerticalBlock]").first.wait_for()
    page.evaluate(QUIET)


def _count(page: Any, _: object) -> None:
    page.heard += 1


def wait_until(page: Any, holds: Callable[[], bool]) -> None:
    """Look once a frame until something holds that only Python can tell; raises TimeoutError if it never does."""
    last = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > last:
            raise TimeoutError(f"not within {PATIENCE} s")
        page.evaluate(FRAMES, 1)
