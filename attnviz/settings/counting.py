"""Positions, which arrays count from 0 and people count from 1.

Everything inside counts from 0. What a link holds is turned where it is read and written, by the kind of field
`Ordinal`; what a sentence, a label or a file says is turned here, and nowhere else.
"""

from __future__ import annotations

from typing import overload

from attnviz.arrays import Array


@overload
def ordinal(index: int) -> int: ...
@overload
def ordinal(index: None) -> None: ...
@overload
def ordinal(index: int | None) -> int | None: ...
@overload
def ordinal(index: Array) -> Array: ...
def ordinal(index: int | Array | None) -> int | Array | None:
    """Return the number by which people call an index, or each of many; None stays None.

    >>> ordinal(0), ordinal(None)
    (1, None)
    """
    return None if index is None else index + 1


@overload
def index_of(ordinal: int) -> int: ...
@overload
def index_of(ordinal: None) -> None: ...
@overload
def index_of(ordinal: int | None) -> int | None: ...
def index_of(ordinal: int | None) -> int | None:
    """Return the index that people call by a number; None stays None.

    >>> index_of(1), index_of(None)
    (0, None)
    """
    return None if ordinal is None else ordinal - 1


def ordinals(n: int) -> range:
    """Return the numbers by which people call n things.

    >>> list(ordinals(3))
    [1, 2, 3]
    """
    return range(1, n + 1)
