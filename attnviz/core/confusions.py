"""Fifteen short lessons, one for each thing that learners mix up, and what their questions ask of a run."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from attnviz.core import (
    confusions_of_heads,
    confusions_of_masks,
    confusions_of_scores,
    confusions_of_weights,
    statistics,
)
from attnviz.core.lesson import Lesson
from attnviz.core.tokens import PAD
from attnviz.core.trace import Trace

SAME = 1e-9
"""Numbers this near are the same: further apart than any order of summing can bring them."""


def mostly_one_key(trace: Trace) -> bool:
    """Whether the largest weight of a row is above one half, in the mean over all rows and heads."""
    return float(statistics.largest(trace["weights"].array).mean()) > 0.5


def padding_is_not_read(trace: Trace) -> bool:
    """Whether no word gives any weight to padding; what padding itself reads does not count."""
    words, padding = ([token == PAD for token in trace.query_tokens], [token == PAD for token in trace.key_tokens])
    return not trace["weights"].array[:, ~np.array(words)][:, :, np.array(padding)].any()


def heads_add_up(trace: Trace) -> bool:
    """Whether the output is the sum over heads of Z_h times that head's rows of W_O."""
    heads, W_O = trace["heads"], trace["w_o"].array
    Z = [heads.head(h) for h in range(len(heads.array))]
    rows = np.split(W_O, np.cumsum([z.shape[-1] for z in Z])[:-1])
    total = np.sum([z @ w for z, w in zip(Z, rows)], axis=0)
    return bool(np.abs(total - trace["output"].array).max() <= SAME)


def groups_agree(trace: Trace) -> bool:
    """Whether all heads that share keys and values have the same weights."""
    A = trace["weights"].array
    each = A.reshape(trace.config.kv_heads, trace.config.group_size, *A.shape[1:])
    return bool(np.abs(each - each[:, :1]).max() <= SAME)


def product_has_full_rank(trace: Trace) -> bool:
    """Whether W_Q W_K^T of every head has rank d_model; with d_k below d_model it cannot."""
    M = trace["w_q"].array @ np.swapaxes(trace["w_k"].array, -1, -2)
    return bool((np.linalg.matrix_rank(M) == M.shape[-1]).all())


def scores_within_v(trace: Trace) -> bool:
    """Whether no additive score is larger in size than the sum of the sizes of v, in any head."""
    most = np.abs(trace["score_v"].array).sum(axis=-1)
    return bool((np.abs(trace["scores"].array) <= most[:, None, None] + SAME).all())


def scores_follow_distance(trace: Trace) -> bool:
    """Whether the same two words at the same distance have the same score, wherever they stand."""
    S, seen = trace["scores"].array, dict[tuple[str, str, int], np.ndarray]()
    for (i, query), (j, key) in product(enumerate(trace.query_tokens), enumerate(trace.key_tokens)):
        if np.abs(S[:, i, j] - seen.setdefault((query, key, j - i), S[:, i, j])).max() > SAME:
            return False
    return True


PREDICATES: dict[str, Callable[[Trace], bool]] = {
    predicate.__name__: predicate
    for predicate in (
        mostly_one_key,
        padding_is_not_read,
        heads_add_up,
        groups_agree,
        product_has_full_rank,
        scores_within_v,
        scores_follow_distance,
    )
}
"""What the questions of these lessons ask of a run, beyond what any lesson may ask."""

CONFUSIONS: tuple[Lesson, ...] = (
    confusions_of_scores.WHAT_Q_K_V,
    confusions_of_scores.WHY_ROOT,
    confusions_of_weights.SOFTMAX_AXIS,
    confusions_of_weights.ROWS_AND_COLUMNS,
    confusions_of_masks.WHY_MINUS_INFINITY,
    confusions_of_masks.MASK_POLARITY,
    confusions_of_masks.PADDING,
    confusions_of_heads.ONE_OR_MANY,
    confusions_of_heads.MUST_DIVIDE,
    confusions_of_heads.WHAT_W_O_DOES,
    confusions_of_scores.WHY_BOTH,
    confusions_of_scores.WHAT_IS_ADDED,
    confusions_of_weights.ORDER,
    confusions_of_heads.SELF_CROSS_GROUPED,
    confusions_of_weights.NOT_EXPLANATION,
)
"""In the order in which they come up."""
