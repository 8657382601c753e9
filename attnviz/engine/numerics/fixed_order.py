"""Products and a decomposition of matrices whose additions are made in one order, whatever matrix library is there.

A matrix library adds up in an order of its own on each kind of processor, so its last bits differ. Mostly nobody can
see that. Where a matrix is solved from rows that are nearly dependent, however, its entries are large, and rounding
grows with them into digits that are shown; so there every product is made here, by NumPy's own multiplications and
additions of whole arrays, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.numerics import cancellation

NEGLIGIBLE = 1e-12
"""The remainder of a row, relative to the longest, below which it is nothing but rounding."""

SWEEPS = 30
"""Rounds of rotations after which singular vectors are taken as they are; about six are enough."""

LARGE = 2**14
"""Numbers beyond which one of the parts of a product takes long enough to look whether anybody waits for it."""

SMALL = 2**16
"""Bytes up to which a matrix is one of many whose decomposition is kept: most of what a person changes leaves it so."""

_required: ContextVar[bool] = ContextVar("fixed_order", default=False)


@contextmanager
def required(required: bool) -> Iterator[None]:
    """Make every product of this thread in a fixed order, if `required`, until the block ends."""
    token = _required.set(required)
    try:
        yield
    finally:
        _required.reset(token)


def is_required() -> bool:
    """Return whether products are made in a fixed order now."""
    return _required.get()


def product(A: Array, B: Array, out: Array | None = None) -> Array:
    """Return A B for stacks of matrices: the first products of each entry, plus the second, and so on.

    >>> product(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    shape = (*np.broadcast_shapes(A.shape[:-2], B.shape[:-2]), A.shape[-2], B.shape[-1])
    total = np.empty(shape) if out is None else out
    total[...] = 0.0
    part = np.empty(shape)
    for k in range(A.shape[-1]):
        if total.size > LARGE:
            cancellation.check()
        np.multiply(A[..., :, k, None], B[..., k, None, :], out=part)
        total += part
    return total


def svd(X: Array) -> tuple[Array, Array, Array]:
    """Return U (n, r), s (r,) in falling order and V (r, d) with X = U diag(s) V, for the r directions that X has.

    Rows are made orthogonal first (Gram and Schmidt, the longest next), which leaves little to the rotations that make
    the columns orthogonal as well.

    Source  Hestenes 1958; Drmač and Veselić 2008, "New fast and accurate Jacobi SVD algorithm", part I, section 2.

    >>> svd(np.array([[0.0, 4.0], [3.0, 0.0], [0.0, 0.0]]))[1]
    array([4., 3.])
    """
    return (_few if X.nbytes > SMALL else _many)(X.tobytes(), X.shape)


def _decomposed(numbers: bytes, shape: tuple[int, int]) -> tuple[Array, Array, Array]:
    X = np.frombuffer(numbers).reshape(shape)
    largest = np.abs(X).max(initial=0.0)
    scale = np.ldexp(1.0, int(np.frexp(largest)[1]))  # a power of two: nothing is rounded, and no square overflows
    L, Q = _orthogonal_rows(X / scale)
    rotated = _rotated(np.concatenate([L, np.eye(len(L))], axis=1), L.shape[1])
    columns, rotation = rotated[:, : len(X)], rotated[:, len(X) :]
    s = _lengths(columns)
    order = np.argsort(-s, kind="stable")
    decomposed = (columns[order] / s[order, None]).T, s[order] * scale, product(rotation[order], Q)
    for array in decomposed:
        array.flags.writeable = False
    return decomposed


_many, _few = lru_cache(maxsize=32)(_decomposed), lru_cache(maxsize=3)(_decomposed)


def _lengths(rows: Array) -> Array:
    return np.sqrt((rows * rows).sum(axis=-1))


def _orthogonal_rows(X: Array) -> tuple[Array, Array]:
    """Return L (r, n) and orthonormal rows Q (r, d) with X = L^T Q."""
    left, L, Q = X.copy(), np.zeros((min(X.shape), len(X))), np.zeros((min(X.shape), X.shape[1]))
    first = _lengths(left).max(initial=0.0)
    for k in range(len(Q)):
        cancellation.check()
        lengths = _lengths(left)
        longest = int(lengths.argmax())
        if lengths[longest] <= NEGLIGIBLE * first:
            return L[:k], Q[:k]
        q = left[longest] / lengths[longest]
        q = q - (Q[:k] * (Q[:k] * q).sum(axis=-1, keepdims=True)).sum(axis=0)  # once more, against rounding
        Q[k] = q / _lengths(q)
        L[k] = (left * Q[k]).sum(axis=-1)
        left -= L[k][:, None] * Q[k]
    return L, Q


def _rotated(rows: Array, n: int) -> Array:
    """Return the rows after rotations, pair by pair, which make their first n columns orthogonal."""
    enough = np.finfo(float).eps * np.sqrt(n)
    for _ in range(SWEEPS):
        rotations = 0
        for a, b in _pairs(len(rows)):
            cancellation.check()
            x, y = rows[a], rows[b]
            xx, yy, xy = ((u[:, :n] * v[:, :n]).sum(axis=-1) for u, v in ((x, x), (y, y), (x, y)))
            far = np.abs(xy) > enough * np.sqrt(xx * yy)
            if not far.any():
                continue
            rotations += 1
            slope = (yy - xx) / (2.0 * np.where(far, xy, 1.0))
            tangent = np.where(slope < 0, -1.0, 1.0) / (np.abs(slope) + np.sqrt(1.0 + slope * slope))
            cosine = np.where(far, 1.0 / np.sqrt(1.0 + tangent * tangent), 1.0)[:, None]
            sine = np.where(far[:, None], cosine * tangent[:, None], 0.0)
            rows[a], rows[b] = cosine * x - sine * y, sine * x + cosine * y
        if not rotations:
            break
    return rows


def _pairs(n: int) -> Iterator[tuple[Array, Array]]:
    """Yield every pair of n rows once, in rounds of pairs that have no row in common.

    >>> [list(zip(a.tolist(), b.tolist())) for a, b in _pairs(4)]
    [[(0, 3), (1, 2)], [(0, 2), (3, 1)], [(0, 1), (2, 3)]]
    """
    circle = np.arange(n + n % 2)
    for _ in range(len(circle) - 1):
        a, b = circle[: len(circle) // 2], circle[: len(circle) // 2 - 1 : -1]
        both = (a < n) & (b < n)
        yield a[both], b[both]
        circle[1:] = np.roll(circle[1:], 1)
