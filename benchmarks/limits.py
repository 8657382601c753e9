"""A server that runs out of room: a disk that takes not a byte more, and memory bounded to what a small host gives."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from attnviz import Config
from attnviz.engine.cost import estimate as cost
from attnviz.ui.session.admission import MAPS
from benchmarks.load import warmed
from benchmarks.outcome import Outcome
from benchmarks.served import Server, served, watched
from benchmarks.visitors import USUAL, Tally, entered, left

WIDE = replace(
    USUAL,
    sentence=" ".join(f"word{number}" for number in range(64)),  # of more the page shows a part
    max_tokens=64,
    d_model=512,
    n_heads=16,
    d_k=64,
    d_v=64,
)
LAYERS = range(6, 0, -1)


def largest() -> Config:
    """Return the setting with the most layers that the page admits within the memory which a host allows by default.

    Other places take more, and are refused there: tests/ui/test_memory.py opens them all. Raises ValueError if even
    one layer is refused.
    """
    settings = (replace(WIDE, n_layers=n) for n in LAYERS)
    admitted = (each for each in settings if not cost.refusal(MAPS, each, most=cost.most_bytes()))
    config = next(admitted, None)
    if config is None:
        raise ValueError("the page refuses the wide setting even with one layer; make it narrower")
    return config


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
    """Measure a server whose files may not grow, from the start or from some moment on, its log included."""
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


BARE = {
    "without $HOME": ("env", "-u", "HOME"),
    "with 64 files that it may open": ("prlimit", "--nofile=64:64"),
    "on a file system that it may only read": (
        "unshare",
        "--mount",
        "sh",
        "-c",
        'mount -o remount,bind,ro / && exec "$@"',
        "sh",
    ),
}
"""Commands that start the command after them on a host that lacks something."""


def bare(n: int) -> Outcome:
    """Measure a server on hosts that lack something; a host that cannot be had here is said to be none."""
    out = Outcome()
    for name, within in BARE.items():
        if subprocess.run([*within, "true"], capture_output=True).returncode:
            out.row(f"A server {name}", "cannot be had here")
            continue
        with served(within) as server:
            tally = asyncio.run(visited(server, out, n, 2))
            told = f"{len(tally.seconds)} answers, {len(tally.wrong)} errors or wrong pages"
            out.row(f"A server {name}: {n} visitors", told, "served", not tally.wrong and server.lives)
    return out


def group() -> Path | None:
    """Return a new group of processes whose memory can be limited, below our own; None where we may not make one."""
    with suppress(OSError):
        controllers = dict(line.split(":", 2)[1:] for line in Path("/proc/self/cgroup").read_text("ascii").splitlines())
        above = [Path("/sys/fs/cgroup/memory" + controllers["memory"])] if "memory" in controllers else []
        for root in (*above, Path("/sys/fs/cgroup" + controllers.get("", "/"))):
            folder = root / f"attnviz-{os.getpid()}"
            folder.mkdir()
            if (folder / "memory.limit_in_bytes").exists() or (folder / "memory.max").exists():
                return folder
            folder.rmdir()
    return None


@contextmanager
def limited(megabytes: int) -> Iterator[tuple[Server, Path | None]]:
    """Yield a server that may hold so much memory, and the group that sees to it; None where nothing does."""
    folder = group()
    if folder is None:
        with served() as server:
            yield server, None
        return
    try:
        limit = next(folder / name for name in ("memory.limit_in_bytes", "memory.max") if (folder / name).exists())
        limit.write_text(str(megabytes * 1_000_000), "ascii")
        with served(("sh", "-c", f'echo $$ > "{folder}/cgroup.procs" && exec "$@"', "sh")) as server:
            yield server, folder
    finally:
        for _ in range(50):  # until the kernel has seen the last process go
            with suppress(OSError):
                folder.rmdir()
                break
            time.sleep(0.1)


def memory(megabytes: int, usual: int, large: tuple[int, ...], moves: int) -> Outcome:
    """Measure a class within a limit of memory; then, to find the edge, more and more visitors of one large page."""
    out = Outcome()
    with limited(megabytes) as (server, folder):
        how = "the kernel's limit" if folder else "watched only, since no limit can be set here"
        asyncio.run(warmed(server))
        peak = asyncio.run(crowd(server, out, usual, moves, USUAL))
        out.row(
            f"{megabytes:,} MB of memory ({how}): {usual} visitors at once",
            f"{peak:.0f} MB at most; {len(out.wrong)} errors or wrong pages",
            f"≤ {megabytes:,} MB, none",
            server.lives and peak <= megabytes and not out.wrong,
        )
        out.figures = {"limited_mb": peak}
        config = largest()
        lines = [edge(server, folder, out, n, moves, config) for n in large if server.lives]
        where = (
            f"Explore > This cell with {config.max_tokens} words, d_model {config.d_model}, {config.n_layers} layers "
        )
        out.row(f"The same, visitors at once on {where}of {config.n_heads} heads", "; ".join(lines))
    return out


def edge(server: Server, folder: Path | None, out: Outcome, n: int, moves: int, config: Config) -> str:
    """Measure a few visitors whose page is as large as it can be.

    That they end the server is found, and no failure; that they are shown something else is one, as nothing is measured
    then.
    """
    apart = Outcome()
    peak = asyncio.run(crowd(server, apart, n, moves, config))
    if server.lives:
        out.failed(apart.wrong)
    died = "" if server.lives else f", and the {'kernel' if folder else 'system'} ends the server"
    return f"{n}: {peak:.0f} MB, {len(apart.wrong)} errors{died}"


async def crowd(server: Server, out: Outcome, n: int, moves: int, config: Any) -> float:
    """n visitors with a setting, who open it at once and move at once; the most memory the process held."""
    async with watched(server, 0.02) as peak:
        await visited(server, out, n, moves, config)
    return peak.most
