"""Along which axis the scores are normalised: the right one, and the wrong one, to be shown."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnviz.arrays import Scores, Weights
from attnviz.settings.rows import Choice, table

Function = Callable[[Scores, float], Weights]


def keys(normalise: Function, X: Scores, T: float) -> Weights:
    """Normalise along the keys: each query shares itself out."""
    return normalise(X, T)


def queries(normalise: Function, X: Scores, T: float) -> Weights:
    """Normalise along the queries: each key is shared out, and a query may receive any amount."""
    return np.ascontiguousarray(np.swapaxes(normalise(np.swapaxes(X, -1, -2), T), -1, -2))


NORMALISED_AXES = table(
    Choice(
        "keys",
        "Keys (each row adds to 1)",
        keys,
        r"\textstyle\sum_j a_{ij} = 1",
        "Each query distributes its weight over the keys.",
        "Vaswani et al. 2017, arXiv:1706.03762, section 3.2.1",
    ),
    Choice(
        "queries",
        "Queries (the wrong way: each column adds to 1)",
        queries,
        r"\textstyle\sum_i a_{ij} = 1",
        "The wrong way, to be seen: the columns add to 1 and the rows do not.",
        "-",
    ),
)
