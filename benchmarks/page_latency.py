"""From a slider's move to the last pixel, beside Streamlit's own floor in the same browser.

    python benchmarks/page_latency.py --browser /usr/bin/chromium

Serves `pages/latency.py` and moves its seed slider ever forward, so that all numbers are fresh at every move: the floor
(a slider and one line of text), a page of as many elements as the app's with nothing computed or drawn in them, and the
pictures in several sizes; then the same with the whole app and its seed field. The browser asks for less motion, so
that the 200 ms in which colours glide to the new ones are left out: it shows these when they have come. Once the maps
rest, Plotly draws what a canvas has shown, within 1 of 255 of each colour: that is not waited for. In the app, a
cell is chosen after each move, too, and its answer waited for; the first opens the place for it, and is not counted.
Before that the slider of the embedding size is dragged, and the frame after the first change of the maps waited for
while it is held. Every page is opened with nothing kept by the browser; beside the app, a page of one chart by
Streamlit alone says what that takes at least. Prints milliseconds from the key press to the frame after the last change
of the document, from the start of a visit to the frame after the last change in a picture, bytes on the wire (counted
by a small proxy, so after compression) and processor time of the server. Rounds are interleaved and each is shown,
since a busy machine moves all of them together.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parent.parent
FLAGS = {
    "server.headless": "true",
    "server.fileWatcherType": "none",
    "server.enableWebsocketCompression": "true",
    "runner.fastReruns": "false",
    "runner.postScriptGC": "false",
    "browser.gatherUsageStats": "false",
}
FAR_APART = 1000
"""Between the seeds of two rounds: what the server has made in one is not there in the next."""
SIXTY_FOUR = "+".join(f"word{at}" for at in range(64))
CASES = {
    "floor": ("benchmarks/pages/latency.py", ""),
    "one chart": ("benchmarks/pages/latency.py", "chart=yes"),
    "elements": ("benchmarks/pages/latency.py", "elements=yes"),
    "4 x 7": ("benchmarks/pages/latency.py", "heads=4&tokens=7"),
    "8 x 12": ("benchmarks/pages/latency.py", "heads=8&tokens=12"),
    "16 x 64": ("benchmarks/pages/latency.py", "heads=16&tokens=64"),
    "16 x 64 causal": ("benchmarks/pages/latency.py", "heads=16&tokens=64&causal=yes"),
    "app, 8 x 12": ("app.py", "v=1&n_heads=8&sentence=a+b+c+d+e+f+g+h+i+j+k+l"),
    "app, 16 x 64": ("app.py", f"v=1&n_heads=16&sentence={SIXTY_FOUR}"),
}
WATCH = """() => {
    const seen = (window.seen = { last: 0 });
    const isSeen = ({ target }) => !(target.nodeType === 1 ? target : target.parentElement)?.closest(".attn-chart");
    const mark = (changes) =>
        changes.some(isSeen) && requestAnimationFrame(() => (seen.last = performance.now()));
    new MutationObserver(mark).observe(document.querySelector("[data-testid=stMain]"), {
        subtree: true, childList: true, characterData: true, attributes: true,
        attributeFilter: ["href", "xlink:href", "width", "height", "d", "transform"] });
    document.addEventListener("keydown", () => (seen.start = performance.now()), true);
}"""
SETTLED = """(text) => performance.now() - Math.max(seen.last, seen.start) > 400 &&
    (document.body.innerText + location.search).includes(text)"""


PICTURES = """(() => {
    const seen = (window.pictures = { last: 0 });
    const isPicture = ({ target }) => target.closest?.(".js-plotly-plot, .attn-maps");
    const mark = (changes) => changes.some(isPicture) && requestAnimationFrame(() => (seen.last = performance.now()));
    new MutationObserver(mark).observe(document, { subtree: true, childList: true, attributes: true,
        attributeFilter: ["href", "xlink:href", "width", "height", "d", "transform"] });
})()"""
DRAWN = """() => document.querySelector(".heatmaplayer image, [data-map]") &&
    performance.now() - pictures.last > 1000"""


ANSWERED = """() => {
    const seen = (window.answered = { last: 0 });
    const mark = () => requestAnimationFrame(() => (seen.last = performance.now()));
    new MutationObserver(mark).observe(document.querySelector(".attn-drawer"), { subtree: true, childList: true });
    document.addEventListener("keydown", () => (seen.start = performance.now()), true);
}"""
DRAGGED = """() => {
    const found = (key) => document.querySelector(`.st-key-${key}`);
    const [slider, maps] = ["d_model input[type=range]", "explore"].map(found);
    const seen = (window.dragged = { start: 0, last: 0 });
    const start = () => (seen.start = performance.now());
    const mark = () => seen.start && !seen.last && requestAnimationFrame(() => (seen.last = performance.now()));
    new MutationObserver(start).observe(slider, { attributes: true, attributeFilter: ["aria-valuetext"] });
    const drawn = CanvasRenderingContext2D.prototype.putImageData;
    CanvasRenderingContext2D.prototype.putImageData = function (...given) {
        drawn.apply(this, given);
        if (maps.contains(this.canvas)) mark();
    };
    return [slider, slider.parentElement.parentElement.parentElement].map((element) => {
        const { x, y, width } = element.getBoundingClientRect();
        return [x, y, width];
    });
}"""
IN_SIGHT = """() => answered.last > answered.start && performance.now() - Math.max(answered.last, seen.last) > 400"""


@dataclass
class Result:
    """Medians of one round a list entry: milliseconds; means over a round: kilobytes and milliseconds of processor.

    pixel   from a key that moves the seed to the last pixel
    answer  from the key that chooses a cell to its answer
    drag    from the move of a slider that is held to its picture
    visit   from the start of a visit, with nothing kept, to the last change in a picture
    """

    pixel: list[float] = field(default_factory=list)
    answer: list[float] = field(default_factory=list)
    drag: list[float] = field(default_factory=list)
    visit: list[float] = field(default_factory=list)
    kilobytes: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)


class Wire:
    """A proxy in front of the server that counts the bytes going to the browser."""

    def __init__(self, target: int) -> None:
        self.sent = 0
        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.target))
            for end in (near, far):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._pass, args=(near, far, False), daemon=True).start()
            threading.Thread(target=self._pass, args=(far, near, True), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, count: bool) -> None:
        try:
            while data := source.recv(1 << 16):
                self.sent += len(data) if count else 0
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            target.close()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@contextmanager
def served(script: Path) -> Iterator[tuple[int, int]]:
    """Yield a Streamlit server for `script`: its port and process id."""
    port = free_port()
    flags = [f"--{name}={value}" for name, value in FLAGS.items()]
    command = [sys.executable, "-m", "streamlit", "run", str(script), f"--server.port={port}", *flags]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    server = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": path}, stdout=subprocess.DEVNULL)
    try:
        wait_for(f"http://127.0.0.1:{port}/_stcore/health", server)
        yield port, server.pid
    finally:
        server.terminate()
        server.wait(10)


def wait_for(address: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        if server.poll() is not None:
            raise RuntimeError("the server ended before it answered")
        try:
            urllib.request.urlopen(address, timeout=1).close()  # noqa: S310
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the server did not answer")


def processor_ms(pid: int) -> float:
    """User and system time that a process has used so far; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def opened(browser: Browser, address: str, result: Result) -> Page:
    """Open a page in a profile of its own, and measure how soon its pictures are there if it has any."""
    page = browser.new_page(viewport={"width": 1280, "height": 720}, reduced_motion="reduce")
    page.add_init_script(PICTURES)
    page.goto(address)
    if "chart=" in address or "heads=" in address:
        page.wait_for_function(DRAWN)
        result.visit.append(page.evaluate("pictures.last"))
    if "heads=" in address:
        page.wait_for_function("() => document.querySelectorAll('[data-stage], .heatmaplayer image').length >= 3")
        page.wait_for_function("() => document.querySelectorAll('.attn-layer').length === 3")
    page.evaluate(WATCH)
    return page


