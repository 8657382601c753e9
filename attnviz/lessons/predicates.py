"""Yes-or-no facts about a run that the questions of lessons ask for, beyond those that any question may ask for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from attnviz.analysis import statistics
from attnviz.arrays import Array
from attnviz.engine.records.trace import Trace
from attnviz.engine.tables.tokenisers import PAD

SAME = 1e-9
"""Numbers this near are the same: further apart than any order of summing can bring them."""

Figures = dict[str, float]


@dataclass(frozen=True)
class Predicate:
    """A statement that holds in a run or does not: what is measured, and whether that is enough."""

    measure: Callable[[Trace], Figures]
    is_enough: Callable[..., bool]

    def __call__(self, trace: Trace) -> bool:
        return bool(self.is_enough(**self.measure(trace)))


def largest_weights(trace: Trace) -> Figures:
    """Return the largest weight of a row, on average over all rows and heads."""
    return {"mean": float(statistics.largest(trace["weights"].array).mean())}


def padding_read(trace: Trace) -> Figures:
    """Return the most that any word gives to padding; what padding itself reads does not count."""
    words, padding = ([token == PAD for token in trace.query_tokens], [token == PAD for token in trace.key_tokens])
    weights = trace["weights"].array[:, ~np.array(words)][:, :, np.array(padding)]
    return {"most": float(np.abs(weights).max(initial=0.0))}


def sum_over_heads(trace: Trace) -> Figures:
    """Return the distance of the output from the sum over heads of Z_h times that head's rows of W_O."""
    heads, W_O = trace["heads"], trace["w_o"].array
    Z = [heads.head(h) for h in range(len(heads.array))]
    rows = np.split(W_O, np.cumsum([z.shape[-1] for z in Z])[:-1])
    total = np.sum([z @ w for z, w in zip(Z, rows)], axis=0)
    return {"most": float(np.abs(total - trace["output"].array).max())}


def within_groups(trace: Trace) -> Figures:
    """Return the largest difference between the weights of heads that share keys and values."""
    A = trace["weights"].array
    each = A.reshape(trace.config.kv_heads, trace.config.group_size, *A.shape[1:])
    return {"most": float(np.abs(each - each[:, :1]).max())}


def rank_of_product(trace: Trace) -> Figures:
    """Return the least rank of W_Q W_K^T among the heads, and d_model; with d_k below d_model it is less."""
    M = trace["w_q"].array @ np.swapaxes(trace["w_k"].array, -1, -2)
    return {"rank": int(np.linalg.matrix_rank(M).min()), "width": M.shape[-1]}


def scores_and_v(trace: Trace) -> Figures:
    """Return the largest additive score in size, and the sum of the sizes of v, of the head where they are nearest."""
    bounds = np.abs(trace["score_v"].array).sum(axis=-1)
    largest = np.abs(trace["scores"].array).max(axis=(-1, -2))
    head = int((largest - bounds).argmax())
    return {"largest": float(largest[head]), "bound": float(bounds[head])}


def alike_at_a_distance(trace: Trace) -> Figures:
    """Return the largest difference between the scores of the same two words at the same distance."""
    S, seen, most = trace["scores"].array, dict[tuple[str, str, int], Array](), 0.0
    for (i, query), (j, key) in product(enumerate(trace.query_tokens), enumerate(trace.key_tokens)):
        first = seen.setdefault((query, key, j - i), S[:, i, j])
        most = max(most, float(np.abs(S[:, i, j] - first).max()))
    return {"most": most}


def values_and_limit(trace: Trace) -> Figures:
    """Return the largest entry of W_V in size, and the limit of Glorot and Bengio for its numbers in and out."""
    W = trace["w_v"].array
    return {"largest": float(np.abs(W).max()), "limit": float(np.sqrt(6 / sum(W.shape[-2:])))}


def scores_and_products(trace: Trace) -> Figures:
    """Return the distance of the scores from the products of the queries and keys."""
    Q, K = trace["queries"].array, np.repeat(trace["keys"].array, trace.config.group_size, axis=0)
    return {"most": float(np.abs(trace["scores"].array - Q @ np.swapaxes(K, -1, -2)).max())}


def _nothing(most: float) -> bool:
    return most <= SAME


PREDICATES = {
    "mostly_one_key": Predicate(largest_weights, lambda mean: mean > 0.5),
    "padding_is_not_read": Predicate(padding_read, lambda most: most == 0),
    "heads_add_up": Predicate(sum_over_heads, _nothing),
    "groups_agree": Predicate(within_groups, _nothing),
    "product_has_full_rank": Predicate(rank_of_product, lambda rank, width: rank == width),
    "scores_within_v": Predicate(scores_and_v, lambda largest, bound: largest <= bound + SAME),
    "scores_follow_distance": Predicate(alike_at_a_distance, _nothing),
    "values_within_limit": Predicate(values_and_limit, lambda largest, limit: largest <= limit),
    "scores_of_queries": Predicate(scores_and_products, _nothing),
}
