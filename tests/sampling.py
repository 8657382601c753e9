"""The part of the browser tests that CI runs: of each of their files the first test, and of its cases one.

The others are marked `nightly` and run by name. Which these are follows from their names alone, so that it is the same
on every machine and stays when others come. No other test is sampled: all of them run every time, or in CI if `slow`.
"""

from __future__ import annotations

import re
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import pytest

CASES = 1
"""Cases of a test in CI: a browser takes seconds for each."""

TESTS = 1
"""Tests in CI of a file that drives a browser: its first, so what matters most stands at the top of such a file, and
those that are marked `every_case`."""

_IN_BROWSER = re.compile(r"^tests/browser/\w+/")


def mark_what_is_thorough(items: Iterable[pytest.Item]) -> None:
    """Mark what goes beyond the sample; a mark that a test or a case has of its own stays."""
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        drives = item.get_closest_marker("browser") and "chromium" in getattr(item, "fixturenames", ())
        if drives and not any(map(item.get_closest_marker, ("nightly", "every_case"))):
            tests[item.nodeid.partition("[")[0]].append(item)
    driving: dict[str, int] = defaultdict(int)
    for cases in map(in_order, tests.values()):
        file = cases[0].nodeid.partition("::")[0]
        driving[file] += 1
        for case in cases[CASES if driving[file] <= TESTS else 0 :]:
            case.add_marker("nightly")


def in_order(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Return tests or cases in an order that only their names decide, and that no parameter follows.

    The folder inside `tests/browser` is no part of a name: a file that moves among them keeps its cases.
    """
    return sorted(items, key=lambda item: zlib.crc32(_IN_BROWSER.sub("tests/browser/", item.nodeid).encode()))


def sample(cases: Sequence[Any], kept: Collection[Any]) -> list[Any]:
    """Return the cases of a test for `pytest.mark.parametrize`, marked `nightly` but for those kept."""
    unknown = [case for case in kept if case not in cases]
    assert not unknown, f"kept, but no case: {unknown}"
    return [case if case in kept else pytest.param(case, marks=pytest.mark.nightly) for case in cases]