def measure(page: Page, wire: Wire, pid: int, moves: int, seed: int, result: Result) -> int:
    """Move the slider, or the field, `moves` times; returns where it then stands."""
    page.bring_to_front()
    field, slider = (page.get_by_role(role, name="Seed") for role in ("spinbutton", "slider"))
    field.or_(slider).first.wait_for()  # its script may come after the pictures
    in_app = field.count() > 0
    (field if in_app else slider).focus()
    times = []
    sent, used = wire.sent, processor_ms(pid)
    for _ in range(moves):
        seed += 1
        page.keyboard.press("ArrowUp" if in_app else "ArrowRight")
        page.wait_for_function(SETTLED, arg=f"seed={seed}" if in_app else f"seed {seed}", polling=100)
        times.append(page.evaluate("seen.last - seen.start"))
    result.pixel.append(statistics.median(times))
    result.kilobytes.append((wire.sent - sent) / moves / 1000)
    result.processor.append((processor_ms(pid) - used) / moves)
    return seed


def measure_answers(page: Page, cells: int, result: Result) -> None:
    """Choose one cell after the other in the weights, and wait for the answer to each."""
    page.evaluate(ANSWERED)
    page.locator(".st-key-explore [data-stage=weights] .attn-focus").focus()
    times = []
    for _ in range(cells + 1):
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        page.wait_for_function(IN_SIGHT, polling=100)
        times.append(page.evaluate("answered.last - answered.start"))
    result.answer.append(statistics.median(times[1:]))


