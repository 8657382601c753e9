"""A stranger tries every door of the page with what costs it most: pastes, uploads, links, formulas, files.

Health is asked each second meanwhile, as whatever watches a host does: while it answers, nobody is frozen out.
"""

from __future__ import annotations

import asyncio
import time
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from http.client import HTTPMessage
from typing import Any
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from attnviz import Config
from attnviz.classroom import question_codec
from attnviz.classroom.marking import assignments
from attnviz.classroom.marking.assignments import Assignment
from attnviz.settings import url_codec
from benchmarks.floods import beside
from benchmarks.load import gathered, thinking, warmed
from benchmarks.outcome import Outcome
from benchmarks.served import Server
from benchmarks.visitors import PATIENCE, REFUSALS, Tally, joined, left

GOAL, FROZEN = 1.0, 10.0
"""Seconds within which health should answer, and those after which it counts as not answered at all."""
THINK = 5.0  # seconds between two moves of a visitor

WORDS = " ".join(f"w{number}" for number in range(1024))
SOLVED = Config(sentence=WORDS, max_tokens=1024, n_heads=1, n_layers=6, d_model=512, d_k=8, initialiser="by_hand")
"""Minutes of processor, which is refused; and below, the most that is not."""
LONG = replace(SOLVED, max_tokens=256, n_layers=5, d_model=256)
WIDE = replace(SOLVED, initialiser="linear", max_tokens=128, n_layers=4, n_heads=8, d_k=64, d_v=64)
TYPED = replace(WIDE, n_layers=1, d_k=8, score="formula", score_formula="sum(tanh(q*k*2)+tanh(q*k*3)+tanh(q*k*4))")


class Stranger:
    """Somebody at an address, with the fields, uploads and files that the page there offers."""

    def __init__(self, server: Server, query: Mapping[str, str]) -> None:
        self._url, self._query = server.url, urlencode({"v": "1"} | query)
        self._session, self.found = "", dict[str, str]()

    @asynccontextmanager
    async def there(self) -> AsyncIterator[Stranger]:
        """Open the page and wait until it is whole; it is left at the end of the block."""
        visitor = await joined(self._url)
        self._socket = visitor.socket
        try:
            await self.send()
            await self.wait_for("script_finished")
            yield self
        finally:
            with suppress(*REFUSALS):
                await asyncio.wait_for(visitor.socket.close(), 15)

    async def send(self, kind: str = "", **value: Any) -> None:
        """Ask for a run, with a value in the first field of a kind."""
        ask = BackMsg()
        ask.rerun_script.query_string = self._query
        if kind:
            ask.rerun_script.widget_states.widgets.add(id=self.found[kind], **value)
        await self._socket.send(ask.SerializeToString())

    async def wait_for(self, kind: str) -> ForwardMsg:
        """Return the next message of a kind; a run that gave way to another has not finished."""
        while True:
            message = ForwardMsg.FromString(await asyncio.wait_for(self._socket.recv(decode=False), PATIENCE))
            self._note(message)
            early = message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN
            if message.WhichOneof("type") == kind and not (kind == "script_finished" and early):
                return message

    def _note(self, message: ForwardMsg) -> None:
        self._session = message.new_session.initialize.session_id or self._session
        element = message.delta.new_element
        match element.WhichOneof("type"):
            case "text_area":
                self.found.setdefault("text_area", element.text_area.id)
            case "file_uploader":
                self.found.setdefault("file_uploader", element.file_uploader.id)
            case "download_button" if element.download_button.deferred_file_id:
                self.found.setdefault(element.download_button.label, element.download_button.deferred_file_id)

    async def paste(self, text: str) -> None:
        await self.send("text_area", string_value=text)
        await self.wait_for("script_finished")

    async def upload(self, name: str, data: bytes) -> None:
        ask = BackMsg()
        ask.file_urls_request.request_id, ask.file_urls_request.session_id = "1", self._session
        ask.file_urls_request.file_names.append(name)
        await self._socket.send(ask.SerializeToString())
        (urls,) = (await self.wait_for("file_urls_response")).file_urls_response.file_urls
        await asyncio.to_thread(put, self._url, urls.upload_url, name, data)
        file = {"name": name, "size": len(data), "file_id": urls.file_id, "file_urls": urls}
        await self.send("file_uploader", file_uploader_state_value={"uploaded_file_info": [file]})
        await self.wait_for("script_finished")

    async def save(self, label: str) -> None:
        ask = BackMsg()
        ask.backend_operation_request.request_id = "1"
        ask.backend_operation_request.session_id = self._session
        ask.backend_operation_request.deferred_file.file_id = self.found[label]
        await self._socket.send(ask.SerializeToString())
        await self.wait_for("backend_operation_response")


