"""A class on the page at once: the cost of a move, bursts, steady visitors, and many who come and go.

    python benchmarks/load.py --url http://127.0.0.1:8080 --visitors 1 30

measures a page that runs already, for example your own behind its proxy; `hosting.py` measures all of it on a server
of its own. Leaves with 1 if any visitor was refused, dropped, or shown something else.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.outcome import Outcome
from benchmarks.served import Server, load_average
from benchmarks.visitors import USUAL, Tally, Visitor, entered, expected, joined, left, moving, prepared, seed_of

MOVE_MS, MOVE_KB, SESSION_MB = 16, 50, 0.5
BURST_MS = {30: 1000, 100: 2000, 300: 6000}
STEADY_TIMES = 2  # as long as a single visitor's p95
FLAT_AFTER = 5  # minutes; a closed session is kept for one, so in less than a few the memory must grow
SLOPE = 0.5  # MB of memory that a thousand sessions may leave behind


async def warmed(server: Server, processes: int = 1) -> None:
    """A first visitor of each process, for whom it loads its modules, and who is not counted."""
    prepared()
    tally = Tally()
    visitors = await entered(server.url, processes, tally)
    async with moving(visitors, 0):
        await asyncio.sleep(1)
    await left(visitors)


async def move(server: Server, moves: int) -> Outcome:
    """Measure the cost of opening the page and moving once, on a server that does nothing else."""
    await warmed(server)
    out, opening, tally = Outcome(figures={"base_mb": server.memory}), Tally(), Tally()
    used = server.processor
    visitors = await entered(server.url, 1, opening)
    opened = 1000 * (server.processor - used)
    received, used = sum(each.received for each in visitors), server.processor
    for number in range(1, moves + 1):
        await asyncio.gather(*(tally.time(each.move(seed_of(0, number))) for each in visitors))
    cost = 1000 * (server.processor - used) / moves
    kilobytes = (sum(each.received for each in visitors) - received) / moves / 1000
    await left(visitors)
    failures = out.failed(opening.wrong + tally.wrong)
    out.row("Opening the page, over its socket", f"{opened:.0f} ms of processor, {received / 1000:.0f} KB")
    out.bound(f"A move, {moves} in a row: processor", cost, MOVE_MS, f"{cost:.1f} ms", " ms")
    out.bound("A move: over its socket", kilobytes, MOVE_KB, f"{kilobytes:.1f} KB", " KB")
    out.row("A move: until the answer is whole", f"{tally.words()}; {failures}")
    out.figures |= {
        "open_ms": opened,
        "move_ms": cost,
        "move_kb": kilobytes,
        "open_kb": received / 1000,
        "alone_p95": tally.ms(0.95),
    }
    return out


async def bursts(server: Server, sizes: Sequence[int], rounds: int, processes: int = 1) -> Outcome:
    """Everybody opens the page in the same moment, then moves in the same moment, several times.

    Rows and figures name the number of processes, where there are several.
    """
    await warmed(server, processes)
    out, of, key = Outcome(), *((f", {processes} processes", f"_of_{processes}") if processes > 1 else ("", ""))
    for n in sizes:
        before, opening, tally = server.memory, Tally(), Tally()
        visitors = await entered(server.url, n, opening)
        for number in range(1, rounds + 1):
            await asyncio.gather(*(tally.time(each.move(seed_of(at, number))) for at, each in enumerate(visitors)))
        each_mb = (server.memory - before) / n
        await left(visitors)
        failures = out.failed(opening.wrong + tally.wrong)
        out.row(f"{n} open the page at once{of}", opening.words())
        goal = BURST_MS.get(n, float("inf"))
        bounded = (f"p95 ≤ {goal / 1000:g} s", tally.ms(0.95) <= goal) if n in BURST_MS else ("", None)
        out.row(f"{n} move at once{of}", f"{tally.words()}; {failures}", *bounded)
        out.figures |= {f"burst_{n}_p95{key}": tally.ms(0.95), f"open_{n}_p95{key}": opening.ms(0.95)}
        if n == max(sizes) and n > 1 and processes == 1:
            out.bound(f"Memory a session, of {n}", each_mb, SESSION_MB, f"{each_mb:.2f} MB", " MB")
            out.figures["session_mb"] = each_mb
    return out


async def thinking(visitors: Sequence[Visitor], seconds: float, think: float) -> Tally:
    """Everybody moves now and then, with times to think of `think` seconds on average; whoever is failed leaves."""
    tally, end = Tally(), time.monotonic() + seconds

    async def one(at: int, visitor: Visitor) -> None:
        pause, number = random.Random(at), 1000  # noqa: S311 - when somebody moves is no secret
        while (wait := pause.expovariate(1 / think)) < end - time.monotonic():
            await asyncio.sleep(wait)
            if not await tally.time(visitor.move(seed_of(at, number := number + 1))):
                return

    await asyncio.gather(*(one(at, visitor) for at, visitor in enumerate(visitors)))
    return tally


async def gathered(server: Server, n: int, tally: Tally) -> list[Visitor]:
    """n visitors who come ten at a time."""
    visitors: list[Visitor] = []
    while len(visitors) < n and not tally.wrong:
        visitors += await entered(server.url, min(10, n - len(visitors)), tally)
    return visitors


async def steady(server: Server, n: int, seconds: float, think: float) -> Outcome:
    """One who moves at leisure, and then n who do: how much longer the n wait."""
    await warmed(server)
    out, opening = Outcome(), Tally()
    alone = await gathered(server, 1, opening)
    single = await thinking(alone, min(seconds, 60), 0.5)
    others = await gathered(server, n - 1, opening)
    together = await thinking([*alone, *others], seconds, think)
    await left([*alone, *others])
    failures = out.failed(opening.wrong + single.wrong + together.wrong)
    out.row("One visitor, moving at leisure", single.words())
    out.row(
        f"{n} visitors, each moving every {think:g} s, for {seconds:g} s",
        f"{together.words()}; {len(together.seconds):,} answers, {failures}",
        f"p95 ≤ {STEADY_TIMES} × one visitor's",
        together.ms(0.95) <= STEADY_TIMES * single.ms(0.95),
    )
    out.figures = {"single_p95": single.ms(0.95), f"steady_{n}_p95": together.ms(0.95)}
    return out


async def held(server: Server, n: int, seconds: float, think: float) -> Outcome:
    """Many for long: is anybody dropped or shown something else, and does the memory stay?"""
    await warmed(server)
    out, opening, before = Outcome(), Tally(), server.memory
    visitors = await gathered(server, n, opening)
    start = server.memory
    tally = await thinking(visitors, seconds, think)
    end = server.memory
    await left(visitors)
    failures = out.failed(opening.wrong + tally.wrong)
    out.row(
        f"{n} visitors for {seconds:g} s, each moving every {think:g} s",
        f"{len(tally.seconds):,} answers, {failures}; {tally.words()}",
        "no error, no wrong page",
        not out.wrong,
    )
    out.row(
        f"Memory with the {n}", f"{before:.0f} MB before, {start:.0f} MB when all have come, {end:.0f} MB at the end"
    )
    out.figures = {"held": n, "held_minutes": seconds / 60, "held_mb": end}
    return out


def slope(samples: Sequence[tuple[float, float]]) -> float:
    """Return the least-squares slope of y over x; 0 for less than two different x."""
    mean = statistics.fmean(x for x, _ in samples), statistics.fmean(y for _, y in samples)
    spread = sum((x - mean[0]) ** 2 for x, _ in samples)
    return sum((x - mean[0]) * (y - mean[1]) for x, y in samples) / spread if spread else 0.0


async def coming(server: Server, sessions: int, at_once: int, tally: Tally) -> AsyncIterator[tuple[int, float]]:
    """Visitors who open, move, and go, each with a seed of its own; the memory after each fiftieth of them."""
    step = max(sessions // 50, at_once)

    async def one(number: int) -> None:
        visitor = await joined(server.url)
        await visitor.open(number)
        await visitor.move(number + sessions)
        await visitor.socket.close()

    async def several(numbers: range) -> None:
        for number in numbers:
            await tally.time(one(number))

    for first in range(1, sessions + 1, step):
        last = min(first + step, sessions + 1)
        await asyncio.gather(*(several(range(first + at, last, at_once)) for at in range(at_once)))
        yield last - 1, server.memory


async def soak(server: Server, sessions: int, at_once: int, rest: float) -> Outcome:
    """Very many sessions, one after the other: what do they leave behind?"""
    await warmed(server)
    out, tally, start = Outcome(), Tally(), time.monotonic()
    samples = [(0, server.memory)]
    async for sample in coming(server, sessions, at_once, tally):
        samples.append(sample)
        print(f"  {sample[0]:>6} sessions, {sample[1]:.0f} MB, {time.monotonic() - start:.0f} s", file=sys.stderr)
    minutes = (time.monotonic() - start) / 60
    await asyncio.sleep(rest)
    last = [samples[round(quarter * (len(samples) - 1) / 4)][1] for quarter in range(5)]
    grown = 1000 * slope(samples[len(samples) // 4 :])
    out.row(
        f"{sessions:,} sessions opened, moved once and closed, {at_once} at a time, in {minutes:.1f} min",
        out.failed(tally.wrong),
        "no error, no wrong page",
        not tally.wrong,
    )
    quarters = " · ".join(f"{mb:.0f}" for mb in last)
    what = "Memory at the start, at each quarter, and when all have gone"
    out.row(what, f"{quarters} · {server.memory:.0f} MB")
    what = "Memory that 1,000 sessions leave, after the first quarter"
    if minutes > FLAT_AFTER:
        out.bound(what, grown, SLOPE, f"{grown:+.2f} MB", " MB")
    out.figures = {"soak": sessions, "soak_slope": grown, "soak_mb": last[-1], "soak_rested_mb": server.memory}
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--url", required=True, help="a page that runs already, and that you may load")
    parser.add_argument("--visitors", type=int, nargs="+", default=[1, 30], help="how many at once, one run for each")
    parser.add_argument("--rounds", type=int, default=3, help="bursts")
    arguments = parser.parse_args()
    expected(replace(USUAL, seed=1))
    before = load_average()
    out = asyncio.run(bursts(Server(arguments.url), arguments.visitors, arguments.rounds))
    for row in out.rows:
        if "Memory" not in row.what:
            print(f"{row.what:<28} {row.measured}")
    print(*out.wrong[:5], f"load average here {before:.1f} before, {load_average():.1f} after", sep="\n")
    return 1 if out.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
