"""The sample of the tests that is run every time: of every test a case, and the same ones everywhere."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.sampling import in_order

pytest_plugins = ["pytester"]
FILE = """
import pytest

from tests.sampling import in_order

@pytest.mark.parametrize("case", range(40))
def test_many(case): ...

@pytest.mark.every_case
@pytest.mark.parametrize("case", range(40))
def test_all(case): ...

@pytest.mark.slow
@pytest.mark.parametrize("case", range(5))
def test_thorough(case): ...

@pytest.mark.browser
@pytest.mark.parametrize("case", range(9))
def test_in_browser(case): ...

def test_one(): ...
"""
BROWSER = "import pytest\n@pytest.fixture\ndef chromium(): ...\n" + "".join(
    f"@pytest.mark.browser\n@pytest.mark.parametrize('case', range({3 - n % 2}))\ndef test_{n}(chromium, case): ...\n"
    for n in range(5)
)
VISITS = "from streamlit.testing.v1 import AppTest\n" + "".join(f"def test_{n}(): ...\n" for n in range(5))
COUNTS = {  # of what is run under a mark, by file
    "not slow and not nightly and not browser": (2 + 40 + 1, 1, 0),
    "slow and not nightly": (1, 4, 0),
    "browser and not nightly": (2, 0, 1),
    "nightly": (38 + 4 + 7, 0, 12),
}


@pytest.mark.slow
@pytest.mark.every_case
@pytest.mark.parametrize("marker", COUNTS)
def test_what_goes_beyond_the_sample_runs_by_name_and_nothing_is_lost(pytester: pytest.Pytester, marker: str) -> None:
    _write_tests(pytester)
    found = pytester.runpytest("--collect-only", "-q", "-m", marker).outlines
    ids = {line for line in found if "::" in line}
    assert (
        tuple(sum(name in line for line in ids) for name in ("test_ordinary", "test_visits", "test_driving"))
        == COUNTS[marker]
    )


@pytest.mark.nightly
@pytest.mark.parametrize("workers", [0, 2])
def test_the_last_lines_say_what_is_left_to_other_runs(pytester: pytest.Pytester, workers: int) -> None:
    _write_tests(pytester)
    options = ("-n", str(workers)) if workers else ()
    lines = pytester.runpytest_subprocess(*options, "-m", "not slow and not nightly and not browser").outlines
    assert [line for line in lines if " left to " in line] == [
        "8 tests and cases are left to CI: pytest -m '(slow or browser) and not nightly'",
        "61 tests and cases are left to the nightly run: pytest -m nightly",
    ]
    lines = pytester.runpytest_subprocess(*options, "-m", "").outlines
    assert [line for line in lines if " left to " in line] == []


def _write_tests(pytester: pytest.Pytester) -> None:
    root = Path(__file__).parents[2]
    pytester.makepyfile(test_ordinary=FILE, test_visits=VISITS, test_driving=BROWSER)
    pytester.makeconftest(
        f"import sys; sys.path.insert(0, {str(root)!r})\n"
        "from tests.sampling import *\n"
        "def pytest_collection_modifyitems(items): mark_what_is_thorough(items)\n"
    )
    pytester.makeini("[pytest]\nmarkers =\n  slow\n  nightly\n  browser\n  every_case\n")


def test_a_file_of_browser_tests_keeps_its_cases_where_it_moves_among_the_folders() -> None:
    def order(folder: str) -> list[int]:
        items: list[Any] = [SimpleNamespace(nodeid=f"{folder}test_it.py::test_one[{n}]", case=n) for n in range(9)]
        return [item.case for item in in_order(items)]

    assert order("tests/browser/") == order("tests/browser/stage/") == order("tests/browser/pages/")
    assert order("tests/browser/") != order("tests/ui/")
