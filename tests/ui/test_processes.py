"""Several processes behind one port: each connection comes whole to the process of its visitor, and to no other.

What they serve is a small application instead of the page, so that it starts in a moment.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from attnviz import command, serving
from attnviz.models import hosting as model_hosting
from attnviz.ui.hosting import counts, front

ROOT = Path(__file__).resolve().parents[2]
PATIENCE, QUIET = 20.0, 2.5
MANY = 3_000_000
pytestmark = pytest.mark.skipif(not hasattr(socket, "send_fds"), reason="no connection can be handed over here")

FRONT = """
import sys
from attnviz.ui.hosting import front
front.QUIET = float(sys.argv[4])
with front.listening("127.0.0.1", int(sys.argv[1])) as listener:
    page = [sys.executable, "-c", sys.argv[2]]
    sys.exit(front.served(int(sys.argv[3]), listener, lambda *spoken_to: [*page, *map(str, spoken_to)]))
"""
PAGE = """
import asyncio, os, sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from attnviz.ui.hosting import counts, replica

async def who(request):
    counts.add("attnviz_visits_total")
    body = [len(part) async for part in request.stream()]
    told = {"place": place, "pid": os.getpid(), "client": request.client, "bytes": sum(body), "parts": len(body)}
    return JSONResponse(told, headers={"content-type": "text/html"} if request.url.path == "/" else None)

async def slow(request):
    await asyncio.sleep(1)
    return PlainTextResponse("slow")

async def metrics(request):
    return PlainTextResponse(counts.text())

async def echo(socket):
    await socket.accept()
    while True:
        await socket.send_json({"pid": os.getpid(), "bytes": len(await socket.receive_bytes())})

