"""The spread of scores, and the largest weight of a row: in a run, and in trials of any width.

A trial takes queries and keys of independent standard normal numbers, the same for every divisor; a wider one keeps
the columns of a narrower one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from attnviz.analysis import statistics, variance_and_sharing
from attnviz.analysis.variance_and_sharing import DIVISORS, Spread
from attnviz.classroom import known_mistakes
from attnviz.classroom.resolved_question import QuestionContext, ResolvedQuestion, required
from attnviz.engine.records.trace import Trace
from attnviz.settings.language import Words
from attnviz.text.format.number_format import short
from attnviz.text.format.sentence_parts import fill

WIDTHS = (1, 4, 16, 64, 256)
"""The d_k of the table; a question may ask for any up to the last."""

TABLE = Words(
    {
        "head": "| $d_k$ | spread ÷ 1 | ÷ $\\sqrt{d_k}$ | ÷ $d_k$ | largest weight ÷ 1 | ÷ $\\sqrt{d_k}$ | ÷ $d_k$ |",
        "is": "It is {value}.",
    }
)
PROBLEM = "{name} is {given}; choose {allowed}"
ORDER = ("one", "root", "width")

MEASURES: dict[str, tuple[Callable[[Trace, int, str], float], Callable[[Spread, str], float], str]] = {
    "spread": (lambda trace, layer, step: _deviation(trace, layer, step), lambda found, by: found.scores[by], "scaled"),
    "largest_weight": (
        lambda trace, layer, step: float(statistics.largest(trace.layers[layer][step].array).mean()),
        lambda found, by: found.largest[by],
        "weights",
    ),
}
"""By name: what is measured of a step of a run, and of a trial under one divisor; and the step."""


def _deviation(trace: Trace, layer: int, step: str) -> float:
    numbers = trace.layers[layer][step].array
    return float(numbers[np.isfinite(numbers)].std())


def measure(name: str, trace: Trace, layer: int, at: Mapping[str, Any]) -> float:
    """Return a measure of a run, or, where `at` has a d_k, of a trial of that width under a divisor.

    Raises ValueError for a width or a divisor that there is not.
    """
    of_run, of_trial, step = MEASURES[name]
    if "d_k" not in at:
        return of_run(trace, layer, step)
    d_k, by = at["d_k"], required("divisor", at)
    if isinstance(d_k, bool) or not isinstance(d_k, int) or not 1 <= d_k <= WIDTHS[-1]:
        raise ValueError(PROBLEM.format(name="d_k", given=d_k, allowed=f"1 to {WIDTHS[-1]}"))
    if by not in DIVISORS:
        raise ValueError(PROBLEM.format(name="divisor", given=by, allowed=", ".join(DIVISORS)))
    return of_trial(variance_and_sharing.spread(trace, layer, d_k), by)


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
            mistakes=known_mistakes.of_spread(value, _divisor(runs, at), at.get("d_k")) if name == "spread" else (),
            how=name,
        )

    return found


def _divisor(runs: QuestionContext, at: Mapping[str, Any]) -> float:
    """Return the divisor of the scores."""
    if "d_k" in at:
        return float(DIVISORS[at["divisor"]].fn(at["d_k"]))
    scores, scaled = (runs.step(name).array for name in ("scores", "scaled"))
    return float(scores.std() / scaled.std()) if scaled.std() else 1.0


def divisor_table(trace: Trace, layer: int = 0) -> str:
    """Return both measures of trials at widths from 1 to 256 under the three divisors, as a table of a text."""
    spreads = variance_and_sharing.spread_by_width(trace, layer, widths=WIDTHS)
    rows = [
        " | ".join(
            [str(each.d_k), *(short(each.scores[by]) for by in ORDER), *(short(each.largest[by]) for by in ORDER)]
        )
        for each in spreads
    ]
    return "\n".join([TABLE["head"], "|" + "---|" * 7, *(f"| {row} |" for row in rows)])
