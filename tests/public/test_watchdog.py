"""A server is ended and started anew when it hangs or ends, and is left alone otherwise."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from attnviz import command, serving
from attnviz.watchdog import Watchdog

PATIENCE = 20.0
ALL = "0.0.0.0"  # noqa: S104
SERVER = """
import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/attnviz/health" else 404)
        self.end_headers()
    def log_message(self, *_):
        pass
http.server.HTTPServer.allow_reuse_address = True
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no process can be stopped here")
def test_a_server_that_hangs_or_ends_is_replaced_and_no_other(capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    dog = Watchdog([sys.executable, "-c", SERVER, str(port)], f"http://127.0.0.1:{port}", silent=1.0, every=0.1)
    codes = list[int]()
    thread = threading.Thread(target=lambda: codes.append(dog.watch()), daemon=True)
    thread.start()
    try:
        for harm, reason in ((signal.SIGSTOP, "silent"), (signal.SIGKILL, "ended")):
            until(lambda: dog.has_answered)
            before = dog.process.pid
            time.sleep(1.5)
            assert dog.process.pid == before  # it is well, and longer so than it may be silent
            os.kill(before, harm)
            until(lambda: dog.process.pid != before)  # noqa: B023
            assert f'"event": "replaced", "reason": "{reason}"' in capfd.readouterr().err
            assert not Path(f"/proc/{before}").exists()
        until(lambda: dog.has_answered)
    finally:
        dog.stop()
        thread.join(PATIENCE)
    assert codes == [0]
    assert dog.process.poll() is not None


def test_a_server_that_cannot_begin_is_not_started_again() -> None:
    dog = Watchdog([sys.executable, "-c", "raise SystemExit(2)"], "http://127.0.0.1:9", every=0.01)
    assert dog.watch() == 2


def test_the_command_watches_a_page_at_an_address_that_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[tuple[list[str], str]]()
    monkeypatch.setattr(serving.watchdog, "watched", lambda *given: asked.append(given) or 3)
    page = [sys.executable, "-m", "attnviz"]
    for words, given, address in (
        (["--watch"], ["--port=8501"], "http://localhost:8501"),
        (
            ["--address", ALL, "--watch", "--port", "80"],
            ["--address", ALL, "--port", "80", "--port=80"],
            "http://localhost:80",
        ),
        (
            ["--watch", "--address=::1", "--server.x=y"],
            ["--address=::1", "--server.x=y", "--port=8501"],
            "http://[::1]:8501",
        ),
    ):
        assert command.main(words) == 3
        assert asked.pop() == ([*page, *given], address)
    assert command.main(["--watch", "--port", "x"]) == 2
    assert not asked
