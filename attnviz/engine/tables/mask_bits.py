"""A long list of allowed cells as bits, for a link: `bits.64.…` has 64 columns, row after row, six cells a digit."""

from __future__ import annotations

import base64
import binascii
import re
from urllib.parse import quote_plus

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.tables import masks
from attnviz.engine.tables.masks import LAST
from attnviz.settings.faults import ConfigError

LEGIBLE = 200
"""Characters of a percent-encoded list that is left as it is, so that a short one can be read in a link."""

MAX_CELLS = 128 * 128
"""Cells of the largest mask: a list of more is no mask that was painted here."""

_RANGE = re.compile(r"([0-9]{1,4})-([0-9]{1,4})", re.ASCII)
_BITS = re.compile(r"bits\.([1-9][0-9]{0,2})\.([A-Za-z0-9_-]+)")


def compact(allowed: Array) -> str:
    """Return a mask (queries, keys) as the list of cells that `masks.parse` reads back, neighbouring keys as a range.

    >>> compact(np.array([[1, 0, 0, 0], [0, 0, 0, 0], [1, 0, 1, 1]], dtype=bool))
    '1: 1, 3: 1 3-4'
    """
    rows = ((i, _ranges(np.flatnonzero(row) + 1)) for i, row in enumerate(allowed, 1))
    return ", ".join(f"{i}: {keys}" for i, keys in rows if keys)


def _ranges(numbers: Array) -> str:
    runs = np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1)
    return " ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs if len(run))


def shorter(cells: str) -> str:
    """Return a list of cells as bits, where it is long, shorter so, and comes back letter by letter.

    Any other as it is.

    >>> shorter("1: 1, 2: 1-2")
    '1: 1, 2: 1-2'
    >>> shorter("1: " * 200) == "1: " * 200  # rows that may attend to nothing
    True
    """
    length = len(quote_plus(cells))
    if length <= LEGIBLE or sum(int(end) - int(start) for start, end in _RANGE.findall(cells)) > MAX_CELLS:
        return cells
    try:
        pairs = np.array(masks.parse(cells))
    except ConfigError:
        return cells
    if not pairs.size:
        return cells
    allowed = np.zeros(pairs.max(axis=0) + 1, dtype=bool)
    allowed[tuple(pairs.T)] = True
    if allowed.size > 8 * length or compact(allowed) != cells:
        return cells
    bits = base64.urlsafe_b64encode(np.packbits(allowed).tobytes()).decode().rstrip("=")
    written = f"bits.{allowed.shape[1]}.{bits}"
    return written if len(written) < length else cells


def whole(text: str) -> str:
    """Return the list of cells that bits stand for; any other text as it is.

    >>> whole("bits.4.gA"), whole("1: 1")
    ('1: 1', '1: 1')
    """
    match = _BITS.fullmatch(text)
    if match is None:
        return text
    n_columns, digits = int(match[1]), match[2]
    try:
        packed = base64.urlsafe_b64decode(digits + "=" * (-len(digits) % 4))
    except binascii.Error:
        return text
    bits = np.unpackbits(np.frombuffer(packed, dtype=np.uint8)).astype(bool)
    n_rows = len(bits) // n_columns
    if not 0 < n_rows <= LAST or bits[n_rows * n_columns :].any():
        return text
    return compact(bits[: n_rows * n_columns].reshape(n_rows, n_columns))
