"""The process that serves the page: what is settled before the first visitor comes, how many there can be, how it is.

Every open page takes four files of the process, its socket and three of Streamlit's for its thread, the last three
until a minute after it was left. Where files run out nobody can connect any more, and nothing that asks whether the
server is well gets an answer; so the last of them are kept for what is there already, and newcomers get a sentence.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import sys
from contextlib import suppress
from pathlib import Path

from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from attnviz.engine.tables import added_rows
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words, nearest_language, set_language
from attnviz.ui import link_route, live_route, manual_route, script_route, stage_route
from attnviz.ui.hosting import counts, public_address, scripts, security_headers, workers
from attnviz.ui.hosting.changes import SendChanges
from attnviz.ui.hosting.index_page import IndexPage
from attnviz.ui.hosting.security_headers import SecurityHeaders
from attnviz.ui.session.browser import streamlit_private

try:
    import resource
except ImportError:  # Windows, where a process has no such limit
    resource = None  # type: ignore[assignment]

WORDS = Words(
    {
        "full": "This server has as many visitors as it can hold. Please try again in a minute.",
        "no_token": "This server tells nobody how it fares: the environment variable {variable} is not set.",
        "token": "This is for those who know the token.",
    }
)
TOKEN = "ATTNVIZ_METRICS_TOKEN"  # noqa: S105 - its name
"""The environment variable with what a scraper must send as `Authorization: Bearer ...`."""

MOST_FILES = 5_000
"""Files of about 1,100 visitors, who take less memory together than one large computation: 0.2 MB each."""
KEPT = 0.1
"""The part of the files that newcomers do not get."""
RETRY = {"Retry-After": "60", "Connection": "close"}

_OPEN_FILES = Path("/dev/fd")  # where a system has it; elsewhere nobody is counted


def begin() -> None:
    """Settle what holds for the whole process; it ends, with a sentence, for a variable of the host that is wrong."""
    try:
        public_address.given(os.environ.get(public_address.VARIABLE, ""))
        security_headers.frames(os.environ.get(security_headers.FRAMES, ""))
        manual_route.given(os.environ.get(manual_route.VARIABLE, ""))
        workers.begin([(added_rows.load_rows, (path,)) for path in added_rows.LOADED])
    except ConfigError as error:
        print(f"attnviz: {error}", file=sys.stderr)
        sys.exit(2)
    scripts.serve()
    streamlit_private.read_theme_once()
    raise_file_limit()


def raise_file_limit() -> None:
    """Let the process open as many files as it needs, if it may: the limit that it starts with is often 1,024."""
    if resource is not None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        enough = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
        if soft != resource.RLIM_INFINITY and soft < enough:
            with suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (enough, hard))


def has_room() -> bool:
    """Return whether there are files left for one more visitor."""
    if resource is None or not _OPEN_FILES.is_dir():
        return True
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if soft == resource.RLIM_INFINITY else min(soft, MOST_FILES)
    try:
        return len(os.listdir(_OPEN_FILES)) < (1 - KEPT) * most
    except OSError:  # not even one is left to look with
        return False


class WhileThereIsRoom:
    """Middleware that answers 503 with a sentence to whoever opens the page while there is no room for another.

    And to who asks for a stage, a program or the picture of a link, as that comes by a connection of its own. It counts
    the pages that are open.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wanted = ("/", stage_route.PATH, live_route.PATH, link_route.PATH)
        is_socket = scope["type"] == "websocket"
        opens = is_socket or (scope["type"] == "http" and scope["path"].endswith(wanted))
        if opens and not has_room():
            counts.refused("full")
            set_language(nearest_language(Headers(scope=scope).get("accept-language", "").partition(",")[0]))
            answer = PlainTextResponse(WORDS["full"], 503, RETRY)
            await answer(scope, receive, send)  # to a websocket it is a refusal, as ASGI has it for such answers
        elif is_socket:
            counts.add("attnviz_visits_total")
            counts.add("attnviz_visitors")
            try:
                await self._app(scope, receive, send)
            finally:
                counts.add("attnviz_visitors", -1)
        else:
            await self._app(scope, receive, send)


def _has_room(_: Request) -> Response:
    """Say whether newcomers should be sent here; whether the server is well, Streamlit says at /_stcore/health."""
    return PlainTextResponse("ready") if has_room() else PlainTextResponse("full", 503, RETRY)


async def _health(_: Request) -> Response:
    """Say that the process is alive: its event loop answers."""
    return PlainTextResponse("alive")


def has_begun() -> bool:
    """Have what makes the page be read beside what else there is to do; return whether that is done."""
    if not _reading:
        _reading.append(asyncio.ensure_future(asyncio.to_thread(script_route.prepare)))
    return _reading[0].done()


async def _ready(_: Request) -> Response:
    """Say whether newcomers should be sent here: there is room, and what makes the page has been read.

    The first who asks has it read, so that the first visitor does not wait for that.
    """
    if not has_begun():
        return PlainTextResponse("starting", 503, {"Retry-After": "1"})
    return PlainTextResponse("ready") if has_room() else PlainTextResponse("full", 503, RETRY)


_reading: list[asyncio.Future[None]] = []


async def _metrics(request: Request) -> Response:
    """Answer with how the server fares to who knows the token; without one in the environment nothing is here."""
    token = os.environ.get(TOKEN, "")
    if not token:
        return PlainTextResponse(WORDS["no_token"].format(variable=TOKEN), 404)
    given = request.headers.get("authorization", "")
    if not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
        return PlainTextResponse(WORDS["token"], 401, {"WWW-Authenticate": "Bearer"})
    return Response(counts.text(), 200, {"Cache-Control": "no-store"}, "text/plain; version=0.0.4; charset=utf-8")


ROUTES: list[BaseRoute] = [
    *public_address.routes("/readyz", _has_room),
    *public_address.routes("/attnviz/health", _health),
    *public_address.routes("/attnviz/ready", _ready),
    *public_address.routes("/attnviz/metrics", _metrics),
    *stage_route.ROUTES,
    *live_route.ROUTES,
    *script_route.ROUTES,
    *link_route.ROUTES,
    *manual_route.ROUTES,
]
MIDDLEWARE = [
    Middleware(SecurityHeaders),
    Middleware(WhileThereIsRoom),
    Middleware(IndexPage, tags=link_route.tags),
    Middleware(SendChanges),
]
