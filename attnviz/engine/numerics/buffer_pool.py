"""A pool of reusable buffers for large arrays.

The C library gives large pieces of freed memory back to the system, which then clears and maps them anew, page after
page. Of `attend` with 8 heads that was two fifths at 128 and 256 tokens and a quarter at 512, with and without in turn
(at 1,024 there was no difference), so pieces are kept here for the next array.
"""

from __future__ import annotations

import math
import weakref

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.numerics import fixed_order

SMALL = 2**20  # bytes; smaller pieces stay with the C library
KEPT = 2**26  # bytes that are kept at most while nobody uses them

_free: dict[int, Array] = {}  # the unused pieces by id, oldest first


def empty(shape: tuple[int, ...]) -> Array:
    """Return a float64 array whose entries are not set yet.

    Its memory is used again when neither the array nor a view of it is left, and not before: every view holds the
    array that `frombuffer` makes, and `finalize` fires when that one is gone.
    """
    size = math.prod(shape)
    if size * np.dtype(float).itemsize < SMALL:
        return np.empty(shape)
    piece = _acquire(size)
    whole = np.frombuffer(piece.data)
    weakref.finalize(whole, _release, piece).atexit = False
    return whole.reshape(shape)


def product(A: Array, B: Array) -> Array:
    """Return A @ B for stacks of matrices, added up in a fixed order where that is required."""
    stack = A.shape[:-2] if A.shape[:-2] == B.shape[:-2] else np.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    out = empty((*stack, A.shape[-2], B.shape[-1]))
    return fixed_order.product(A, B, out) if fixed_order.is_required() else np.matmul(A, B, out=out)


def _acquire(size: int) -> Array:
    """Return an unused piece for so many entries, or a new one.

    Of threads that come at once, one gets what `pop` gives.
    """
    for name, piece in list(_free.items()):
        if piece.size == size and _free.pop(name, None) is not None:
            return piece
    return np.empty(size)


def _release(piece: Array) -> None:
    _free[id(piece)] = piece
    unused = list(_free.items())
    over = sum(piece.nbytes for _, piece in unused) - KEPT
    for name, oldest in unused:
        if over > 0 and _free.pop(name, None) is not None:
            over -= oldest.nbytes
