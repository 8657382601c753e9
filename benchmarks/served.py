"""A server of the page that is measured from outside, and the machine that it runs on."""

from __future__ import annotations

import asyncio
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import streamlit

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "deploy"))

from local import PATIENCE, Replica, free_port, wait_for  # noqa: E402

PLAIN = ("env", "STREAMLIT_LOGGER_ENABLE_RICH=false")  # tracebacks as Python writes them, whatever else is installed


PAGE = os.sysconf("SC_PAGE_SIZE") / 1e6
"""Megabytes of a page of memory."""


@dataclass(frozen=True)
class Server:
    """A page that runs: where it answers, its process if it is ours, and the file of what it prints."""

    url: str
    pid: int | None = None
    log: Path | None = None

    @property
    def processor(self) -> float:
        """Seconds of user and system time used so far; 0 where the system does not tell."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text("ascii").rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def memory(self) -> float:
        """Megabytes of memory held, by what it has begun as well; 0 where the system does not tell."""
        own = Path(f"/proc/{self.pid}")
        try:
            begun = [child for task in own.glob("task/*/children") for child in task.read_text("ascii").split()]
        except OSError:
            begun = []
        return pages_of(own) and sum(map(pages_of, (own, *(Path("/proc") / each for each in begun)))) * PAGE

    @property
    def lives(self) -> bool:
        """Return whether the process is still there; a dead child that nobody waited for is not."""
        return self.memory > 0


def pages_of(process: Path) -> int:
    """Return the pages of memory that a process holds; 0 if it is gone."""
    try:
        return int((process / "statm").read_text("ascii").split()[1])
    except (OSError, IndexError):
        return 0


@contextmanager
def served(within: tuple[str, ...] = ()) -> Iterator[Server]:
    """Yield a server for as long as the block lasts, started by the command `within` if there is one."""
    with tempfile.TemporaryDirectory(prefix="attnviz-") as folder:
        page = Replica(Path(folder) / "page.log", "local", within=(*PLAIN, *within))
        try:
            page.start()
            yield Server(f"http://127.0.0.1:{page.port}", page.process.pid if page.process else None, page.log)
        finally:
            page.kill()


@contextmanager
def several(n: int) -> Iterator[Server]:
    """Yield n processes behind one port for as long as the block lasts; all have begun."""
    port, token = free_port(), "benchmark"
    words = [sys.executable, "-m", "attnviz", f"--processes={n}", f"--port={port}", "--address=127.0.0.1"]
    with tempfile.TemporaryDirectory(prefix="attnviz-") as folder:
        log = Path(folder) / "page.log"
        with log.open("wb") as file:
            front = subprocess.Popen(
                words, cwd=ROOT, env=os.environ | {"ATTNVIZ_METRICS_TOKEN": token}, stdout=file, stderr=file
            )
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(f"{url}/attnviz/health", front)
            await_all(f"{url}/attnviz/metrics", token, n)
            yield Server(url, front.pid, log)
        finally:
            front.terminate()
            front.wait()


def await_all(address: str, token: str, n: int) -> None:
    """Wait until each of n processes tells its numbers; raises RuntimeError if that takes too long."""
    asked = urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"})  # noqa: S310
    last = time.monotonic() + PATIENCE
    while time.monotonic() < last:
        with suppress(OSError), urllib.request.urlopen(asked, timeout=1) as answer:  # noqa: S310
            if f'process="{n - 1}"' in (text := answer.read().decode()) and 'process="0"' in text:
                return
        time.sleep(0.1)
    raise RuntimeError(f"not all of {n} processes have begun")


class Peak:
    """The most memory that a server held."""

    def __init__(self, start: float) -> None:
        self.start = self.most = start

    @property
    def grown(self) -> float:
        return self.most - self.start


@asynccontextmanager
async def watched(server: Server, every: float = 0.1) -> AsyncIterator[Peak]:
    """Inside the block the server's memory is looked at again and again."""
    peak = Peak(server.memory)

    async def look() -> None:
        while True:
            peak.most = max(peak.most, server.memory)
            await asyncio.sleep(every)

    task = asyncio.ensure_future(look())
    try:
        yield peak
    finally:
        task.cancel()
        peak.most = max(peak.most, server.memory)


def machine() -> str:
    """Describe the machine of a measurement: processors, memory, versions."""
    info = Path("/proc/cpuinfo")
    named = re.search(r"model name\s*: (.+)", info.read_text("utf-8") if info.is_file() else "")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    loop = f", uvloop {version('uvloop')}" if find_spec("uvloop") else ""
    return (
        f"{os.cpu_count()} processors ({named[1].strip() if named else platform.machine()}), {memory:.0f} GB, "
        f"{platform.system()}; Python {platform.python_version()}, Streamlit {streamlit.__version__}{loop}, "
        f"NumPy {np.__version__}"
    )


def commit() -> str:
    """Return the commit that is measured, with a + if files have changed since."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=+"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip() or "unknown"


def load_average() -> float:
    return os.getloadavg()[0]
