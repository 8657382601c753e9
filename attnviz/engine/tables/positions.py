"""Positions of tokens: P, which is added to E, or a rotation of the queries and keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.numerics.noise import Address, normal
from attnviz.settings.rows import Choice, table


def sinusoidal(n: int, d: int, *, base: float = 1e4, layout: str = "interleaved") -> Array:
    r"""Return sines and cosines of the position, at wavelengths from 2 pi up to about base * 2 pi. Shape (n, d).

    $P_{p, 2i} = \sin(p / base^{2i/d}), \quad P_{p, 2i+1} = \cos(p / base^{2i/d})$

    layout  "interleaved" as in the paper, or "concat": all sines, then all cosines. For odd d the last sine has no
            cosine; the exponent keeps the true d.
    Raises  ValueError for another layout, and for fewer than no positions.
    Source  Vaswani et al. 2017, arXiv:1706.03762, section 3.5.

    >>> sinusoidal(2, 3).round(3)
    array([[0.   , 1.   , 0.   ],
           [0.841, 0.54 , 0.002]])
    """
    _known(layout, "interleaved", "concat")
    if n < 0 or d < 0:
        raise ValueError(f"sinusoidal takes a number of positions and a width, not {n} and {d}")
    i = np.arange((d + 1) // 2)
    angle = np.arange(n)[:, None] / base ** (2 * i / max(d, 1))
    sines, cosines = np.sin(angle), np.cos(angle)[:, : d // 2]
    if layout == "concat":
        return np.concatenate([sines, cosines], axis=1)
    P = np.empty((n, d))
    P[:, 0::2], P[:, 1::2] = sines, cosines
    return P


def rope(x: Array, positions: Array, *, base: float = 1e4, layout: str = "interleaved") -> Array:
    r"""Rotate each pair of columns of x by an angle proportional to the position. Shape of x, (..., n, d).

    $(x_{2i}, x_{2i+1}) \mapsto R(p \, base^{-2i/d}) \, (x_{2i}, x_{2i+1})$

    A product of a rotated query and a rotated key then depends on their distance only.

    positions  (n,), any real numbers
    layout     "interleaved" pairs columns 2i and 2i+1, as in the paper; "half" pairs i with i + d/2. For odd d the
               last column is not rotated, and the pairs are made of the d - 1 before it.
    Raises     ValueError for another layout, or if there is not one position a row.
    Source     Su et al. 2021, arXiv:2104.09864, section 3.2.2.

    >>> rope(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([0, 1])).round(3)
    array([[1.   , 0.   ],
           [0.54 , 0.841]])
    """
    _known(layout, "interleaved", "half")
    x, positions = np.asarray(x, dtype=float), np.asarray(positions, dtype=float)
    d = x.shape[-1]
    if positions.shape != x.shape[-2:-1]:
        raise ValueError(f"positions has shape {positions.shape}; x has {x.shape[-2]} rows, give one position a row")
    pairs = d // 2
    first, second = (
        (slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2))
        if layout == "interleaved"
        else (slice(0, pairs), slice(pairs, 2 * pairs))
    )
    angle = positions[:, None] * base ** (-2 * np.arange(pairs) / d)
    sin, cos = np.sin(angle), np.cos(angle)
    y = x.copy()
    y[..., first] = x[..., first] * cos - x[..., second] * sin
    y[..., second] = x[..., first] * sin + x[..., second] * cos
    return y


def _known(layout: str, *names: str) -> None:
    if layout not in names:
        raise ValueError(f"layout is {layout!r}; choose one of: {', '.join(names)}")


def none(n: int, d: int) -> Array:
    """Return zeros: the model does not know the order of the tokens. Shape (n, d)."""
    return np.zeros((n, d))


def random(n: int, d: int, *, seed: int) -> Array:
    """Return a random vector for each position, as a learned position embedding starts out. Shape (n, d)."""
    return normal(Address(seed, "position"), (n, d))


def unrotated(n: int, d: int, *, rope_base: float) -> Array:
    """Return zeros: RoPE encodes the order by rotating queries and keys, not by adding to X. Shape (n, d)."""
    return np.zeros((n, d))


def rotated(x: Array, *, rope_base: float) -> Array:
    """Return queries or keys (..., n, d), row p rotated as `rope` rotates position p."""
    return rope(x, np.arange(x.shape[-2]), base=rope_base)


def rotated_back(x: Array, *, rope_base: float) -> Array:
    """Rotate row p by the opposite angle: a rotation is undone, and slopes go back through it, by its transpose."""
    return rope(x, -np.arange(x.shape[-2]), base=rope_base)


@dataclass(frozen=True)
class PositionalEncoding(Choice):
    """A row of positions: `fn(n, d)` is added to the embeddings; `rotate(x)`, if any, rotates queries and keys."""

    rotate: Callable[..., Array] | None = None


POSITIONS = table(
    PositionalEncoding(
        "none",
        "None",
        none,
        r"P = 0",
        "Attention then sees a bag of tokens: shuffle the words and the rows of the output move along.",
        "Vaswani et al. 2017, arXiv:1706.03762, section 3.5 (why something is needed)",
    ),
    PositionalEncoding(
        "sinusoidal",
        "Sinusoidal",
        sinusoidal,
        r"P_{p,2i} = \sin\frac{p}{10000^{2i/d}},\quad P_{p,2i+1} = \cos\frac{p}{10000^{2i/d}}",
        "Waves of many lengths, added to the embeddings.",
        "Vaswani et al. 2017, arXiv:1706.03762, section 3.5",
    ),
    PositionalEncoding(
        "random",
        "Random vector per position",
        random,
        r"P_{pj} \sim \mathcal{N}(0, 1)",
        "What a learned position embedding is before it has learned anything.",
        "Gehring et al. 2017, arXiv:1705.03122, section 3.1 (position embeddings)",
        uses=("seed",),
    ),
    PositionalEncoding(
        "rope",
        "Rotary (RoPE)",
        unrotated,
        r"q_p \mapsto R_p\, q_p,\quad k_p \mapsto R_p\, k_p",
        "Adds nothing to X; rotates each query and key by an angle that grows with its position.",
        "Su et al. 2021, arXiv:2104.09864, section 3.2",
        uses=("rope_base",),
        rotate=rotated,
        back=rotated_back,
    ),
)
