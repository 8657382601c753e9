"""Products, sums, exponentials whose bits are the same on every processor and with every matrix library.

Before it is multiplied or added up, an array is rounded to whole numbers of at most BITS bits times one power of two.
Every product of two such numbers is then a whole number below 2**40, and a sum of up to 2**13 of them stays below
2**53, where float64 holds every whole number: nothing is rounded on the way, so neither the order of a sum nor fused
multiplication nor the number of threads can make a difference. What remains (+ - * / and square roots, a number at a
time) is exact by IEEE 754, and the exponential is a polynomial of its own, as libraries differ in its last bit.
"""

from __future__ import annotations

import math

import numpy as np

from attnviz.arrays import Array

Axes = tuple[str, ...]

BITS = 20
MOST_TERMS = 2**13
"""The most products in one sum: 2**13 products of 2 * BITS bits make 53 bits."""

LEAST_EXPONENT = -400
"""Arrays of numbers below 2**-400 count as zeros: products of smaller ones would leave the range of normal numbers."""

GRID = 2.0**32


def rounded(x: Array) -> Array:
    """Return x rounded to whole numbers of at most BITS bits times the power of two that its largest number needs.

    An array that holds an infinity or NaN comes back as it is.

    >>> rounded(np.array([1.0, 2.0**-19, 2.0**-22])).tolist() == [1.0, 2.0**-19, 0.0]
    True
    """
    largest = float(np.abs(x).max(initial=0.0))
    if not math.isfinite(largest):
        return x
    exponent = math.frexp(largest)[1]
    if exponent < LEAST_EXPONENT:
        return np.zeros_like(x)
    # Numbers near 1.5 * 2**(52 + e) lie 2**e apart, so adding that rounds to multiples of 2**e, and taking it away
    # again is exact.
    shift = math.ldexp(1.5, 52 + exponent - BITS)
    return (x + shift) - shift


def snapped(x: Array) -> Array:
    """Return x rounded to multiples of 2**-32: sines, cosines and powers may differ in their last bit."""
    return np.round(np.asarray(x, dtype=float) * GRID) / GRID


def product(A: Array, B: Array) -> Array:
    """Return the matrix product of A and B, each rounded first.

    Of more than MOST_TERMS products the parts are exact, and added up in the order in which they stand.
    """
    A, B = rounded(A), rounded(B)
    parts = range(0, A.shape[-1], MOST_TERMS)
    if len(parts) < 2:
        return np.matmul(A, B)
    return sum(np.matmul(A[..., at : at + MOST_TERMS], B[..., at : at + MOST_TERMS, :]) for at in parts)


def contracted(A: Array, B: Array, a: Axes, b: Axes, out: Axes) -> Array:
    """Return the sum of products over the axes, by name, that A and B have and the result has not; each rounded first.

    >>> contracted(np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]]), ("i", "j"), ("k", "j"), ("k", "i")).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    sizes = dict(zip(a, A.shape)) | dict(zip(b, B.shape))
    both = [axis for axis in a if axis in b]
    stack, inner = [axis for axis in both if axis in out], [axis for axis in both if axis not in out]
    left, right = [axis for axis in a if axis not in b], [axis for axis in b if axis not in a]
    C = product(_matrices(A, a, stack, left, inner), _matrices(B, b, stack, inner, right))
    order = [*stack, *left, *right]
    return C.reshape([sizes[axis] for axis in order]).transpose([order.index(axis) for axis in out])


def _matrices(X: Array, axes: Axes, stack: list[str], rows: list[str], columns: list[str]) -> Array:
    """Return X as matrices, each of all rows and columns."""
    X = X.transpose([axes.index(axis) for axis in (*stack, *rows, *columns)])
    n = len(stack)
    return X.reshape(*X.shape[:n], math.prod(X.shape[n : n + len(rows)]), -1)


def total(x: Array, axis: int | tuple[int, ...], *, keepdims: bool = False) -> Array:
    """Return the sum of x, rounded first, along an axis."""
    return np.asarray(np.add.reduce(rounded(x), axis=axis, keepdims=keepdims))  # type: ignore[call-overload]


LOG2_E = 1.44269504088896338700
LN2_HIGH, LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
"""ln 2 in two parts, the first with so few bits that whole multiples of it are exact."""

TERMS = 13
REACH = 600.0


def exp(x: Array) -> Array:
    """Return e^x for |x| up to REACH; further out as if x were there.

    x = k ln 2 + r with |r| <= ln 2 / 2, and the series of e^r by Horner's rule.

    >>> bool(np.allclose(exp(np.array([0.0, -1.0, 2.5])), np.exp([0.0, -1.0, 2.5]), rtol=1e-14))
    True
    """
    x = np.minimum(np.maximum(x, -REACH), REACH)
    k = np.floor(x * LOG2_E + 0.5)
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    p = np.ones_like(r)
    for i in range(TERMS, 0, -1):
        p *= r
        p *= 1.0 / i
        p += 1.0
    return np.ldexp(p, k.astype(np.int32))


def tanh(x: Array) -> Array:
    """Return the hyperbolic tangent.

    >>> bool(np.allclose(tanh(np.array([0.0, -1.0, 2.5])), np.tanh([0.0, -1.0, 2.5]), rtol=1e-14))
    True
    """
    small = exp(-2.0 * np.abs(x))
    return np.copysign((1.0 - small) / (1.0 + small), x)
