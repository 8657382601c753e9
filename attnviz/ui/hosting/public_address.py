"""The address at which visitors see the page, for links that must be whole: pictures of links, and short ones.

Whoever asks says in the header Host which host it means, and may say anything. So a host counts only if it is written
as one, and what is made with it is not kept where others would get it; a host that knows its address says it once, in
the environment variable ATTNVIZ_ADDRESS.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.routing import BaseRoute, Route
from starlette.types import Scope

from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words

VARIABLE = "ATTNVIZ_ADDRESS"
FAULTS = Words(
    {
        "address": "{variable} is {given}; give the address of the page as visitors see it, such as "
        "https://example.org or https://example.org/attnviz"
    }
)
STAGE, EDITION = "/attnviz/stage", "__edition"
"""Where stages are, below that address, and the parameter by which a browser says which code it asks."""
_HOST = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
_PATH = re.compile(r"(?:/[A-Za-z0-9._~-]+)*/?")


def given(text: str) -> str:
    """Return an address that a host has given, without a slash at its end; empty where none is.

    Raises ConfigError for what is no address of a page.

    >>> given("https://example.org/attnviz/"), given("")
    ('https://example.org/attnviz', '')
    """
    if not text:
        return ""
    try:
        scheme, host, path, query, fragment = urlsplit(text)
    except ValueError:
        scheme = host = path = query = fragment = ""
    if scheme not in ("http", "https") or not _HOST.fullmatch(host) or query or fragment or not _PATH.fullmatch(path):
        raise ConfigError(FAULTS["address"].format(variable=VARIABLE, given=shorten(text)))
    return text.rstrip("/")


def routes(path: str, endpoint: Callable[..., object]) -> list[BaseRoute]:
    """Return the routes of a path at the root, and of a page that is served below a folder."""
    return [Route(path, endpoint), Route(f"/{{base:path}}{path}", endpoint)]


def of_request(scope: Scope, folder: str = "") -> str:
    """Return the address of the page for whoever asks, without a slash at its end; empty where it cannot be told.

    folder  where the server has the page, such as `attnviz`
    """
    if address := given(os.environ.get(VARIABLE, "")):
        return address
    headers = Headers(scope=scope)
    host, scheme = headers.get("host", ""), headers.get("x-forwarded-proto", scope["scheme"])
    if not _HOST.fullmatch(host) or scheme not in ("http", "https"):
        return ""
    return f"{scheme}://{host}/{folder}".rstrip("/")
