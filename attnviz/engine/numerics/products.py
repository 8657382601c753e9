"""Matrix products in which equal rows give equal rows, to the last bit.

A matrix library adds up a row in another order where it stands at the edge of a block, so that two equal rows of A may
give rows of A B that differ in their last bits. Nothing may depend on that: hardmax would take one of two equal words,
and which one would differ from machine to machine. So the first of equal rows speaks for all of them. The product
itself keeps its shape: one of fewer rows would add up the others in another order too.
"""

from __future__ import annotations

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.numerics import buffer_pool


def product(A: Array, B: Array, first: Array | None) -> Array:
    """Return A B for stacks of matrices, with equal rows wherever rows of A are equal: `first_equals(A)` says where.

    >>> A = np.array([[0.1, 0.7], [1.0, 0.0], [0.1, 0.7]])
    >>> Y = product(A, A.T, first_equals(A))
    >>> bool((Y[0] == Y[2]).all())
    True
    """
    return spread(buffer_pool.product(A, B), first)


def first_equals(A: Array, among: Array | None = None) -> Array | None:
    """Return for each row of each matrix the first row that equals it, (..., n); None if no two rows are equal.

    `among` is such an array too, and only rows to which it gives the same number are compared.

    >>> first_equals(np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 2.0]])).tolist()
    [0, 1, 0]
    """
    if A.ndim < 2 or A.shape[-2] < 2 or not A.shape[-1]:
        return None
    known = A[..., 0] if among is None else np.broadcast_to(among, A.shape[:-1])
    if not _has_repeats(known):  # the first column tells nearly always, at a fraction of the cost
        return None
    order = np.arange(A.shape[-2])
    first = np.broadcast_to(order, A.shape[:-1]).copy()
    for position in np.ndindex(A.shape[:-2]):
        _, group, sizes = np.unique(known[position], return_inverse=True, return_counts=True)
        rows = np.flatnonzero(sizes[group] > 1)
        first[position][rows] = rows[_first_in(A[position][rows], group[rows])]
    return first if (first != order).any() else None


def spread(Y: Array, first: Array | None) -> Array:
    """Give each row of Y, in place, the numbers of the row that `first` names, and return Y."""
    if first is None:
        return Y
    first = np.broadcast_to(first, Y.shape[:-1])
    later = np.nonzero(first != np.arange(Y.shape[-2]))
    Y[later] = Y[(*later[:-1], first[later])]
    return Y


def _has_repeats(x: Array) -> bool:
    ordered = np.sort(x, axis=-1)
    return bool((ordered[..., 1:] == ordered[..., :-1]).any())


def _first_in(rows: Array, group: Array) -> list[int]:
    """Return for each row the position of the first that equals it and is of its group."""
    seen: dict[tuple[int, bytes], int] = {}
    rows = rows + 0.0  # -0 is 0, but is another string of bytes
    return [seen.setdefault((g, row.tobytes()), i) for i, (g, row) in enumerate(zip(group.tolist(), rows))]
