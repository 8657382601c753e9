"""Statistics of a matrix of weights, one number a row: the spread, the distance and the target of attention.

Every statistic takes weights A (..., queries, keys) and returns one number for each query, (..., queries). A row that
does not add to one, as under the sigmoid, is first divided by its sum; a row of zeros looks at nothing, so that all but
its sum, its largest weight and its number of keys, which are 0, is not defined: NaN. Neither is a share of a row with a
negative weight, nor what is made of shares.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.arrays import Array
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import translate
from attnviz.settings.rows import Choice, table


def as_weights(A: Array, function: str, axes: int = 1) -> Array:
    """Return weights of so many axes or more. Raises ConfigError, for a function of this name, for what are none."""
    try:
        found = np.asarray(A, dtype=float)
    except (TypeError, ValueError):
        found = np.zeros(())
    if found.ndim >= axes:
        return found
    shape = "(heads, queries, keys)" if axes == 3 else "(..., keys)"
    raise ConfigError(
        translate("{name} takes weights {shape}, not {given}", name=function, shape=shape, given=shorten(A, 60))
    )


def row_sums(A: Array) -> Array:
    r"""$\sum_j a_{ij}$: the sum of the weights of a query. Shape (..., queries).

    >>> row_sums(np.array([[0.25, 0.5], [0.0, 0.0]]))
    array([0.75, 0.  ])
    """
    return A.sum(axis=-1)


def column_sums(A: Array) -> Array:
    r"""$\sum_i a_{ij}$: the sum of the weights that a key receives. Shape (..., keys).

    >>> column_sums(np.array([[1.0, 0.0], [0.5, 0.5]]))
    array([1.5, 0.5])
    """
    return A.sum(axis=-2)


def shares(A: Array) -> Array:
    r"""$a_{ij} / \sum_l a_{il}$: each row over its sum. Shape of A.

    A row of zeros has no shares, and neither has one with a negative weight, whose sum may be nothing but rounding:
    they become NaN.

    >>> shares(np.array([[0.2, 0.6], [0.0, 0.0], [0.5, -0.5]]))
    array([[0.25, 0.75],
           [ nan,  nan],
           [ nan,  nan]])
    """
    with np.errstate(all="ignore"):
        return np.where((A < 0).any(axis=-1, keepdims=True), np.nan, A / A.sum(axis=-1, keepdims=True))


def entropy(A: Array) -> Array:
    r"""$-\sum_j p_{ij} \ln p_{ij}$ in nats, with p the shares of a row and 0 ln 0 = 0. Shape (..., queries).

    From 0, all on one key, to ln n, the same on n keys. NaN for a row of zeros, and for one with a negative weight.

    Source  Shannon 1948, A Mathematical Theory of Communication, section 6.

    >>> entropy(np.array([[1.0, 0.0], [0.5, 0.5]])).round(4)
    array([0.    , 0.6931])
    """
    P = shares(as_weights(A, "entropy"))
    with np.errstate(all="ignore"):
        return -np.where(P == 0, 0.0, P * np.log(np.where(P == 0, 1.0, P))).sum(axis=-1) + 0.0  # no minus before zero


def effective_keys(A: Array) -> Array:
    r"""$e^{H_i}$: over how many keys alike the entropy of the row would be the same. Shape (..., queries).

    A row of zeros has 0 keys.

    Source  Hill 1973, Diversity and Evenness: A Unifying Notation and Its Consequences, the number of order 1.

    >>> effective_keys(np.array([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]))
    array([2., 1., 0.])
    """
    A = as_weights(A, "effective_keys")
    return np.where((A == 0).all(axis=-1), 0.0, np.exp(entropy(A)))


def largest(A: Array) -> Array:
    r"""$\max_j a_{ij}$: the largest weight. Shape (..., queries).

    >>> largest(np.array([[0.2, 0.8], [0.5, 0.5]]))
    array([0.8, 0.5])
    """
    return A.max(axis=-1, initial=-np.inf)


def largest_at(A: Array) -> Array:
    r"""$\arg\max_j a_{ij}$: the first key with the largest weight; -1 for a row of zeros. Shape (..., queries).

    >>> largest_at(np.array([[0.2, 0.8], [0.5, 0.5], [0.0, 0.0]]))
    array([ 1,  0, -1])
    """
    return np.where((A == 0).all(axis=-1), -1, A.argmax(axis=-1))


def mean_distance(A: Array) -> Array:
    r"""$\sum_j p_{ij} \, |i - j|$: how many positions away a query attends, on average. Shape (..., queries).

    Raises  ValueError unless there are as many keys as queries: distance is between positions of one sentence.
    Source  Vig and Belinkov 2019, arXiv:1906.04284, the mean attention distance (there of one side, over a corpus).

    >>> mean_distance(np.array([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0], [0.25, 0.25, 0.5]]))
    array([1.  , 0.  , 0.75])
    """
    i = np.arange(_one_sentence(A))
    return (shares(A) * np.abs(i[:, None] - i)).sum(axis=-1)


def share_on_self(A: Array) -> Array:
    r"""$p_{ii}$: the share that a token gives itself. Shape (..., queries).

    Raises  ValueError unless there are as many keys as queries.

    >>> share_on_self(np.array([[1.0, 0.0], [0.25, 0.75]]))
    array([1.  , 0.75])
    """
    _one_sentence(A)
    return np.diagonal(shares(A), axis1=-2, axis2=-1).copy()


def share_on_previous(A: Array) -> Array:
    r"""$p_{i, i-1}$: the share on the previous token; the first token has none: NaN. Shape (..., queries).

    Raises  ValueError unless there are as many keys as queries.
    Source  Clark et al. 2019, arXiv:1906.04341, section 3.1 (heads that attend to the previous token).

    >>> share_on_previous(np.array([[1.0, 0.0], [0.25, 0.75]]))
    array([ nan, 0.25])
    """
    _one_sentence(A)
    before = np.full(A.shape[:-1], np.nan)
    before[..., 1:] = np.diagonal(shares(A), offset=-1, axis1=-2, axis2=-1)
    return before


def share_on_first(A: Array) -> Array:
    r"""$p_{i1}$: the share on the first token. Shape (..., queries).

    Raises  ValueError unless there are as many keys as queries.
    Source  Xiao et al. 2023, arXiv:2309.17453, section 3.1 (attention sinks).

    >>> share_on_first(np.array([[1.0, 0.0], [0.25, 0.75]]))
    array([1.  , 0.25])
    """
    _one_sentence(A)
    return shares(A)[..., 0]


def _one_sentence(A: Array) -> int:
    """Return the number of tokens, if queries and keys are the same ones."""
    n_query, n_key = A.shape[-2:]
    if n_query != n_key:
        raise ValueError(f"the weights have {n_query} queries and {n_key} keys; this needs self-attention, n by n")
    return n_query


def rollout(layers: Sequence[Array], *, residual: bool = True) -> Array:
    r"""Compute the share of each input token in each token after every layer. Shape (layers, queries, keys).

    $R_l = \hat A_l R_{l-1}, \quad R_0 = I, \quad
    \hat A_l = \tfrac12 \big(\tfrac1H \sum_h A_l^h\big) + \tfrac12 I$, its rows over their sums

    layers    the weights of every layer, first layer first, each (heads, queries, keys)
    residual  whether the identity, which stands for the residual connection, takes part

    A row of zeros rests on the identity; without it, it stays a row of zeros. A negative weight has no share: NaN.

    Raises  ValueError unless there are as many keys as queries: there is no rollout of cross-attention.
    Source  Abnar and Zuidema 2020, arXiv:2005.00928, section 3.

    >>> rollout([np.array([[[1.0, 0.0], [1.0, 0.0]]])] * 2)[-1]
    array([[1.  , 0.  ],
           [0.75, 0.25]])
    """
    each = list(layers) if isinstance(layers, Iterable) else [layers]
    layers = [as_weights(A, "rollout", 3) for A in each or [np.zeros(0)]]
    reached = []
    R = np.eye(_one_sentence(layers[0]))
    for A in layers:
        mean = A.mean(axis=0)
        mixed = 0.5 * mean + 0.5 * np.eye(_one_sentence(A)) if residual else mean
        R = np.where((mixed == 0).all(axis=-1, keepdims=True), 0.0, shares(mixed)) @ R
        reached.append(R)
    return np.stack(reached)


def mean_over_rows(x: Array) -> Array:
    """Return the mean along the last axis of what is defined; NaN where nothing is.

    >>> mean_over_rows(np.array([[1.0, np.nan, 2.0], [np.nan, np.nan, np.nan]]))
    array([1.5, nan])
    """
    defined = ~np.isnan(x)
    with np.errstate(invalid="ignore"):
        return np.where(defined, x, 0.0).sum(axis=-1) / defined.sum(axis=-1)


@dataclass(frozen=True)
class Statistic(Choice):
    """`fn(weights)` is one number a query; `self_only` if it means nothing when the keys are another sentence."""

    self_only: bool = False


STATISTICS = table(
    Statistic("row_sum", "Row sum", row_sums, r"\sum_j a_{ij}", "The sum of a query's weights.", "-"),
    Statistic(
        "effective_keys",
        "Effective number of keys",
        effective_keys,
        r"e^{H_i}",
        "The number of equally weighted keys over which a row would be spread as widely; a row of zeros has 0.",
        "Hill 1973, Diversity and Evenness, number of order 1",
    ),
    Statistic(
        "entropy",
        "Entropy (nats)",
        entropy,
        r"H_i = -\sum_j p_{ij} \ln p_{ij},\; p_{ij} = a_{ij} / \sum_l a_{il}",
        "0 if one key gets all the weight, ln n if n keys share it equally.",
        "Shannon 1948, A Mathematical Theory of Communication, section 6",
    ),
    Statistic("largest", "Largest weight", largest, r"\max_j a_{ij}", "The largest weight of the row.", "-"),
    Statistic(
        "mean_distance",
        "Mean distance",
        mean_distance,
        r"\sum_j p_{ij} \, |i - j|",
        "How many positions away a query attends, on average.",
        "Vig and Belinkov 2019, arXiv:1906.04284",
        self_only=True,
    ),
    Statistic(
        "share_on_self",
        "Share on itself",
        share_on_self,
        r"p_{ii}",
        "The weight that a token gives itself.",
        "-",
        self_only=True,
    ),
    Statistic(
        "share_on_previous",
        "Share on the previous token",
        share_on_previous,
        r"p_{i,i-1}",
        "The first token has none before it.",
        "Clark et al. 2019, arXiv:1906.04341, section 3.1",
        self_only=True,
    ),
    Statistic(
        "share_on_first",
        "Share on the first token",
        share_on_first,
        r"p_{i1}",
        "Often large in trained models, where the first token acts as an attention sink.",
        "Xiao et al. 2023, arXiv:2309.17453, section 3.1",
        self_only=True,
    ),
)
"""The statistics of a row; that of a head is the mean over its rows."""


def of_rows(A: Array, *, is_self: bool = True) -> dict[str, Array]:
    """Return every statistic by name, each (..., queries).

    It is NaN where it means nothing because the keys are another sentence.

    >>> of_rows(np.array([[1.0, 0.0], [0.5, 0.5]]))["effective_keys"]
    array([1., 2.])
    """
    nothing = np.full(A.shape[:-1], np.nan)
    return {name: row.fn(A) if is_self or not row.self_only else nothing for name, row in STATISTICS.items()}


def open_keys(may: Array, shape: tuple[int, ...]) -> Array:
    """Count the keys that each query may attend to, whatever it makes of them. Shape (..., queries).

    may    boolean, True = may attend; (queries, keys) or with heads in front, broadcast to `shape`, that of the weights

    >>> open_keys(np.array([[True, False], [True, True]]), (1, 2, 2))
    array([[1, 2]])
    """
    return np.broadcast_to(may, shape).sum(axis=-1)
