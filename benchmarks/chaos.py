"""A server under what nobody plans for: a heavy visitor among many, a slow line, a clock that goes a day back."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import urlsplit

from attnviz.settings import url_codec
from benchmarks.limits import largest
from benchmarks.load import gathered, thinking, warmed
from benchmarks.outcome import Outcome
from benchmarks.served import ROOT, Server, served, watched
from benchmarks.stranger import Stranger
from benchmarks.visitors import Tally, entered, joined, left, seed_of

GOAL = 1.0
"""Seconds that nobody waits for longer because of another."""
DELAY = 0.15
"""Seconds to the server, and from it."""
DAY = 86_400
CLOCK = f"""
import os, time
real = time.time
time.time = lambda: real() - {DAY} * os.path.exists({{flag!r}})
"""


async def heavy(server: Server, out: Outcome, n: int, seconds: float) -> None:
    """Have a visitor move on the largest page there is while n others move every two seconds."""
    opening, moves, over = Tally(), Tally(), asyncio.Event()
    config = largest()
    others, one = await gathered(server, n, opening), await joined(server.url, config)
    one.query = url_codec.query_string(config)

    async def trouble() -> None:
        await one.socket.send(one.frame())
        while await moves.time(one.ended()) and not over.is_set():
            await one.socket.send(one.frame(seed_of(0, len(moves.seconds))))

    troubling = asyncio.ensure_future(trouble())
    async with watched(server) as memory:
        tally = await thinking(others, seconds, 2.0)
        over.set()
        await troubling
    await left([*others, one])
    told = f"{tally.words()}; {len(tally.seconds)} moves beside {len(moves.seconds)} heavy ones"
    told += f", at most {memory.most:.0f} MB"
    failures = out.failed(opening.wrong + moves.wrong + tally.wrong)
    out.row(f"A heavy visitor among {n}", f"{told}; {failures}", f"≤ {GOAL:g} s", tally.ms(1) <= 1000 * GOAL)


@asynccontextmanager
async def delayed(url: str, seconds: float) -> AsyncIterator[str]:
    """Yield another address of a server, to which and from which everything takes so long."""
    there = urlsplit(url)
    loop, tasks, writers = asyncio.get_running_loop(), set[asyncio.Task[None]](), set[asyncio.StreamWriter]()

    async def take(reader: asyncio.StreamReader, coming: asyncio.Queue[tuple[float, bytes]]) -> None:
        data = b"-"
        while data:
            data = await reader.read(65_536)
            await coming.put((loop.time() + seconds, data))  # at last nothing, which is the end

    async def give(writer: asyncio.StreamWriter, coming: asyncio.Queue[tuple[float, bytes]]) -> None:
        while True:
            when, data = await coming.get()
            await asyncio.sleep(when - loop.time())
            if not data:
                writer.close()
                return
            writer.write(data)
            await writer.drain()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(there.hostname, there.port)
        writers.update((writer, far_writer))
        for one, other in ((reader, far_writer), (far_reader, writer)):
            coming: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(1000)
            tasks.update(asyncio.ensure_future(each) for each in (take(one, coming), give(other, coming)))

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        for writer in writers:
            writer.close()
        closed = [writer.wait_closed() for writer in writers]
        await asyncio.gather(*tasks, *closed, return_exceptions=True)


async def slow_line(server: Server, out: Outcome, n: int) -> None:
    """Have n visitors at the end of a slow line, and as many at a fast one."""
    opening, far, near = Tally(), Tally(), Tally()
    async with delayed(server.url, DELAY) as url:
        away, here = await entered(url, n, opening), await entered(server.url, n, opening)
        for move in range(1, 4):
            for tally, visitors in ((far, away), (near, here)):
                await asyncio.gather(*(tally.time(each.move(seed_of(at, move))) for at, each in enumerate(visitors)))
        await left([*away, *here])
    if far.ms(0) < 2000 * DELAY:
        opening.wrong.append(f"a slow line answered after {far.ms(0):.0f} ms")
    failures = out.failed(opening.wrong + far.wrong + near.wrong)
    told = f"{far.words()}; {n} others at a fast one {near.words()}; {failures}"
    is_met = far.ms(0.95) <= 1000 * (GOAL + 2 * DELAY) and near.ms(1) <= 1000 * GOAL
    out.row(f"{n} at a line of {2000 * DELAY:.0f} ms", told, f"≤ {GOAL:g} s beside the line", is_met)


async def clock_back(server: Server, out: Outcome, n: int, flag: Path) -> None:
    """Have the clock go a day back, and then right again, under n visitors who are there and others who come."""
    tally = Tally()
    visitors = await entered(server.url, n, tally)
    for move, is_back in enumerate((True, False), 1):
        flag.touch() if is_back else flag.unlink(missing_ok=True)
        await asyncio.gather(*(tally.time(each.move(seed_of(at, move))) for at, each in enumerate(visitors)))
        visitors += await entered(server.url, 1, tally)
        async with Stranger(server, {"page": "data"}).there() as stranger:  # whose upload is signed
            await tally.time(stranger.upload("w.csv", b"0.5,0.5\n0.25,0.75"))
        if (told := await asyncio.to_thread(days_back, server.url)) != is_back:
            tally.wrong.append(f"the server's clock is {told} days back")
    await left(visitors)
    out.row(f"The clock a day back and right again: {n} visitors", f"{tally.words()}; {out.failed(tally.wrong)}")


def days_back(url: str) -> int:
    """Return how many days ago it is by the clock of a server."""
    time.sleep(1.1)  # it writes the date anew each second
    with urllib.request.urlopen(f"{url}/_stcore/health", timeout=10) as answer:  # noqa: S310
        return round((time.time() - parsedate_to_datetime(answer.headers["Date"]).timestamp()) / DAY)


@contextmanager
def with_a_clock() -> Iterator[tuple[Server, Path]]:
    """Yield a server whose clock is a day back as long as a file is there."""
    with tempfile.TemporaryDirectory() as folder:
        flag, path = Path(folder) / "back", os.pathsep.join([folder, str(ROOT), os.environ.get("PYTHONPATH", "")])
        (Path(folder) / "sitecustomize.py").write_text(CLOCK.format(flag=str(flag)), "utf-8")
        with served(("env", f"PYTHONPATH={path.rstrip(os.pathsep)}")) as server:
            yield server, flag


def chaos(n: int, seconds: float, few: int) -> Outcome:
    """Measure one server under each of these; that its log holds a fault is one."""
    out = Outcome()

    async def each(server: Server, flag: Path) -> None:
        await warmed(server)
        await slow_line(server, out, few)
        await clock_back(server, out, few, flag)
        await heavy(server, out, n, seconds)

    with with_a_clock() as (server, flag):
        asyncio.run(each(server, flag))
        if not server.lives:
            out.wrong.append("the server ended")
        if server.log and "Traceback" in (log := server.log.read_text("utf-8")):
            out.wrong.append(log[log.index("Traceback") :][:2000])
    return out
