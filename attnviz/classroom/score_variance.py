"""The spread of scores, and the largest weight of a row: in a run, and over many random rows of any width.

These rows come of queries and keys of independent standard normal numbers, the same for every divisor; wider ones keep
the columns of narrower ones. There are enough of them for the law to be seen: over the dozen rows of one run the
largest weight is off by a tenth and more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from attnviz.analysis import statistics
from attnviz.analysis.variance_and_sharing import DIVISORS
from attnviz.arrays import Array
from attnviz.classroom import known_mistakes
from attnviz.classroom.context.question_context import QuestionContext, required
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.engine.numerics import noise
from attnviz.engine.numerics.noise import Address
from attnviz.engine.records.trace import Trace
from attnviz.engine.tables.normalisers.softmax import softmax
from attnviz.settings.language import Words
from attnviz.text.format.number_format import short
from attnviz.text.format.sentence_parts import fill

WIDTHS = (1, 4, 16, 64, 256)
"""The d_k of the table; a question may ask for any up to the last."""

MANY = 2000
"""Rows, at least."""

TABLE = Words(
    {
        "head": "| $d_k$ | spread ÷ 1 | ÷ $\\sqrt{d_k}$ | ÷ $d_k$ | largest weight ÷ 1 | ÷ $\\sqrt{d_k}$ | ÷ $d_k$ |",
        "is": "It is {value}.",
    }
)
PROBLEM = "{name} is {given}; choose {allowed}"
ORDER = ("one", "root", "width")


def _deviation(numbers: Array) -> float:
    return float(numbers[np.isfinite(numbers)].std())


def _largest(weights: Array) -> float:
    return float(statistics.largest(weights).mean())


MEASURES: dict[str, tuple[str, Callable[[Array], float]]] = {
    "spread": ("scaled", _deviation),
    "largest_weight": ("weights", _largest),
}
"""By name: the step that is measured, and how."""


@lru_cache(maxsize=4)
def _vectors(n_keys: int) -> tuple[Array, Array]:
    """Return queries and keys (h, n, d_k) with n = `n_keys` and h n >= `MANY`, for the widest d_k."""
    shape = (math.ceil(MANY / n_keys), n_keys, WIDTHS[-1])
    Q, K = (noise.normal(Address(0, f"many/{name}"), shape) for name in ("queries", "keys"))
    return Q, K


@lru_cache(maxsize=64)
def of_many(d_k: int, divisor: float, n_keys: int) -> dict[str, float]:
    """Return the measures of many random rows of `n_keys` scores of that width.

    >>> found = of_many(64, 8.0, 6)
    >>> round(found["spread"], 1), round(found["largest_weight"], 1)
    (1.0, 0.4)
    """
    Q, K = (array[..., :d_k] for array in _vectors(n_keys))
    S = Q @ K.swapaxes(-1, -2) / divisor
    return {"spread": _deviation(S), "largest_weight": _largest(softmax(S))}


def of_many_like(trace: Trace) -> dict[str, float] | None:
    """Return the measures of many random rows as wide and divided as those of a run; None for no divided product."""
    steps = trace.layers[0]
    products = steps["queries"].array @ np.repeat(steps["keys"].array, trace.config.group_size, axis=0).swapaxes(-1, -2)
    scaled, d_k = steps["scaled"].array, steps["queries"].shape[-1]
    spread = _deviation(scaled)
    divisor = _deviation(products) / spread if spread else 0.0
    if not divisor or not np.allclose(products, scaled * divisor):
        return None
    return of_many(d_k, float(f"{divisor:.12g}"), len(trace.key_tokens))


def measure(name: str, trace: Trace, layer: int, at: Mapping[str, Any]) -> float:
    """Return a measure of a run, or, where `at` has a d_k, of many random rows of that width under a divisor.

    Raises ValueError for a width or a divisor that there is not.
    """
    step, found = MEASURES[name]
    if "d_k" not in at:
        return found(trace.layers[layer][step].array)
    d_k, by = at["d_k"], required("divisor", at)
    if isinstance(d_k, bool) or not isinstance(d_k, int) or not 1 <= d_k <= WIDTHS[-1]:
        raise ValueError(PROBLEM.format(name="d_k", given=d_k, allowed=f"1 to {WIDTHS[-1]}"))
    if by not in DIVISORS:
        raise ValueError(PROBLEM.format(name="divisor", given=by, allowed=", ".join(DIVISORS)))
    return of_many(d_k, DIVISORS[by].fn(d_k), len(trace.key_tokens))[name]


def question(name: str) -> Callable[[QuestionContext, Mapping[str, Any]], ResolvedQuestion]:
    """Return the kind of question that asks for a measure."""

    def found(runs: QuestionContext, at: Mapping[str, Any]) -> ResolvedQuestion:
        value, asks_scores = measure(name, runs.trace, runs.layer, at), "d_k" in at or name == "spread"
        return ResolvedQuestion(
            form="number",
            value=value,
            tolerance=at.get("tolerance", 0.05),
            solution=(fill(TABLE["is"], value=short(value)),),
            hides="scores" if asks_scores else "weights",
            inputs=("queries", "keys") if asks_scores else ("scaled",),
            mistakes=known_mistakes.of_spread(value, _divisor(runs, at), _width(runs, at)) if name == "spread" else (),
            how=name,
        )

    return found


def _divisor(runs: QuestionContext, at: Mapping[str, Any]) -> float:
    """Return the divisor of the scores."""
    if "d_k" in at:
        return float(DIVISORS[at["divisor"]].fn(at["d_k"]))
    scores, scaled = (runs.step(name).array for name in ("scores", "scaled"))
    return float(scores.std() / scaled.std()) if scaled.std() else 1.0


def _width(runs: QuestionContext, at: Mapping[str, Any]) -> int:
    """Return the number of products of a score."""
    return int(at.get("d_k", runs.step("queries").shape[-1]))


def divisor_table(trace: Trace) -> str:
    """Return both measures of many random rows at widths from 1 to 256 under the three divisors, as a table."""
    rows = []
    for d_k in WIDTHS:
        found = [of_many(d_k, DIVISORS[by].fn(d_k), len(trace.key_tokens)) for by in ORDER]
        rows.append(" | ".join([str(d_k), *(short(each[name], 3) for name in MEASURES for each in found)]))
    return "\n".join([TABLE["head"], "|" + "---|" * 7, *(f"| {row} |" for row in rows)])
