"""Two lists of tokens token by token: which of one is which of the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attnviz.arrays import Array

Pair = tuple[int | None, int | None]


def aligned(one: Sequence[str], other: Sequence[str]) -> tuple[Pair, ...]:
    """Return the positions of both in one order, counted from 0; None where a token is only in the other.

    Lists of one length are paired position by position, so that a replaced word stands beside what it replaces; others
    by their longest common subsequence, of several the one whose pairs come first.

    >>> aligned(["the", "cat", "sat"], ["the", "old", "cat", "sat"])
    ((0, 0), (None, 1), (1, 2), (2, 3))
    >>> aligned(["the", "cat"], ["the", "dog"])
    ((0, 0), (1, 1))
    """
    if len(one) == len(other):
        return tuple((at, at) for at in range(len(one)))
    longest = _lengths(one, other)
    pairs: list[Pair] = []
    i = j = 0
    while i < len(one) or j < len(other):
        if i < len(one) and j < len(other) and one[i] == other[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif j == len(other) or (i < len(one) and longest[i + 1, j] >= longest[i, j + 1]):
            pairs.append((i, None))
            i += 1
        else:
            pairs.append((None, j))
            j += 1
    return tuple(pairs)


def shared(pairs: Sequence[Pair]) -> tuple[list[int], list[int]]:
    """Return the positions of the tokens that both lists have, in the one and in the other.

    >>> shared(((0, 0), (None, 1), (1, 2)))
    ([0, 1], [0, 2])
    """
    both = [(i, j) for i, j in pairs if i is not None and j is not None]
    return [i for i, _ in both], [j for _, j in both]


def _lengths(one: Sequence[str], other: Sequence[str]) -> Array:
    """Compute the length of the longest common subsequence of the rests from each pair of positions on."""
    longest = np.zeros((len(one) + 1, len(other) + 1), dtype=int)
    for i in reversed(range(len(one))):
        for j in reversed(range(len(other))):
            if one[i] == other[j]:
                longest[i, j] = 1 + longest[i + 1, j + 1]
            else:
                longest[i, j] = max(longest[i + 1, j], longest[i, j + 1])
    return longest
