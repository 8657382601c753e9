"""Readers of uploaded files: arrays and tokens out of NPY, NPZ, JSON and CSV.

The content says what a file is, and its name has to agree.
"""

from __future__ import annotations

import codecs
import re

from attnviz.settings.counting import ordinal
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words
from attnviz.settings.plain_text import clean
from attnviz.uploads import npy, parse_text
from attnviz.uploads.parse_text import Upload

MAX_FILE_BYTES = 5_000_000
LOOKED_AT = 4096  # bytes in which a file that is no table of numbers shows it
BUDGET = npy.Budget(n_bytes=16_000_000, n_arrays=512, n_numbers=5_000_000)

FORMATS = {"npz": ("npz",), "npy": ("npy",), "json": ("json",), "csv": ("csv", "tsv", "txt")}
"""The kinds of files that can be read, and the endings of their names."""

CALLED = Words(
    {
        "npz": "an archive of NumPy (.npz)",
        "npy": "an array of NumPy (.npy)",
        "json": "JSON",
        "csv": "a table of numbers (.csv)",
    }
)

FAULTS = Words(
    {
        "empty": "the file is empty; give one that holds numbers",
        "large": "the file has {n:,} bytes; at most {most:,} are read, so use a part of it",
        "ending": "{name} has an ending that is not known here; use a file that ends in {endings}",
        "content": "{name} holds {what}, which its ending does not say; give it the ending that fits",
        "unknown": "{name} holds neither text nor arrays of NumPy; a pickle is never opened; upload .npz, "
        ".npy, .json or .csv",
        "encoding": "the file is not readable text, from byte {at:,} on; save it as UTF-8, or as .npy or .npz",
    }
)


def read(name: str, data: bytes) -> Upload:
    """Read a file of this name.

    Raises ConfigError in one sentence, with the position of the fault, for all that cannot be read.
    """
    if not data:
        raise _fault("empty")
    if len(data) > MAX_FILE_BYTES:
        raise _fault("large", n=len(data), most=MAX_FILE_BYTES)
    ending, form_of_file = name.rpartition(".")[2].lower(), form(data)
    if not any(ending in endings for endings in FORMATS.values()):
        endings = ", ".join(f".{each[0]}" for each in FORMATS.values())
        raise _fault("ending", name=shorten(clean(name)), endings=endings)
    if ending in ("npz", "npy") and form_of_file == "csv" and not data[:LOOKED_AT].isascii():
        raise _fault("unknown", name=shorten(clean(name)))
    if ending not in FORMATS[form_of_file]:
        raise _fault("content", name=shorten(clean(name)), what=CALLED[form_of_file])
    if form_of_file == "npz":
        return parse_text.sort_parts(npy.npz(data, BUDGET))
    if form_of_file == "npy":
        return parse_text.sort_parts({"": npy.npy(data)})
    return parse_text.from_text(decoded(data))


def form(data: bytes) -> str:
    """Return the format of a file, by what is in it."""
    if data.startswith(npy.ZIP):
        return "npz"
    if data.startswith(npy.MAGIC):
        return "npy"
    start = data.decode("utf-16", "replace") if data.startswith(UTF_16) else data.decode("utf-8-sig", "replace")
    return "json" if start.lstrip()[:1] in ("{", "[") else "csv"


UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""The marks at the start of a text in UTF-16, as spreadsheets save "Unicode text"."""


def decoded(data: bytes) -> str:
    """Return the text of a file: in UTF-8, in UTF-16 if it is marked so, or else as spreadsheets save what they call
    CSV: in GB 18030 where that makes common Chinese characters of it, or in Windows-1252.

    Raises ConfigError with the first byte that no text has.
    """
    try:
        if data.startswith(UTF_16):
            return data.decode("utf-16")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if data.startswith(UTF_16) or _NO_TEXT.search(data):
            raise _fault("encoding", at=ordinal(error.start)) from None
    try:
        return data.decode("gb18030" if _is_chinese(data) else "cp1252")
    except UnicodeDecodeError as error:
        raise _fault("encoding", at=ordinal(error.start)) from None


def _is_chinese(data: bytes) -> bool:
    """Return whether most of what is not ASCII are common Chinese characters in GB 18030.

    Their first bytes are capitals and signs in Windows-1252, where two of them seldom stand side by side.
    """
    try:
        other = [each for each in data.decode("gb18030") if not each.isascii()]
    except UnicodeDecodeError:
        return False
    codes = [each.encode("gb18030") for each in other]
    common = sum(0xB0 <= code[0] <= 0xD7 and code[1] >= 0xA1 for code in codes)
    return common > 1 and 2 * common > len(other)


_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")


def _fault(which: str, **facts: object) -> ConfigError:
    return ConfigError(FAULTS[which].format(**facts))
