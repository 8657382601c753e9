"""The stage at its address: what a move costs by it, and how long a class waits that asks at once.

    python benchmarks/hosting.py --only route

Every answer is held to the run of its setting, bit for bit.
"""

from __future__ import annotations

import asyncio
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from attnviz import Config, run
from attnviz.pictures.stage_bytes import unpacked
from attnviz.settings import url_codec
from attnviz.ui.stage_route import PATH
from benchmarks.outcome import Outcome
from benchmarks.served import Server
from benchmarks.visitors import PATIENCE, Tally, WrongPageError

SIZES = {
    "8 heads × 12 words": Config(n_heads=8, sentence=" ".join("abcdefghijkl")),
    "16 heads × 64 words": Config(n_heads=16, sentence=" ".join(f"w{n}" for n in range(64))),
}
MOVE_MS = {"8 heads × 12 words": 8.0}
BURST_MS = {30: 400, 100: 1200, 300: 4000}
SAME_MS = {300: 700}


@dataclass
class Asker:
    """A browser that asks for stages, one after the other, on one connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    received: int = 0

    async def ask(self, config: Config) -> bytes:
        """Return the bytes of a setting. Raises WrongPageError for any other answer than 200."""
        query = urlencode(url_codec.encode(config))
        self.writer.write(f"GET {PATH}?{query} HTTP/1.1\r\nHost: attnviz\r\nAccept-Encoding: gzip\r\n\r\n".encode())
        head = (await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), PATIENCE)).decode("latin-1").lower()
        lines = dict(line.split(": ", 1) for line in head.splitlines()[1:] if line)
        body = await self.reader.readexactly(int(lines["content-length"]))
        self.received += len(body)
        if " 200 " not in head.splitlines()[0]:
            raise WrongPageError(f"{head.splitlines()[0]}: {body.decode()[:80]}")
        return body


async def come(server: Server, n: int) -> list[Asker]:
    """n browsers that are connected."""
    where = urlsplit(server.url)
    return [Asker(*await asyncio.open_connection(where.hostname, where.port)) for _ in range(n)]


def wrong(config: Config, body: bytes) -> str:
    """Return what is wrong about the bytes of a setting; empty if nothing is."""
    weights = unpacked(zlib.decompress(body, 31))[1]["weights"]
    wanted = run(config)["weights"].array.astype(weights.dtype)
    return "" if np.array_equal(weights, wanted) else f"the weights of seed {config.seed} are others"


async def at_once(askers: Sequence[Asker], configs: Sequence[Config], tally: Tally) -> None:
    """Every browser asks in the same moment; what they got is looked at afterwards."""
    bodies: dict[int, bytes] = {}

    async def one(at: int) -> None:
        bodies[at] = await askers[at].ask(configs[at])

    await asyncio.gather(*(tally.time(one(at)) for at in range(len(askers))))
    distinct = {(config, bodies[at]) for at, config in enumerate(configs) if at in bodies}
    tally.wrong += [problem for each in distinct if (problem := wrong(*each))]


async def asked(server: Server, moves: int, sizes: Sequence[int]) -> Outcome:
    """Measure moves one after the other, different settings at once, and the same setting at once."""
    out, seed = Outcome(), 1
    await at_once(await come(server, 1), [replace(Config(), seed=999_999)], Tally())  # who loads the modules
    for name, config in SIZES.items():
        (asker,), tally, used = await come(server, 1), Tally(), server.processor
        for _ in range(moves):
            seed += 1
            await tally.time(asker.ask(replace(config, seed=seed)))
        cost, kept = 1000 * (server.processor - used) / moves, server.processor
        for _ in range(moves):
            await tally.time(asker.ask(replace(config, seed=seed)))
        again = 1000 * (server.processor - kept) / moves
        measured = f"{cost:.1f} ms of processor, {asker.received / 2000 / moves:.1f} KB; {again:.1f} ms if it is kept"
        goal = MOVE_MS.get(name)
        bounded = ("", None) if goal is None else (f"≤ {goal:g} ms", cost <= goal)
        out.row(f"A move by the route, {name}", f"{measured}; {out.failed(tally.wrong)}", *bounded)
        out.figures[f"route_{config.n_heads}_ms"] = cost
    usual = SIZES["8 heads × 12 words"]
    for goals, what in ((BURST_MS, "{n} settings at once by the route"), (SAME_MS, "One setting {n} times at once")):
        for n in (n for n in sizes if n > 1):
            tally, askers = Tally(), await come(server, n)
            seed += 1
            configs = [replace(usual, seed=seed + (at if goals is BURST_MS else 0)) for at in range(n)]
            seed += n
            await at_once(askers, configs, tally)
            goal = goals.get(n)
            bounded = ("", None) if goal is None else (f"p95 ≤ {goal / 1000:g} s", tally.ms(0.95) <= goal)
            out.row(what.format(n=n), f"{tally.words()}; {out.failed(tally.wrong)}", *bounded)
            for asker in askers:
                asker.writer.close()
    return out
