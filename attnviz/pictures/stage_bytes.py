"""The bytes of a stage: what is said of it as JSON, and its arrays as they lie in memory.

    bytes 0 to 3    the letters `avs1`
    bytes 4 to 7    the length of the header, a whole number of 32 bits
    the header      JSON in ASCII, filled up with spaces so that what follows begins at a multiple of 8 bytes
    the arrays      one after the other, each at a multiple of 8 bytes, in C order

Arrays of the same bytes lie there once. Every number is little-endian. In the header `arrays` says of each array by
its name `type` (float64, float32, int32 or uint8, which also holds what is true or false), `shape`, `axes` (a name for
each) and `at`, the byte where it begins, counted from the end of the header. JSON has no infinity and no NaN; numbers
that may be either are in the arrays.

`stage_bytes.js` reads it in the browser without copying a number; `unpacked` is the same in Python.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnviz.arrays import Array

MAGIC = b"avs1"
ALIGNED = 8
TYPES = {"float64": "<f8", "float32": "<f4", "int32": "<i4", "uint8": "|u1"}
"""The types of numbers, each with the name that NumPy has for it as it is written here."""

GZIP = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
"""What begins a file of gzip that says neither name nor time; source: RFC 1952, section 2.3."""
BARE = -15
"""For zlib: blocks with nothing around them, so that those of two can stand one after the other."""

NamedArray = tuple[Sequence[str], Array]
"""The names of the axes of an array, and the array."""


def packed(header: Mapping[str, Any], arrays: Mapping[str, NamedArray]) -> bytes:
    """Pack a header and arrays by their names; what is true or false becomes 1 or 0.

    Raises ValueError for numbers of another type than `TYPES` has, for other axes than an array has, and for a number
    in the header that is not finite.

    >>> header, arrays = unpacked(packed({"layer": 0}, {"weights": (("query", "key"), np.eye(2))}))
    >>> header["layer"], header["arrays"]["weights"]["axes"], arrays["weights"].tolist()
    (0, ['query', 'key'], [[1.0, 0.0], [0.0, 1.0]])
    """
    described, parts, at, known = {}, [], 0, dict[bytes, int]()
    for name, (axes, array) in arrays.items():
        written = array.astype(np.uint8) if array.dtype == bool else array
        kind = written.dtype.name
        if kind not in TYPES or len(axes) != written.ndim:
            raise ValueError(f"{name} is {kind} of {written.ndim} axes, called {', '.join(axes)}")
        part = np.ascontiguousarray(written, TYPES[kind]).tobytes()
        described[name] = {"type": kind, "shape": written.shape, "axes": list(axes), "at": known.setdefault(part, at)}
        if known[part] == at:
            parts += [part, b"\0" * (-len(part) % ALIGNED)]
            at += len(part) + len(parts[-1])
    text = json.dumps({**header, "arrays": described}, separators=(",", ":"), allow_nan=False).encode("ascii")
    text += b" " * (-len(text) % ALIGNED)
    return b"".join([MAGIC, struct.pack("<I", len(text)), text, *parts])


def compressed(data: bytes) -> bytes:
    """Return packed bytes as gzip has them.

    The header is text, full of what was there before. The arrays are noise but for the cells that are 0, and looking
    for more in them would take twice as long.

    >>> data = packed({"layer": 0}, {"weights": (("query", "key"), np.eye(2))})
    >>> zlib.decompress(compressed(data), 31) == data
    True
    """
    start = ALIGNED + struct.unpack_from("<I", data, 4)[0]
    text = zlib.compressobj(1, zlib.DEFLATED, BARE)
    numbers = zlib.compressobj(1, zlib.DEFLATED, BARE, zlib.DEF_MEM_LEVEL, zlib.Z_RLE)
    blocks = (text.compress(data[:start]), text.flush(zlib.Z_FULL_FLUSH), numbers.compress(data[start:]))
    end = struct.pack("<II", zlib.crc32(data), len(data) % 2**32)
    return b"".join((GZIP, *blocks, numbers.flush(), end))


def unpacked(data: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the header of packed bytes, and the arrays by their names. Raises ValueError for anything else."""
    if data[:4] != MAGIC:
        raise ValueError("these are not the bytes of a stage")
    (length,) = struct.unpack_from("<I", data, 4)
    start = ALIGNED + length
    header: dict[str, Any] = json.loads(data[ALIGNED:start])
    arrays = {}
    for name, each in header["arrays"].items():
        count = int(np.prod(each["shape"], dtype=int))
        array = np.frombuffer(data, TYPES[each["type"]], count, start + each["at"])
        arrays[name] = array.reshape(each["shape"])
    return header, arrays
