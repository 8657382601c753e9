"""The measures of what a learner tries: numbers of the run, or its distance from the lesson's own setting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from attnviz.analysis import importance
from attnviz.arrays import Array
from attnviz.classroom import score_variance
from attnviz.classroom.next_word import readings
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.lessons import predicates
from attnviz.settings.language import sign, translated_fields
from attnviz.text.format.number_format import short

Found = Callable[[Trace, Trace], float | Array | None]


@translated_fields("label")
@dataclass(frozen=True)
class Measure:
    """A measure `found(baseline, tried)` of the run of the lesson's own setting and of what is tried.

    One number, or several, from the smallest to the largest of which is printed; None where there is none.
    """

    label: str
    found: Found


def _largest_difference(name: str) -> Found:
    """Return the largest difference of a step of two runs."""

    def found(baseline: Trace, tried: Trace) -> float | None:
        one, other = baseline[name].array, tried[name].array
        return None if one.shape != other.shape else float(np.abs(one - other).max(initial=0.0))

    return found


def _of_many(name: str) -> Found:
    """Return a measure of many random rows as wide as those of the run, and divided as they are."""

    def found(_: Trace, tried: Trace) -> float | None:
        rows = score_variance.of_many_like(tried)
        return None if rows is None else rows[name]

    return found


def _rows_changed(baseline: Trace, tried: Trace) -> float | None:
    one, other = baseline["weights"].array, tried["weights"].array
    if one.shape != other.shape:
        return None
    return float((np.abs(one - other).max(axis=(0, 2)) > predicates.SAME).sum())


def _leaked(baseline: Trace, tried: Trace) -> float | None:
    """Return the most that a row gives to keys that the lesson's own setting forbids it."""
    A, allowed = tried["weights"].array, baseline["allowed"].array.astype(bool)
    if A.shape[1:] != allowed.shape[-2:]:
        return None
    return float(np.where(allowed, 0.0, np.abs(A)).sum(axis=-1).max())


def _shift_of_output(baseline: Trace, tried: Trace) -> float | None:
    """Return the distance that a word's output moves when the words of the lesson's own sentence change places."""
    before = run(replace(tried.config, sentence=baseline.config.sentence))
    positions = [before.query_tokens.index(token) for token in tried.query_tokens if token in before.query_tokens]
    if len(positions) != len(tried.query_tokens):
        return None
    return float(np.abs(tried["output"].array - before["output"].array[positions]).max())


def _of_first_word(name: str) -> Found:
    """Return a measure of what the first word is worth to the last row of the first head in the last layer."""

    def found(_: Trace, tried: Trace) -> float:
        position = (0, len(tried.query_tokens) - 1)
        measured_rows = importance.measure(tried, len(tried.layers) - 1, position)
        row = list(measured_rows.positions).index(position)
        return float(getattr(measured_rows, name)[row, 0])

    return found


def _asymmetry(_: Trace, tried: Trace) -> float | None:
    S = tried["scores"].array
    return None if S.shape[1] != S.shape[2] else float(np.abs(S - np.swapaxes(S, 1, 2)).max())


def _one_wide(_: Trace, tried: Trace) -> float:
    """Return the distance between the queries of the heads and those of one wide matrix, cut."""
    X, W, Q = tried["embedded"].array, tried["w_q"].array, tried["queries"].array
    cut = np.split(X @ np.concatenate(list(W), axis=1), len(W), axis=1)
    return float(np.abs(np.stack(cut) - Q).max())


def _head_shares(_: Trace, tried: Trace) -> Array:
    """Return the largest number that each head adds to the output."""
    W = np.split(tried["w_o"].array, np.cumsum(tried.config.value_widths())[:-1])
    return np.array([np.abs(tried["heads"].head(h) @ W[h]).max() for h in range(len(W))])


def _values_over_limit(_: Trace, tried: Trace) -> float:
    values = predicates.values_and_limit(tried)
    return values["largest"] / values["limit"]


def _parameters(_: Trace, tried: Trace) -> float:
    W = tried["w_q"]
    return float(sum(W.head(h).size for h in range(len(W.array))))


def _cache_size(_: Trace, tried: Trace) -> float:
    return float(tried["keys"].array.size + tried["values"].array.size)


def _next_share(_: Trace, tried: Trace) -> float:
    return float(readings.shares(tried).max())


def _may(value: bool) -> Found:
    return lambda _, tried: float((tried["allowed"].array.astype(bool) == value).sum())


