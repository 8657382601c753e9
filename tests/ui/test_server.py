"""The process that serves the page: how many visitors it takes, and what it refuses to start with."""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from attnviz.ui import server

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "deploy"))

import local  # noqa: E402

FEW = 300  # files, of which newcomers get nine in ten: room for some 60 visitors
needs_prlimit = pytest.mark.skipif(not shutil.which("prlimit"), reason="prlimit is not installed")


@contextmanager
def served(folder: Path, files: str) -> Iterator[local.Replica]:
    """Yield a page that may open so many files, "soft:hard"."""
    page = local.Replica(folder / "page.log", "secret", within=("prlimit", f"--nofile={files}"))
    try:
        page.start()
        yield page
    finally:
        page.kill()


def answer(page: local.Replica, path: str, **headers: str) -> tuple[int, str]:
    """The status and the text of an answer of the page."""
    asked = urllib.request.Request(f"http://127.0.0.1:{page.port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(asked, timeout=30) as found:  # noqa: S310
            return found.status, found.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def fill(page: local.Replica, visitors: ExitStack) -> None:
    """Let visitors come until one is refused."""
    for _ in range(FEW):
        visitors.enter_context(visit(page))


def visit(page: local.Replica) -> connect:
    address = f"ws://127.0.0.1:{page.port}/_stcore/stream"
    return connect(address, subprotocols=["streamlit"])  # type: ignore[list-item]


@pytest.mark.slow
@needs_prlimit
def test_a_full_server_says_so_and_is_well(tmp_path: Path) -> None:
    with served(tmp_path, f"{FEW}:{FEW}") as page, ExitStack() as visitors:
        assert answer(page, "/readyz") == (200, "ready")
        with pytest.raises(InvalidStatus) as refused:
            fill(page, visitors)
        assert refused.value.response.status_code == 503
        assert b"as many visitors as it can hold" in refused.value.response.body
        assert "Retry-After" in refused.value.response.headers
        for _ in range(FEW):  # what is short goes on, and whoever asks whether the server is well is told
            assert answer(page, "/_stcore/health") == (200, "ok")
        assert answer(page, "/readyz")[0] == 503
        status, text = answer(page, "/", **{"Accept-Language": "de-AT,de;q=0.9"})
        assert (status, "so viele Besucher" in text) == (503, True)
        assert page.process is not None
        assert page.process.poll() is None
        assert "Traceback" not in page.log.read_text("utf-8")


@pytest.mark.skipif(server.resource is None or not Path("/dev/fd").is_dir(), reason="no such limit here")
def test_where_no_file_is_left_to_look_with_there_is_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    assert server.has_room()

    def none_left(_: object) -> list[str]:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(server.os, "listdir", none_left)
    assert not server.has_room()


@pytest.mark.slow
@needs_prlimit
def test_a_server_raises_the_limit_of_its_files_as_far_as_it_may(tmp_path: Path) -> None:
    for given, found in (("256:2000", 2000), ("256:6000", 5000), ("5500:6000", 5500)):
        with served(tmp_path, given) as page:
            assert page.process is not None
            limits = Path(f"/proc/{page.process.pid}/limits").read_text("ascii")
            soft = re.search(r"Max open files +(\d+)", limits)
            assert soft is not None
            assert int(soft[1]) == found


@pytest.mark.slow
def test_a_server_ends_when_it_is_told_to_though_somebody_is_there(tmp_path: Path) -> None:
    page = local.Replica(tmp_path / "page.log", "secret")
    page.start()
    try:
        with visit(page):
            assert page.process is not None
            page.process.send_signal(signal.SIGTERM)
            page.process.wait(timeout=20)
    finally:
        page.kill()


@pytest.mark.slow
@pytest.mark.parametrize("command", [["streamlit", "run", "app.py", "--server.headless=true"], ["attnviz"]])
def test_no_server_starts_with_a_limit_of_memory_that_is_none(command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        env=os.environ | {"ATTNVIZ_MAX_MB": "1g"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("attnviz: ATTNVIZ_MAX_MB is '1g'; write megabytes as a number")
    assert "Traceback" not in done.stderr
