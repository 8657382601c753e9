"""The cases of a long list that are tested every time: a few of each kind. The rest is run by the name of its mark."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest

Case = Any


def sample(cases: Iterable[Case], kept: Collection[Case] | int, rest: str = "nightly") -> list[Any]:
    """Return the cases for `pytest.mark.parametrize`, with a mark on all but those that are kept.

    kept  the cases themselves, or how many: the first, the last and what lies evenly between them
    rest  "slow" for what CI runs, "nightly" for what takes longer than that may

    >>> [case.marks[0].name if isinstance(case, type(pytest.param())) else case for case in sample("abcde", 2)]
    ['a', 'nightly', 'nightly', 'nightly', 'e']
    """
    cases = list(cases)
    if isinstance(kept, int):
        n = min(kept, len(cases))
        kept = [cases[round(at * (len(cases) - 1) / max(n - 1, 1))] for at in range(n)]
    unknown = [case for case in kept if case not in cases]
    assert not unknown, f"kept, but no case: {unknown}"
    return [case if case in kept else thorough(case, rest) for case in cases]


def thorough(case: Case, rest: str = "nightly") -> Any:
    """Return a case with a mark: one of several values, or of several arguments as a tuple or a `pytest.param`."""
    mark = getattr(pytest.mark, rest)
    if isinstance(case, type(pytest.param())):
        return pytest.param(*case.values, marks=[*case.marks, mark], id=case.id)
    values = case if type(case) is tuple else (case,)
    return pytest.param(*values, marks=mark)
