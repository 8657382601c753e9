"""The headers by which a browser holds the page to its word, so that a bare `streamlit run` has them as a proxy would.

The environment variable ATTNVIZ_FRAMES names the sites that may show the page in a frame, with `?embed=true` or
without, such as `https://moodle.example.edu`; nobody but the page's own host, if there is none, and `*` for all.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from functools import cache
from pathlib import Path

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words

FRAMES = "ATTNVIZ_FRAMES"
FAULTS = Words(
    {
        "frames": "{variable} is {given}; give the sites that may show the page in a frame, such as "
        "https://moodle.example.edu, with spaces between them, or * for all"
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

    >>> frames(""), frames("https://moodle.example.edu"), frames("*")
    ("'self'", "'self' https://moodle.example.edu", '*')
    """
    sites = text.split()
    if not all(_SITE.fullmatch(site) for site in sites):
        raise ConfigError(FAULTS["frames"].format(variable=FRAMES, given=shorten(text)))
    return "*" if "*" in sites else " ".join(["'self'", *sites])


@cache
def policy() -> str:
    """Return the content security policy; `deploy/nginx/nginx.conf` says why each part is as it is."""
    index = (Path(st.__file__).parent / "static" / "index.html").read_bytes()
    digests = (base64.b64encode(hashlib.sha256(script).digest()).decode() for script in _INLINE.findall(index))
    inline = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src 'self' blob: 'wasm-unsafe-eval' {inline}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src blob:; manifest-src 'self'; "
        f"frame-ancestors {frames(os.environ.get(FRAMES, ''))}; base-uri 'none'; form-action 'none'"
    )


class SecurityHeaders:
    """Middleware that adds the headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, text in {**ALWAYS, "Content-Security-Policy": policy()}.items():
                    headers[name] = text
            await send(message)

        await self._app(scope, receive, send_with if scope["type"] == "http" else send)
