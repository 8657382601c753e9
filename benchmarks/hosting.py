"""Everything docs/hosting.md says of load and faults, measured in one go and printed as a table.

    pip install -r requirements-dev.txt -r requirements-check.txt
    python benchmarks/hosting.py --browser /usr/bin/chromium                # over an hour; the whole table
    python benchmarks/hosting.py --only bursts steady --json figures.json   # some parts, kept; more can be added later
    python benchmarks/hosting.py --json figures.json --only --write docs/hosting.md README.md   # nothing new, put there
    python benchmarks/hosting.py --small                                    # the form for every change, minutes

What is put somewhere is of one commit, without changes; anything else is refused.
Leaves with 1 if anybody was refused, dropped or shown something else, or if a server ended; a goal of speed that is
not met is printed as missed. Other work on the machine makes the times meaningless, so the load average stands beside.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import chaos, floods, frames, learners, limits, load, model_visitors, stage_route, stranger, table
from benchmarks.outcome import Outcome
from benchmarks.served import commit, load_average, machine, served, several


@dataclass(frozen=True)
class Sizes:
    """The sizes of all parts; by default those of the whole measurement."""

    moves: int = 200
    bursts: tuple[int, ...] = (1, 30, 100, 300)
    rounds: int = 3
    steady: tuple[int, float, float] = (100, 120.0, 10.0)
    held: tuple[int, float, float] = (300, 600.0, 10.0)
    soak: tuple[int, int, float] = (20_000, 8, 75.0)
    flood: int = 2_000
    paused: tuple[int, float] = (5, 60.0)
    mutated: tuple[int, int] = (2_000, 4)
    huge: tuple[int, int] = (150, 5)
    stranger: tuple[int, int] = (20, 900_000)
    crowd: tuple[int, int, float, int] = (30, 3, 60.0, 900_000)
    rest: float = 75.0
    disk: int = 10
    bare: int = 8
    chaos: tuple[int, float, int] = (30, 60.0, 10)
    memory: tuple[int, int, tuple[int, ...], int] = (1_000, 300, (1, 2, 3, 4, 5, 6), 1)
    trials: int = 50
    learners: int = 30
    models: tuple[int, int, int] = (300, 30, 3)
    browser: str | None = None


SMALL: dict[str, Any] = {
    "moves": 30,
    "bursts": (1, 30),
    "rounds": 2,
    "steady": (10, 5.0, 2.0),
    "held": (30, 5.0, 4.0),
    "soak": (50, 5, 0.0),
    "flood": 500,
    "paused": (3, 4.0),
    "mutated": (40, 4),
    "huge": (100, 2),
    "stranger": (1, 300_000),
    "crowd": (5, 1, 3.0, 300_000),
    "rest": 1.0,
    "disk": 3,
    "bare": 2,
    "chaos": (30, 3.0, 2),
    "memory": (1_000, 10, (1,), 1),
    "trials": 2,
    "learners": 3,
    "models": (10, 1, 2),
}


def alone(part: Callable[..., Coroutine[Any, Any, Outcome]], *given: Any) -> Outcome:
    """Run a part on a server of its own."""
    with served() as server:
        return asyncio.run(part(server, *given))


def among(processes: int, sizes: Sizes) -> Outcome:
    """Run the bursts on so many processes behind one port."""
    with several(processes) as server:
        return asyncio.run(load.bursts(server, sizes.bursts, sizes.rounds, processes))


def in_browser(module: str, name: str, *given: Any) -> Outcome:
    """Run a part that drives a browser; Playwright is not needed for the others."""
    return getattr(import_module(module), name)(*given)  # type: ignore[no-any-return]


PARTS: dict[str, Callable[[Sizes], Outcome]] = {
    "move": lambda sizes: alone(load.move, sizes.moves),
    "bursts": lambda sizes: alone(load.bursts, sizes.bursts, sizes.rounds),
    "processes": lambda sizes: among(2, sizes),
    "route": lambda sizes: alone(stage_route.asked, sizes.moves, sizes.bursts),
    "steady": lambda sizes: alone(load.steady, *sizes.steady),
    "learners": lambda sizes: alone(learners.learners, sizes.learners),
    "models": lambda sizes: model_visitors.on_a_model(*sizes.models),
    "held": lambda sizes: alone(load.held, *sizes.held),
    "soak": lambda sizes: alone(load.soak, *sizes.soak),
    "flood": lambda sizes: alone(floods.flood, sizes.flood, sizes.rest),
    "paused": lambda sizes: alone(floods.paused, *sizes.paused, sizes.rest),
    "mutated": lambda sizes: alone(frames.mutated, *sizes.mutated, sizes.rest),
    "huge": lambda sizes: alone(frames.huge, *sizes.huge, sizes.rest),
    "stranger": lambda sizes: alone(stranger.tries, *sizes.stranger, sizes.rest),
    "crowd": lambda sizes: alone(stranger.crowd, *sizes.crowd),
    "disk": lambda sizes: limits.disk(sizes.disk),
    "bare": lambda sizes: limits.bare(sizes.bare),
    "chaos": lambda sizes: chaos.chaos(*sizes.chaos),
    "memory": lambda sizes: limits.memory(*sizes.memory),
    "visit": lambda sizes: in_browser("benchmarks.first_visit", "visit", sizes.browser),
    "kill": lambda sizes: in_browser("benchmarks.faults", "kill", sizes.trials, sizes.browser),
    "loss": lambda sizes: in_browser("benchmarks.faults", "loss", sizes.trials, sizes.browser),
}


def measured(name: str, sizes: Sizes) -> dict[str, Any]:
    """Return a part's outcome, and where and how it was measured; an exception is a failure of that part alone."""
    before, start = load_average(), time.monotonic()
    try:
        out = PARTS[name](sizes)
    except Exception as error:
        out = Outcome(wrong=[f"{name} broke off: {type(error).__name__}: {error}"])
        out.row(name, "broke off", "", False)
    where: dict[str, Any] = {"machine": machine(), "commit": commit(), "load": [before, load_average()]}
    where["seconds"] = round(time.monotonic() - start, 1)
    return out.plain() | where


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--small", action="store_true", help="few visitors, trials and seconds: whether it works at all"
    )
    parser.add_argument("--only", nargs="*", choices=PARTS, metavar="PART", help=f"some of {' '.join(PARTS)}, or none")
    parser.add_argument("--json", type=Path, help="keep what was measured here, beside what was kept before")
    parser.add_argument(
        "--write", type=Path, nargs="+", default=[], help="put it where these files have a place for it"
    )
    parser.add_argument("--browser", help="path of a Chromium; without it, the one that Playwright installed")
    return parser.parse_args()


def main() -> int:
    chosen = arguments()
    sizes = Sizes(**(SMALL if chosen.small else {}), browser=chosen.browser)
    kept: dict[str, Any] = json.loads(chosen.json.read_text("utf-8")) if chosen.json and chosen.json.exists() else {}
    now = list(PARTS) if chosen.only is None else chosen.only
    if chosen.write:  # before an hour is spent on it
        older = [part["commit"] for name, part in kept.items() if name not in now]
        table.check_one_commit([*older, *([commit()] if now else [])])
    for name in now:
        print(f"{name} ...", file=sys.stderr, flush=True)
        kept[name] = measured(name, sizes)
        if chosen.json:
            chosen.json.write_text(json.dumps(kept, indent=1, ensure_ascii=False), "utf-8")
    ordered = {name: kept[name] for name in PARTS if name in kept}
    print(table.whole(ordered))
    wrong = [each for name in now for each in kept[name]["wrong"]]
    print(*wrong[:20], sep="\n", file=sys.stderr)
    if chosen.write:
        table.check_one_commit(part["commit"] for part in ordered.values())
    for path in chosen.write:
        path.write_text(table.put(path.read_text("utf-8"), ordered), "utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
