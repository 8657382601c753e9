"""The marks of tests: every test there is belongs to a step that CI runs, and none asks for what its step has not."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

from _pytest.mark.expression import Expression

ROOT = Path(__file__).parents[2]
PYTEST = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]
CI = (ROOT / ".ci" / "run").read_text("utf-8")
BROWSER = ROOT / "tests" / "browser"
OWN = {Path(__file__), ROOT / "tests" / "conftest.py"}
MARKS = [line.partition(":")[0] for line in PYTEST["markers"]]


def steps() -> list[str]:
    """What each step of CI chooses tests by: README's command has that of pyproject, the others say their own."""
    usual = re.search("-m '([^']+)'", PYTEST["addopts"])
    assert usual
    assert re.search(r"<!-- test -->\n```\w*\n(.*\n)*?.*pytest", (ROOT / "README.md").read_text("utf-8"))
    return [usual[1], *(each.strip('"') for each in re.findall(r'-m pytest .*-m ("[^"]+"|\w+) ', CI))]


def left_out(chosen: Iterable[str]) -> list[tuple[str, ...]]:
    """Sets of marks of which no step chooses a test."""
    compiled = [Expression.compile(each) for each in chosen]
    every = itertools.chain.from_iterable(itertools.combinations(MARKS, n) for n in range(len(MARKS) + 1))
    return [marks for marks in every if not any(each.evaluate(marks.__contains__) for each in compiled)]


def test_each_test_is_chosen_by_a_step_of_ci_whatever_its_marks() -> None:
    chosen = steps()
    assert len(chosen) == 3
    assert left_out(chosen) == []
    assert left_out(["not browser and not slow", "browser and not torch"]) != [], "this would see one that is left out"


def test_all_that_drives_a_browser_is_where_ci_looks_for_it() -> None:
    assert re.search(r"-m browser .*tests/browser\n", CI)
    marked = {path for path in (ROOT / "tests").rglob("*.py") if "mark.browser" in path.read_text("utf-8")} - OWN
    assert marked == {*BROWSER.rglob("test_*.py")}


def test_a_browser_test_goes_through_its_cases_in_one_page() -> None:
    """Each case of `pytest.mark.parametrize` opens a page of its own, and takes seconds; `for_each` need not."""
    assert [str(path) for path in BROWSER.rglob("*.py") if "parametrize" in path.read_text("utf-8")] == []


def test_no_test_skips_itself_where_ci_would_have_what_it_asks_for() -> None:
    words = re.compile(r"skipif\(.*(node|torch|tokenizers)|importorskip\(.(torch|tokenizers)")
    files = [path for path in (ROOT / "tests").rglob("*.py") if path not in OWN]
    skipping = [str(path) for path in files if words.search(path.read_text("utf-8"))]
    assert skipping == [], "CI has these in its later steps only: ask for the fixture of tests/conftest.py of that name"
