"""The interactive file beside BertViz: the same weights, drawn by both in the same browser.

    pip install --no-deps bertviz && pip install ipython torch==2.13.0
    npm install --no-save --prefix peers d3@5.7.0 jquery@2.1.0 requirejs@2.3.6
    python benchmarks/peers.py --browser /usr/bin/chromium --libraries peers/node_modules

BertViz asks a network for three libraries; here they come from that folder, at once, which a reader of a notebook does
not have. Weights are those of one layer of 12 heads, causal, in float32. Each round makes every page in turn and opens
it in a new browser context. Printed, as medians over the rounds:

* kB: the file with everything it loads, and the same after gzip;
* picture: milliseconds from the start of the navigation to the frame after the picture is there;
* hover: milliseconds of the browser's main thread from the pointer's event to the end of the frame that follows, over
  another word (or cell) each time. BertViz's model view lights a frame only and has no words to point at.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Route, sync_playwright

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from attnviz import Trace, attend  # noqa: E402
from attnviz.engine.external.traces import of_weights  # noqa: E402
from attnviz.exports import interactive_html  # noqa: E402

HEADS = 12
LENGTHS = (12, 64, 256)
ROUNDS, HOVERS = 5, 40
LIBRARIES = {
    "require": "requirejs/require.js",
    "d3": "d3/dist/d3.min.js",
    "jquery": "jquery/dist/jquery.min.js",
}
WATCH = """(there) => addEventListener("DOMContentLoaded", () => {
    const look = () => document.querySelector(there)
        ? requestAnimationFrame(() => { const c = new MessageChannel();
            c.port1.onmessage = () => (window.seen = performance.now()); c.port2.postMessage(0); })
        : requestAnimationFrame(look);
    look();
})"""
HOVER = """async ([targets, kind, hovers]) => {
    const found = [...document.querySelectorAll(targets)], times = [];
    for (let at = 0; at < hovers; at++) {
        const box = found[at % found.length].getBoundingClientRect(), part = (at + 0.5) / hovers;
        await new Promise((next) => requestAnimationFrame(() => {
            const start = performance.now(), channel = new MessageChannel();
            const place = kind === "pointermove"
                ? { clientX: box.left + part * box.width, clientY: box.top + part * box.height } : {};
            const target = found[at % found.length];
            target.dispatchEvent(new PointerEvent(kind, { bubbles: true, ...place }));
            channel.port1.onmessage = () => { times.push(performance.now() - start); next(); };
            requestAnimationFrame(() => 0);
            channel.port2.postMessage(0);
        }));
    }
    return times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
}"""


@dataclass(frozen=True)
class Rival:
    """A rival: how it makes a file, when its picture is there, and what a pointer moves over in it."""

    name: str
    made: Callable[[np.ndarray, list[str]], str]
    there: str
    targets: str = ""
    event: str = "mouseover"


@dataclass
class Result:
    """One entry a round."""

    kilobytes: list[float] = field(default_factory=list)
    zipped: list[float] = field(default_factory=list)
    picture: list[float] = field(default_factory=list)
    hover: list[float] = field(default_factory=list)


def weights_of(n: int) -> tuple[np.ndarray, list[str]]:
    """Return the weights of 12 causal heads over n words, in float32, and the words."""
    queries, keys = np.random.default_rng(n).standard_normal((2, HEADS, n, 64))
    weights = attend(queries, keys, keys, causal=True).weights
    return weights.astype(np.float32), [f"word{at}" for at in range(n)]


def ours(weights: np.ndarray, words: list[str]) -> str:
    trace: Trace = of_weights(weights, words)
    return interactive_html.html(trace)


def view(name: str) -> Callable[[np.ndarray, list[str]], str]:
    """Return the function that makes the named view of BertViz."""
    import bertviz
    import torch

    def made(weights: np.ndarray, words: list[str]) -> str:
        page = getattr(bertviz, name)([torch.from_numpy(weights)[None]], words, html_action="return")
        return f"<!doctype html><meta charset=utf-8><body>{page.data}</body>"

    return made


def rivals() -> Iterator[Rival]:
    yield Rival("attnviz", ours, "#stages canvas[width]", "#stages .picture", "pointermove")
    yield Rival("BertViz head_view", view("head_view"), "#attention line", "#left text")
    yield Rival("BertViz model_view", view("model_view"), "#vis svg line")


def opened(browser: Browser, rival: Rival, html: str, libraries: Path) -> tuple[float, float, list[bytes]]:
    """Return the milliseconds to the picture and of a hover, and what was loaded beside the file."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    loaded: list[bytes] = []

    def answer(route: Route) -> None:
        name = next((each for each in LIBRARIES if each in route.request.url), None)
        body = html if name is None else (libraries / LIBRARIES[name]).read_text("utf-8")
        if name is not None:
            loaded.append(body.encode())
        route.fulfill(body=body, content_type="text/html" if name is None else "text/javascript")

    context.route("**/*", answer)
    page: Any = context.new_page()
    page.add_init_script(f"({WATCH})({rival.there!r})")
    page.goto("http://peers.invalid/")
    page.wait_for_function("() => window.seen", timeout=120_000)
    picture = page.evaluate("seen")
    hover = page.evaluate(HOVER, [rival.targets, rival.event, HOVERS]) if rival.targets else float("nan")
    context.close()
    return picture, hover, loaded


def measured(browser: Browser, libraries: Path, lengths: list[int], rounds: int) -> dict[tuple[str, int], Result]:
    """Measure every rival at every length, in turn."""
    results: dict[tuple[str, int], Result] = {}
    every = tuple(rivals())
    for n in lengths:
        weights, words = weights_of(n)
        files = {rival.name: rival.made(weights, words) for rival in every}
        for _ in range(rounds):
            for rival in every:
                html = files[rival.name]
                picture, hover, loaded = opened(browser, rival, html, libraries)
                result = results.setdefault((rival.name, n), Result())
                parts = [html.encode(), *loaded]
                result.kilobytes.append(sum(map(len, parts)) / 1e3)
                result.zipped.append(sum(len(gzip.compress(part, 6)) for part in parts) / 1e3)
                result.picture.append(picture)
                result.hover.append(hover)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--browser", required=True, help="path of Chromium")
    parser.add_argument(
        "--libraries", type=Path, required=True, help="the node_modules folder with BertViz's libraries"
    )
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chosen.browser, args=["--no-sandbox"])
        results = measured(browser, chosen.libraries, list(chosen.lengths), chosen.rounds)
        browser.close()
    print(f"{HEADS} heads, medians of {chosen.rounds} rounds")
    print(f"{'':22}{'words':>6}{'kB':>10}{'gzip':>9}{'picture ms':>12}{'hover ms':>10}")
    for (name, n), result in results.items():
        figures = [result.kilobytes, result.zipped, result.picture, result.hover]
        kb, zipped, picture, hover = map(statistics.median, figures)
        print(f"{name:22}{n:>6}{kb:>10.0f}{zipped:>9.0f}{picture:>12.0f}{hover:>10.1f}")


if __name__ == "__main__":
    main()
