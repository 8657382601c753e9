"""One visitor who asks too much, and visitors who stop reading: what becomes of the others, and of the memory?"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from benchmarks.load import warmed
from benchmarks.outcome import Outcome
from benchmarks.served import Server, watched
from benchmarks.visitors import REFUSALS, SEEDS, Tally, entered, joined, left, moving, seed_of

OTHERS = 5  # visitors who move while somebody else makes trouble
TIMES = 2  # the longest they may wait, as a multiple of what they waited before


async def beside(server: Server, out: Outcome, trouble: Callable[[], Awaitable[str]], what: str, rest: float) -> None:
    """Rows on what others wait before and during some trouble, and on the memory before, during and after."""
    opening = Tally()
    visitors = await entered(server.url, OTHERS, opening)
    async with moving(visitors) as before:
        await asyncio.sleep(max(2, min(rest, 10)))
    async with watched(server) as memory, moving(visitors) as during:
        text = await trouble()
    async with moving(visitors) as after:
        await asyncio.sleep(max(rest, 2))
    await left(visitors)
    everything = out.failed(opening.wrong + before.wrong + during.wrong + after.wrong)
    p95 = before.ms(0.95), during.ms(0.95), after.ms(0.95)
    out.row(
        f"{what}: {OTHERS} others meanwhile",
        f"p95 {p95[0]:,.0f} ms before, {p95[1]:,.0f} ms during ({len(during.seconds)} moves, "
        f"at most {during.ms(1):,.0f} ms), {p95[2]:,.0f} ms after; {everything}",
        f"p95 ≤ {TIMES} × before",
        p95[1] <= TIMES * p95[0],
    )
    out.row(
        f"{what}: the server",
        f"{text}; {memory.start:.0f} MB before, {memory.most:.0f} MB at most, {server.memory:.0f} MB {rest:g} s after",
        "stays up",
        server.lives,
    )
    if not server.lives:
        out.wrong.append(f"{what}: the server ended")


async def flood(server: Server, frames: int, rest: float) -> Outcome:
    """A socket sends `frames` moves in one go; the last of them must be the one that is shown in the end."""
    await warmed(server)
    out = Outcome()

    async def trouble() -> str:
        visitor = await joined(server.url)
        await visitor.open(SEEDS)
        frames_to_send = [visitor.frame(seed_of(0, move)) for move in range(frames)]
        for frame in frames_to_send:
            await visitor.socket.send(frame)
        tally = Tally()
        await tally.time(visitor.answered(seed_of(0, frames - 1), runs=frames))
        await left([visitor])
        out.failed(tally.wrong)
        return f"shows the last one after {tally.ms(1) / 1000:.1f} s" if tally.seconds else "never shows the last one"

    await beside(server, out, trouble, f"{frames:,} moves at once on one socket", rest)
    return out


def narrow(url: str) -> socket.socket:
    """Return a connection with little room for what has not been read."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect((urlsplit(url).hostname, urlsplit(url).port))
    connection.setblocking(False)
    return connection


async def paused(server: Server, readers: int, seconds: float, rest: float) -> Outcome:
    """Visitors who move every second and read nothing: their answers must not pile up, nor hold anybody back."""
    await warmed(server)
    out = Outcome()

    async def trouble() -> str:
        stopped = [await joined(server.url, sock=narrow(server.url), max_queue=1) for _ in range(readers)]
        for at, visitor in enumerate(stopped):
            await visitor.open(seed_of(at, 0))
        sent = dropped = 0
        for move in range(1, int(seconds) + 1):
            for at, visitor in enumerate(stopped):
                try:
                    await asyncio.wait_for(visitor.socket.send(visitor.frame(seed_of(at, move))), 1)
                    sent += 1
                except REFUSALS:
                    dropped += 1
                await asyncio.sleep(1 / readers)
        for visitor in stopped:
            visitor.socket.transport.abort()
        return f"{sent} moves sent, {dropped} when their socket had been closed"

    await beside(server, out, trouble, f"{readers} who stop reading for {seconds:g} s", rest)
    return out
