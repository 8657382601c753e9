"""A Streamlit server and a Chromium page for the tests that do what a person does.

Without a browser these tests are skipped on a desk, and fail where the environment says CI.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests.browser_idle import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "deploy"))

from local import free_port  # noqa: E402

QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
QUIET += ["--disable-sync"]
SPARING = ["--renderer-process-limit=1"]
# With the first of these features Chromium 156 does not use the compiled scripts that it keeps. The others are of those
# that Playwright turns off: of two such options the last one counts.
SPARING += ["--disable-features=BackgroundResourceFetch,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,MediaRouter"]
SPARING[-1] += ",NetworkTimeServiceQuerying,OptimizationHints,PaintHolding,PreconnectToSearch"
SPARING[-1] += ",ThirdPartyStoragePartitioning,Translate"
WINDOW = {"width": 1280, "height": 720}


class Server:
    """A Streamlit server of its own process on a free port; it can be killed and started again."""

    def __init__(self, script: Path, *options: str) -> None:
        self.port = free_port()
        below = dict(option.partition("=")[::2] for option in options).get("--server.baseUrlPath", "")
        self.url = f"http://127.0.0.1:{self.port}/{below}".rstrip("/")
        self._command = [sys.executable, "-m", "streamlit", "run", str(script), f"--server.port={self.port}"]
        self._command += ["--server.address=127.0.0.1", "--server.headless=true", *options]
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the server
        self.start()

    def start(self) -> None:
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        env = os.environ | {"PYTHONPATH": path, "ATTNVIZ_WORKERS": ""}
        self._process = subprocess.Popen(self._command, cwd=ROOT, env=env, stdout=self._log, stderr=subprocess.STDOUT)
        last = time.monotonic() + PATIENCE
        while not self._answers():
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(0.05)
            if self._process.poll() is not None or time.monotonic() > last:
                self._log.seek(0)
                output = self._log.read().decode(errors="replace")
                self.close()
                pytest.fail(f"no server answers at {self.url}:\n{output}")

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
    """A running Chromium with a profile of its own: `ATTNVIZ_CHROMIUM`, one on the path, or Playwright's own.

    The headless shell, where it is there, takes a third less of the processor for each page than the whole browser; and
    a profile keeps the scripts of the page compiled, which a private window would read and compile each time.
    """
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        _missing("playwright is not installed")
    names = ("chromium-headless-shell", "chromium", "chromium-browser")
    found = os.environ.get("ATTNVIZ_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as playwright:
        try:
            profile = playwright.chromium.launch_persistent_context(
                "", executable_path=found, args=QUIET + SPARING, viewport=WINDOW
            )
        except Error as error:
            _missing(f"Chromium does not start: {error.message.splitlines()[0]}")
        kept = profile.pages[0]  # as long as it is of the host of the servers, theirs begin no process of their own
        kept.route("**", lambda route: route.fulfill(body=""))
        kept.goto("http://127.0.0.1/")
        kept.unroute_all()
        yield profile
        profile.close()


def _missing(why: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Note of a test that it has failed, so that what its pages show is told beside."""
    report = yield
    item.stash[FAILED] = report.failed
    return report


@pytest.fixture
def new_page(chromium: Any, request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """Open pages, each as if on another machine; takes the options of a browser context.

    The first page of a test is one of the profile, with nothing in it but its cache and what is compiled, unless it is
    asked for options that a profile has once for all; any other has a private context of its own. A page that comes
    `instead` of those before is as a first one: they are closed, with all that they left. A script that fails in any of
    them fails the test, unless it is marked with `failing_scripts`. What they showed is printed of a test that fails.
    """
    contexts: list[Any] = []
    failed: list[str] = []
    errors: list[str] = []

    def note(fault: Any) -> None:
        failed.append(fault.error.stack or str(fault.error))

    def hear(message: Any) -> None:
        if message.type == "error":
            errors.append(message.text)

    def leave() -> None:
        if request.node.stash.get(FAILED, False):
            for context in dict.fromkeys(contexts):
                for page in context.pages[context is chromium :]:  # not the one that is kept
                    print(shown_by(page))
            print("errors in the console:", *errors, sep="\n")
        for context in contexts:
            context.remove_listener("console", hear)
            if context is chromium:
                emptied(chromium)
                chromium.remove_listener("weberror", note)
            else:
                context.close()
        contexts.clear()

    def open_page(*, viewport: dict[str, int] = WINDOW, instead: bool = False, **options: Any) -> Any:
        if instead:
            leave()
        shared = chromium not in contexts and options.keys() <= {"color_scheme", "reduced_motion"}
        context = chromium if shared else chromium.browser.new_context(viewport=viewport, **options)
        contexts.append(context)
        context.set_default_timeout(1000 * PATIENCE)
        context.on("weberror", note)
        context.on("console", hear)
        page = context.new_page()
        if SLOWER > 1:
            context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        page.wait_for_function = partial(wait_for, page.wait_for_function)
        if shared:
            page.set_viewport_size(viewport)
            page.emulate_media(**options)
        return page

    yield open_page
    leave()
    assert bool(failed) == (request.node.get_closest_marker("failing_scripts") is not None), failed


def shown_by(page: Any) -> str:
    """Return what a page shows, for a test that has failed: its address, the state of its connection and its text."""
    state = "({...document.querySelector('[data-test-connection-state]')?.dataset})"
    try:
        page.set_default_timeout(5000)
        return f"{page.url}\n{page.evaluate(state)}\n{' '.join(page.inner_text('body').split())[:4000]}"
    except Exception as error:  # the page may be gone, or stand still
        return f"{page.url} tells nothing: {error}"


SLOWER = float(os.environ.get("ATTNVIZ_SLOWER", "1"))
"""How many times slower than this machine every browser computes: what a lagging one breaks is found so."""

ARROW = re.compile(r"\s*(?:async\s+)?(?:\([^()]*\)|\w+)\s*=>")


def wait_for(wait: Callable[..., Any], expression: str, **options: Any) -> Any:
    """Wait for an expression as for a function.

    Playwright evaluates text anew at each look, which the policy of the page forbids, and a function only once.
    """
    return wait(expression if ARROW.match(expression) else f"() => {expression}", **options)


def emptied(profile: Any) -> None:
    """Leave of a profile what no visitor sees: its cache, and the scripts that it keeps compiled."""
    kept, *others = profile.pages
    for page in others:
        page.close()
    profile.unroute_all()
    profile.clear_permissions()
    session = profile.new_cdp_session(kept)
    session.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})
    session.detach()
    profile.clear_cookies()


@pytest.fixture
def browser_page(new_page: Callable[..., Any]) -> Any:
    """One page of a fresh browser."""
    return new_page()
