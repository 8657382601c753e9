"""The start of a run, sent to a browser along with the first thing that the run draws.

A browser that hears of a start goes through its whole page, some 50 ms in which it draws nothing else: not the maps
that it has asked for ahead of the run. Most runs draw within that time, and then once through the page is enough; of a
run that another one follows at once, as after a callback, nothing need be heard at all. A run that takes longer is told
after `LONGEST`, so that the page says that it runs; the first of a connection does not wait, as a page begins with it.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.types import Message, Send

LONGEST = 0.1
"""Seconds for which a start waits."""
START, STATUS, BESIDE = "new_session", "session_status_changed", "beside"
ORDER = BESIDE, START, STATUS
"""In which they are sent. That something runs is said once, with the first of runs that follow each other."""


class RunStarts:
    """Send the messages of one socket, of which starts wait for what follows them."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._is_first = True
        self._waiting: list[tuple[str, Message]] = []
        self._in_order = asyncio.Lock()
        self._timer: asyncio.Task[None] | None = None

    async def send(self, kind: str, messages: list[Message]) -> None:
        """Send what comes of a message of a kind, as `ForwardMsg` calls it: the last of a start is the start itself."""
        if not messages:
            return
        async with self._in_order:
            if kind == START and not self._is_first:  # the run before has drawn nothing, if its own still waits
                kept = [each for each in self._waiting if each[0] != START]
                kept += [(BESIDE, each) for each in messages[:-1]]
                self._waiting = sorted([*kept, (START, messages[-1])], key=lambda each: ORDER.index(each[0]))
                self._timer = self._timer or asyncio.create_task(self._end())
            elif kind == STATUS and self._waiting:
                self._waiting += [(STATUS, each) for each in messages]
            else:
                self._is_first = self._is_first and kind != START
                await self._release()
                for each in messages:
                    await self._send(each)

    async def _end(self) -> None:
        await asyncio.sleep(LONGEST)
        async with self._in_order:
            self._timer = None
            with suppress(OSError, RuntimeError):  # the browser has gone, which its socket learns by itself
                await self._release()

    async def _release(self) -> None:
        self.close()
        waiting, self._waiting = self._waiting, []
        for _, each in waiting:
            await self._send(each)

    def close(self) -> None:
        """Wait no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
