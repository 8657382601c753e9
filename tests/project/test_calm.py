"""No test of a browser waits for a time: it waits for what it is about to look at."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
FIXED = re.compile(r"wait_for_timeout\(|\bsleep\(|\bpolling=|\btimeout=\d|setTimeout\([^\n]*\d\)")


def fixed_waits(source: str) -> list[str]:
    """Return the lines of a source that wait for a time, other than for an answer from the network."""
    lines = [line.strip() for line in source.splitlines()]
    return [line for line in lines if FIXED.search(line) and "urlopen(" not in line]


def test_no_browser_test_waits_for_a_fixed_time() -> None:
    files = [TESTS / "browser_idle.py", *sorted((TESTS / "browser").rglob("*.py"))]
    assert len(files) > 20
    found = {path.name: fixed_waits(path.read_text("utf-8")) for path in files}
    assert {name: lines for name, lines in found.items() if lines} == {}, "wait for a condition: tests/browser_idle.py"
    assert fixed_waits("page.wait_for_timeout(80)\ntime.sleep(1)\nsetTimeout(done, 20)\nsetTimeout(done)") == [
        "page.wait_for_timeout(80)", "time.sleep(1)", "setTimeout(done, 20)"
    ]  # fmt: skip