MEASURES: dict[str, Measure] = {
    "spread": Measure("spread of the scores", lambda _, tried: score_variance.measure("spread", tried, 0, {})),
    "largest_weight": Measure(
        "largest weight of a row, on average", lambda _, tried: score_variance.measure("largest_weight", tried, 0, {})
    ),
    "spread_of_many": Measure("spread, over 2,000 rows", _of_many("spread")),
    "largest_of_many": Measure("largest weight, over 2,000 rows", _of_many("largest_weight")),
    "largest_score": Measure(
        "largest absolute value of a score", lambda _, tried: float(np.abs(tried["scores"].array).max())
    ),
    "bound": Measure(
        "sum of the absolute values of v",
        lambda _, tried: (
            float(np.abs(tried["score_v"].array).sum(axis=-1).max()) if "score_v" in tried.layers[0] else None
        ),
    ),
    "row_sums": Measure("sums of the rows of weights", lambda _, tried: tried["weights"].array.sum(axis=-1)),
    "column_sums": Measure("sums of the columns of weights", lambda _, tried: tried["weights"].array.sum(axis=-2)),
    "leaked": Measure("most that a row gives to forbidden keys", _leaked),
    "may": Measure("cells that are open: True where True means “attend”", _may(True)),
    "may_not": Measure("cells that are closed: True where True means “do not attend”", _may(False)),
    "first_output": Measure("first number of the output", lambda _, tried: float(tried["heads"].array[0, 0, 0])),
    "weights_apart": Measure("largest change of a weight", _largest_difference("weights")),
    "heads_apart": Measure("largest change of an output", _largest_difference("heads")),
    "joined_apart": Measure("largest error in the joined heads", _largest_difference("concat")),
    "rows_changed": Measure("rows of weights that changed", _rows_changed),
    "moved": Measure("how far a word's output moves when words change places", _shift_of_output),
    "asymmetry": Measure("largest difference between a score and the one across the diagonal", _asymmetry),
    "rank": Measure(
        "rank of W_Q times the transpose of W_K", lambda _, tried: predicates.rank_of_product(tried)["rank"]
    ),
    "stale": Measure(
        "largest difference between scores and products", lambda _, tried: predicates.scores_and_products(tried)["most"]
    ),
    "parameters": Measure("numbers in all W_Q together", _parameters),
    "score_matrices": Measure("matrices of scores", lambda _, tried: float(len(tried["scores"].array))),
    "one_wide": Measure("largest difference from one wide matrix that is then split", _one_wide),
    "joined": Measure("columns of the joined heads", lambda _, tried: float(tried["concat"].array.shape[-1])),
    "kept": Measure("numbers kept of keys and values", _cache_size),
    "head_shares": Measure("largest number that each head writes", _head_shares),
    "heads_add_up": Measure(
        "largest difference between the output and the sum over heads",
        lambda _, tried: predicates.sum_over_heads(tried)["most"],
    ),
    "values_limit": Measure(
        "largest absolute entry of W_V, divided by Glorot's limit",
        _values_over_limit,
    ),
    "next_share": Measure("share of the likeliest next word", _next_share),
    "first_weight": Measure("weight of the first word in the last row", _of_first_word("weight")),
    "first_by_weight": Measure("∂L/∂weight there", _of_first_word("by_weight")),
    "first_by_score": Measure("∂L/∂score there", _of_first_word("by_score")),
    "first_knock_out": Measure("knock-out of the first word there", _of_first_word("knock_out")),
}
"""By the names that lesson files give."""


def measure_text(name: str, baseline: Trace, tried: Trace) -> str:
    """Return a measure as it is printed; a dash where this run has none.

    >>> from attnviz import Config, run
    >>> trace = run(Config(sentence="a b"))
    >>> measure_text("row_sums", trace, trace), measure_text("rows_changed", trace, trace)
    ('1', '0')
    """
    try:
        value = MEASURES[name].found(baseline, tried)
    except KeyError:  # a step that this run does not have
        value = None
    if value is None:
        return short(None)
    numbers = np.atleast_1d(np.asarray(value, dtype=float))
    if name == "head_shares":
        return sign(", ").join(_short(number) for number in numbers)
    low, high = _short(float(numbers.min())), _short(float(numbers.max()))
    return low if low == high else f"{low} … {high}"


def _short(number: float) -> str:
    """Return a number without what is left of rounding."""
    return short(0.0 if abs(number) <= predicates.SAME else round(number, 9))
