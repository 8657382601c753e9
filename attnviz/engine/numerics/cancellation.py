"""Ending a long computation that nobody waits for any more.

Whoever starts one says how to find that out; the computation asks between its parts: steps, heads, rows, rounds. Where
nobody says anything, as in the library and on the command line, nothing is ever ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Cancelled(BaseException):
    """A computation was ended as nobody waits for it; no `except Exception` in its way takes it for a fault."""


def _nothing() -> None:
    pass


_check: ContextVar[Callable[[], object]] = ContextVar("cancellation", default=_nothing)


@contextmanager
def checked_by(check: Callable[[], object]) -> Iterator[None]:
    """Call `check` between the parts of every computation in the block; what it raises ends the computation.

    >>> with checked_by(lambda: print("between two parts")):
    ...     check()
    between two parts
    """
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def check() -> None:
    """Say that a part is done, so that the computation can be ended here; call it wherever a part may take 0.1 s."""
    _check.get()()
