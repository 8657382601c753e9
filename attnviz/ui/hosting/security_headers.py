"""The headers by which a browser holds the page to its word, so that a bare `streamlit run` has them as a proxy would.

Any site may show the page in a frame, as a public page without accounts is meant to be embedded. The environment
variable ATTNVIZ_FRAMES names those that may where not all shall, such as `https://moodle.example.edu`, or `self` for
none but its own.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words
from attnviz.ui.hosting.index_page import inline_script

FRAMES = "ATTNVIZ_FRAMES"
FAULTS = Words(
    {
        "frames": "{variable} is {given}; give the sites that may show the page in a frame, such as "
        "https://moodle.example.edu, with spaces between them, self for none but the page's own, or * for all"
    }
)
_SITE = re.compile(r"\*|https?://(?:\*\.)?[A-Za-z0-9.-]+(?::[0-9]{1,5})?")
_INLINE = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def frames(text: str) -> str:
    """Return the sites that may show the page in a frame, as the policy has them.

    Raises ConfigError for what is no list of sites.

    >>> frames(""), frames("self"), frames("https://moodle.example.edu")
    ('*', "'self'", "'self' https://moodle.example.edu")
    """
    sites = [site for site in text.split() if site != "self"]
    if not all(_SITE.fullmatch(site) for site in sites):
        raise ConfigError(FAULTS["frames"].format(variable=FRAMES, given=shorten(text)))
    return "*" if "*" in sites or not text.strip() else " ".join(["'self'", *sites])


@cache
def policy() -> str:
    """Return the content security policy; `deploy/nginx/nginx.conf` says why each part is as it is."""
    index = (Path(st.__file__).parent / "static" / "index.html").read_bytes()
    ours = f"<script>{inline_script()}</script>".encode()
    return policy_of([index, ours], scripts="blob: 'wasm-unsafe-eval'", workers="blob:")


def policy_of(pages: Iterable[bytes], *, scripts: str = "", workers: str) -> str:
    """Return the policy for pages that load nothing from elsewhere, and whose inline scripts may run as they are now.

    scripts, workers  what is allowed of each beside the page's own
    """
    inline = {script for page in pages for script in _INLINE.findall(page)}
    digests = sorted(base64.b64encode(hashlib.sha256(script).digest()).decode() for script in inline)
    allowed = " ".join(filter(None, ["'self'", scripts, *(f"'sha256-{digest}'" for digest in digests)]))
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'self' 'unsafe-inline'; "
        f"img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src {workers}; "
        f"manifest-src 'self'; frame-ancestors {frames(os.environ.get(FRAMES, ''))}; base-uri 'none'; "
        "form-action 'none'"
    )


class SecurityHeaders:
    """Middleware that adds the headers to every answer; a policy that an answer has of its own stays."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, text in ALWAYS.items():
                    headers[name] = text
                headers.setdefault("Content-Security-Policy", policy())
            await send(message)

        await self._app(scope, receive, send_with if scope["type"] == "http" else send)
