"""The part of the tests that is run every time: of a test with many cases a few, and of a file of visits one test.

Other visits are marked `slow`, for CI, and other cases `nightly`, for what takes longer than CI may; either runs by
name, and the last lines of pytest say how many they are. Which these are follows from their names alone, so that it is
the same on every machine and stays when others come.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import pytest

CASES = 2
"""Cases of a test in the quick run."""

THOROUGH_CASES = 1
"""Cases in CI of a test that is thorough or runs the page, which takes about a second each time."""

BROWSER_CASES = 1
"""Cases in CI of a test that drives a browser, which takes seconds each time."""

BROWSER_TESTS = 1
"""Tests in CI of a file that drives a browser: its first, so what matters most stands at the top of such a file, and
those that are marked `every_case`."""

QUICK_VISITS = 1
"""Tests in the quick run of a file that runs the page, which takes about a second each time."""

_LEFT = pytest.StashKey[dict[str, int]]()
_IN_BROWSER = re.compile(r"^tests/browser/\w+/")


def mark_what_is_thorough(items: Iterable[pytest.Item]) -> None:
    """Mark what goes beyond the sample; a mark that a test or a case has of its own stays."""
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if not any(item.get_closest_marker(name) for name in ("nightly", "every_case")):
            tests[item.nodeid.partition("[")[0]].append(item)
    quick: dict[str, list[pytest.Item]] = defaultdict(list)
    driving: dict[str, int] = defaultdict(int)
    for cases in map(in_order, tests.values()):
        in_browser = cases[0].get_closest_marker("browser")
        file = cases[0].nodeid.partition("::")[0]
        n = THOROUGH_CASES if cases[0].get_closest_marker("slow") or _runs_page(cases[0]) else CASES
        if "chromium" in getattr(cases[0], "fixturenames", ()):
            driving[file] += 1
            n = BROWSER_CASES if driving[file] <= BROWSER_TESTS else 0
        for case in cases[n:]:
            case.add_marker("nightly")
        for case in cases[:n]:
            if not in_browser and not case.get_closest_marker("slow"):
                quick[file].append(case)
    for visits in quick.values():
        if _runs_page(visits[0]):
            for visit in in_order(visits)[QUICK_VISITS:]:
                visit.add_marker("slow")


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Count what is left to other runs; every worker of xdist does, and tells the process that writes the last lines.

    Not under `-k`: what that leaves out is not asked for.
    """
    if not items or items[0].config.option.keyword:
        return
    config = items[0].config
    config.stash[_LEFT] = left = _left(items, config.option.markexpr)
    if hasattr(config, "workeroutput"):
        config.workeroutput["left"] = left


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the counts of a worker that has ended; all of them collect the same tests."""
    node.config.stash[_LEFT] = getattr(node, "workeroutput", {}).get("left", node.config.stash.get(_LEFT, {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how many tests and cases are left to other runs, and what runs them."""
    for run, n in config.stash.get(_LEFT, {}).items():
        terminalreporter.line(f"{n:,} tests and cases are left to {run}")


def _left(items: Iterable[pytest.Item], expression: str) -> dict[str, int]:
    """Return how many tests a `-m` expression leaves to CI and to the nightly run, by the words that name these."""
    excluded = [name for name in ("slow", "browser") if f"not {name}" in expression]
    runs = {
        "CI": f"CI: pytest -m '({' or '.join(excluded)}) and not nightly'",
        "nightly": "the nightly run: pytest -m nightly",
    }
    left = Counter[str]()
    for item in items:
        if item.get_closest_marker("nightly"):
            left["nightly"] += "not nightly" in expression
        elif any(item.get_closest_marker(name) for name in excluded):
            left["CI"] += 1
    return {words: left[name] for name, words in runs.items() if left[name]}


def _runs_page(item: pytest.Item) -> bool:
    """Whether the test stands in a file of visits, which run the page without a browser."""
    return hasattr(getattr(item, "module", None), "AppTest")


def in_order(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Return tests or cases in an order that only their names decide, and that no parameter follows.

    Of a test that drives a browser the folder inside `tests/browser` is no part of its name: a file that moves among
    them keeps its cases.
    """
    return sorted(items, key=lambda item: zlib.crc32(_IN_BROWSER.sub("tests/browser/", item.nodeid).encode()))


def sample(cases: Sequence[Any], kept: Collection[Any]) -> list[Any]:
    """Return the cases of a test for `pytest.mark.parametrize`, marked `nightly` but for those kept."""
    unknown = [case for case in kept if case not in cases]
    assert not unknown, f"kept, but no case: {unknown}"
    return [case if case in kept else pytest.param(case, marks=pytest.mark.nightly) for case in cases]
