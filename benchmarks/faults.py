"""What becomes of a visitor's page when a server dies: killed and started again, or one of two lost for good.

    pip install -r requirements-dev.txt
    python benchmarks/faults.py --browser /usr/bin/chromium --trials 10

Each trial is a fresh browser at a setting of its own. It is saved if, after the fault and one move of the visitor's,
the page shows the new value and every value from before, without a reload. Needs nginx for the lost replica; there
some trials kill while the page is still loading. Leaves with 1 if a trial lost anything.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import Browser, Error, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "deploy")]

from local import Replica, Site, site  # noqa: E402

CONNECTED = "[data-test-connection-state=CONNECTED]"
REST = f"{CONNECTED}[data-test-script-state=notRunning]"
SHOWN = """(part) => location.search.includes(part) && [...document.querySelectorAll(".js-plotly-plot")].every(
  (chart) => chart.data && chart.querySelector(".hm image"))"""


def setting(trial: int) -> dict[str, str]:
    """The link of a trial; every value differs from its default."""
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
    page.wait_for_function(SHOWN, arg="seed=")
    page.get_by_role("spinbutton", name="Seed").wait_for()
    page.locator(REST).wait_for()


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


def tried(name: str, trials: int, once: Callable[[int], float]) -> bool:
    """Run the trials of one fault and print what came of them; whether all were saved."""
    seconds, failed = [], []
    for trial in range(trials):
        try:
            seconds.append(once(trial))
        except (Error, RuntimeError) as error:
            failed.append(f"trial {trial}: {str(error).splitlines()[0]}")
    times = f"{statistics.median(seconds):.1f} s, at most {max(seconds):.1f} s" if seconds else "-"
    print(
        f"{name:<28} {len(seconds)} of {trials} saved; from the kill to the next answer {times}",
        *failed,
        sep="\n    " if failed else "",
        flush=True,
    )
    return not failed


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--browser", help="path of a Chromium; without it, the one that Playwright installed")
    parser.add_argument("--trials", type=int, default=10, help="of each fault")
    asked = parser.parse_args()
    where: dict[str, Any] = {"executable_path": asked.browser} if asked.browser else {}
    load = os.getloadavg()[0]
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(args=["--no-sandbox", "--disable-gpu"], **where)
        page = Replica(Path(folder) / "page.log", "local")
        page.start()
        try:
            all_saved = tried("kill -9 and start again", asked.trials, lambda trial: restarted(browser, page, trial))
        finally:
            page.kill()
        with site(n_replicas=2) as running:
            all_saved &= tried("one of two replicas lost", asked.trials, lambda trial: lost(browser, running, trial))
        browser.close()
    print(f"{os.cpu_count()} processors, load average {load:.1f} before, {os.getloadavg()[0]:.1f} after")
    return 0 if all_saved else 1


if __name__ == "__main__":
    sys.exit(main())
