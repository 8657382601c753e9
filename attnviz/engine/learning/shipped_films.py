"""Films that come with the package, so that opening a task learns nothing.

A file holds the whole numbers of every frame but the first, which is drawn, and its exponents: 20 bits a number, all
that a product uses. Numbers stand as differences to the frame before, a plane of bytes at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.numerics.exact import BITS

Measures = Mapping[int, tuple[float, float, float]]

FOLDER = Path(__file__).parents[2] / "films"
HASHES = FOLDER / "films.txt"
PLANES = 3
"""Bytes of a difference: two numbers of 20 bits and a sign are 22 bits apart."""


@cache
def hashes() -> Mapping[str, str]:
    """Return the hash of each film that comes with the package, by its task."""
    return dict(line.split() for line in HASHES.read_text(encoding="utf-8").splitlines()) if HASHES.exists() else {}


def digest(frames: Mapping[int, Array]) -> str:
    """Return the sha256 of the parameters of all frames."""
    digest_so_far = sha256()
    for step in sorted(frames):
        digest_so_far.update(step.to_bytes(4, "little") + frames[step].astype("<f8").tobytes())
    return digest_so_far.hexdigest()


def packed(frames: Mapping[int, Array], measures: Measures, sizes: Sequence[int]) -> bytes:
    """Return a film as the bytes of its file.

    frames    the parameters at each step as one vector, rounded
    measures  loss, right and crisp at each step
    sizes     how many numbers each parameter has, in the order in which they stand in the vector
    """
    steps = [step for step in sorted(frames) if step]
    exponents = np.array([[_exponent(part) for part in _parts(frames[step], sizes)] for step in steps], dtype=np.int16)
    whole = np.array([_whole(frames[step], row, sizes) for step, row in zip(steps, exponents)])
    apart = np.diff(whole, axis=0, prepend=0)
    folded = np.where(apart < 0, -2 * apart - 1, 2 * apart).astype("<u4")
    planes = folded.ravel().view(np.uint8).reshape(-1, 4)[:, :PLANES].T
    figures = np.array([measures[step] for step in (0, *steps)])
    file = BytesIO()
    np.savez_compressed(file, steps=np.array(steps), measures=figures, exponents=exponents, planes=planes)
    return file.getvalue()


def read(name: str, start: Array, sizes: Sequence[int]) -> tuple[dict[int, Array], dict[int, tuple[float, ...]]] | None:
    """Return frames and measures of the film of a task; None if there is none, or its numbers have another hash.

    start  the parameters before anything is learned, as one vector
    """
    path = FOLDER / f"{name}.npz"
    if name not in hashes() or not path.exists():
        return None
    with np.load(path) as file:
        steps, figures, exponents, planes = (file[part] for part in ("steps", "measures", "exponents", "planes"))
    frames = {0: start} | dict(zip(steps.tolist(), _vectors(planes, exponents, sizes), strict=True))
    if digest(frames) != hashes()[name]:
        return None
    return frames, dict(zip((0, *steps.tolist()), map(tuple, figures.tolist()), strict=True))


def _vectors(planes: Array, exponents: Array, sizes: Sequence[int]) -> Iterator[Array]:
    folded = sum(plane.astype(np.int64) << 8 * position for position, plane in enumerate(planes))
    apart = np.where(folded & 1, -((folded + 1) >> 1), folded >> 1)
    whole = np.cumsum(apart.reshape(len(exponents), -1), axis=0)
    for row, powers in zip(whole, exponents):
        yield np.ldexp(row.astype(float), np.repeat(powers, sizes).astype(np.int32) - BITS)


def _parts(vector: Array, sizes: Sequence[int]) -> list[Array]:
    return np.split(vector, np.cumsum(sizes)[:-1])


def _exponent(part: Array) -> int:
    return math.frexp(float(np.abs(part).max(initial=0.0)))[1]


def _whole(vector: Array, exponents: Array, sizes: Sequence[int]) -> Array:
    return np.ldexp(vector, BITS - np.repeat(exponents, sizes).astype(np.int32)).astype(np.int64)
