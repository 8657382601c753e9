"""Learning in a browser: tasks over 50 ms on the page while its worker learns, and how long a frame takes to be there.

    python benchmarks/learn_page.py --url http://localhost:8501 --browser /usr/bin/chromium

It needs Playwright and a page that runs already.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import sync_playwright  # noqa: E402

from attnviz import TASKS  # noqa: E402
from attnviz.settings import url_codec  # noqa: E402
from attnviz.ui.session.selection import Selection  # noqa: E402
from tests.browser_idle import QUIET  # noqa: E402

SEED = 4321
"""A seed that no film of the package has, so that the browser learns."""

WATCH = """() => {
  window.longTasks = [];
  window.stepsSeen = [];
  new PerformanceObserver((list) => {
    for (const task of list.getEntries()) window.longTasks.push([task.startTime, task.duration]);
  }).observe({ type: "longtask", buffered: true });
  const Real = window.Worker;
  window.Worker = function (url) {
    window.began = performance.now();
    const worker = new Real(url);
    worker.addEventListener("message", ({ data }) => {
      window.stepsSeen.push(performance.now());
      if (data.film) window.ended = performance.now();
    });
    return worker;
  };
}"""
WAIT = """() => {
  const chart = document.querySelector(".st-key-learn [data-stage=layer0]");
  window.frame = new Promise((done) => {
    addEventListener("keydown", () => {
      const start = performance.now();
      chart.once("plotly_afterplot", () => done(performance.now() - start));
    }, { once: true, capture: true });
    setTimeout(() => done(5000), 5000);
  });
}"""
"""Has the next key measured until the picture of the frame that it calls for is drawn."""


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--url", default="http://localhost:8501")
    options.add_argument("--browser", default=None)
    arguments = options.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=arguments.browser, args=["--no-sandbox"])
        for name in ("backwards", "induction"):
            page = opened(browser, arguments.url, name, seed=SEED)
            page.wait_for_function("() => window.ended", timeout=120_000)
            print(learned(name, page), flush=True)
            page.close()
        page = opened(browser, arguments.url, "translation")
        page.locator(".st-key-learn [data-stage=layer0] .attn-cells").wait_for(state="attached")
        page.locator(".st-key-learn-loss .trace").first.wait_for(state="attached")
        page.evaluate(QUIET)  # the maps are built once more when they know their room
        took = [scrubbed(page) for _ in range(12)]
        print(
            f"a frame by an arrow key: median {statistics.median(took):.0f} ms, most {max(took):.0f} ms (goal 100 ms)"
        )
        browser.close()
    return 0


def opened(browser: Any, url: str, task: str, **changes: Any) -> Any:
    """Return a page with a task, on which what takes long is noted."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.add_init_script(f"({WATCH})()")
    page.goto(f"{url}/?{url_codec.query_string(TASKS[task].config(**changes), Selection(page='learn'))}")
    return page


def scrubbed(page: Any) -> float:
    """Return the milliseconds from a key on the slider to the picture of the next frame."""
    page.evaluate(WAIT)
    page.get_by_role("slider", name="Steps of learning").focus()
    page.keyboard.press("ArrowLeft")
    return float(page.evaluate("window.frame"))


def learned(name: str, page: Any) -> str:
    """Describe how long a worker learned, and which tasks of the page were long meanwhile."""
    began, ended, tasks, messages = page.evaluate("[window.began, window.ended, window.longTasks, window.stepsSeen]")
    meanwhile = [(start - began, took) for start, took in tasks if start + took > began and start < ended]
    moves = ", ".join(f"{took:.0f} ms at {start:.0f}" for start, took in meanwhile) or "none"
    return (
        f"{name}: {ended - began:.0f} ms of learning, {len(messages)} messages; tasks over 50 ms: {moves} (goal none)"
    )


if __name__ == "__main__":
    sys.exit(main())
