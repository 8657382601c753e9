"""Whether a click moves anything: every box of the main area, at every frame, in settings at random.

    python benchmarks/still_boxes.py --browser /usr/bin/chromium --settings 200

Serves the app and opens each setting once; in a wide window, a large one and a phone's, in the light and in the dark,
clicks of every kind are made: a cell of a map, the word of a row or of a column, a word of the sentence, and what
closes the answer, by a press or a key; which cell and which word is at random. While the page answers, a script looks
at every frame where the maps, their boxes, the words of the sentence and the path stand, counted from the top of the
page, as a phone scrolls what is explained into sight. Prints, for each window, how many clicks were made and by how
many pixels a box moved at most; whatever moved is listed with its address, and the command then fails. A click on the
name of a head is not among them: it is to show that head alone.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Page, TimeoutError, sync_playwright

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.page_latency import served  # noqa: E402

WINDOWS = {"wide": (1280, 720), "large": (1920, 1080), "phone": (390, 844)}
THEMES = ("light", "dark")
WORDS = ("the", "cat", "sat", "on", "the", "warm", "mat", "while", "a", "very", "old", "dog", "slept", "under", "it")
PATIENCE = 30_000  # milliseconds
REST = """() => new Promise((done) => {
    const rest = "[data-test-connection-state=CONNECTED][data-test-script-state=notRunning]";
    let still = 0;
    const look = () => {
        still = document.querySelector(rest) && !document.querySelector("[data-testid=stSkeleton]") ? still + 1 : 0;
        still > 8 ? done() : requestAnimationFrame(look);
    };
    look();
})"""
WATCH = """() => {
    const main = document.querySelector("[data-testid=stMain]");
    const seen = ".st-key-explore :is([data-stage], [data-map], .attn-box, .attn-cells, text[data-head]), .st-key-way,"
        + " .attn-opening, .attn-opening .at-line";
    const boxes = () => {
        const found = [...document.querySelectorAll(seen)].map((each) => {
            const { left, top, width, height } = each.getBoundingClientRect();
            return [left, top + main.scrollTop, width, height];
        });
        const words = [...document.querySelectorAll(".attn-opening button")]; // their line scrolls by itself
        const placed = words.map((each) => [each.offsetLeft, each.offsetTop, each.offsetWidth, each.offsetHeight]);
        return [...found, ...placed];
    };
    const before = boxes();
    const watch = (window.watch = { most: 0, frames: 0, of: before.length, goes: true });
    const look = () => {
        const now = boxes();
        const moved = now.length !== before.length ? Infinity
            : Math.max(0, ...now.flatMap((box, at) => box.map((side, edge) => Math.abs(side - before[at][edge]))));
        watch.most = Math.max(watch.most, moved);
        watch.frames += 1;
        if (watch.goes) requestAnimationFrame(look);
    };
    look();
}"""
SEEN = "() => ({ ...watch, goes: (watch.goes = false), most: Number.isFinite(watch.most) ? watch.most : 1e9 })"
SPOT = """([stage, kind, share]) => {
    const picture = document.querySelector(`.st-key-explore [data-stage=${stage}]`)?.picture;
    if (!picture) return null;
    const { left, top, width, height } = picture.layer.getBoundingClientRect();
    const hits = [];
    for (let y = 1; y < height; y += 4)
        for (let x = 1; x < width; x += 4) {
            const spot = picture.locate({ clientX: left + x, clientY: top + y });
            if (spot && Object.keys(spot).sort().join() === kind) hits.push([left + x, top + y]);
        }
    const first = Math.floor(share * hits.length);
    return [...hits.slice(first), ...hits.slice(0, first)].find(([x, y]) => {
        const found = document.elementFromPoint(x, y);
        return found && picture.layer.parentElement.contains(found);
    }) ?? null;
}"""
"""A point of a map at which a cell, the word of a row or of a column is hit and nothing lies over it."""
MIDDLE = """(selector) => new Promise((done) => {
    const place = () => {
        const { left, top, width, height } = document.querySelector(selector)?.getBoundingClientRect() ?? {};
        return width ? [left + width / 2, top + height / 2] : null;
    };
    let [before, still] = [place(), 0];
    const look = () => {
        const now = place();
        still = String(now) === String(before) ? still + 1 : 0;
        before = now;
        if (still < 4) return requestAnimationFrame(look);
        done(now && document.elementFromPoint(...now)?.closest(selector) ? now : null);
    };
    look();
})"""
"""The middle of what is clicked, once it stands still; null where it is not there or something lies over it."""


def setting(dice: random.Random) -> dict[str, str]:
    """A setting at random that no rule refuses."""
    words = dice.randint(1, 40) if dice.random() < 0.5 else dice.randint(3, 14)
    start = dice.randrange(len(WORDS))
    return {
        "sentence": " ".join((WORDS * 5)[start : start + words]),
        "n_heads": str(dice.choice((1, 2, 3, 4, 6, 8, 8, 8, 12, 16))),
        "d_v": str(dice.choice((1, 2, 4, 4, 8, 16, 33))),
        "d_model": str(dice.choice((16, 48, 64))),
        "mask": dice.choice(("none", "none", "causal", "window")),
        "score": dice.choice(("scaled_dot", "scaled_dot", "dot", "additive", "cosine")),
        "colours": dice.choice(("apart", "common")),
        "seed": str(dice.randrange(1000)),
        "n_layers": str(dice.choice((1, 1, 2, 3))),
        "lang": dice.choice(("en", "en", "de", "es", "zh")),
    }


def kinds(page: Page, dice: random.Random) -> Iterator[tuple[str, Any]]:
    """Every kind of click, by its name: a point of the window, the selector of what is clicked, or a key."""
    stages = page.locator(".st-key-explore [data-stage]").evaluate_all("(all) => all.map((each) => each.dataset.stage)")
    stage, word = dice.choice(stages), dice.choice(("row", "column"))
    yield f"a cell of {stage}", page.evaluate(SPOT, [stage, "column,head,row", dice.random()])
    yield f"the word of a {word}", page.evaluate(SPOT, [stage, word, dice.random()])
    yield "a word of the sentence", ".attn-opening button"
    yield dice.choice((("close", ".attn-drawer .ad-close"), ("Escape", "Escape")))


def made(page: Page, click: Any) -> bool:
    """Make a click, and say whether there was something to click."""
    if click == "Escape":
        page.keyboard.press("Escape")
    elif isinstance(click, str):
        box = page.evaluate(MIDDLE, click)
        if box is None:
            return False
        page.mouse.click(*box)
    elif click is None:
        return False
    else:
        page.mouse.click(*click)
    return True


def measured(page: Page, dice: random.Random, window: str, moved: Counter[str], clicks: Counter[str]) -> list[str]:
    """Make every kind of click in one window; returns what moved."""
    faults = []
    for kind, click in kinds(page, dice):
        page.evaluate(WATCH)
        if not made(page, click):
            page.evaluate(SEEN)
            continue
        page.evaluate(REST)
        seen = page.evaluate(SEEN)
        clicks[f"{window}, {kind}"] += 1
        moved[window] = max(moved[window], seen["most"])
        if seen["most"]:
            faults.append(f"{window}, {kind}: {seen['most']} px, {page.url}")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--browser", help="path of a Chromium; without it, the one that Playwright installed")
    parser.add_argument("--settings", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    dice = random.Random(arguments.seed)  # noqa: S311 - nothing secret
    options = {"executable_path": arguments.browser} if arguments.browser else {}
    moved, clicks, faults, lost = Counter[str](), Counter[str](), list[str](), list[str]()
    with served(ROOT / "app.py") as (port, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(args=["--no-sandbox", "--disable-gpu"], **options)
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        for number in range(arguments.settings):
            query = urlencode(setting(dice))
            try:
                page.goto(f"http://127.0.0.1:{port}/?{query}")
                page.locator(".st-key-explore [data-stage] .attn-layer svg path").first.wait_for(state="attached")
                for (window, (width, height)), theme in itertools.product(WINDOWS.items(), THEMES):
                    page.emulate_media(color_scheme=theme)
                    page.set_viewport_size({"width": width, "height": height})
                    page.evaluate(REST)
                    faults += measured(page, dice, f"{window} {theme}", moved, clicks)
            except TimeoutError as error:
                lost.append(f"{query}: {error.message}")
            print(number + 1, "settings,", sum(clicks.values()), "clicks,", len(faults), "moved", flush=True)
            for line in faults[:] + lost[:]:
                print(line, flush=True)
        browser.close()
    for window in moved:
        print(f"{window}: {moved[window]:g} px at most")
    for kind, count in sorted(clicks.items()):
        print(f"{kind}: {count}")
    print(f"{len(lost)} settings could not be measured")
    return 1 if faults or lost else 0


if __name__ == "__main__":
    sys.exit(main())
