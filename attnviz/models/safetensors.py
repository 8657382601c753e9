"""Arrays out of .safetensors files, mapped and not read: the numbers stay in the file until they are used.

A file is eight bytes of length, a JSON header that says where each array lies, and raw numbers. Nothing in it is a
program, and all that its header says is held to the size of the file before anything is looked up in it.

The package `safetensors` would be a fifth one to install, and it copies: an array of 61 MB that it hands to NumPy takes
61 MB of memory in every process (0.8.0), where a mapped one takes none and is shared.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.settings.faults import ConfigError, shorten_name
from attnviz.settings.language import Words

KINDS = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",
    "I64": "<i8",
    "I32": "<i4",
    "U8": "|u1",
    "BOOL": "|b1",
}
"""NumPy's types by the names in a header; bfloat16 is the upper half of a float32."""

COMPILED = "_orig_mod."
"""What torch.compile puts before the names of what it wraps: a whole model, or some of its layers."""

FLOATS = ("F64", "F32", "F16", "BF16")
BLOCK = 1 << 24
"""Bytes that are looked at in one go."""

LONGEST_HEADER = 25_000_000
MOST_AXES = 8

FAULTS = Words(
    {
        "none": "{folder} holds no .safetensors file; save the model with model.save_pretrained({folder!r})",
        "pickle": "{folder} holds {file}, which may run any program when it is opened; save the model with "
        "safe_serialization=True",
        "read": "{file} cannot be read: {why}",
        "header": "{file} is not a .safetensors file, or is cut short: its header does not fit; save the model again",
        "array": "{file} says of {name} what cannot be (its place, shape or size); save the model again",
        "type": "{file} holds {name} as {type}, which is not read here; save the model in float32 or bfloat16",
        "finite": "{file} holds {name} with numbers that are infinite or none at all (NaN); it is damaged",
        "twice": "{name} stands in two files of {folder}; remove the one that is too many",
        "missing": "the model has no array {name}; its files do not fit its config.json",
        "shape": "{name} has shape {shape}; this model's config.json makes it {needed}",
    }
)


def unwrapped(name: str) -> str:
    """Return the name of a parameter without what torch.compile and DataParallel put before it.

    >>> unwrapped("module.transformer.h.0._orig_mod.ln_1.weight")
    'transformer.h.0.ln_1.weight'
    """
    return name.replace(COMPILED, "").removeprefix("module.")


class Tensors(Mapping[str, Array]):
    """Every array of the .safetensors files of a folder, read-only."""

    def __init__(self, folder: Path) -> None:
        """Open the files; raise ConfigError if there is none, or one is cut short or says what cannot be."""
        self._found: dict[str, tuple[Array, dict[str, Any]]] = {}
        self._files: dict[str, str] = {}
        files = sorted(folder.glob("*.safetensors"))
        if not files:
            raise _without(folder)
        for path in files:
            numbers, header = _opened(path)
            for written, entry in header.items():
                name = unwrapped(written)
                if name in self._found:
                    raise ConfigError(FAULTS["twice"].format(name=shorten_name(name), folder=folder))
                self._found[name] = numbers, _checked(path, name, entry, len(numbers))
                self._files[name] = path.name
            _check_apart(path, header)

    def check_finite(self) -> None:
        """Look at every number. Raises ConfigError, with its name, for an array that holds infinity or NaN."""
        for name, (numbers, entry) in self._found.items():
            begin, end = entry["data_offsets"] if entry["dtype"] in FLOATS else (0, 0)
            for at in range(begin, end, BLOCK):
                block = numbers[at : min(at + BLOCK, end)].view(KINDS[entry["dtype"]])
                are_finite = (block & 0x7F80) != 0x7F80 if entry["dtype"] == "BF16" else np.isfinite(block)
                if not are_finite.all():
                    raise ConfigError(FAULTS["finite"].format(file=self._files[name], name=shorten_name(name)))

    def file(self, name: str) -> str:
        """Return the name of the file that holds an array."""
        return self._files.get(name, "")

    def __getitem__(self, name: str) -> Array:
        """Return an array as it lies in the file; bfloat16 as float32."""
        if name not in self._found:
            raise ConfigError(FAULTS["missing"].format(name=shorten_name(name)))
        numbers, entry = self._found[name]
        begin, end = entry["data_offsets"]
        array = numbers[begin:end].view(KINDS[entry["dtype"]]).reshape(entry["shape"])
        return (array.astype(np.uint32) << 16).view(np.float32) if entry["dtype"] == "BF16" else array

    def __contains__(self, name: object) -> bool:
        return name in self._found

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def of_floats(tensors: Mapping[str, Array], name: str) -> Array:
    """Return an array that a model computes with. Raises ConfigError for one of whole numbers."""
    array = tensors[name]
    if array.dtype.kind != "f":
        file = tensors.file(name) if isinstance(tensors, Tensors) else "state_dict"
        raise ConfigError(FAULTS["type"].format(file=file, name=shorten_name(name), type=array.dtype))
    return array