def measure_drag(page: Page, moves: int, result: Result) -> None:
    """Drag a slider to and fro, and wait for the picture of each place while it is held there."""
    (x, y, _), (_, _, width) = page.evaluate(DRAGGED)
    page.mouse.move(x, y)
    page.mouse.down()
    times = []
    for move in range(moves + 1):
        page.evaluate("Object.assign(dragged, { start: 0, last: 0 })")
        page.mouse.move(x + (0.08 * (move % 4) + 0.06) * width, y)
        page.wait_for_function("() => dragged.last > 0", polling=20)
        times.append(page.evaluate("dragged.last - dragged.start"))
    page.mouse.up()
    page.wait_for_timeout(1000)
    result.drag.append(statistics.median(times[1:]))


def run(executable: str | None, rounds: int, moves: int) -> dict[str, Result]:
    results = {name: Result() for name in CASES}
    arguments: dict[str, Any] = {"executable_path": executable} if executable else {}
    with ExitStack() as stack:
        scripts = dict.fromkeys(script for script, _ in CASES.values())
        servers = {script: stack.enter_context(served(ROOT / script)) for script in scripts}
        wires = {script: Wire(port) for script, (port, _) in servers.items()}
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(args=["--no-sandbox", "--disable-gpu"], **arguments)
        for number in range(rounds):
            for name, (script, query) in CASES.items():
                wire, (_, pid) = wires[script], servers[script]
                first = FAR_APART * number if script == "app.py" else 0
                page = opened(browser, f"http://127.0.0.1:{wire.port}/?{query}&seed={first}", results[name])
                seed = measure(page, wire, pid, 2, first, Result())
                measure(page, wire, pid, moves, seed, results[name])
                if script == "app.py":
                    measure_drag(page, moves, results[name])
                    measure_answers(page, moves, results[name])
                page.close()
        browser.close()
    return results


def table(results: dict[str, Result]) -> str:
    rows = [
        (
            "page",
            "last pixel, ms",
            "over floor",
            "KB a move",
            "processor, ms",
            "answer, ms",
            "dragged, ms",
            "first visit, ms",
        )
    ]
    floor = statistics.median(results["floor"].pixel)
    for name, result in results.items():
        pixel, answer, drag, visit = (
            " / ".join(f"{ms:.0f}" for ms in each) for each in (result.pixel, result.answer, result.drag, result.visit)
        )
        over, kilobytes = statistics.median(result.pixel) - floor, statistics.median(result.kilobytes)
        processor = statistics.median(result.processor)
        rows.append((name, pixel, f"{over:.0f}", f"{kilobytes:.1f}", f"{processor:.1f}", answer, drag, visit))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("   ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)) for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--browser", help="path of a Chromium; without it, the one that Playwright installed")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--moves", type=int, default=10)
    arguments = parser.parse_args()
    before = os.getloadavg()[0]
    print(table(run(arguments.browser, arguments.rounds, arguments.moves)))
    print(f"{os.cpu_count()} processors, load {before:.1f} before and {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
