"""Scores of a query and a key: one number for every pair.

Every score function takes queries Q (..., n_query, d_q) and keys K (..., n_key, d_k) and returns (..., n_query, n_key);
the leading axes, heads among them, are carried along. Parameters come as keywords, shaped as if there were one head or
with an axis for the heads in front; `None` means the plainest one.

Each score is one file of this folder that holds its row as ROW: a new one is in the table by being listed here. The
function `back` of a score that is written by hand takes G = dL/dS (heads, n_query, n_key), the scores S, the queries Q
and keys K that made them, and the parameters by keyword; on a kink, such as the distance of a point to itself, the
slope is 0.
"""

from __future__ import annotations

from attnviz.engine.tables.scores import (
    additive,
    cosine,
    dot,
    gaussian,
    general,
    location,
    multiplicative_tanh,
    negative_distance,
    qk_norm,
    scaled_cosine,
    scaled_dot,
)
from attnviz.engine.tables.scores.row import BIAS, Score, of_formula, of_line
from attnviz.engine.tables.scores.slopes import swap
from attnviz.formula.evaluation.functions import score_function, score_slopes
from attnviz.formula.reader import parse
from attnviz.settings.rows import table

__all__ = ["BIAS", "FORMULA", "SCORES", "Score", "of_formula", "of_line", "swap"]

LISTED = (
    scaled_dot,
    dot,
    general,
    additive,
    cosine,
    gaussian,
    negative_distance,
    location,
    multiplicative_tanh,
    qk_norm,
    scaled_cosine,
)
"""The files of the scores, in the order in which they are offered."""

FORMULA = "sum(tanh(q * k)) / sqrt(d_k)"
"""The formula in the field before anything is typed."""

SCORES = table(
    *(of_line(file.ROW) for file in LISTED),
    Score(
        "formula",
        "Your own formula",
        score_function(parse(FORMULA)),
        r"s_{ij} = f(q_i, k_j)",
        "A score that you type yourself; every number of it can be followed like those of the others.",
        "-",
        uses=("score_formula", "d_a"),
        plain="f(q, k)",
        back=score_slopes(parse(FORMULA)),
    ),
)
