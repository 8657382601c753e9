"""A server that runs out of room: a disk that takes not a byte more, and memory bounded to what a small host gives."""

from __future__ import annotations

import asyncio
import os
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from load import warmed
from outcome import Outcome
from served import Server, served, watched
from visitors import USUAL, Tally, entered, left

LARGEST = replace(
    USUAL,
    sentence=" ".join(f"word{number}" for number in range(128)),
    max_tokens=128,
    d_model=512,
    n_heads=16,
    n_layers=6,
    d_k=64,
    d_v=64,
)
PLACE = "Explore > This cell with 128 words, d_model 512, 6 layers of 16 heads"
"""What `edge` opens. Other places take more, and are refused there: tests/ui/test_memory.py opens them all."""

# The page under a limit of file sizes, its log through a pipe as in a container; the process stays the one started.
PIPED = ("bash", "-c", 'exec prlimit --fsize=0 "$@" > >(cat) 2>&1', "bash")


async def visited(server: Server, out: Outcome, n: int, moves: int, config: Any = USUAL) -> Tally:
    """n visitors open the page and move; how long they waited."""
    tally = Tally()
    visitors = await entered(server.url, n, tally, config)
    for move in range(1, moves + 1):
        await asyncio.gather(*(tally.time(each.move(1 + (at + move) % 7)) for at, each in enumerate(visitors)))
    await left(visitors)
    out.failed(tally.wrong)
    return tally


def disk(n: int) -> Outcome:
    """No file may grow by a byte, from the start or from a moment on while visitors are there, log included."""
    out = Outcome()
    for name, within in (("from the start", PIPED), ("while it runs, log too", ())):
        with served(within) as server:
            if not within and server.pid:
                asyncio.run(warmed(server))
                resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (0, 0))
            tally = asyncio.run(visited(server, out, n, 2))
            out.row(
                f"Full disk {name}: {n} visitors (simulated: files limited to 0 bytes)",
                f"{len(tally.seconds)} answers, {len(tally.wrong)} errors or wrong pages",
                "served",
                not tally.wrong and server.lives,
            )
    return out


def group() -> Path | None:
    """A new group of processes whose memory can be limited, below our own; None where we may not make one."""
    with suppress(OSError):
        mine = dict(line.split(":", 2)[1:] for line in Path("/proc/self/cgroup").read_text("ascii").splitlines())
        above = [Path("/sys/fs/cgroup/memory" + mine["memory"])] if "memory" in mine else []
        for root in (*above, Path("/sys/fs/cgroup" + mine.get("", "/"))):
            made = root / f"attnviz-{os.getpid()}"
            made.mkdir()
            if (made / "memory.limit_in_bytes").exists() or (made / "memory.max").exists():
                return made
            made.rmdir()
    return None


@contextmanager
def limited(megabytes: int) -> Iterator[tuple[Server, Path | None]]:
    """A server that may hold so much memory, and the group that sees to it; None where nothing does."""
    made = group()
    if made is None:
        with served() as server:
            yield server, None
        return
    try:
        limit = next(made / name for name in ("memory.limit_in_bytes", "memory.max") if (made / name).exists())
        limit.write_text(str(megabytes * 1_000_000), "ascii")
        with served(("sh", "-c", f'echo $$ > "{made}/cgroup.procs" && exec "$@"', "sh")) as server:
            yield server, made
    finally:
        for _ in range(50):  # until the kernel has seen the last process go
            with suppress(OSError):
                made.rmdir()
                break
            time.sleep(0.1)


def memory(megabytes: int, usual: int, large: tuple[int, ...], moves: int) -> Outcome:
    """A class within a limit of memory; then, to find the edge, more and more on one large page."""
    out = Outcome()
    with limited(megabytes) as (server, made):
        how = "the kernel's limit" if made else "watched only, since no limit can be set here"
        asyncio.run(warmed(server))
        held = asyncio.run(crowd(server, out, usual, moves, USUAL))
        out.row(
            f"{megabytes:,} MB of memory ({how}): {usual} visitors at once",
            f"{held:.0f} MB at most; {len(out.wrong)} errors or wrong pages",
            f"≤ {megabytes:,} MB, none",
            server.lives and held <= megabytes and not out.wrong,
        )
        out.figures = {"limited_mb": held}
        said = [edge(server, made, n, moves) for n in large if server.lives]
        out.row(f"The same, visitors at once on {PLACE}", "; ".join(said))
    return out


def edge(server: Server, made: Path | None, n: int, moves: int) -> str:
    """How a few visitors fare whose page is as large as it can be; that they end the server is found, not a failure."""
    apart = Outcome()
    held = asyncio.run(crowd(server, apart, n, moves, LARGEST))
    died = "" if server.lives else f", and the {'kernel' if made else 'system'} ends the server"
    return f"{n}: {held:.0f} MB, {len(apart.wrong)} errors{died}"


async def crowd(server: Server, out: Outcome, n: int, moves: int, config: Any) -> float:
    """n visitors with a setting, who open it at once and move at once; the most memory the process held."""
    async with watched(server, 0.02) as peak:
        await visited(server, out, n, moves, config)
    return peak.most
