"""A class on the page at once, over Streamlit's own websocket protocol and without browsers.

    pip install -r requirements.txt -r benchmarks/requirements.txt
    python benchmarks/load.py --visitors 1 30

Starts the page, or takes one that runs (`--url`). Every visitor opens the same link, then changes the seed: in bursts,
all in the same moment, and steadily, each after a time to think. An answer counts only if the page shows what was
asked for: a picture must hold the very weights that the engine gives for that seed, and the address must name it.
Leaves with 1 if any visitor was refused, dropped, or shown something else. Not counted, since nothing is drawn here:
the browser's own work, and its download of the static files.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import numpy as np
import numpy.typing as npt
import streamlit
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "deploy")]

from local import Replica  # noqa: E402

from attnviz import Config, run  # noqa: E402

SENTENCE = "the cat sat on the warm mat"
SEEDS = 40  # as many different answers are asked for
PATIENCE = 120.0  # seconds after which an answer counts as none


Numbers = npt.NDArray[np.floating[Any]]


def shows(chart: Numbers, seed: int, sentence: str) -> bool:
    """Whether a chart holds the weights of a seed, as exactly as single precision can."""
    wanted = expected(seed, sentence)
    return chart.shape == wanted.shape and np.allclose(chart, wanted, rtol=1e-6, atol=1e-9)


class WrongPageError(Exception):
    """The page answered, but not with what was asked for."""


@cache
def expected(seed: int, sentence: str = SENTENCE) -> Numbers:
    """The weights that the page must show for a seed, in one order."""
    return np.sort(run(Config(sentence=sentence, seed=seed))["weights"].array.ravel())


def numbers(spec: str) -> Numbers:
    """The numbers in a chart's picture, without its gutters, in one order."""
    z = json.loads(spec)["data"][0].get("z")
    if not isinstance(z, dict):
        return np.empty(0)
    array = np.frombuffer(base64.b64decode(z["bdata"]), z["dtype"])
    return np.sort(array[~np.isnan(array)])


@dataclass
class Visitor:
    """One browser's worth of the protocol: what it was sent, where its address stands, what it keeps for reuse."""

    socket: ClientConnection
    sentence: str = SENTENCE
    query: str = ""
    widgets: dict[str, str] = field(default_factory=dict)
    kept: dict[str, ForwardMsg] = field(default_factory=dict)
    received: int = 0

    async def open(self, seed: int) -> None:
        """Come by a link; returns when the page is whole, and raises WrongPageError if it is another."""
        self.query = urlencode({"v": "1", "sentence": self.sentence, "seed": seed})
        await self._asked(seed, {})

    async def move(self, seed: int) -> None:
        """Change the seed, as its number field does."""
        await self._asked(seed, {self.widgets["seed"]: float(seed)})

    async def _asked(self, seed: int, values: dict[str, float]) -> None:
        ask = BackMsg()
        ask.rerun_script.query_string = self.query
        ask.rerun_script.cached_message_hashes.extend(self.kept)
        for name, value in values.items():
            ask.rerun_script.widget_states.widgets.add(id=name, double_value=value)
        await self.socket.send(ask.SerializeToString())
        charts = await asyncio.wait_for(self._answer(), PATIENCE)
        shown = any(shows(chart, seed, self.sentence) for chart in charts)
        if parse_qs(self.query).get("seed") != [str(seed)] or not shown:
            raise WrongPageError(f"seed {seed} was asked for; the address is {self.query}")

    async def _answer(self) -> list[Numbers]:
        """Read until the run is through; the numbers in its charts."""
        charts = []
        while True:
            data = await self.socket.recv()
            self.received += len(data)
            message = ForwardMsg.FromString(data if isinstance(data, bytes) else data.encode())
            if message.WhichOneof("type") == "ref_hash":
                message = self.kept[message.ref_hash]
            if message.metadata.cacheable:
                self.kept[message.hash] = message
            match message.WhichOneof("type"):
                case "page_info_changed":
                    self.query = message.page_info_changed.query_string
                case "delta":
                    charts += self._seen(message)
                case "script_finished":
                    if message.script_finished != ForwardMsg.FINISHED_SUCCESSFULLY:
                        raise WrongPageError("the run did not end well")
                    return charts

    def _seen(self, message: ForwardMsg) -> list[Numbers]:
        """What one element says: a chart's numbers, or nothing; remembers the number fields."""
        element = message.delta.new_element
        match element.WhichOneof("type"):
            case "exception":
                raise WrongPageError(f"the page shows {element.exception.type}")
            case "number_input":
                self.widgets[element.number_input.id.rpartition("-")[2]] = element.number_input.id
            case "plotly_chart":
                return [numbers(element.plotly_chart.spec)]
        return []


@dataclass
class Result:
    """What was measured of one kind of load."""

    name: str
    visitors: int
    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    processor: float = 0.0
    received: int = 0
    resident: float = 0.0

    def line(self) -> str:
        done = max(len(self.seconds), 1)
        spread = sorted(self.seconds) or [float("nan")]
        p95 = spread[min(len(spread) - 1, int(0.95 * len(spread)))]
        times = [1000 * each for each in (statistics.median(spread), p95, spread[-1])]
        return (
            f"{self.name:<8} {self.visitors:>8} {len(self.seconds):>7} {len(self.errors):>6} "
            + " ".join(f"{each:>7.0f}" for each in times)
            + f" {1000 * self.processor / done:>8.1f} {self.received / 1000 / done:>8.1f} {self.resident:>8.2f}"
        )


