"""Pairs of rows: every one of either table, each with some of the other, where all with all would take too long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

PARTNERS = 3
"""With how many of the other table each row of the longer one is seen."""


def each_with_some(firsts: Iterable[str], seconds: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield every first and every second in pairs, each of the longer list with three of the other, evenly.

    >>> [*each_with_some("abcd", "xyzw")][:4]
    [('a', 'x'), ('a', 'y'), ('a', 'z'), ('b', 'y')]
    """
    left, right = [*firsts], [*seconds]
    for at in range(max(len(left), len(right))):
        for by in range(PARTNERS):
            yield left[at % len(left)], right[(at + by + at // len(right)) % len(right)]
