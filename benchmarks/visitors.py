"""Visitors without browsers, over Streamlit's own websocket protocol; each checks every answer it gets.

An answer counts only if the page shows what was asked for: a picture must hold the very weights that the engine gives
for that setting and seed, and the address must name it. Not counted, since nothing is drawn here: the browser's own
work, and its download of the static files.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs

import numpy as np
import numpy.typing as npt
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from attnviz import Config, run
from attnviz.pictures.stage_bytes import unpacked
from attnviz.settings import url_codec
from attnviz.ui.session.browser import message

SEEDS = 997  # as many different answers are asked for
PATIENCE = 120.0  # seconds after which an answer counts as none
USUAL = Config()
WELL = ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
"""The ends of a run that shows what was asked for: of the whole page, or of the part with the maps."""
MANY = 2**13  # weights that no picture shows one by one

Numbers = npt.NDArray[np.floating[Any]]


class WrongPageError(Exception):
    """The page answered, but not with what was asked for."""


REFUSALS = (WebSocketException, OSError, TimeoutError, KeyError)


@lru_cache(maxsize=2048)
def expected(config: Config) -> Numbers:
    """Return the weights that the page must show for a setting: those of its first layer, in one order."""
    return np.sort(run(config).layers[0]["weights"].array.ravel())


def prepared(seeds: Iterable[int] = range(1, SEEDS + 1)) -> None:
    """Compute the right answers before anything is timed."""
    for seed in seeds:
        expected(replace(USUAL, seed=seed))


def numbers_of(header: Mapping[str, Any], arrays: Mapping[str, Numbers]) -> list[Numbers]:
    """Return the numbers of each map, without those that are masked, in one order."""
    tables = []
    for stage in header["stages"]:
        array = arrays[stage["name"]]
        masked = 0 if stage["masked"] is None else arrays[stage["masked"]]
        shown = array[np.broadcast_to(masked, array.shape) == 0]
        tables.append(np.sort(shown[~np.isnan(shown)].ravel()))
    return tables


def shows(chart: Numbers, config: Config) -> bool:
    """Return whether a chart holds the weights of a setting, as exactly as single precision can.

    Where cells are too small to be seen a chart holds the largest of each block: weights of the setting and no others,
    the largest of all among them.
    """
    wanted = expected(config)
    if wanted.size < MANY or not 0 < chart.size < wanted.size:
        return chart.shape == wanted.shape and np.allclose(chart, wanted, rtol=1e-6, atol=1e-9)
    if not np.isfinite(chart).all():
        return False
    after = np.searchsorted(wanted, chart).clip(1, len(wanted) - 1)
    near = np.minimum(abs(wanted[after] - chart), abs(wanted[after - 1] - chart))
    return bool((near <= 1e-9 + 1e-6 * abs(chart)).all() and np.isclose(chart[-1], wanted[-1], rtol=1e-6))


def seed_of(visitor: int, move: int) -> int:
    return 1 + (7 * visitor + move) % SEEDS


@dataclass
class Visitor:
    """One browser's worth of the protocol: what it was sent, where its address stands, what it keeps for reuse.

    Stages have a message of their own, `sent`; the maps draw those that are `named`. No visitor here asks for stages
    at their address, so each has to be sent what its maps name.
    """

    socket: ClientConnection
    config: Config = USUAL
    query: str = ""
    widgets: dict[str, str] = field(default_factory=dict)
    kept: dict[str, ForwardMsg] = field(default_factory=dict)
    charts: dict[tuple[int, ...], list[Numbers]] = field(default_factory=dict)
    named: str | None = None
    sent: str | None = None
    received: int = 0
    moved: ClassVar[str] = "seed"

    async def open(self, seed: int) -> None:
        """Come by a link; returns when the page is whole, and raises WrongPageError if it is another."""
        self.query = url_codec.query_string(self.wanted(seed))
        await self.socket.send(self.frame())
        await self.answered(seed)

    async def move(self, seed: int) -> None:
        """Change what this visitor changes, as its field does."""
        await self.socket.send(self.frame(seed))
        await self.answered(seed)

    def frame(self, seed: int | None = None) -> bytes:
        """Return the message by which a browser asks for a run, with another value in a field if a seed is given."""
        ask = BackMsg()
        ask.rerun_script.query_string = self.query
        ask.rerun_script.cached_message_hashes.extend(self.kept)
        if seed is not None:
            ask.rerun_script.widget_states.widgets.add(id=self.widgets[self.moved], **self.told(seed))
        return ask.SerializeToString()

    def wanted(self, seed: int) -> Config:
        """Return the setting of a seed."""
        return replace(self.config, seed=seed)

    def told(self, seed: int) -> dict[str, Any]:
        """Return the value that the field sends for it."""
        return {"double_value": float(seed)}

    async def answered(self, seed: int, runs: int = 1) -> None:
        """Wait for the end of a run, or of the first of several that shows what was asked for.

        Raises WrongPageError if none does.
        """
        wanted = self.wanted(seed)
        written = url_codec.encode(wanted)[self.moved]
        for _ in range(runs):
            charts = await asyncio.wait_for(self._answer(), PATIENCE)
            if self.named != self.sent:
                raise WrongPageError(f"the maps draw the stages {self.named}; sent were {self.sent}")
            if parse_qs(self.query).get(self.moved) == [written] and any(shows(chart, wanted) for chart in charts):
                return
        raise WrongPageError(f"{self.moved} {written} was asked for; the address is {self.query}")

    async def ended(self) -> None:
        """Wait for the end of a run, whatever it shows."""
        await asyncio.wait_for(self._answer(), PATIENCE)

    async def _answer(self) -> list[Numbers]:
        """Read until a run is through; the numbers in the charts of the page, which come again only if they change."""
        while True:
            data = await self.socket.recv()
            self.received += len(data)
            message = ForwardMsg.FromString(data if isinstance(data, bytes) else data.encode())
            path = tuple(message.metadata.delta_path)
            if message.WhichOneof("type") == "ref_hash":
                message = self.kept[message.ref_hash]
            if message.metadata.cacheable:
                self.kept[message.hash] = message
            match message.WhichOneof("type"):
                case "page_info_changed":
                    self.query = message.page_info_changed.query_string
                case "delta":
                    self.charts[path] = self._seen(message)
                case "script_finished" if message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    pass  # a run that gave way to the next is no answer
                case "script_finished":
                    if message.script_finished not in WELL:
                        raise WrongPageError("the run did not end well")
                    return [chart for each in self.charts.values() for chart in each]

    def _seen(self, sent: ForwardMsg) -> list[Numbers]:
        """Return the numbers of an element that is a chart, else nothing; remember number fields and buttons."""
        element = sent.delta.new_element
        match element.WhichOneof("type"):
            case "exception":
                raise WrongPageError(f"the page shows {element.exception.type}")
            case "number_input":
                self.widgets[element.number_input.id.rpartition("-")[2]] = element.number_input.id
            case "text_input":
                self.widgets[element.text_input.id.rpartition("-")[2]] = element.text_input.id
            case "button":
                self.widgets[element.button.id.rpartition("-")[2]] = element.button.id
            case "bidi_component" if element.bidi_component.component_name == "attnviz_message":
                header, arrays = unpacked(message.parts(element.bidi_component.bytes)["explore"])
                self.named = header["there"]
                return numbers_of(header, arrays)
            case "bidi_component" if element.bidi_component.component_name == "attnviz_stages_sent":
                self.sent = None
                if element.bidi_component.bytes:
                    header, arrays = unpacked(element.bidi_component.bytes)
                    self.sent = header["name"]
                    return numbers_of(header, arrays)
        return []


@dataclass
class Tally:
    """The times of answers, and those that did not come or were wrong."""

    seconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    async def time(self, act: Awaitable[object]) -> bool:
        """Do one thing and note how long it took, or why it failed; whether it went well."""
        start = time.perf_counter()
        try:
            await act
        except (WrongPageError, *REFUSALS) as error:
            self.wrong.append(f"{type(error).__name__}: {error}")
            return False
        self.seconds.append(time.perf_counter() - start)
        return True

    def ms(self, share: float) -> float:
        """Return the time in milliseconds within which a share of the answers came; NaN if none came."""
        spread = sorted(self.seconds)
        return 1000 * spread[min(len(spread) - 1, int(share * len(spread)))] if spread else float("nan")

    def words(self) -> str:
        """Return the times as the table shows them."""
        return f"p50 {self.ms(0.5):,.0f} ms, p95 {self.ms(0.95):,.0f} ms, at most {self.ms(1):,.0f} ms"


async def joined(url: str, config: Config = USUAL, kind: type[Visitor] = Visitor, **given: Any) -> Visitor:
    """A visitor with an open socket, who has not asked for anything yet."""
    stream = url.replace("http", "ws", 1) + "/_stcore/stream"
    given = {"max_size": None, "open_timeout": PATIENCE, "ping_interval": None} | given
    return kind(await connect(stream, subprotocols=["streamlit"], **given), config)  # type: ignore[list-item]


async def entered(
    url: str, n: int, tally: Tally, config: Config = USUAL, kind: type[Visitor] = Visitor
) -> list[Visitor]:
    """n visitors who open the page in the same moment; those who could."""
    visitors: list[Visitor] = []

    async def one(at: int) -> None:
        visitor = await joined(url, config, kind)
        await visitor.open(seed_of(at, 0))
        visitors.append(visitor)

    await asyncio.gather(*(tally.time(one(at)) for at in range(n)))
    return visitors


async def left(visitors: Iterable[Visitor]) -> None:
    """Close the pages, also those whose socket is broken."""

    async def one(visitor: Visitor) -> None:
        with suppress(*REFUSALS):
            await asyncio.wait_for(visitor.socket.close(), 15)

    await asyncio.gather(*map(one, visitors))


@asynccontextmanager
async def moving(visitors: Sequence[Visitor], think: float = 0.2) -> AsyncIterator[Tally]:
    """Inside the block these visitors move, each again `think` seconds after its answer; what they waited is noted."""
    tally, over = Tally(), asyncio.Event()

    async def one(at: int, visitor: Visitor) -> None:
        move = 0
        while not over.is_set() and await tally.time(visitor.move(seed_of(at, move := move + 1))):
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), think)

    tasks = [asyncio.ensure_future(one(at, visitor)) for at, visitor in enumerate(visitors)]
    try:
        yield tally
    finally:
        over.set()
        await asyncio.gather(*tasks)
