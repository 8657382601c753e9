"""The process that serves the page: what is settled before the first visitor comes, and how many there can be.

Every open page takes four files of the process, its socket and three of Streamlit's for its thread, the last three
until a minute after it was left. Where files run out nobody can connect any more, and nothing that asks whether the
server is well gets an answer; so the last of them are kept for what is there already, and newcomers get a sentence.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from attnviz.engine.cost import estimate as cost
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words, nearest_language, set_language
from attnviz.ui import plotly_route, stage_route

try:
    import resource
except ImportError:  # Windows, where a process has no such limit
    resource = None  # type: ignore[assignment]

WORDS = Words({"full": "This server has as many visitors as it can hold. Please try again in a minute."})

MOST_FILES = 5_000
"""Files of about 1,100 visitors, who take less memory together than one large computation: 0.2 MB each."""
KEPT = 0.1
"""The part of the files that newcomers do not get."""
RETRY = {"Retry-After": "60", "Connection": "close"}

_OPEN_FILES = Path("/dev/fd")  # where a system has it; elsewhere nobody is counted


def begin() -> None:
    """Settle what holds for the whole process; it ends, with a sentence, for a limit of memory that is none."""
    try:
        cost.most_bytes(os.environ.get(cost.VARIABLE, ""))
    except ConfigError as error:
        print(f"attnviz: {error}", file=sys.stderr)
        sys.exit(2)
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

    And to who asks for a stage, as that comes by a connection of its own.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wanted = ("/", stage_route.PATH)
        opens = scope["type"] == "websocket" or (scope["type"] == "http" and scope["path"].endswith(wanted))
        if not opens or has_room():
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        set_language(nearest_language(headers.get(b"accept-language", b"").decode("latin-1").partition(",")[0]))
        answer = PlainTextResponse(WORDS["full"], 503, RETRY)
        await answer(scope, receive, send)  # to a websocket it is a refusal, as ASGI has it for such answers


def _ready(_: Request) -> Response:
    """Say whether newcomers should be sent here; whether the server is well, Streamlit says at /_stcore/health."""
    return PlainTextResponse("ready") if has_room() else PlainTextResponse("full", 503, RETRY)


ROUTES: list[BaseRoute] = [Route("/readyz", _ready), *stage_route.ROUTES, *plotly_route.ROUTES]
MIDDLEWARE = [Middleware(WhileThereIsRoom)]
