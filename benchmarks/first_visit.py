"""The downloads of a browser on its first visit, and on its second."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import CDPSession

from benchmarks.faults import chromium, loaded, site
from benchmarks.outcome import Outcome


def weigh(session: CDPSession) -> dict[str, float]:
    """Return a table that fills while a page loads: bytes of files as sent, and of the socket's messages unpacked."""
    heard = {"files": 0.0, "bytes": 0.0, "socket": 0.0}

    def file(event: dict[str, Any]) -> None:
        heard["files"] += 1
        heard["bytes"] += event["encodedDataLength"]

    def message(event: dict[str, Any]) -> None:
        heard["socket"] += len(event["response"]["payloadData"]) * 3 / 4  # the payload is told in base64

    session.on("Network.loadingFinished", file)
    session.on("Network.webSocketFrameReceived", message)
    session.send("Network.enable")
    return heard


def visit(browser_path: str | None) -> Outcome:
    """Measure the downloads of a first and of a second visit, through nginx and from Streamlit itself."""
    out = Outcome()
    with chromium(browser_path) as browser, site(n_replicas=1) as running:
        places = {"through nginx": running.url, "from Streamlit itself": f"http://127.0.0.1:{running.replicas[0].port}"}
        for name, url in places.items():
            context = browser.new_context(viewport={"width": 1280, "height": 720})
            weights = []
            for _ in range(2):
                page = context.new_page()
                heard = weigh(context.new_cdp_session(page))
                page.goto(url)
                loaded(page)
                weights.append(heard)
                page.close()
            first, again = weights
            out.row(
                f"A first visit {name}",
                f"{first['bytes'] / 1e6:.1f} MB in {first['files']:.0f} files, and {first['socket'] / 1e3:.0f} KB over "
                f"its socket; a later one {again['bytes'] / 1e3:.0f} KB of files",
            )
            out.figures |= {"visit_mb" if "nginx" in name else "visit_plain_mb": first["bytes"] / 1e6}
            context.close()
    return out
