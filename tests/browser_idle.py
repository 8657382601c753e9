"""When a page in a browser has come to rest, also from the runs that pictures ask for once they know their room."""

from __future__ import annotations

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
