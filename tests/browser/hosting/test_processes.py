"""Several processes of the page behind one port, as `attnviz --processes 2` starts them, and one of them lost."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from attnviz import Config
from attnviz.settings import url_codec
from tests.browser.hosting.test_hosting import REST, goes_on_elsewhere
from tests.browser_idle import PATIENCE

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "deploy"))

from local import free_port, wait_for  # noqa: E402

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not hasattr(socket, "send_fds"), reason="no connection can be handed over here"),
]

TOKEN = "known"
FILE = {"name": "w.csv", "mimeType": "text/csv", "buffer": b"0.5,0.5\n0.25,0.75"}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Any]:
    """The address of two processes, the one that stands before them, and their log."""
    port, log = free_port(), tmp_path / "log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "attnviz", "--processes", "2", f"--port={port}", "--address=127.0.0.1"],
            cwd=ROOT,
            env=os.environ | {"ATTNVIZ_METRICS_TOKEN": TOKEN},
            stdout=file,
            stderr=file,
        )
    try:
        yield f"http://127.0.0.1:{port}", process, log
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE)
        process.kill()


def process_of(page: Any, front: subprocess.Popen[bytes]) -> tuple[str, int]:
    """The place that the cookie of a visitor names, and the process that is there."""
    (place,) = (each["value"] for each in page.context.cookies() if each["name"] == "attnviz_process")
    children = Path(f"/proc/{front.pid}/task/{front.pid}/children").read_text("ascii").split()
    (pid,) = (pid for pid in children if f"--replica={place}:" in Path(f"/proc/{pid}/cmdline").read_text("utf-8"))
    return place, int(pid)


def metrics(url: str) -> str:
    asked = urllib.request.Request(f"{url}/attnviz/metrics", headers={"Authorization": f"Bearer {TOKEN}"})  # noqa: S310
    with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:  # noqa: S310
        return str(answer.read().decode())


def test_a_visitor_of_a_process_that_is_lost_goes_on_with_another(site: Any, browser_page: Any) -> None:
    url, front, log = site
    wait_for(f"{url}/attnviz/health", front)
    browser_page.goto(f"{url}/?{url_codec.query_string(Config(sentence='zebra quagga okapi', n_heads=3, seed=4))}")
    browser_page.locator(REST).wait_for()
    place, pid = process_of(browser_page, front)
    os.kill(pid, signal.SIGKILL)
    goes_on_elsewhere(browser_page)
    assert process_of(browser_page, front)[0] != place
    browser_page.goto(f"{url}/?v=1&page=data")
    browser_page.locator("input[type=file]").first.set_input_files(FILE)  # by another connection than the socket
    browser_page.get_by_text("over 2 tokens").wait_for()
    visits = dict(re.findall('attnviz_visits_total{process="([01])"} ([0-9]+)', metrics(url)))
    assert int(visits["1" if place == "0" else "0"]) >= 2
    assert f'"reason": "ended", "process": {place}' in log.read_text("utf-8")
    assert "quagga" not in log.read_text("utf-8")