place = int(sys.argv[1])
replica.become(place, int(sys.argv[2]), lambda: True)
routes = [Route("/slow", slow), Route("/metrics", metrics), WebSocketRoute("/stream", echo)]
app = Starlette(routes=[*routes, Route("/{rest:path}", who, methods=["GET", "PUT"])])
uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", ws_max_size=4_000_000)).run()
"""


class Site:
    """A running front, by its port."""

    def __init__(self, port: int, process: subprocess.Popen[bytes], log: Path) -> None:
        self.port, self.process, self.log = port, process, log

    def ask(self, path: str = "/", cookie: str = "", body: bytes | None = None) -> tuple[http.client.HTTPResponse, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request("GET" if body is None else "PUT", path, body, {"Cookie": cookie} if cookie else {})
        answer = connection.getresponse()
        text = answer.read().decode()
        assert answer.headers["Connection"] == "close", "the next request may be another visitor's"
        return answer, json.loads(text) if text[:1] == "{" else text

    def visit(self, cookie: str = "") -> tuple[int, str]:
        """The process that answers a visitor, and the cookie it gives."""
        answer, told = self.ask("/", cookie)
        return told["pid"], (answer.headers["Set-Cookie"] or "").partition(";")[0]

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text("utf-8").splitlines() if line[:1] == "{"]


@contextmanager
def served(folder: Path, n: int = 2) -> Iterator[Site]:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    log = folder / "log"
    with log.open("wb") as file:
        command_line = [sys.executable, "-c", FRONT, str(port), PAGE, str(n), str(QUIET)]
        process = subprocess.Popen(command_line, cwd=ROOT, stdout=file, stderr=file)
    site = Site(port, process, log)
    try:
        until(lambda: answers(site))
        yield site
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()


def answers(site: Site) -> bool:
    with suppress(OSError):
        return site.ask()[0].status == 200
    assert site.process.poll() is None
    return False


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.slow
def test_a_visitor_stays_with_one_process_by_whatever_connection_until_that_is_gone(tmp_path: Path) -> None:
    with served(tmp_path) as site:
        until(lambda: len({site.visit()[0] for _ in range(4)}) == 2)  # both have begun
        given = {cookie: pid for pid, cookie in (site.visit() for _ in range(8))}
        assert {*given} == {"attnviz_process=0", "attnviz_process=1"}
        for cookie, pid in given.items():
            assert {site.visit(f"a=1; {cookie}") for _ in range(8)} == {(pid, "")}, "nor is it given again"
            told = site.ask("/upload", cookie, b"x" * MANY)[1]
            assert (told["pid"], told["bytes"], told["client"][0]) == (pid, MANY, "127.0.0.1")
            assert told["parts"] > 3, "passed on as it comes"
            with connect(f"ws://127.0.0.1:{site.port}/stream", additional_headers={"Cookie": cookie}) as stream:
                stream.send(b"x" * MANY)
                assert json.loads(stream.recv()) == {"pid": pid, "bytes": MANY}
        assert site.ask("/file.js")[0].headers["Set-Cookie"] is None, "others may share what a cache keeps"
        with connect(f"ws://127.0.0.1:{site.port}/stream") as stream:
            assert stream.response is not None
            assert stream.response.headers["Set-Cookie"].startswith("attnviz_process=")

        mine, others = given["attnviz_process=0"], given["attnviz_process=1"]
        os.kill(mine, signal.SIGKILL)
        with suppress(ConnectionResetError):  # handed over in the moment in which it ended; a browser asks again
            site.visit("attnviz_process=0")
        assert site.visit("attnviz_process=0") == (others, "attnviz_process=1")
        until(lambda: site.visit("attnviz_process=0")[0] not in (mine, others))
        assert [(line["event"], line["reason"], line["process"]) for line in site.lines()] == [("replaced", "ended", 0)]


@pytest.mark.slow
def test_one_that_hangs_gets_nobody_and_what_is_being_answered_is_answered_to_the_end(tmp_path: Path) -> None:
    with served(tmp_path) as site:
        until(lambda: len({site.visit()[0] for _ in range(4)}) == 2)
        hangs = next(pid for pid, cookie in (site.visit() for _ in range(4)) if cookie == "attnviz_process=0")
        until(lambda: {*re.findall('attnviz_visits_total{process="([^"]*)"}', site.ask("/metrics")[1])} == {"0", "1"})
        os.kill(hangs, signal.SIGSTOP)
        time.sleep(QUIET + 0.2)
        before = time.monotonic()
        assert all(site.visit(cookie)[0] != hangs for cookie in ("attnviz_process=0", "", "", "") for _ in range(3))
        assert time.monotonic() - before < 2
        os.kill(hangs, signal.SIGCONT)
        until(lambda: site.visit("attnviz_process=0")[0] == hangs)

        slow = http.client.HTTPConnection("127.0.0.1", site.port, timeout=PATIENCE)
        slow.request("GET", "/slow")
        time.sleep(0.3)
        site.process.send_signal(signal.SIGTERM)
        assert slow.getresponse().read() == b"slow"
        assert site.process.wait(PATIENCE) == 0
        with pytest.raises(OSError):  # nobody is left who listens, nor any process
            os.kill(hangs, 0)
        assert "Traceback" not in site.log.read_text("utf-8")


def test_the_process_of_a_visitor_is_found_in_any_request_and_in_none_that_only_looks_so() -> None:
    for head, place in (
        (b"GET / HTTP/1.1\r\nHost: a\r\nCookie: attnviz_process=1\r\n\r\n", 1),
        (b"GET / HTTP/1.1\r\ncookie: a=2; attnviz_process=12; b=3\r\nHost: a\r\n\r\n", 12),
        (b"GET / HTTP/1.1\r\nCookie: a=2\r\nCookie: attnviz_process=1\r\n\r\n", 1),
        (b"GET /?attnviz_process=1 HTTP/1.1\r\nHost: a\r\n\r\n", None),
        (b"GET / HTTP/1.1\r\nX-Cookie: attnviz_process=1\r\n\r\n", None),
        (b"GET / HTTP/1.1\r\nCookie: not_attnviz_process=1\r\n\r\n", None),
        (b"GET / HTTP/1.1\r\nCookie: attnviz_process=123\r\n\r\n", None),
        (b"PUT / HTTP/1.1\r\nHost: a\r\n\r\nCookie: attnviz_process=1\r\n", None),
    ):
        assert front.named(head) == place, head
    start = time.perf_counter()
    assert front.named(b"\nCookie: ; attnviz_process" * 1300) is None
    assert time.perf_counter() - start < 0.1


def test_metrics_name_the_process_that_each_number_is_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "_place", None)
    monkeypatch.setattr(counts, "_others", {})
    counts.told(0, {"attnviz_visitors ": 4, "attnviz_refusals_total full": 2})
    assert 'process="' not in counts.text()
    counts.among(1)
    lines = counts.text().splitlines()
    assert 'attnviz_visitors{process="0"} 4' in lines
    assert 'attnviz_refusals_total{reason="full",process="0"} 2' in lines
    assert any(line.startswith('attnviz_memory_bytes{process="1"} ') for line in lines)
    assert sum(line.startswith("# TYPE attnviz_visitors ") for line in lines) == 1
    monkeypatch.setattr(counts, "OLD", 0.0)
    assert 'process="0"' not in counts.text(), "it has said nothing for long"


def test_each_process_is_started_with_all_that_was_said_and_one_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(front, "served", lambda *given: asked.extend(given) or 3)
    monkeypatch.setattr(os, "environ", {name: text for name, text in os.environ.items() if name != serving.SECRET})
    monkeypatch.setattr(model_hosting, "offer", lambda *_: None)
    monkeypatch.setattr(command, "load_rows", lambda _: None)
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    words = ["--processes", "3", "--port", str(port), "--address=127.0.0.1", "--with=own.py", "--model=minilm"]
    assert command.main([*words, "--model-tokens", "9", "--watch", "--server.baseUrlPath=attention"]) == 3
    n, listener, started = asked
    assert (n, listener.fileno()) == (3, -1), "nobody listens any more"
    page = [sys.executable, "-m", "attnviz", "--with=own.py", "--model=minilm", "--model-tokens=9"]
    assert started(2, 7) == [*page, "--server.baseUrlPath=attention", "--replica=2:7"]
    assert len(os.environ[serving.SECRET]) == 64


def test_what_cannot_be_several_is_refused_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for words, said in (
            (["0"], "--processes is '0'; choose 1 to 64"),
            (["x"], "--processes is 'x'; choose 1 to 64"),
            (["65"], "--processes is '65'; choose 1 to 64"),
            (["2", "--port", "0"], "--port is '0'; choose 1 to 65535"),
            (["2", "--server.sslCertFile=a"], "TLS has to end in front of the page"),
            (["2", "--nonsense"], "there is no '--nonsense'"),
            (["2", "--port", port, "--address", "127.0.0.1"], f"nobody can be served at 127.0.0.1, port {port}: "),
        ):
            assert command.main(["--processes", *words]) == 2
            assert said in capsys.readouterr().err
