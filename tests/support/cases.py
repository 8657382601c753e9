"""Many cases of a test in one test: what it costs to set a test up is paid once, and all of its cases are run."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet

Test = Callable[..., None]


def for_each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Return a decorator that calls a test for each of the cases, as `pytest.mark.parametrize` would, in one test.

    The first case that fails ends the test and is named below its error. Fixtures are made once for all of them; the
    test is skipped if every case of it is.
    """
    fields = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names
    rows = [_values(case, len(fields)) for case in cases]

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)

        @functools.wraps(test)
        def whole(**fixtures: Any) -> None:
            skipped: list[pytest.skip.Exception] = []
            for row in rows:
                case = dict(zip(fields, row, strict=True))
                try:
                    test(**fixtures, **case)
                except pytest.skip.Exception as reason:
                    skipped.append(reason)
                except BaseException as error:
                    error.add_note("case: " + ", ".join(f"{name}={value!r}" for name, value in case.items()))
                    raise
            assert rows, "a test without a case"
            if len(skipped) == len(rows):
                raise skipped[0]

        left = [parameter for name, parameter in signature.parameters.items() if name not in fields]
        whole.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return whole

    return decorate


def _values(case: Any, n: int) -> tuple[Any, ...]:
    """Return the values of a case, which may be a `pytest.param` without marks: all of them are those of one test."""
    if isinstance(case, ParameterSet):
        assert not case.marks, f"a case has no marks of its own here: {case}"
        return tuple(case.values)
    return (case,) if n == 1 else tuple(case)
