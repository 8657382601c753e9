"""Arrays out of files of NumPy, none of which can run code, fill the memory or lie about its size.

NumPy's own reader parses the header; what it says is checked before anything is allocated, which `numpy.load` does not
do, and a number is only ever looked at in place.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from dataclasses import dataclass
from math import prod

import numpy as np

from attnviz.arrays import Array
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words, translate

MAGIC, ZIP = np.lib.format.MAGIC_PREFIX, (b"PK\x03\x04", b"PK\x05\x06")
MAX_AXIS_LENGTH = 4096
MOST_AXES = 5
MAX_HEADER_BYTES = 10_000
MAX_TEXT_CHARACTERS = 4_000_000
LAST_CHARACTER = 0x10FFFF

_READERS = {(1, 0): np.lib.format.read_array_header_1_0} | dict.fromkeys(
    [(2, 0), (3, 0)], np.lib.format.read_array_header_2_0
)
"""By the version of the format; the third differs from the second in the names of records only, which are refused."""

KINDS = {"f": (2, 4, 8), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "b": (1,)}
"""The kinds of number that are read, and the bytes that one may have; U is text, of any length."""

REFUSED = Words(
    {
        "O": "Python objects, which would have to be run to be read",
        "c": "complex numbers",
        "V": "records",
        "S": "bytes",
        "M": "dates",
        "m": "times",
    }
)
"""The types of entries that are no numbers, in words."""

FAULTS = Words(
    {
        "kind": "{name} holds {what}; save real numbers",
        "header": "{name} has no header that can be read; save it with numpy.save or numpy.savez",
        "axes": "{name} says it has shape {shape}; at most {most} axes of 1 to {longest:,} can be read",
        "length": "{name} says it holds {said:,} bytes of numbers and holds {held:,}; it is damaged, so save it again",
        "text": "{name} holds invalid characters; save its tokens again",
        "zip": "the file is not a readable NumPy archive; save it with numpy.savez",
        "members": "the file holds {n:,} arrays; at most {most:,} can be read",
        "member": "the file holds {name}, which is not an array; save only arrays, with numpy.savez",
        "twice": "the file holds {name} twice; save it once",
        "encrypted": "{name} is encrypted; save it without a password",
        "packed": "{name} is packed in a way that is not read here; save it with numpy.savez or numpy.savez_compressed",
        "many": "{name} would hold {said:,} numbers; {most:,} are left of what can be read, so upload less",
        "large": "{name} would unpack to {said:,} bytes; {most:,} are left of what can be read, so upload less",
    }
)


@dataclass(frozen=True)
class Budget:
    """The limits of a file: the bytes and the numbers of all arrays together, and the number of arrays.

    A number may have one byte in a file and has eight once it is read.
    """

    n_bytes: int
    n_arrays: int
    n_numbers: int = 64_000_000


def npy(data: bytes, name: str = "", most: int | None = None) -> Array:
    """Return the array of an .npy file: float64 for numbers, `U` for text, bool for truth values.

    most  numbers that it may hold

    Raises ConfigError for whatever is no array of real numbers or text, before any memory is taken for it.
    """
    name = name or translate("the array")
    start, shape, fortran, dtype = _header(data, name)
    declared, size = prod(shape) * dtype.itemsize, len(data) - start
    if declared != size:
        raise _fault("length", name, said=declared, held=size)
    if most is not None and dtype.kind != "U" and prod(shape) > most:
        raise _fault("many", name, said=prod(shape), most=most)
    flat = np.frombuffer(data, dtype, offset=start)
    if dtype.kind == "U":
        if (flat.view(np.dtype(f"{dtype.byteorder}u4")) > LAST_CHARACTER).any():
            raise _fault("text", name)
        array = flat.astype("U")
    else:
        array = flat.view(np.uint8) != 0 if dtype.kind == "b" else flat.astype(np.float64)
    return array.reshape(shape, order="F" if fortran else "C")


def _header(data: bytes, name: str) -> tuple[int, tuple[int, ...], bool, np.dtype]:
    """Return the offset of the numbers, and the contents of the header by NumPy's own reader.

    Raises ConfigError for a header that says more than may be read, or that cannot be read.
    """
    file = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        shape, fortran, dtype = _READERS[version](file, max_header_size=MAX_HEADER_BYTES)
    except Exception:  # whatever the parser makes of a hostile header: it also goes through ast and tokenize
        raise _fault("header", name) from None
    if dtype.kind in REFUSED:
        raise _fault("kind", name, what=REFUSED[dtype.kind])
    width = dtype.itemsize // (4 if dtype.kind == "U" else 1)
    if not (width in KINDS.get(dtype.kind, ()) or (dtype.kind == "U" and width <= MAX_TEXT_CHARACTERS)):
        raise _fault("kind", name, what=translate("numbers of the kind {kind}", kind=f"{dtype.kind}{width}"))
    if len(shape) > MOST_AXES or not all(1 <= size <= MAX_AXIS_LENGTH for size in shape):
        raise _fault("axes", name, shape=shorten(str(shape)), most=MOST_AXES, longest=MAX_AXIS_LENGTH)
    return file.tell(), shape, fortran, dtype


def npz(data: bytes, budget: Budget) -> dict[str, Array]:
    """Return the arrays of an .npz file by their names.

    Raises ConfigError for whatever is no plain archive of arrays, and for more than the budget allows: what a member
    says of its size is checked first, and no more than that is ever unpacked.
    """
    n = data.count(b"PK\x01\x02")  # so many entries at the most, counted before a list of them is made
    if n > 2 * budget.n_arrays:
        raise _fault("members", n=n, most=budget.n_arrays)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _members(archive, budget)
    except ConfigError:
        raise
    except (zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, RuntimeError, ValueError):
        raise _fault("zip") from None


def _members(archive: zipfile.ZipFile, budget: Budget) -> dict[str, Array]:
    members, left, numbers = archive.infolist(), budget.n_bytes, budget.n_numbers
    if len(members) > budget.n_arrays:
        raise _fault("members", n=len(members), most=budget.n_arrays)
    arrays: dict[str, Array] = {}
    for member in members:
        name = member.filename.removesuffix(".npy")
        _check(member, name, name in arrays, left)
        left -= member.file_size
        with archive.open(member) as file:
            data = file.read(member.file_size)
            if len(data) != member.file_size or file.read(1):
                raise _fault("zip")
        arrays[name] = npy(data, shorten(name), numbers)
        numbers -= arrays[name].size if arrays[name].dtype.kind != "U" else 0
    return arrays


def _check(member: zipfile.ZipInfo, name: str, twice: bool, left: int) -> None:
    """Raise ConfigError for a member that is not to be unpacked."""
    declared = shorten(name)
    if name == member.filename or not re.fullmatch(r"[\w. -]{1,100}", name) or name.startswith("."):
        raise _fault("member", shorten(member.filename))
    if twice:
        raise _fault("twice", declared)
    if member.flag_bits & 0x1:
        raise _fault("encrypted", declared)
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _fault("packed", declared)
    if member.file_size > left:
        raise _fault("large", declared, said=member.file_size, most=left)


def _fault(which: str, name: str = "", **facts: object) -> ConfigError:
    return ConfigError(FAULTS[which].format(name=name, **facts))