def put(url: str, path: str, name: str, data: bytes) -> None:
    """Upload a file as a browser does, with the token that guards uploads."""
    with urllib.request.urlopen(f"{url}/_stcore/health", timeout=PATIENCE) as answer:  # noqa: S310
        headers: HTTPMessage = answer.headers
    cookie = headers["Set-Cookie"].partition(";")[0]
    mark = "----stranger"
    body = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
    asked = urllib.request.Request(  # noqa: S310
        url + path,
        body + data + f"\r\n--{mark}--\r\n".encode(),
        {
            "Cookie": cookie,
            "X-Xsrftoken": cookie.partition("=")[2].strip('"'),
            "Content-Type": f"multipart/form-data; boundary={mark}",
        },
        method="PUT",
    )
    with urllib.request.urlopen(asked, timeout=PATIENCE):  # noqa: S310
        pass


def doors(server: Server, n: int) -> dict[str, Callable[[], Awaitable[None]]]:
    """Return what is tried, by name; n characters are pasted."""
    task = Assignment(task_questions=(question_codec.item("weight", {}),))
    data, desk = {"page": "data"}, {"page": "assign", "desk": "mark", "assigned": assignments.encode(task)}

    async def pasted(query: Mapping[str, str], text: str) -> None:
        async with Stranger(server, query).there() as stranger:
            await stranger.paste(text)

    async def uploaded(query: Mapping[str, str], name: str, text: str) -> None:
        async with Stranger(server, query).there() as stranger:
            await stranger.upload(name, text.encode())

    async def opened(config: Config) -> None:
        async with Stranger(server, link(config)).there():
            pass

    async def abandoned(config: Config) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(opened(config), 2)

    async def saved(config: Config) -> None:
        async with Stranger(server, {"page": "take"} | link(config)).there() as stranger:
            await stranger.save("Save .csv")

    digits = "1" * n
    return {
        "paste of digits": lambda: pasted(data, f"1 {digits}x"),
        "paste of codes": lambda: pasted(desk, "Ada " + "<" * min(n, 400_000)),
        "paste of a heading": lambda: pasted(desk, f"name;{digits[:100_000]}x"),
        "upload of a table": lambda: uploaded(data, "w.csv", f"1,{digits}x"),
        "upload of a lesson": lambda: uploaded({"page": "lessons"}, "a.toml", "a" + ".a" * 45_000 + " = 1"),
        "link that is refused": lambda: opened(SOLVED),
        "link that is left": lambda: abandoned(LONG),
        "link of 10,000 characters": lambda: opened(replace(SOLVED, sentence="<" * 10_000, max_tokens=8, d_model=8)),
        "formula": lambda: opened(TYPED),
        "file": lambda: saved(WIDE),
    }


def link(config: Config) -> dict[str, str]:
    return {name: str(text) for name, text in url_codec.encode(config).items()}


async def tries(server: Server, rounds: int, characters: int, rest: float) -> Outcome:
    """Try every door several times, while others move and health is asked each second."""
    await warmed(server)
    out, slowest, asked, tried = Outcome(), 0.0, 0, 0

    async def watch() -> None:
        nonlocal slowest, asked
        while True:
            start = time.perf_counter()
            try:
                await asyncio.to_thread(health, server.url)
            except OSError as error:
                out.wrong.append(f"health did not answer: {error}")
            slowest, asked = max(slowest, time.perf_counter() - start), asked + 1
            await asyncio.sleep(1)

    async def trouble() -> str:
        nonlocal tried
        for _ in range(rounds):
            for name, act in doors(server, characters).items():
                try:
                    await act()
                    tried += 1
                except (KeyError, *REFUSALS) as error:
                    out.wrong.append(f"{name}: {type(error).__name__}: {error}")
        return f"{tried} things tried"

    watching = asyncio.ensure_future(watch())
    try:
        await beside(server, out, trouble, "A stranger at every door", rest)
    finally:
        watching.cancel()
    out.bound("Health meanwhile, asked each second", slowest, GOAL, f"at most {slowest:.2f} s, {asked} times", " s")
    return out


async def crowd(server: Server, n: int, strangers: int, seconds: float, characters: int) -> Outcome:
    """Several strangers try every door at once, over and over, while n others move every five seconds."""
    await warmed(server)
    out, opening, tried = Outcome(), Tally(), Counter[str]()
    others = await gathered(server, n, opening)

    async def trying() -> None:
        while True:
            for name, act in doors(server, characters).items():
                try:
                    await act()
                    tried["done"] += 1
                except (KeyError, *REFUSALS):  # more at once than one visitor may ask for
                    tried[name] += 1

    trying_all = [asyncio.ensure_future(trying()) for _ in range(strangers)]
    try:
        tally = await thinking(others, seconds, THINK)
    finally:
        for each in trying_all:
            each.cancel()
    await left(others)
    failures, done = out.failed(opening.wrong + tally.wrong), tried.pop("done")
    out.row(
        f"{strangers} strangers at every door at once: {n} others, each moving every {THINK:g} s",
        f"p95 {tally.ms(0.95):,.0f} ms, at most {tally.ms(1):,.0f} ms, of {len(tally.seconds)} moves; {done} things "
        f"tried, {tried.total()} refused; {failures}",
        "p95 ≤ 1 s",
        tally.ms(0.95) <= 1000 * GOAL,
    )
    return out


def health(url: str) -> None:
    with urllib.request.urlopen(f"{url}/_stcore/health", timeout=FROZEN) as answer:  # noqa: S310
        answer.read()