def shaped(tensors: Mapping[str, Array], name: str, *shape: int) -> Array:
    """Return an array that has to be of this shape. Raises ConfigError if it is of another."""
    array = of_floats(tensors, name)
    if array.shape != shape:
        raise ConfigError(FAULTS["shape"].format(name=shorten_name(name), shape=array.shape, needed=shape))
    return array


def _without(folder: Path) -> ConfigError:
    pickles = sorted(path.name for ending in ("bin", "pt", "pth", "ckpt") for path in folder.glob(f"*.{ending}"))
    if pickles:
        return ConfigError(FAULTS["pickle"].format(folder=folder, file=pickles[0]))
    return ConfigError(FAULTS["none"].format(folder=str(folder)))


def _opened(path: Path) -> tuple[Array, dict[str, Any]]:
    """Return the bytes behind the header, mapped, and what the header says."""
    try:
        if not path.is_file():  # a pipe would be waited for
            raise _fault("read", path, why="it is no file")
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if size < 8 or length > min(LONGEST_HEADER, size - 8):
                raise _fault("header", path)
            header = json.loads(file.read(length), object_pairs_hook=_once)
        if not isinstance(header, dict):
            raise _fault("header", path)
        header.pop("__metadata__", None)
        if not header or size == 8 + length:
            return np.zeros(0, np.uint8), header
        return np.memmap(path, dtype=np.uint8, mode="r", offset=8 + length), header
    except OSError as error:
        raise _fault("read", path, why=(error.strerror or str(error)).lower()) from None
    except (ValueError, RecursionError) as error:
        raise error if isinstance(error, ConfigError) else _fault("header", path) from None


def _checked(path: Path, name: str, entry: Any, n_bytes: int) -> dict[str, Any]:
    """Check the header's entry for an array. Raises ConfigError if it cannot be."""
    if not isinstance(entry, dict) or not _are_sizes(entry.get("shape"), MOST_AXES):
        raise _fault("array", path, name=shorten_name(name))
    kind = entry.get("dtype")
    if not isinstance(kind, str) or kind not in KINDS:
        raise _fault("type", path, name=shorten_name(name), type=shorten_name(str(kind)))
    offsets = entry.get("data_offsets")
    if not isinstance(offsets, list) or not _are_sizes(offsets, 2) or len(offsets) != 2:
        raise _fault("array", path, name=shorten_name(name))
    begin, end = offsets
    wanted = np.dtype(KINDS[kind]).itemsize * math.prod(entry["shape"])
    if not begin <= end <= n_bytes or end - begin != wanted:
        raise _fault("array", path, name=shorten_name(name))
    return entry


def _check_apart(path: Path, header: dict[str, Any]) -> None:
    """Check that no two arrays share bytes."""
    last = 0
    for (begin, end), name in sorted((entry["data_offsets"], name) for name, entry in header.items()):
        if begin < end and begin < last:
            raise _fault("array", path, name=shorten_name(name))
        last = max(last, end)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return what a JSON object says. Raises ValueError where it says it twice."""
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise ValueError("a name stands twice")
    return entries


def _are_sizes(value: Any, most: int) -> bool:
    return isinstance(value, list) and len(value) <= most and all(type(n) is int and 0 <= n < 2**48 for n in value)


def _fault(which: str, path: Path, **facts: object) -> ConfigError:
    return ConfigError(FAULTS[which].format(file=path.name, **facts))
