"""A page that is left while it computes: the server stops, and is there for others."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlencode

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect

from attnviz import Config, run
from attnviz.engine.cost import estimate as cost
from attnviz.engine.records.trace import Trace
from attnviz.settings import url_codec
from attnviz.ui.session import admission
from attnviz.ui.session.browser import streamlit_private
from attnviz.ui.session.run_queue import RunQueue
from tests.engine.test_cost import LARGEST
from tests.support.needs import NEEDS

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "deploy"))

import local  # noqa: E402

WORDS = " ".join(f"w{i}" for i in range(256))
HEAVY = Config(sentence=WORDS, max_tokens=256, n_heads=1, n_layers=5, d_model=256, d_k=8, initialiser="by_hand")
FEW, LONG = 1.5, 30.0
"""Seconds of processor that ending a run may take, where the whole run takes several; and seconds of patience."""


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[local.Replica]:
    monkeypatch.setenv("ATTNVIZ_WORKERS", "1")
    replica = local.Replica(tmp_path / "page.log", "secret")
    replica.start()
    yield replica
    replica.kill()


@contextmanager
def visited(page: local.Replica, config: Config) -> Iterator[ClientConnection]:
    """Yield the socket of a visitor who has asked for a setting."""
    address = f"ws://127.0.0.1:{page.port}/_stcore/stream"
    with connect(address, subprotocols=["streamlit"], max_size=None) as socket:  # type: ignore[list-item]
        send(socket, config)
        yield socket


def send(socket: ClientConnection, config: Config) -> None:
    ask = BackMsg()
    ask.rerun_script.query_string = urlencode(url_codec.encode(config))
    socket.send(ask.SerializeToString())


def whole(socket: ClientConnection) -> None:
    """Wait for the end of a run that was not ended before."""
    message = ForwardMsg()
    while message.script_finished != ForwardMsg.FINISHED_SUCCESSFULLY:
        message = ForwardMsg.FromString(socket.recv(timeout=LONG))


def processor(page: local.Replica) -> float:
    """Seconds of processor that the server has used so far, and what it has begun."""
    assert page.process is not None
    own = Path(f"/proc/{page.process.pid}")
    children = [child for task in own.glob("task/*/children") for child in task.read_text("ascii").split()]
    used = sum(times(own)) + sum(sum(times(Path("/proc") / child)[:2]) for child in children)
    return used / os.sysconf("SC_CLK_TCK")


def times(process: Path) -> list[int]:
    """User and system time of a process, and of those that it has begun and that have ended."""
    return [int(field) for field in (process / "stat").read_text("ascii").rpartition(")")[2].split()[11:15]]


def wait_until(holds: Callable[[], bool]) -> None:
    last = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < last
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the processor of another process is not told here")
def test_a_long_run_ends_once_its_visitor_has_gone_or_asks_for_something_else(page: local.Replica) -> None:
    assert 6 < cost.estimate(NEEDS["explore"], HEAVY).seconds < 12
    with visited(page, Config()) as socket:
        whole(socket)
    for leaves in (True, False):
        before = processor(page)
        with visited(page, HEAVY) as socket:
            wait_until(lambda: processor(page) - before > 1)  # noqa: B023
            if not leaves:
                send(socket, Config())
                whole(socket)
        with visited(page, Config()) as socket:
            whole(socket)
        time.sleep(1.5)  # if it went on beside, it would use its processor here
        assert processor(page) - before < 1 + FEW


def test_a_file_ends_once_its_visitor_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    connected, computing, ended = threading.Event(), threading.Event(), list[object]()
    connected.set()
    monkeypatch.setattr(admission, "TURNS", RunQueue(polling=0.01))
    monkeypatch.setattr(streamlit_private, "current_run", lambda: SimpleNamespace(session_id="a"))
    runtime = SimpleNamespace(is_active_session=lambda session: session == "a" and connected.is_set())
    monkeypatch.setattr(streamlit_private, "Runtime", SimpleNamespace(exists=lambda: True, instance=lambda: runtime))
    large = Config(**LARGEST)

    def endless() -> Trace:
        while True:
            run(Config())
            computing.set()

    for busy in (False, True):  # while it is computed, and while it waits for another
        connected.set()
        make = admission.later(NEEDS["file/csv"], large, endless)
        thread = threading.Thread(target=lambda: ended.append(make()), daemon=True)  # noqa: B023
        if busy:
            admission.TURNS.large_run_lock.acquire()
        thread.start()
        assert busy or computing.wait(LONG)
        connected.clear()
        thread.join(LONG)
        assert not thread.is_alive()
    assert ended == [b"", b""]
