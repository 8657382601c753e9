"""The one source of randomness: every number is a function of (seed, name, index) and of nothing else.

A generator with a stream re-deals every number when a shape changes. Here a number has an address instead, so a larger
array holds the smaller one in its corner, and nothing that is added moves what was there.

The address is hashed (blake2b over seed and name) and folded with SplitMix64 over each index; both are integer
arithmetic and give the same bits on any machine. Source of the mixing constants: Steele, Lea and Flood 2014, "Fast
splittable pseudorandom number generators", section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from attnviz.arrays import Array

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Address:
    """The address of a random number: a seed, a name, and the leading indices that are already fixed."""

    seed: int
    name: str
    at: tuple[int, ...] = ()


def _mix(z: Array) -> Array:
    """SplitMix64's finaliser: every bit of the result depends on every bit of `z`."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _bits(address: Address, shape: tuple[int, ...]) -> Array:
    """64 random bits for every index of `shape`."""
    digest = blake2b(f"{address.seed}/{address.name}".encode("utf-8", "replace"), digest_size=8).digest()
    state = np.frombuffer(digest, "<u8")
    for index in address.at:
        state = _mix(state + np.uint64((index + 1) * int(GOLDEN) % 2**64))
    for size in shape:
        state = _mix(state[..., None] + _steps(size))
    return state.reshape(shape)


@lru_cache(maxsize=64)
def _steps(size: int) -> Array:
    """Return the increment of the state for each index of an axis."""
    steps = np.arange(1, size + 1, dtype=np.uint64) * GOLDEN
    steps.flags.writeable = False
    return steps


def uniform(address: Address, shape: tuple[int, ...]) -> Array:
    """Independent numbers, uniform on [0, 1).

    A larger shape keeps the numbers of a smaller one:

    >>> here = Address(7, "example")
    >>> bool((uniform(here, (4, 5))[:2, :3] == uniform(here, (2, 3))).all())
    True
    """
    return (_bits(address, shape) >> np.uint64(11)) * 2.0**-53


def normal(address: Address, shape: tuple[int, ...]) -> Array:
    """Independent standard normal numbers, multiples of 2**-32.

    sqrt(-2 ln u) cos(2 pi v), with u in (0, 1] and v in [0, 1)   (Box and Muller 1958)

    The last bit of log and cos differs between processors; snapping the result to a coarse grid makes the draw the
    same everywhere, and 2**-32 is far below anything that is looked at.
    """
    u = 1.0 - uniform(Address(address.seed, address.name + "/radius", address.at), shape)
    v = uniform(Address(address.seed, address.name + "/angle", address.at), shape)
    return np.round(np.sqrt(-2.0 * np.log(u)) * np.cos(2.0 * np.pi * v) * 2.0**32) * 2.0**-32
