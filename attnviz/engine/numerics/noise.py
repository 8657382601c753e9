"""The one source of randomness: every number is a function of (seed, name, index) and of nothing else.

A generator with a stream re-deals every number when a shape changes. Here a number has an address instead, so a larger
array holds the smaller one in its corner, and nothing that is added moves what was there.

The address is hashed (blake2b over seed and name) and folded with SplitMix64 over each index; both are integer
arithmetic and give the same bits on any machine. Source of the mixing constants: Steele, Lea and Flood 2014, "Fast
splittable pseudorandom number generators", section 4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from attnviz.arrays import Array

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
ENDS = ("/radius", "/angle")
TOGETHER, SMALL = 8, 512  # leading indices that are folded at once, where each has no more numbers than that


@dataclass(frozen=True)
class Address:
    """The address of a random number: a seed, a name, and the leading indices that are already fixed."""

    seed: int
    name: str
    at: tuple[int, ...] = ()


def _mix(z: Array) -> Array:
    """Apply SplitMix64's finaliser: every bit of the result depends on every bit of `z`."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _bits(address: Address, shape: tuple[int, ...]) -> Array:
    """Return 64 random bits for every index of `shape`."""
    if len(address.at) == 1 and are_few(shape):
        block, index = divmod(address.at[0], TOGETHER)
        return _block(address.seed, address.name, block, shape)[index]
    state = _hashed(address.seed, [address.name])
    for index in address.at:
        state = _mix(state + np.uint64((index + 1) * int(GOLDEN) % 2**64))
    return _folded(state, shape).reshape(shape)


@lru_cache(maxsize=32)
def _block(seed: int, name: str, block: int, shape: tuple[int, ...]) -> Array:
    """Return the bits of `TOGETHER` leading indices: of small shapes they cost what those of one do."""
    first = block * TOGETHER
    bits = _folded(_mix(_hashed(seed, [name]) + _steps(first + TOGETHER)[first:]), shape)
    bits.flags.writeable = False
    return bits


def _hashed(seed: int, names: Sequence[str]) -> Array:
    """Return the state that each name starts with."""
    texts = (f"{seed}/{name}".encode("utf-8", "replace") for name in names)
    digests = (blake2b(text, digest_size=8).digest() for text in texts)
    return np.array([int.from_bytes(digest, "little") for digest in digests], np.uint64)


def _folded(state: Array, shape: tuple[int, ...]) -> Array:
    """Fold in the indices of `shape`, which become the last axes."""
    for size in shape:
        state = _mix(state[..., None] + _steps(size))
    return state


@lru_cache(maxsize=64)
def _steps(size: int) -> Array:
    """Return the increment of the state for each index of an axis."""
    steps = np.arange(1, size + 1, dtype=np.uint64) * GOLDEN
    steps.flags.writeable = False
    return steps


def uniform(address: Address, shape: tuple[int, ...]) -> Array:
    """Draw independent numbers, uniform on [0, 1).

    A larger shape keeps the numbers of a smaller one:

    >>> here = Address(7, "example")
    >>> bool((uniform(here, (4, 5))[:2, :3] == uniform(here, (2, 3))).all())
    True
    """
    return _part_of_one(_bits(address, shape))


def uniform_each(seed: int, names: Sequence[str], shape: tuple[int, ...]) -> Array:
    """Return `uniform` at the address of each of some names, stacked: (names, *shape).

    >>> both = uniform_each(7, ("one", "other"), (3,))
    >>> bool((both[1] == uniform(Address(7, "other"), (3,))).all())
    True
    """
    return _part_of_one(_folded(_hashed(seed, names), shape))


def are_few(shape: tuple[int, ...]) -> bool:
    """Return whether a shape has so few numbers that those of several leading indices are drawn at once."""
    return math.prod(shape) <= SMALL


def uniform_stack(address: Address, n: int, shape: tuple[int, ...]) -> Array:
    """Return `uniform` at the first n indices behind an address that has none, stacked: (n, *shape); of `are_few`.

    >>> here = Address(7, "example")
    >>> bool((uniform_stack(here, 12, (2, 3))[9] == uniform(Address(7, "example", (9,)), (2, 3))).all())
    True
    """
    blocks = [_block(address.seed, address.name, block, shape) for block in range(-(-n // TOGETHER))]
    return _part_of_one((blocks[0] if len(blocks) == 1 else np.concatenate(blocks))[:n])


def _part_of_one(bits: Array) -> Array:
    return (bits >> np.uint64(11)) * 2.0**-53


def normal(address: Address, shape: tuple[int, ...]) -> Array:
    """Draw independent standard normal numbers, multiples of 2**-32.

    sqrt(-2 ln u) cos(2 pi v), with u in (0, 1] and v in [0, 1)   (Box and Muller 1958)

    The last bit of log and cos differs between processors; snapping the result to a coarse grid makes the draw the
    same everywhere, and 2**-32 is far below anything that is looked at.
    """
    radius, angle = (Address(address.seed, address.name + end, address.at) for end in ENDS)
    return _box_muller(uniform(radius, shape), uniform(angle, shape))


def normal_each(seed: int, names: Sequence[str], shape: tuple[int, ...]) -> Array:
    """Return `normal` at the address of each of some names, stacked: (names, *shape)."""
    return _box_muller(*(uniform_each(seed, [name + end for name in names], shape) for end in ENDS))


def _box_muller(radius: Array, v: Array) -> Array:
    u = 1.0 - radius
    return np.round(np.sqrt(-2.0 * np.log(u)) * np.cos(2.0 * np.pi * v) * 2.0**32) * 2.0**-32
