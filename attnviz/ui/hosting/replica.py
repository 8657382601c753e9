"""One of several processes of the page behind one port: it takes connections that `front` accepted and hands over."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import Callable
from contextlib import suppress

import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.ui.hosting import counts
from attnviz.ui.hosting.front import A_CONNECTION, COOKIE, MOST_MESSAGE

EVERY = 1.0
"""Seconds after which it says again how it fares."""
_NAMED = re.compile(rf"(?:^|[; ]){COOKIE}=(\d+)(?=;|$)")


class Replica(uvicorn.Server):  # type: ignore[misc]
    """A server of visitors who are handed over; beside them it listens on this machine, for who asks after it alone.

    What it names of uvicorn's own is what `uvicorn.Server.startup` makes of a connection that it has accepted itself.
    """

    should_exit: bool
    place: int
    channel: socket.socket
    has_room: Callable[[], bool]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        loop = asyncio.get_running_loop()
        self.config.loaded_app = HeldHere(self.config.loaded_app, self.place)
        self._tasks = {loop.create_task(self._tell())}
        self.channel.setblocking(False)
        loop.add_reader(self.channel, self._hear)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().remove_reader(self.channel)
        await super().shutdown(sockets)

    async def _tell(self) -> None:
        """Say how it fares, again and again; once nobody is there who hears it, end."""
        while not self.should_exit:
            told = {"process": self.place, "has_room": type(self).has_room(), "numbers": counts.numbers()}
            try:
                self.channel.send(json.dumps(told).encode())
            except ConnectionError:
                self.should_exit = True
            except OSError:  # there is more to read than whoever reads it had time for
                pass
            await asyncio.sleep(EVERY)

    def _hear(self) -> None:
        with suppress(OSError):
            while True:
                message, files, *_ = socket.recv_fds(self.channel, MOST_MESSAGE, 1)
                if message == A_CONNECTION:
                    for file in files:
                        self._take(socket.socket(fileno=file))
                else:
                    told = json.loads(message)
                    counts.told(told["process"], told["numbers"])

    def _take(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        taken = asyncio.ensure_future(self._taken(connection))
        self._tasks.add(taken)
        taken.add_done_callback(self._tasks.discard)

    async def _taken(self, connection: socket.socket) -> None:
        def protocol() -> asyncio.Protocol:
            return self.config.http_protocol_class(
                config=self.config, server_state=self.server_state, app_state=self.lifespan.state
            )

        with suppress(OSError):  # its visitor has gone
            await asyncio.get_running_loop().connect_accepted_socket(protocol, connection)


class HeldHere:
    """Middleware by which a visitor is led to this process again, and every other connection is a new one.

    The cookie comes with the page, and with its socket, which decides: only there is what the visitor does.
    """

    def __init__(self, app: ASGIApp, place: int) -> None:
        self._app, self._place = app, place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        found = _NAMED.search(headers.get("cookie", ""))
        is_held = found is not None and found[1] == str(self._place)
        is_secret = "https" in (scope["scheme"], headers.get("x-forwarded-proto"))

        async def send_with(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.accept"):
                answer = MutableHeaders(raw=list(message.get("headers", ())))
                if message["type"] == "http.response.start":
                    answer["Connection"] = "close"
                opens = scope["type"] == "websocket" or answer.get("content-type", "").startswith("text/html")
                if opens and not is_held:
                    answer.append("Set-Cookie", _cookie(self._place, is_secret))
                message = {**message, "headers": answer.raw}
            await send(message)

        await self._app(scope, receive, send_with)


def _cookie(place: int, is_secret: bool) -> str:
    """Return the cookie that names a process. Where it may, a page in a frame of another site gets it too."""
    where = "SameSite=None; Secure; Partitioned" if is_secret else "SameSite=Lax"
    return f"{COOKIE}={place}; Path=/; HttpOnly; {where}"


def become(place: int, file: int, has_room: Callable[[], bool]) -> None:
    """Have the server that this process is about to start take its visitors from the file by which it is spoken to."""
    Replica.place, Replica.channel = place, socket.socket(fileno=file)
    Replica.has_room = staticmethod(has_room)
    counts.among(place)
    uvicorn.Server = Replica  # Streamlit makes one, and asks nobody of which kind
