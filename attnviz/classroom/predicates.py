"""Statements that a yes-or-no question can be about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from attnviz.classroom.context.question_context import SAME, QuestionContext
from attnviz.lessons import predicates
from attnviz.settings.language import Words, sign
from attnviz.text.format.sentence_parts import Sentence, fill, rounded_number

WORDS = Words(
    {
        "symmetric": "The largest difference between a score and the one across the diagonal is {most}.",
        "oblong": "There are {rows} rows and {columns} columns, so there is no diagonal to compare across.",
        "sums": "The sums are {sums}.",
        "same": "The largest difference is {most}.",
        "ahead": "Above the diagonal the weights add to {total}.",
    }
)

OF_RUN = Words(
    {
        "mostly_one_key": "The largest weights of the rows are {mean} on average.",
        "padding_is_not_read": "The largest weight that a word gives to padding is {most}.",
        "heads_add_up": "The largest difference between the two is {most}.",
        "groups_agree": "The largest difference between heads that share is {most}.",
        "product_has_full_rank": "The least rank of a head is {rank}, and d_model is {width}.",
        "scores_within_v": "Where the two come closest, the largest score has the size {largest} and the sum is "
        "{bound}.",
        "values_within_limit": "The largest entry has the size {largest}, and the limit is {limit}.",
        "scores_of_queries": "The largest difference between a score and its product is {most}.",
        "scores_follow_distance": "The largest difference between two that should be alike is {most}.",
    }
)

Found = tuple[bool, Sentence]
Predicate = Callable[[QuestionContext, Mapping[str, Any]], Found]


def _symmetric(runs: QuestionContext, at: Mapping[str, Any]) -> Found:
    S = runs.of_head("scores", at)
    if S.shape[0] != S.shape[1]:
        return False, fill(WORDS["oblong"], rows=str(S.shape[0]), columns=str(S.shape[1]))
    most = float(np.abs(S - S.T).max())
    return most <= SAME, fill(WORDS["symmetric"], most=_short(most))


def _sums(axis: int) -> Predicate:
    def found(runs: QuestionContext, at: Mapping[str, Any]) -> Found:
        sums = runs.of_head("weights", at).sum(axis=axis)
        listed = sign(", ").join(map(rounded_number, sums))
        return bool((np.abs(sums - 1) <= SAME).all()), fill(WORDS["sums"], sums=listed)

    return found


def _same(runs: QuestionContext, at: Mapping[str, Any]) -> Found:
    most = float(runs.compared(at.get("step", "weights"), at).max())
    return most <= SAME, fill(WORDS["same"], most=_short(most))


def _looks_ahead(runs: QuestionContext, at: Mapping[str, Any]) -> Found:
    total = float(np.triu(runs.of_head("weights", at), 1).sum())
    return total > SAME, fill(WORDS["ahead"], total=_short(total))


def _short(x: float) -> str:
    return rounded_number(x if x > SAME else 0.0)


def _of_run(name: str) -> tuple[str, Predicate, str]:
    """Return the predicate of a run that only lessons use, with words of its own."""
    predicate = predicates.PREDICATES[name]

    def found(runs: QuestionContext, at: Mapping[str, Any]) -> Found:
        figures = {figure: _short(number) for figure, number in predicate.measure(runs.trace).items()}
        return predicate(runs.trace), fill(OF_RUN[name], **figures)

    return "", found, ""


PREDICATES: dict[str, tuple[str, Predicate, str]] = {
    "symmetric": ("Head {head}: is every score equal to the one across the diagonal?", _symmetric, "scores"),
    "rows_sum_to_one": ("Head {head}: do the weights of every row add to 1?", _sums(1), "weights"),
    "columns_sum_to_one": ("Head {head}: do the weights of every column add to 1?", _sums(0), "weights"),
    "same": ("Is “{step}” the same in both settings, number for number?", _same, ""),
    "looks_ahead": ("Head {head}: does any query attend to a later key?", _looks_ahead, "weights"),
} | {name: _of_run(name) for name in predicates.PREDICATES}
"""By name: the question; whether it holds in a run, with what shows it; and the step that gives it away."""

SHOWS: dict[str, tuple[str, ...]] = {
    "symmetric": ("queries", "keys"),
    "rows_sum_to_one": ("weights",),
    "columns_sum_to_one": ("weights",),
    "looks_ahead": ("allowed",),
    "mostly_one_key": ("scaled",),
    "padding_is_not_read": ("masked",),
    "heads_add_up": ("heads", "w_o"),
    "groups_agree": ("queries", "keys"),
    "product_has_full_rank": ("w_q", "w_k"),
    "scores_within_v": ("queries", "keys", "score_v"),
    "values_within_limit": ("w_q", "w_v"),
    "scores_of_queries": ("queries", "keys", "scores"),
    "scores_follow_distance": ("projected_queries", "projected_keys", "positions"),
}
"""By name: the steps that it can be judged by, which are drawn while it is asked."""
