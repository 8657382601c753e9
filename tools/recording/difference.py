"""The difference of two recordings, briefly: of each kind of text or step, how many settings differ and how."""

from __future__ import annotations

import difflib
import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

RAISED = "raised.txt"
"""The entry that stands where a run or a part of it raised, with the message."""
LONG = 160
"""The characters of a line that are shown."""


@dataclass
class Differing:
    """The differences of one kind: how many entries of how many settings, the first few, and how far numbers are apart.

    at      where the kind first stands in a recording, by which kinds are sorted: what differs first comes first
    apart   the largest absolute difference;  `relative` the largest relative to the largest number of its array
    """

    at: int
    settings: dict[str, int] = field(default_factory=dict)
    shown: list[str] = field(default_factory=list)
    apart: float = 0.0
    relative: float = 0.0
    bits: int = 0

    def add(self, setting: str, text: str, few: int) -> None:
        """Count an entry, and keep its text if it is one of the first few settings."""
        if setting not in self.settings and len(self.settings) < few:
            self.shown.append(text)
        self.settings[setting] = self.settings.get(setting, 0) + 1


def compared(
    one: Path, other: Path, *, few: int = 3, close: float = 0.0, most: int = 40, only: tuple[str, ...] = ()
) -> Iterator[str]:
    """Yield lines on what differs between two recordings, and nothing where they are equal.

    few    of how many settings a difference is shown
    close  numbers that are no further apart, relative to the largest of their array, are not told
    most   how many kinds of a part are shown, of the others the names
    only   the parts that are compared; by default all that either has
    """
    parts = sorted({path.name for folder in (one, other) for path in folder.iterdir() if path.is_dir()})
    for part in (part for part in parts if not only or part in only):
        names = [{path.stem for path in (folder / part).glob("*.zip")} for folder in (one, other)]
        for folder, missing in ((one, names[1] - names[0]), (other, names[0] - names[1])):
            if missing:
                yield f"{part}: {folder} lacks {len(missing)} settings: {', '.join(sorted(missing)[:8])}"
        both = sorted(names[0] & names[1])
        yield from _of_part(part, [(each, one / part, other / part) for each in both], few, close, most)


def _of_part(part: str, settings: list[tuple[str, Path, Path]], few: int, close: float, most: int) -> Iterator[str]:
    kinds: dict[str, Differing] = {}
    for name, one, other in settings:
        files = [(folder / f"{name}.zip").read_bytes() for folder in (one, other)]
        if files[0] != files[1]:
            _compare(name, _entries(files[0]), _entries(files[1]), kinds, few, close)
    differing = sorted(((kind, found) for kind, found in kinds.items() if found.settings), key=lambda each: each[1].at)
    for kind, found in differing[:most]:
        entries = sum(found.settings.values())
        yield f"\n{part}: {kind}: {len(found.settings)} of {len(settings)} settings, {entries} differences"
        if found.apart or found.bits:
            yield f"  largest {found.apart:.3g}, relative {found.relative:.3g}; {found.bits} of equal value"
        yield from found.shown
    if differing[most:]:
        yield f"\n{part}: and {', '.join(kind for kind, _ in differing[most:])}"


def _compare(
    setting: str, one: dict[str, bytes], other: dict[str, bytes], kinds: dict[str, Differing], few: int, close: float
) -> None:
    """Add what differs in one setting; of a run that one of the two raises at, no more than what is raised."""
    if one.get(RAISED) != other.get(RAISED):
        texts = [entries.get(RAISED, b"nothing is raised").decode() for entries in (one, other)]
        kinds.setdefault(RAISED, Differing(-2)).add(setting, f"  {setting}:\n{_of_texts(*texts)}", few)
        return
    for which, missing in (("first", one.keys() - other.keys()), ("second", other.keys() - one.keys())):
        if missing:
            there = [name for name in (*one, *other) if name in missing]
            text = f"  {setting}: {len(there)} only in the {which}: {', '.join(there[:8])}"
            kinds.setdefault("names", Differing(-1)).add(setting, text, few)
    for at, name in enumerate(name for name in one if name in other):
        if one[name] == other[name]:
            continue
        found = kinds.setdefault(kind_of(name), Differing(at))
        found.at = min(found.at, at)
        if name.endswith(".npy"):
            text = _of_arrays(_array(one[name]), _array(other[name]), found, close)
            if text:
                found.add(setting, f"  {setting}, {name}: {text}", few)
        elif not are_close(one[name].decode(), other[name].decode(), close):
            found.add(setting, f"  {setting}, {name}:\n{_of_texts(one[name].decode(), other[name].decode())}", few)


