"""What a person brings as a file: arrays and tokens out of NPY, NPZ, JSON and CSV.

The content says what a file is, and its name has to agree.
"""

from __future__ import annotations

from attnviz.core.fields import ConfigError, shorten
from attnviz.core.language import Words
from attnviz.views import arrays, pasted
from attnviz.views.address import clean
from attnviz.views.pasted import Brought

LARGEST = 5_000_000
LOOKED_AT = 4096  # bytes in which a file that is no table of numbers shows it
BUDGET = arrays.Budget(n_bytes=16_000_000, n_arrays=512)

FORMATS = {"npz": ("npz",), "npy": ("npy",), "json": ("json",), "csv": ("csv", "tsv", "txt")}
"""What can be read, and the endings that a name of such a file has."""

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
        "empty": "the file is empty; bring one that holds numbers",
        "large": "the file has {n:,} bytes; at most {most:,} are read, so bring a part of it",
        "ending": "{name} has an ending that is not known here; bring a file that ends in {endings}",
        "content": "{name} holds {what}, which its ending does not say; give it the ending that fits",
        "unknown": "{name} holds neither text in UTF-8 nor arrays of NumPy; a pickle is never opened; bring .npz, "
        ".npy, .json or .csv",
        "encoding": "the file is no text in UTF-8 from byte {at:,} on; save it as UTF-8, or as .npy or .npz",
    }
)


def read(name: str, data: bytes) -> Brought:
    """What is in a file of this name.

    Raises ConfigError in one sentence, with the place of the fault, for all that cannot be read.
    """
    if not data:
        raise _fault("empty")
    if len(data) > LARGEST:
        raise _fault("large", n=len(data), most=LARGEST)
    ending, found = name.rpartition(".")[2].lower(), form(data)
    if not any(ending in endings for endings in FORMATS.values()):
        endings = ", ".join(f".{each[0]}" for each in FORMATS.values())
        raise _fault("ending", name=shorten(clean(name)), endings=endings)
    if ending in ("npz", "npy") and found == "csv" and not data[:LOOKED_AT].isascii():
        raise _fault("unknown", name=shorten(clean(name)))
    if ending not in FORMATS[found]:
        raise _fault("content", name=shorten(clean(name)), what=CALLED[found])
    if found == "npz":
        return pasted.sorted_out(arrays.npz(data, BUDGET))
    if found == "npy":
        return pasted.sorted_out({"": arrays.npy(data)})
    return pasted.of_text(decoded(data))


def form(data: bytes) -> str:
    """The format of a file, by what is in it."""
    if data.startswith(arrays.ZIP):
        return "npz"
    if data.startswith(arrays.MAGIC):
        return "npy"
    return "json" if data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[") else "csv"


def decoded(data: bytes) -> str:
    """The text of a file in UTF-8, with or without a mark at its start; raises ConfigError for any other."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _fault("encoding", at=error.start + 1) from None


def _fault(which: str, **facts: object) -> ConfigError:
    return ConfigError(FAULTS[which].format(**facts))
