"""An image resized as Pillow does it, which is what the models were trained with.

Each pixel of the result is a weighted mean of pixels around it; the filter is widened where the image shrinks. Images
of whole numbers are rounded after each of the two passes, with weights of 22 binary digits. The first pass goes along
rows, but along columns where the height loses more than twice as many pixels as the width: so it is from Pillow 13 on;
before, rows were always first, and there some numbers come out different by one when bilinear.

Source: Pillow, https://pillow.readthedocs.io/en/stable/handbook/concepts.html#filters; Keys 1981, "Cubic convolution
interpolation for digital image processing", with a = -1/2.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnviz.arrays import Array

DIGITS = 22
"""Binary digits of a weight behind the point."""


def _triangle(x: Array) -> Array:
    return np.maximum(1.0 - np.abs(x), 0.0)


def _cubic(x: Array) -> Array:
    x, a = np.abs(x), -0.5
    near, far = ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0, (((x - 5.0) * x + 8.0) * x - 4.0) * a
    return np.where(x < 1.0, near, np.where(x < 2.0, far, 0.0))


FILTERS: dict[int, tuple[Callable[[Array], Array], float]] = {2: (_triangle, 1.0), 3: (_cubic, 2.0)}
"""The filters and how far they reach, by the numbers that Pillow gives them: bilinear and bicubic."""


def resized(image: Array, height: int, width: int, resample: int) -> Array:
    """Return an image (rows, columns, colours) at another size: whole numbers 0 to 255 as such, else floats 0 to 1.

    resample  a row of FILTERS
    """
    lost = image.shape[0] - height, image.shape[1] - width
    passes = (_along_columns, height), (_along_rows, width)
    for along, size in passes if lost[0] > max(2 * lost[1], 0) else passes[::-1]:
        image = along(image, size, resample)
    return image if image.dtype == np.uint8 else np.clip(image, 0.0, 1.0)


def _along_columns(image: Array, size: int, resample: int) -> Array:
    return _along_rows(image.transpose(1, 0, 2), size, resample).transpose(1, 0, 2)


def _along_rows(image: Array, size: int, resample: int) -> Array:
    if image.shape[1] == size:
        return image
    W = _weights(image.shape[1], size, resample)
    if image.dtype != np.uint8:
        return _mixed(W, image)
    whole = np.trunc(W * 2.0**DIGITS + np.copysign(0.5, W))
    sums = _mixed(whole, image) + 2.0 ** (DIGITS - 1)  # exact: whole numbers below 2**53
    return np.clip(np.floor(sums / 2.0**DIGITS), 0, 255).astype(np.uint8)


def _mixed(W: Array, image: Array) -> Array:
    """Return each row of an image as weighted sums of its pixels."""
    rows, columns, colours = image.shape
    flat = image.transpose(1, 0, 2).reshape(columns, rows * colours).astype(float)
    return (W @ flat).reshape(-1, rows, colours).transpose(1, 0, 2)


def _weights(before: int, after: int, resample: int) -> Array:
    """Return the weight of each old pixel in each new one, (after, before); rows sum to 1."""
    fn, reach = FILTERS[resample]
    scale = before / after
    wide = max(scale, 1.0)
    middles, support = (np.arange(after) + 0.5) * scale, reach * wide
    first = np.maximum(np.trunc(middles - support + 0.5), 0)
    last = np.minimum(np.trunc(middles + support + 0.5), before)
    x = np.arange(before)
    inside = (x >= first[:, None]) & (x < last[:, None])
    W = np.where(inside, fn((x - middles[:, None] + 0.5) / wide), 0.0)
    return W / W.sum(axis=1, keepdims=True)
