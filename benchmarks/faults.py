"""The fate of a visitor's page when a server dies: killed and started again, or one of two lost for good.

    pip install -r requirements-dev.txt -r requirements-check.txt
    python benchmarks/faults.py --browser /usr/bin/chromium --trials 10

Each trial is a fresh browser at a setting of its own. It is saved if, after the fault and one move of the visitor's,
the page shows the new value and every value from before, without a reload. Needs nginx for the lost replica; there
some trials kill while the page is still loading. Leaves with 1 if a trial lost anything.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from playwright.sync_api import Browser, Error, Page, sync_playwright

from attnviz.settings import link_check
from benchmarks.outcome import Outcome
from benchmarks.served import ROOT, load_average

sys.path.insert(0, str(ROOT / "deploy"))

from local import Replica, Site, site

QUIET = ("--disable-background-networking", "--disable-component-update", "--disable-sync")
CONNECTED = "[data-test-connection-state=CONNECTED]"
REST = f"{CONNECTED}[data-test-script-state=notRunning]"
SHOWN = """(part) => location.search.includes(part) && [...document.querySelectorAll(".attn-maps")].every(
  (maps) => maps.querySelector("[data-map]"))"""


def setting(trial: int) -> dict[str, str]:
    """Return the link of a trial; every value differs from its default."""
    return {
        "v": "1",
        "sentence": f"zebra {trial} quagga okapi",
        "n_heads": "3",
        "mask": "causal",
        "seed": str(100 + trial),
    }


def opened(browser: Browser, url: str, trial: int) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.goto(f"{url}/?{urlencode(setting(trial))}")
    return page


def loaded(page: Page) -> None:
    """Wait until everything is there. Streamlit fetches each kind of widget when it is first drawn, and shows an error
    for good where its server dies before; nginx, which has the files itself, is not troubled by that."""
    page.get_by_role("spinbutton", name="Seed").wait_for()
    page.locator(REST).wait_for()
    page.wait_for_function(SHOWN, arg="")


def saved(page: Page, trial: int) -> bool:
    """Move the seed; whether the page then shows it, and all that was there before."""
    wanted = setting(trial) | {"seed": str(900 + trial)}
    page.locator(REST).wait_for()
    field = page.get_by_role("spinbutton", name="Seed")
    field.fill(wanted["seed"])
    field.press("Enter")
    page.wait_for_function(SHOWN, arg=f"seed={wanted['seed']}")
    page.locator(REST).wait_for()
    address = {name: values[-1] for name, values in parse_qs(urlsplit(page.url).query).items()}
    of_link = (link_check.VERSION, link_check.CHECK)  # written anew with every change
    wanted, address = ({name: each[name] for name in each if name not in of_link} for each in (wanted, address))
    typed = page.get_by_role("textbox", name="Sentence", exact=True).input_value()
    return address == wanted and typed == wanted["sentence"]


def restarted(browser: Browser, replica: Replica, trial: int) -> float:
    """Kill the only server, start it again, and go on; the seconds from the kill to the answer."""
    page = opened(browser, f"http://127.0.0.1:{replica.port}", trial)
    try:
        loaded(page)
        start = time.monotonic()
        replica.kill()
        page.locator(CONNECTED).wait_for(state="detached")
        replica.start()
        if not saved(page, trial):
            raise RuntimeError(f"the page shows {page.url}")
        return time.monotonic() - start
    finally:
        page.close()


def lost(browser: Browser, running: Site, trial: int) -> float:
    """Kill one of two replicas for good, in odd trials while the page loads; it is started again afterwards."""
    replica = running.replicas[trial // 2 % 2]
    page = opened(browser, running.url, trial)
    try:
        if trial % 2:
            page.get_by_role("textbox", name="Sentence", exact=True).wait_for()
        else:
            loaded(page)
        start = time.monotonic()
        replica.kill()
        if not saved(page, trial):
            raise RuntimeError(f"the page shows {page.url}")
        return time.monotonic() - start
    finally:
        page.close()
        replica.start()


def tried(out: Outcome, part: str, name: str, trials: int, once: Callable[[int], float]) -> None:
    """Run the trials of one fault; a row of how many were saved, and the two numbers as figures of this part."""
    seconds, failed = [], []
    for trial in range(trials):
        try:
            seconds.append(once(trial))
        except (Error, RuntimeError) as error:
            failed.append(f"{name}, trial {trial}: {str(error).splitlines()[0]}")
    times = f"{statistics.median(seconds):.1f} s, at most {max(seconds):.1f} s" if seconds else "-"
    sentence = f"{len(seconds)} of {trials} with every value; from the kill to the next answer {times}"
    out.row(name, sentence, f"{trials} of {trials}", not failed)
    out.wrong += failed
    out.figures |= {f"{part}_back": len(seconds), f"{part}_trials": trials}


@contextmanager
def chromium(path: str | None) -> Iterator[Browser]:
    where: dict[str, Any] = {"executable_path": path} if path else {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(args=["--no-sandbox", "--disable-gpu", *QUIET], **where)
        yield browser
        browser.close()


def kill(trials: int, browser_path: str | None) -> Outcome:
    """Measure visitors whose only server is killed and started again."""
    out = Outcome()
    with chromium(browser_path) as browser, tempfile.TemporaryDirectory() as folder:
        page = Replica(Path(folder) / "page.log", "local")
        page.start()
        try:
            tried(out, "kill", "kill -9 and start again", trials, lambda trial: restarted(browser, page, trial))
        finally:
            page.kill()
    return out


def loss(trials: int, browser_path: str | None) -> Outcome:
    """Measure visitors of two replicas behind nginx, one of which is killed, half of the times while the page loads."""
    out = Outcome()
    with chromium(browser_path) as browser, site(n_replicas=2) as running:
        tried(
            out, "loss", "One of two replicas lost, half of them in first load", trials, partial(lost, browser, running)
        )
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--browser", help="path of a Chromium; without it, the one that Playwright installed")
    parser.add_argument("--trials", type=int, default=10, help="of each fault")
    arguments = parser.parse_args()
    wrong: list[str] = []
    for out in (kill(arguments.trials, arguments.browser), loss(arguments.trials, arguments.browser)):
        print(*(f"{row.what:<54} {row.measured}" for row in out.rows), *out.wrong, sep="\n", flush=True)
        wrong += out.wrong
    print(f"load average {load_average():.1f}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
