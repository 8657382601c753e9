"""Measurements for the experiments: the spread of dot products, and heads that share keys and values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from attnviz.analysis import statistics
from attnviz.arrays import Array
from attnviz.engine.attention import Attention, attend
from attnviz.engine.numerics import noise
from attnviz.engine.numerics.noise import Address
from attnviz.engine.records.config import Config
from attnviz.engine.records.head_settings import divisors
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import normaliser_in
from attnviz.engine.run import run
from attnviz.settings.rows import Choice, table

WIDTHS = (1, 2, 4, 8, 16, 32, 64)
"""The d_k at which the spread is measured."""

DIVISORS = table(
    Choice("root", "√d_k", math.sqrt, r"\sqrt{d_k}", "Keeps the spread.", "Vaswani et al. 2017, section 3.2.1"),
    Choice("width", "d_k", float, r"d_k", "Too much: the spread shrinks as d_k grows.", "-"),
    Choice("one", "1", lambda d_k: 1.0, r"1", "Nothing: the spread grows as d_k grows.", "-"),
)


def unit_vectors(trace: Trace, layer: int, d_k: int) -> tuple[Array, Array]:
    """Return queries (H, n_query, d_k) and keys (Hkv, n_key, d_k) of independent standard normal entries.

    A larger d_k keeps the columns of a smaller one.
    """
    config = trace.config
    shapes = (config.n_heads, len(trace.query_tokens), d_k), (config.kv_heads, len(trace.key_tokens), d_k)
    names = ("queries", "keys")
    Q, K = (noise.normal(Address(config.seed, f"trial/{name}"), shape) for name, shape in zip(names, shapes))
    return Q, K


def setting_vectors(trace: Trace, layer: int, d_k: int) -> tuple[Array, Array]:
    """Return queries (H, n_query, d_k) and keys (Hkv, n_key, d_k) as the setting makes them with this d_k in every
    head.
    """
    steps = run(replace(trace.config, d_k=d_k, score="scaled_dot", scale=None)).layers[layer]
    return steps["queries"].array, steps["keys"].array


VECTORS = table(
    Choice(
        "unit", "Variance 1, as in the paper", unit_vectors, r"q_i, k_i \sim \mathcal{N}(0, 1)", "Independent.", "-"
    ),
    Choice("setting", "Of the current setting", setting_vectors, r"X W_Q,\; X' W_K", "Tokens times projections.", "-"),
)
"""The sources of queries and keys: `fn(trace, layer, d_k)`."""


@dataclass(frozen=True)
class Spread:
    """Statistics of the dot products of one width.

    entries  standard deviation of the entries of the queries and of the keys
    scores   standard deviation of the allowed scores, by divisor
    largest  largest weight of a row, the mean over heads and rows that may attend to something, by divisor
    equal    what `largest` would be if every row shared itself out evenly
    weights  (H, n_query, n_key), by divisor
    masked   (H, n_query, n_key), True where a query may not attend
    """

    d_k: int
    entries: tuple[float, float]
    scores: dict[str, float]
    largest: dict[str, float]
    equal: float
    weights: dict[str, Array]
    masked: Array


def spread(trace: Trace, layer: int, d_k: int, vectors: str = "unit") -> Spread:
    """Measure the dot products of one width under each divisor, with the mask, bias, cap, normaliser and T of the run.

    The normaliser runs over the keys, whatever the setting says.

    >>> found = spread(run(Config(sentence="a b c", n_heads=2)), 0, 1)
    >>> found.scores["root"] == found.scores["one"]
    True
    """
    Q, K = VECTORS[vectors].fn(trace, layer, d_k)
    each = {name: _attended(trace, layer, Q, K, 1.0 / row.fn(d_k)) for name, row in DIVISORS.items()}
    may = ~np.isneginf(each["one"].masked)
    n_open = may.sum(axis=-1)
    asks = n_open > 0
    return Spread(
        d_k,
        (float(Q.std()), float(K.std())),
        {name: _deviation(scores.scaled[may]) for name, scores in each.items()},
        {name: _mean(statistics.largest(scores.weights)[asks]) for name, scores in each.items()},
        _mean(1.0 / n_open[asks]),
        {name: scores.weights for name, scores in each.items()},
        ~may,
    )


def _attended(trace: Trace, layer: int, Q: Array, K: Array, scale: float) -> Attention:
    """Return the weights of these queries and keys; the values do not matter, so there are none but zeros."""
    config, steps = trace.config, trace.layers[layer]
    return attend(
        Q,
        K,
        np.zeros((len(K), K.shape[-2], 1)),
        score="dot",
        scale=scale,
        allowed=steps["allowed"].array.astype(bool),
        bias=steps["bias"].array if "bias" in steps else None,
        softcap=config.softcap,
        normaliser=normaliser_in(config, steps),
        temperature=config.temperature,
    )


def _deviation(x: Array) -> float:
    return float(x.std()) if x.size else math.nan


def _mean(x: Array) -> float:
    return float(x.mean()) if x.size else math.nan


def spread_by_width(
    trace: Trace, layer: int, vectors: str = "unit", widths: Sequence[int] = WIDTHS
) -> tuple[Spread, ...]:
    """Return the spread at each of several d_k, with the same seed."""
    return tuple(spread(trace, layer, d_k, vectors) for d_k in widths)


def spreads_of(
    config: Config, layer: int, vectors: str, widths: Sequence[int], known: Trace | None = None
) -> tuple[Spread, ...]:
    """Return what `spread_by_width` does of a setting; `known` is its run, if that is there."""
    return spread_by_width(known or run(config), layer, vectors, widths)


def groupings(n_heads: int) -> tuple[int, ...]:
    """Return numbers of key/value heads between one for all and one for each.

    >>> groupings(12), groupings(3)
    ((2, 3, 4, 6), ())
    """
    return divisors({"n_heads": n_heads})[1:-1]


def cache_size(config: Config) -> int:
    """Return numbers that are kept for each token and layer while a text is generated: all keys and values.

    2 * n_kv_heads * d_head, where d_k = d_v = d_head.

    Source  Shazeer 2019, arXiv:1911.02150, abstract (one for all); Ainslie et al. 2023, arXiv:2305.13245 (groups).

    >>> cache_size(Config(n_heads=4, d_k=4, d_v=4)), cache_size(Config(n_heads=4, n_kv_heads=1, d_k=4, d_v=3))
    (32, 7)
    """
    return sum(config.key_widths()) + sum(config.value_widths())


def shared_weight(A: Array, group: int) -> float:
    r"""$\sum_j \min(a^g_{ij}, a^h_{ij})$, the weight that two heads g and h of one group have in common; the mean.

    Over all rows and all pairs of heads in groups of `group`; A is (heads, queries, keys), each row taken over its sum.
    1 if they are equal, 0 if they never look at the same key, NaN without pairs.

    >>> shared_weight(np.array([[[1.0, 0.0]], [[0.25, 0.75]]]), 2)
    0.25
    """
    P = statistics.shares(A)
    pairs = [(g, h) for g, h in combinations(range(len(P)), 2) if g // group == h // group]
    common = np.array([np.minimum(P[g], P[h]).sum(axis=-1) for g, h in pairs])
    defined = common[~np.isnan(common)]
    return _mean(defined)
