"""A step as a picture of a few hundred pixels: where its numbers are large, small, masked or missing."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.records.trace import Step

MAX_PIXELS = (48, 32)
"""The largest width and height of a thumbnail."""

NO_CELL, MASKED_CELL, NOT_FINITE, LOWEST, HIGHEST = 0, 1, 2, 3, 255
"""The values of a pixel: no cell, a masked cell, a number that is not finite, and the ends of the colour scale."""


def thumbnail(step: Step, low: float, high: float, hidden: Array | None = None) -> Array:
    """Return all heads of a step as one small picture of indices into the colour scale from `low` to `high`.

    Heads are side by side, wrapped into rows, a pixel apart. If the step is too large, a pixel shows a block of cells
    by one of them (see `_pooled`).
    """
    tiles = _tiles(step, _indices(step.array, low, high, hidden))
    rows, columns = (max(tile.shape[axis] for tile in tiles) for axis in (0, 1))
    across, block = _arranged(len(tiles), rows, columns, square=step.axes[-2:] == ("query", "key"))
    rows, columns = math.ceil(rows / block[0]), math.ceil(columns / block[1])
    down = math.ceil(len(tiles) / across)
    picture = np.full((down * (rows + 1) - 1, across * (columns + 1) - 1), NO_CELL, np.uint8)
    for number, tile in enumerate(tiles):
        top, left = number // across * (rows + 1), number % across * (columns + 1)
        small = _pooled(tile, block, signed=low < 0)
        picture[top : top + small.shape[0], left : left + small.shape[1]] = small
    return picture


def _indices(array: Array, low: float, high: float, hidden: Array | None) -> Array:
    finite = np.isfinite(array)
    fraction = (np.where(finite, array, low).astype(float) - low) / (high - low)
    indices = LOWEST + np.rint(np.clip(fraction, 0, 1) * (HIGHEST - LOWEST)).astype(np.uint8)
    indices[~finite] = NOT_FINITE
    if hidden is not None:
        indices[hidden] = MASKED_CELL
    return indices


def _tiles(step: Step, indices: Array) -> list[Array]:
    """Return the picture of each head by itself, without padding."""
    if not step.axes[0].endswith("head"):
        return [np.atleast_2d(indices)]
    pictured = replace(step, array=indices)
    return [np.atleast_2d(pictured.head(h)) for h in range(len(indices))]


@lru_cache(256)
def _arranged(heads: int, rows: int, columns: int, *, square: bool) -> tuple[int, tuple[int, int]]:
    """Return the number of heads side by side, and the number of cells (down, across) in one pixel.

    Prefers the arrangement with the fewest cells per pixel, then the one that can be enlarged most.

    >>> _arranged(4, 7, 7, square=True), _arranged(16, 64, 64, square=True), _arranged(1, 7, 512, square=False)
    ((2, (1, 1)), (5, (10, 10)), (1, (1, 11)))
    """

    def drawn(across: int) -> tuple[int, float, int, tuple[int, int]]:
        down = math.ceil(heads / across)
        wide = math.ceil(columns / ((MAX_PIXELS[0] + 1) // across - 1))
        high = math.ceil(rows / ((MAX_PIXELS[1] + 1) // down - 1))
        if square:
            wide = high = max(wide, high)
        width = across * (math.ceil(columns / wide) + 1) - 1
        height = down * (math.ceil(rows / high) + 1) - 1
        return -wide * high, min(MAX_PIXELS[0] / width, MAX_PIXELS[1] / height), across, (high, wide)

    most = min(heads, MAX_PIXELS[0] // 2)
    least = math.ceil(heads / (MAX_PIXELS[1] // 2))
    return max(drawn(across) for across in range(least, most + 1))[2:]


def _pooled(tile: Array, block: tuple[int, int], *, signed: bool) -> Array:
    """Return a pixel per block: a number that is not finite, if any, else the one furthest from zero, else masked."""
    if block == (1, 1):
        return tile
    (rows, columns), (high, wide) = tile.shape, block
    whole = np.full((math.ceil(rows / high) * high, math.ceil(columns / wide) * wide), NO_CELL, np.uint8)
    whole[:rows, :columns] = tile
    apart = whole.reshape(whole.shape[0] // high, high, -1, wide).swapaxes(1, 2)
    blocks = apart.reshape(*apart.shape[:2], high * wide)
    first = np.arange(HIGHEST + 1)
    if signed:
        first[LOWEST:] = np.abs(first[LOWEST:] - (LOWEST + HIGHEST) // 2) + LOWEST
    first[NOT_FINITE] = HIGHEST + 1
    return np.take_along_axis(blocks, first[blocks].argmax(axis=-1)[..., None], axis=-1)[..., 0]
