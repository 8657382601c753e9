"""A Streamlit server and a Chromium page for the tests that do what a person does.

Without a browser these tests are skipped on a desk, and fail where the environment says CI.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "deploy"))

from local import free_port  # noqa: E402

QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
QUIET += ["--disable-sync", "--process-per-site"]  # pages of a context share what is compiled of their scripts
PATIENCE = 90  # seconds until a server or a page that does not answer counts as broken, whatever else is running


class Server:
    """A Streamlit server of its own process on a free port; it can be killed and started again."""

    def __init__(self, script: Path, *options: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._command = [sys.executable, "-m", "streamlit", "run", str(script), f"--server.port={self.port}"]
        self._command += ["--server.address=127.0.0.1", "--server.headless=true", *options]
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the server
        self.start()

    def start(self) -> None:
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        self._process = subprocess.Popen(
            self._command, cwd=ROOT, env=os.environ | {"PYTHONPATH": path}, stdout=self._log, stderr=subprocess.STDOUT
        )
        last = time.monotonic() + PATIENCE
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > last:
                self._log.seek(0)
                output = self._log.read().decode(errors="replace")
                self.close()
                pytest.fail(f"no server answers at {self.url}:\n{output}")
            time.sleep(0.05)

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1) as answer:  # noqa: S310
                return bool(answer.status == 200)
        except OSError:
            return False

    def kill(self) -> None:
        """End it as a crash would."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        self.kill()
        self._log.close()


@pytest.fixture(scope="module")
def server() -> Iterator[Callable[..., Server]]:
    """Start a server for a script, a path from the root of the repository: `server("app.py")`."""
    started: list[Server] = []

    def start(script: str, *options: str) -> Server:
        started.append(Server(ROOT / script, *options))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture(scope="session")
def app() -> Iterator[Server]:
    """The page that people visit, on a server that all tests of a run share; who kills a server starts one alone."""
    shared = Server(ROOT / "app.py")
    yield shared
    shared.close()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A running Chromium: `ATTNVIZ_CHROMIUM`, one on the path, or Playwright's own.

    The headless shell, where it is there, takes a third less of the processor for each page than the whole browser.
    """
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        _missing("playwright is not installed")
    names = ("chromium-headless-shell", "chromium", "chromium-browser")
    found = os.environ.get("ATTNVIZ_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=found, args=QUIET)
        except Error as error:
            _missing(f"Chromium does not start: {error.message.splitlines()[0]}")
        yield browser
        browser.close()


def _missing(why: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)


class Profile:
    """A browser context that tests use one after the other, each with a page of its own and nothing kept but files.

    A page of another context begins in a process of its own, and to compile Streamlit and Plotly there takes longer
    than most tests do. So one empty page stays and keeps the process.
    """

    PER_PAGE = frozenset({"viewport", "color_scheme", "reduced_motion"})
    """Options of a context that a page can have of its own."""

    def __init__(self, chromium: Any) -> None:
        self.context = chromium.new_context()
        self._kept = self.context.new_page()
        self._kept.route("**/*", lambda route: route.fulfill(body=""))
        self._kept.goto("http://127.0.0.1/")
        self._origins: set[str] = set()
        self.context.on("page", lambda page: page.on("framenavigated", self._went))

    def _went(self, frame: Any) -> None:
        if frame.url.startswith("http"):
            self._origins.add("/".join(frame.url.split("/")[:3]))

    def open(self, viewport: Any, **media: str) -> Any:
        page = self.context.new_page()
        page.set_viewport_size(viewport)
        if media:
            page.emulate_media(**media)
        return page

    def wipe(self) -> None:
        """Close the pages of a test, and forget its cookies and all that its pages stored."""
        for page in self.context.pages:
            if page is not self._kept:
                page.close()
        self.context.unroute_all()
        self.context.clear_cookies()
        tools = self.context.new_cdp_session(self._kept)
        for origin in self._origins:
            tools.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": STORED})
        tools.detach()
        self._origins.clear()


STORED = "cookies,indexeddb,local_storage,service_workers,cache_storage"


@pytest.fixture(scope="session")
def profile(chromium: Any) -> Profile:
    return Profile(chromium)


@pytest.fixture
def new_page(chromium: Any, profile: Profile, request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """Open pages, each as if on another machine; takes the options of a browser context.

    A script that fails in any of them fails the test, unless it is marked with `failing_scripts`.
    """
    contexts: list[Any] = []
    failed: list[str] = []

    def watched(context: Any) -> Any:
        contexts.append(context)
        context.set_default_timeout(1000 * PATIENCE)
        context.on("weberror", note)
        return context

    def note(fault: Any) -> None:
        failed.append(fault.error.stack or str(fault.error))

    def open_page(**options: Any) -> Any:
        options = {"viewport": {"width": 1280, "height": 720}, **options}
        if not contexts and options.keys() <= Profile.PER_PAGE:
            watched(profile.context)
            return profile.open(**options)
        return watched(chromium.new_context(**options)).new_page()

    yield open_page
    for context in contexts:
        context.remove_listener("weberror", note)
        if context is profile.context:
            profile.wipe()
        else:
            context.close()
    assert bool(failed) == (request.node.get_closest_marker("failing_scripts") is not None), failed


@pytest.fixture
def browser_page(new_page: Callable[..., Any]) -> Any:
    """One page of a fresh browser."""
    return new_page()