HEADINGS = "load     visitors answers errors  p50 ms  p95 ms  max ms   CPU ms       KB MB/visit"


def processor_seconds(pid: int | None) -> float:
    """User and system time that a process has used; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid: int | None) -> float:
    """Memory that a process holds, in megabytes; 0 where the system does not tell."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        return 0.0


async def timed(result: Result, act: Callable[[int], Awaitable[None]], seed: int) -> None:
    """Do one thing and note how long it took, or why it failed."""
    start = time.perf_counter()
    try:
        await act(seed)
        result.seconds.append(time.perf_counter() - start)
    except (WrongPageError, WebSocketException, OSError, TimeoutError, KeyError) as error:
        result.errors.append(f"{type(error).__name__}: {error}")


def seed_of(visitor: int, move: int) -> int:
    return 1 + (7 * visitor + move) % SEEDS


async def bursts(visitors: list[Visitor], result: Result, rounds: int) -> None:
    """Everybody moves in the same moment, and again when the last has been answered."""
    for move in range(1, rounds + 1):
        await asyncio.gather(*(timed(result, each.move, seed_of(at, move)) for at, each in enumerate(visitors)))


async def steady(visitors: list[Visitor], result: Result, seconds: float, think: float) -> None:
    """Everybody moves now and then, with times to think of `think` seconds on average."""
    end = time.monotonic() + seconds

    async def one(at: int, visitor: Visitor) -> None:
        pause, move = random.Random(at), 1000  # noqa: S311 - when somebody moves is no secret
        while (wait := pause.expovariate(1 / think)) < end - time.monotonic():
            await asyncio.sleep(wait)
            await timed(result, visitor.move, seed_of(at, move := move + 1))

    await asyncio.gather(*(one(at, visitor) for at, visitor in enumerate(visitors)))


async def enter(url: str, n: int, result: Result) -> list[Visitor]:
    """Open n pages in the same moment; those that could be."""
    address = url.replace("http", "ws", 1) + "/_stcore/stream"
    visitors: list[Visitor] = []

    async def one(at: int) -> None:
        async def act(seed: int) -> None:
            socket = await connect(address, subprotocols=["streamlit"], max_size=None, open_timeout=PATIENCE)  # type: ignore[list-item]
            visitors.append(Visitor(socket))
            await visitors[-1].open(seed)

        await timed(result, act, seed_of(at, 0))

    await asyncio.gather(*(one(at) for at in range(n)))
    return visitors


async def loads(url: str, pid: int | None, n: int, asked: argparse.Namespace) -> list[Result]:
    """n visitors come, move in bursts and then steadily, and go."""
    results = [Result(name, n) for name in ("open", "burst", "steady")]
    before = resident_mb(pid)
    visitors: list[Visitor] = []

    async def measured(result: Result, work: Awaitable[object]) -> None:
        used, received = processor_seconds(pid), sum(each.received for each in visitors)
        await work
        result.processor = processor_seconds(pid) - used
        result.received = sum(each.received for each in visitors) - received
        result.resident = (resident_mb(pid) - before) / n

    async def come() -> None:
        visitors.extend(await enter(url, n, results[0]))

    await measured(results[0], come())
    await measured(results[1], bursts(visitors, results[1], asked.rounds))
    await measured(results[2], steady(visitors, results[2], asked.seconds, asked.think))
    for visitor in visitors:
        await visitor.socket.close()
    return results


def report(url: str, pid: int | None, asked: argparse.Namespace) -> Iterable[Result]:
    """The results for every number of visitors, printed as they come; a first visitor warms the server up."""
    asyncio.run(loads(url, pid, 1, argparse.Namespace(rounds=3, seconds=0, think=1)))
    print(HEADINGS)
    for n in asked.visitors:
        for result in asyncio.run(loads(url, pid, n, asked)):
            print(result.line(), *result.errors[:2], sep="\n    " if result.errors else "", flush=True)
            yield result


def machine() -> str:
    """What the figures were measured on."""
    git = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    versions = f"Python {platform.python_version()}, Streamlit {streamlit.__version__}, NumPy {np.__version__}"
    return f"{os.cpu_count()} processors, {versions}, commit {git.stdout.strip() or 'unknown'}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--visitors", type=int, nargs="+", default=[1, 30], help="how many at once, one run for each")
    parser.add_argument("--rounds", type=int, default=3, help="bursts")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long the steady load lasts")
    parser.add_argument("--think", type=float, default=10.0, help="mean seconds between two moves of a steady visitor")
    parser.add_argument("--url", help="a page that runs already; its processor time and memory are not known then")
    asked = parser.parse_args()
    for seed in range(1, SEEDS + 1):
        expected(seed)
    load = os.getloadavg()[0]
    if asked.url:
        results = list(report(asked.url, None, asked))
    else:
        with tempfile.TemporaryDirectory() as folder:
            page = Replica(Path(folder) / "page.log", "local")
            page.start()
            try:
                pid = page.process.pid if page.process else None
                results = list(report(f"http://127.0.0.1:{page.port}", pid, asked))
            finally:
                page.kill()
    print(f"{machine()}; load average {load:.1f} before, {os.getloadavg()[0]:.1f} after")
    return 1 if any(result.errors for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
