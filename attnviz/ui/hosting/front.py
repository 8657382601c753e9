"""Several processes of the page behind one port: `attnviz --processes 4`.

Streamlit keeps what a visitor did in the process that has the websocket, so uploads, files and components have to come
there as well, by connections of their own. Each connection is accepted here. The first request on it is looked at, but
not taken; then the connection itself is handed to the process that the visitor's cookie names, and it is the system
that brings it every byte from then on. So nothing is copied, and limits, back-pressure and addresses of visitors are
those of one process; `replica` answers one request on each, since the next might be another visitor's where a proxy
stands in front.

Each process says every second how it fares. One that has been quiet for five seconds gets nobody new, and one that has
been silent for twenty is ended and another takes its place, as under `--watch`.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress

from attnviz import watchdog
from attnviz.settings.faults import ConfigError

MOST = 64
"""Processes, as many as a large machine has processors."""
QUIET = 5.0
EVERY = 0.5
COOKIE = "attnviz_process"
NAMED = re.compile(rb"(?i)(?:^|\n)cookie:(?:[^\n]*[; ])?" + COOKIE.encode() + rb"=(\d{1,2})(?=[;\s])")
MOST_HEAD, MOST_SECONDS, MOST_WAITING = 32_768, 20.0, 400
"""Bytes of a request that are looked at, seconds in which they have to come, and connections of which they may lack."""
LOOKING = (0.02, 1.0)
"""Seconds until a request that has only begun is looked at again: at first, and at most."""
BUSY = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
MOST_MESSAGE = 65_536
A_CONNECTION = b"c"
"""What a message says that brings one; any other is JSON, with the numbers of a process."""


class Process:
    """One place for a process of the page, with whichever process is there now."""

    def __init__(self, place: int, command: Callable[[int, int], Sequence[str]], tell: Callable[[bytes], None]) -> None:
        """Start the process; `command` is given its place and the file by which it is spoken to."""
        self.place, self._command, self._tell = place, command, tell
        self.begin()

    def begin(self) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._channel.setblocking(False)
        for end in (self._channel, theirs):  # of 2 KB on some systems
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MOST_MESSAGE)
        with theirs:
            words = self._command(self.place, theirs.fileno())
            self.process = subprocess.Popen(words, pass_fds=[theirs.fileno()])  # noqa: S603
        self.heard, self.has_answered, self.has_room = time.monotonic(), False, True
        asyncio.get_running_loop().add_reader(self._channel, self._hear)

    def _hear(self) -> None:
        with suppress(OSError, ValueError):
            while message := self._channel.recv(MOST_MESSAGE):
                self.has_room = bool(json.loads(message)["has_room"])
                self.heard, self.has_answered = time.monotonic(), True
                self._tell(message)

    def is_well(self) -> bool:
        return self.has_answered and time.monotonic() - self.heard < QUIET

    def send(self, message: bytes, *files: int) -> bool:
        """Send a message, with files or without; return whether there was room for it."""
        try:
            socket.send_fds(self._channel, [message], files)
        except OSError:  # it hangs, or has ended
            return False
        return True

    def end(self) -> int:
        """End the process as it is; return its exit code."""
        asyncio.get_running_loop().remove_reader(self._channel)
        self._channel.close()
        self.process.kill()
        return self.process.wait()


class Front:
    """A port and the processes behind it."""

    def __init__(
        self, n: int, command: Callable[[int, int], Sequence[str]], *, silent: float = watchdog.SILENT
    ) -> None:
        """Start n processes."""
        self._silent, self._stopped, self._waiting = silent, asyncio.Event(), dict[asyncio.Task[None], None]()
        self._turn = 0
        self.processes = [Process(place, command, self._tell_all) for place in range(n)]

    def _tell_all(self, message: bytes) -> None:
        for each in self.processes:
            each.send(message)

    async def serve(self, listener: socket.socket) -> int:
        """Hand out the connections of a port until `stop`; return the exit code."""
        accepting = asyncio.ensure_future(self._accept(listener))
        try:
            code = await self._watch()
        finally:
            accepting.cancel()
            listener.close()
        return await self._end() if code is None else code

    def stop(self) -> None:
        """End the processes, and `serve`."""
        self._stopped.set()

    async def _watch(self) -> int | None:
        """Replace processes that have ended or are silent; the exit code of one that could not even begin."""
        while not self._stopped.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopped.wait(), EVERY)
            for each in [] if self._stopped.is_set() else self.processes:
                code, most = each.process.poll(), self._silent if each.has_answered else watchdog.BEGINNING
                if code is None and time.monotonic() - each.heard < most:
                    continue
                last, has_begun = each.end(), each.has_answered
                if not has_begun and not any(other.has_answered for other in self.processes):
                    for other in self.processes:
                        other.process.kill()
                        other.process.wait()
                    return last
                watchdog.say("silent" if code is None else "ended", process=each.place)
                each.begin()
        return None

    async def _end(self) -> int:
        """Have all processes end, each with what it has begun; return 0."""
        for each in self.processes:
            each.process.terminate()
        end = time.monotonic() + watchdog.ENDING
        while time.monotonic() < end and any(each.process.poll() is None for each in self.processes):
            await asyncio.sleep(0.05)
        for each in self.processes:
            each.end()
        return 0

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(listener)
            except OSError:  # no more files, or it has gone again
                await asyncio.sleep(EVERY)
                continue
            if len(self._waiting) >= MOST_WAITING:
                next(iter(self._waiting)).cancel()  # who has said nothing for longest
            task = loop.create_task(self._hand_over(connection))
            self._waiting[task] = None
            task.add_done_callback(self._waiting.pop)

    async def _hand_over(self, connection: socket.socket) -> None:
        head = b""
        with closing(connection), suppress(OSError):
            try:
                async with asyncio.timeout(MOST_SECONDS):
                    head = await looked_at(connection)
                    while head and not self._handed(connection, named(head)):
                        await asyncio.sleep(LOOKING[0])  # until one has begun, or the visitor's has taken others
            except TimeoutError:
                if head:
                    connection.recv(MOST_HEAD)  # what is closed with words unread brings no answer
                    connection.send(BUSY)

    def _handed(self, connection: socket.socket, place: int | None) -> bool:
        return any(each.send(A_CONNECTION, connection.fileno()) for each in self._preferred(place))

    def _preferred(self, place: int | None) -> list[Process]:
        """Return who may be handed a connection: the visitor's process alone while it is well, else all in turn.

        Those with room come first, and those that have been quiet only where all are.
        """
        well = [each for each in self.processes if each.is_well()]
        own = [each for each in well if each.place == place]
        if own:
            return own
        self._turn += 1
        return sorted(
            well or [each for each in self.processes if each.has_answered],
            key=lambda each: (not each.has_room, (each.place - self._turn) % len(self.processes)),
        )


async def looked_at(connection: socket.socket) -> bytes:
    """Return the head of the first request on a connection, or so much as there may be of it, without taking it."""
    again, most = LOOKING
    while True:
        try:
            seen = connection.recv(MOST_HEAD, socket.MSG_PEEK)
        except BlockingIOError:
            await readable(connection)
            continue
        if not seen or b"\r\n\r\n" in seen or len(seen) == MOST_HEAD:
            return seen
        await asyncio.sleep(again)
        again = min(2 * again, most)


async def readable(connection: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    found = asyncio.Event()
    loop.add_reader(connection, found.set)
    try:
        await found.wait()
    finally:
        loop.remove_reader(connection)


def named(head: bytes) -> int | None:
    """Return the place that the cookie of a request names.

    >>> named(b"GET / HTTP/1.1\\r\\nCookie: a=1; attnviz_process=3\\r\\n\\r\\n")
    3
    """
    found = NAMED.search(head.partition(b"\r\n\r\n")[0] + b"\r\n")
    return int(found[1]) if found else None


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address. Raises ConfigError where that cannot be had."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        both = host == "::" and socket.has_dualstack_ipv6()
        listener = socket.create_server((host, port), family=family, backlog=2048, dualstack_ipv6=both)
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"nobody can be served at {host}, port {port}: {error}") from None
    listener.setblocking(False)
    return listener


def served(n: int, listener: socket.socket, command: Callable[[int, int], Sequence[str]]) -> int:
    """Have n processes serve who connects, until this process is told to stop; return the exit code."""

    async def serve() -> int:
        front = Front(n, command)
        for name in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(name, front.stop)
        return await front.serve(listener)

    return asyncio.run(serve())
