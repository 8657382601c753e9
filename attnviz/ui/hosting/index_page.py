"""The first file of the page, with words for whoever does not run it: a chat that shows a link, a search engine.

Streamlit hands out the same empty file for every address. Here it says what its link shows, everything escaped, and an
address at which nothing is gets 404.
"""

from __future__ import annotations

import html
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.exports.bundle import without_comments
from attnviz.settings.language import TERRITORIES, Words, tag
from attnviz.ui.hosting import scripts

WORDS = Words(
    {
        "script": "The page itself needs JavaScript.",
        "nothing": "There is nothing at this address. The page is one level up, or at the root of this server.",
    }
)
ICON = "attnviz/icon.svg"
SIZE = (1200, 630)
"""Pixels of the picture of a link."""
OTHERS = ("_stcore", "app", "component", "media", "static")
"""Folders of the server whose files may be HTML without being the page."""
MANUAL = "attnviz/docs/"
"""The folder of the documentation, whose pages are the host's."""
NOBODYS = ("manifest.json",)
"""Files of Streamlit's that no visitor needs."""
_ASKED_AGAIN = (b"if-none-match", b"if-modified-since", b"range", b"accept-encoding")
_TITLE = re.compile("<title>.*?</title>", re.DOTALL)
_WITHOUT_SCRIPT = re.compile("<noscript>.*?</noscript>", re.DOTALL)
_ICON = re.compile('<link rel="shortcut icon"[^>]*>')


@dataclass(frozen=True)
class LinkTags:
    """The words of a link before it is opened.

    address, picture  whole addresses; empty where there are none
    is_listed         whether a search engine may list the page
    """

    language: str
    title: str
    about: str
    address: str = ""
    picture: str = ""
    is_listed: bool = False


@cache
def inline_script() -> str:
    """Return the script that stands in the page itself: it is there before anything can be lost on the way."""
    return without_comments(Path(__file__).with_name("lost_modules.js").read_text("utf-8"))


def page_folder() -> str:
    """Return the path below which Streamlit has the page, without slashes."""
    return str(st.get_option("server.baseUrlPath") or "").strip("/")


def with_tags(index: str, tags: LinkTags) -> str:
    """Return Streamlit's file with the title, the description and the tags of a link."""
    said = [
        ("name", "description", tags.about),
        ("property", "og:type", "website"),
        ("property", "og:title", tags.title),
    ]
    said += [("property", "og:site_name", "attnviz"), ("property", "og:description", tags.about)]
    said += [("property", "og:locale", TERRITORIES[tags.language])]
    said += [("name", "twitter:card", "summary_large_image" if tags.picture else "summary")]
    said += [("name", "twitter:title", tags.title), ("name", "twitter:description", tags.about)]
    if tags.address:
        said.append(("property", "og:url", tags.address))
    if tags.picture:
        wide, high = map(str, SIZE)
        said += [("property", "og:image", tags.picture), ("property", "og:image:type", "image/png")]
        said += [("property", "og:image:width", wide), ("property", "og:image:height", high)]
        said += [("property", "og:image:alt", tags.title), ("name", "twitter:image", tags.picture)]
    if not tags.is_listed:
        said.append(("name", "robots", "noindex"))
    lines = [f"<title>{html.escape(tags.title)}</title>"]
    lines += [f'<meta {kind}="{name}" content="{html.escape(text)}" />' for kind, name, text in said]
    plain = "".join(f"<p>{html.escape(text)}</p>" for text in (tags.title, tags.about, WORDS["script"]))
    lines.append(f"<script>{inline_script()}</script>")
    if script := scripts.address():  # they come beside Streamlit's own, and not after it
        lines.append(f'<link rel="modulepreload" href="./{script}" />')
    index = index.replace('<html lang="en">', f'<html lang="{tag(tags.language)}">', 1)
    index = _ICON.sub(f'<link rel="icon" type="image/svg+xml" href="./{ICON}" />', index, count=1)
    index = _WITHOUT_SCRIPT.sub(lambda _: f"<noscript>{plain}</noscript>", index, count=1)
    return _TITLE.sub(lambda _: "\n    ".join(lines), index, count=1)


class IndexPage:
    """Middleware that writes the tags of a link into the page, and says 404 where there is nothing."""

    def __init__(self, app: ASGIApp, tags: Callable[[Scope], Awaitable[LinkTags]]) -> None:
        self._app, self._tags = app, tags

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, folder = scope.get("path", "").strip("/"), page_folder()
        is_asked = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        if not is_asked or f"/{MANUAL}" in f"/{path}/":
            await self._app(scope, receive, send)
        elif path == folder:
            await self._page(scope, receive, send)
        else:
            first = path.removeprefix(folder).lstrip("/").partition("/")[0]
            await self._beside(first, scope, receive, send)

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = [(name, text) for name, text in scope["headers"] if name not in _ASKED_AGAIN]
        sent: list[Message] = []

        async def keep(message: Message) -> None:
            sent.append(message)

        await self._app({**scope, "method": "GET", "headers": asked}, receive, keep)
        body = b"".join(message.get("body", b"") for message in sent)
        is_page = sent[0]["status"] == 200 and Headers(raw=sent[0]["headers"])["content-type"].startswith("text/html")
        if not is_page:
            for message in sent:
                await send(message)
            return
        whole = with_tags(body.decode(), await self._tags(scope)).encode()
        answer = Response(whole, 200, {"Cache-Control": "private, no-cache", "Vary": "Accept-Language"}, "text/html")
        kept = MutableHeaders(raw=sent[0]["headers"])
        for name in ("set-cookie",):
            for text in kept.getlist(name):
                answer.headers.append(name, text)
        await answer(scope, receive, send)

    async def _beside(self, first: str, scope: Scope, receive: Receive, send: Send) -> None:
        is_nothing = False

        async def send_or_refuse(message: Message) -> None:
            nonlocal is_nothing
            if message["type"] == "http.response.start" and first not in OTHERS:
                kind = Headers(raw=message["headers"]).get("content-type", "")
                is_nothing = first in NOBODYS or (message["status"] == 200 and kind.startswith("text/html"))
                if is_nothing:
                    await PlainTextResponse(WORDS["nothing"], 404)(scope, receive, send)
            if not is_nothing:
                await send(message)

        await self._app(scope, receive, send_or_refuse)
