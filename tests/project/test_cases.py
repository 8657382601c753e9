"""The loop over the cases of a test: each of them is run, and the one that fails is named."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from tests.support.cases import for_each


def looped(*cases: Any, failing: Any = None, skipping: tuple[Any, ...] = ()) -> tuple[Any, list[Any]]:
    """A test over these cases, as pytest calls it, and those that it has come to."""
    seen: list[Any] = []

    @for_each("case", cases)
    def test(case: Any, fixture: str) -> None:
        assert fixture == "given"
        seen.append(case)
        if case in skipping:
            pytest.skip("not here")
        assert case != failing

    assert [*inspect.signature(test).parameters] == ["fixture"]
    return test, seen


def test_each_case_is_run_and_the_first_that_fails_is_named() -> None:
    test, seen = looped(1, pytest.param(2, id="two"), 3)
    test(fixture="given")
    assert seen == [1, 2, 3]
    test, seen = looped(1, 2, 3, failing=2)
    with pytest.raises(AssertionError) as caught:
        test(fixture="given")
    assert (seen, caught.value.__notes__) == ([1, 2], ["case: case=2"])


def test_a_test_is_skipped_only_where_all_of_its_cases_are() -> None:
    test, seen = looped(1, 2, 3, skipping=(1, 3))
    test(fixture="given")
    assert seen == [1, 2, 3]
    test, _ = looped(1, 2, skipping=(1, 2))
    with pytest.raises(pytest.skip.Exception):
        test(fixture="given")


def test_no_case_is_a_fault_and_so_is_one_with_a_mark_of_its_own() -> None:
    with pytest.raises(AssertionError, match="without a case"):
        looped()[0](fixture="given")
    with pytest.raises(AssertionError, match="no marks of its own"):
        looped(pytest.param(1, marks=pytest.mark.slow))


def test_several_names_and_loops_within_loops() -> None:
    seen: list[tuple[int, str, int]] = []

    @for_each("x", [1, 2])
    @for_each("y, z", [("a", 3), ("b", 4)])
    def test(x: int, y: str, z: int) -> None:
        seen.append((x, y, z))

    test()
    assert seen == [(1, "a", 3), (1, "b", 4), (2, "a", 3), (2, "b", 4)]
