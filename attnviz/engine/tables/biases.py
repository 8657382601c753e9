"""Numbers that are added to the scores before the softmax, by distance alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.numerics.noise import Address, normal
from attnviz.engine.rows.pair_row import PairRow
from attnviz.formula.evaluation.functions import bias_table
from attnviz.formula.reader import parse
from attnviz.settings.rows import table


def alibi_slopes(h: int) -> Array:
    r"""Return the slope of each of h heads. Shape (h,).

    $m_k = 2^{-8k/h}, \; k = 1 \dots h$ for h a power of two. For any other h: the slopes of the power of two below it,
    then every other slope, from the first, of the power of two above it, as many as are missing.

    Raises  ValueError if h < 1.
    Source  Press et al. 2021, arXiv:2108.12409, section 3, and the code published with it for the other h.

    >>> alibi_slopes(4)
    array([0.25      , 0.0625    , 0.015625  , 0.00390625])
    >>> alibi_slopes(3)
    array([0.0625    , 0.00390625, 0.25      ])
    """
    if not isinstance(h, (int, np.integer)) or h < 1:
        raise ValueError(f"h is {h}; give 1 head or more")
    below = 2 ** (int(h).bit_length() - 1)
    slopes = 2.0 ** (-8.0 * np.arange(1, below + 1) / below)
    between = 2.0 ** (-8.0 * np.arange(1, 2 * below + 1, 2) / (2 * below))
    return np.concatenate([slopes, between[: h - below]])


def t5_buckets(rel: Array, *, bidirectional: bool, buckets: int, max_distance: int) -> Array:
    r"""Return the bucket of each relative position rel = key - query. Integers in 0..buckets-1, shape of rel.

    Half the buckets hold one distance each, the other half ever wider ranges (logarithmic up to max_distance, all that
    is further shares the last). Bidirectional: the first half of all buckets is for keys before the query, the second
    for keys after it; otherwise keys after the query count as distance 0.

    Raises  ValueError unless buckets is even and >= 4 (bidirectional) or >= 2, and max_distance exceeds the exact half.
    Source  Raffel et al. 2019, arXiv:1910.10683, section 2.1, and the code published with it.

    >>> t5_buckets(np.array([-20, -3, 0, 3, 20]), bidirectional=True, buckets=8, max_distance=16)
    array([3, 2, 0, 6, 7])
    """
    least = 4 if bidirectional else 2
    if buckets < least or (bidirectional and buckets % 2):
        raise ValueError(f"buckets is {buckets}; give {'an even number, ' if bidirectional else ''}{least} or more")
    rel = np.asarray(rel)
    each = buckets // 2 if bidirectional else buckets
    exact = each // 2
    if max_distance <= exact:
        raise ValueError(
            f"max_distance is {max_distance}; {exact} distances have their own bucket, give more than {exact}"
        )
    distance = abs(rel) if bidirectional else np.maximum(-rel, 0)
    # Bucket exact + k starts at the least whole distance with distance / exact >= (max_distance / exact)^(k / rest).
    # Whole numbers decide it, for a floating logarithm can fall on the wrong side of a boundary.
    rest = each - exact
    starts = np.array(bucket_starts(exact, rest, max_distance), dtype=int)
    wide = exact + np.searchsorted(starts, distance, side="right")
    bucket = np.where(distance < exact, distance, wide)
    return bucket + each * (rel > 0) if bidirectional else bucket


def bucket_starts(exact: int, rest: int, max_distance: int) -> list[int]:
    """Return the distance at which each bucket begins after those that hold one distance and the first wide one."""
    starts, n = [], exact
    for k in range(1, rest):
        while n**rest < max_distance**k * exact ** (rest - k):
            n += 1
        starts.append(n)
    return starts


def _distance(n_query: int, n_key: int) -> Array:
    return np.abs(np.arange(n_key)[None, :] - np.arange(n_query)[:, None])


def none(n_heads: int, n_query: int, n_key: int) -> Array | None:
    """Return no bias."""
    return None


def alibi(n_heads: int, n_query: int, n_key: int) -> Array:
    """Return minus the distance, times the slope of the head. Shape (heads, queries, keys)."""
    return -alibi_slopes(n_heads)[:, None, None] * _distance(n_query, n_key)


def t5(
    n_heads: int,
    n_query: int,
    n_key: int,
    *,
    seed: int,
    t5_n_buckets: int,
    t5_max_distance: int,
    t5_bidirectional: bool,
) -> Array:
    """Return a number for each bucket of distances and each head, random as before training. (heads, queries, keys)"""
    rel = np.arange(n_key)[None, :] - np.arange(n_query)[:, None]
    bucket = t5_buckets(rel, bidirectional=t5_bidirectional, buckets=t5_n_buckets, max_distance=t5_max_distance)
    return normal(Address(seed, "t5_bias"), (n_heads, t5_n_buckets))[:, bucket]


def linear(n_heads: int, n_query: int, n_key: int, *, bias_slope: float) -> Array:
    """Return minus the distance, times one slope for all heads. Shape (1, queries, keys)."""
    return -bias_slope * _distance(n_query, n_key)[None].astype(float)


def alibi_script(inputs: Any) -> list[str]:
    """Return the slopes; where the heads are no power of two, some of those of the next one stand in."""
    np, n_heads = inputs.words.np, inputs.config.n_heads
    below = 1 << (n_heads.bit_length() - 1)
    if below == n_heads:
        return [f"slopes = 2.0 ** (-8 * {np}.arange(1, n_heads + 1) / n_heads)"]
    return [
        f"slopes = 2.0 ** (-8 * {np}.arange(1, {below + 1}) / {below})  # those of {below} heads",
        f"between = 2.0 ** (-8 * {np}.arange(1, {2 * below + 1}, 2) / {2 * below})  # every other one of {2 * below}",
        f"slopes = {inputs.words.join}([slopes, between[: n_heads - {below}]])",
    ]


def t5_script(inputs: Any) -> list[str]:
    """Return the distances at which the buckets begin, and the bucket of each pair."""
    config, both = inputs.config, inputs.config.t5_bidirectional
    each, last = config.t5_n_buckets // (2 if both else 1), config.t5_max_distance
    exact, rest = each // 2, each - each // 2
    starts = inputs.listed([str(start) for start in bucket_starts(exact, rest, last)])
    lines = [
        f"exact = {exact}  # so many distances have a bucket of their own",
        f"starts = {starts}  # the other buckets begin at {exact} * ({last} / {exact})^(k / {rest})",
        f"steps = {'abs(i - j)' if both else '(i - j).clip(min=0)  # keys after the query count as distance 0'}",
        "wide = exact + sum(steps >= start for start in starts)  # and ever wider ranges",
        f"bucket = {inputs.words.np}.where(steps < exact, steps, wide)",
    ]
    later = "bucket = bucket + t5_n_buckets // 2 * (j > i)  # keys after the query have buckets of their own"
    return [*lines, *([later] if both else [])]


FORMULA = "-log(1 + abs(i - j))"
"""The formula in the field before anything is typed."""


def formula(n_heads: int, n_query: int, n_key: int, *, bias_formula: str = FORMULA) -> Array:
    """Evaluate the typed line for each head, query and key."""
    return bias_table(parse(bias_formula, "bias"), n_heads, n_query, n_key)


BIASES = table(
    PairRow(
        "none",
        "None",
        none,
        r"B = 0",
        "Nothing is added to the scores.",
        "Vaswani et al. 2017, arXiv:1706.03762, section 3.2.1",
    ),
    PairRow(
        "alibi",
        "ALiBi",
        alibi,
        r"B_{hij} = -m_h\, |i - j|",
        "Every step of distance lowers the score a little; each head has its own slope. With a causal mask this is "
        "ALiBi as in the paper.",
        "Press et al. 2021, arXiv:2108.12409, section 3",
        script=("-slopes[:, None, None] * abs(i - j)",),
        script_before=alibi_script,
    ),
    PairRow(
        "t5",
        "T5 buckets",
        t5,
        r"B_{hij} = b_{h,\,\mathrm{bucket}(j - i)}",
        "A learned number for each range of distances; here the numbers are random, as before training.",
        "Raffel et al. 2019, arXiv:1910.10683, section 2.1",
        uses=("seed", "t5_n_buckets", "t5_max_distance", "t5_bidirectional"),
        script=('normal("t5_bias", (n_heads, t5_n_buckets))[:, bucket]',),
        script_before=t5_script,
    ),
    PairRow(
        "linear",
        "Linear decay",
        linear,
        r"B_{ij} = -m\, |i - j|",
        "Every step of distance lowers the score by the same amount in every head.",
        "Press et al. 2021, arXiv:2108.12409, section 3 (one slope for all heads)",
        uses=("bias_slope",),
        line="-bias_slope * abs(i - j)",
        script=("-bias_slope * abs(i - j) * {np}.ones((n_heads, 1, 1))",),
    ),
    PairRow(
        "formula",
        "Your own formula",
        formula,
        r"B_{hij} = f(h, i, j)",
        "A bias that you type yourself, from the positions i and j, the head h and learned numbers.",
        "-",
        uses=("bias_formula",),
    ),
)