_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d*)?(?:e[-+]?\d+)?")


def are_close(one: str, other: str, close: float) -> bool:
    """Return whether two texts differ in nothing but numbers, and these by no more than that relative to the larger.

    >>> are_close("x = 0.30000000000000004", "x = 0.3", 1e-12), are_close("x = 0.3", "y = 0.3", 1e-12)
    (True, False)
    """
    if not close or _NUMBER.sub("", one) != _NUMBER.sub("", other):
        return False
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return all(abs(float(a) - float(b)) <= close * max(float(a), float(b)) for a, b in pairs)


def kind_of(name: str) -> str:
    """Return the name of an entry without its layer and its cell.

    >>> kind_of("layer 1/0, 2, 3/score.txt"), kind_of("around/embedded.npy")
    ('score.txt', 'embedded.npy')
    """
    return re.sub(r"([Ll]ayer|[Hh]ead) ?\d+", r"\1", name.rpartition("/")[2])


def _entries(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def _array(data: bytes) -> np.ndarray:
    return np.load(io.BytesIO(data))


def _of_arrays(one: np.ndarray, other: np.ndarray, found: Differing, close: float) -> str:
    """Return what differs between two arrays; nothing for what is close."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return f"{one.dtype} {one.shape} and {other.dtype} {other.shape}"
    if one.dtype.kind not in "fiub":
        return _of_texts(str(one), str(other))
    left, right = one.astype(float), other.astype(float)
    finite = np.isfinite(left) & np.isfinite(right)
    same = finite | (left == right) | (np.isnan(left) & np.isnan(right))
    off = np.where(finite, abs(np.where(finite, left, 0.0) - np.where(finite, right, 0.0)), np.where(same, 0.0, np.inf))
    apart = float(off.max(initial=0.0))
    size = float(abs(left[finite]).max(initial=0.0))
    relative = apart / size if size else apart
    if relative <= close and close:
        return ""
    found.apart, found.relative = max(found.apart, apart), max(found.relative, relative)
    if not apart:
        found.bits += 1
        return "equal values, other bits (the sign of a zero, or NaN)"
    at = tuple(int(i) for i in np.unravel_index(int(off.argmax()), off.shape))
    return f"{int((off > 0).sum())} of {off.size}, most at {at}: {one[at]} and {other[at]}, relative {relative:.3g}"


def _of_texts(one: str, other: str, most: int = 14) -> str:
    """Return the first lines of a unified diff; a file that is one long line is broken where its parts end."""
    lines = list(difflib.unified_diff(_broken(one), _broken(other), "first", "second", n=1, lineterm=""))[2:]
    more = [f"... {len(lines) - most} more"] if len(lines) > most else []
    return "\n".join(f"    {_shortened(line)}" for line in [*lines[:most], *more])


def _broken(text: str) -> list[str]:
    found: list[str] = []
    for line in text.splitlines():
        found += re.sub(r"(?<=>)(?=<)|(?<=[,;])(?=[\"{\[ ])", "\n", line).split("\n") if len(line) > LONG else [line]
    return found


def _shortened(line: str) -> str:
    return line if len(line) <= 2 * LONG else f"{line[:LONG]} ... {line[-LONG:]}"
