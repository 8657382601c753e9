"""The sample of the browser tests that CI runs: the same ones everywhere, and no other test is sampled."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.sampling import in_order

pytest_plugins = ["pytester"]
DRIVING = "import pytest\n@pytest.fixture\ndef chromium(): ...\n" + "".join(
    f"@pytest.mark.browser\n@pytest.mark.parametrize('case', range({3 - n % 2}))\ndef test_{n}(chromium, case): ...\n"
    for n in range(5)
)
OTHER = "import pytest\n@pytest.mark.slow\n@pytest.mark.parametrize('case', range(40))\ndef test_many(case): ...\n"
COUNTS = {"not slow and not browser": (0, 0), "slow": (0, 40), "browser and not nightly": (1, 0), "nightly": (12, 0)}
"""Tests that are run under a mark: of those that drive a browser, and of others."""


@pytest.mark.slow
def test_only_browser_tests_are_sampled_and_nothing_is_lost(pytester: pytest.Pytester) -> None:
    root = Path(__file__).parents[2]
    pytester.makepyfile(test_other=OTHER, test_driving=DRIVING)
    pytester.makeconftest(
        f"import sys; sys.path.insert(0, {str(root)!r})\n"
        "from tests.sampling import *\n"
        "def pytest_collection_modifyitems(items): mark_what_is_thorough(items)\n"
    )
    pytester.makeini("[pytest]\nmarkers =\n  slow\n  nightly\n  browser\n  every_case\n")
    for marked, counts in COUNTS.items():
        found = pytester.runpytest("--collect-only", "-q", "-m", marked).outlines
        ids = {line for line in found if "::" in line}
        assert tuple(sum(name in line for line in ids) for name in ("test_driving", "test_other")) == counts, marked


def test_a_file_of_browser_tests_keeps_its_cases_where_it_moves_among_the_folders() -> None:
    def order(folder: str) -> list[int]:
        items: list[Any] = [SimpleNamespace(nodeid=f"{folder}test_it.py::test_one[{n}]", case=n) for n in range(9)]
        return [item.case for item in in_order(items)]

    assert order("tests/browser/") == order("tests/browser/stage/") == order("tests/browser/pages/")
    assert order("tests/browser/") != order("tests/ui/")


def test_no_other_test_is_left_to_a_run_that_nobody_starts() -> None:
    root = Path(__file__).parents[1]
    own = {Path(__file__), root / "sampling.py", root / "conftest.py"}
    files = [path for path in sorted(root.rglob("*.py")) if path.parts[len(root.parts)] != "browser"]
    marked = [
        str(path) for path in files if path not in own and re.search(r"nightly|every_case", path.read_text("utf-8"))
    ]
    assert marked == []
    words = re.compile(r"skipif\(.*(node|torch|tokenizers)|importorskip\(.(torch|tokenizers)")
    skipping = [str(path) for path in files if path not in own and words.search(path.read_text("utf-8"))]
    assert skipping == [], "CI has these in its later steps only: ask for the fixture of tests/conftest.py of that name"
    ci = (root.parent / ".ci" / "run").read_text("utf-8")
    assert '-m "(slow or torch) and not browser" tests' in ci
    assert re.search(r'-m "browser\b.*tests/browser', ci)
