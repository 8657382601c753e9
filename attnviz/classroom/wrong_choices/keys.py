"""The words on a key that has not the largest weight of a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from attnviz.arrays import Array
from attnviz.classroom.context.question_context import SAME, QuestionContext
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words

KEYS = Words(
    {
        "forbidden": "The mask forbids that key to this query: it gets no weight.",
        "column": "That is what you find down the column of the word: its row is asked for.",
        "head": "That is right for head {head}: look at the head that is asked for.",
        "row": "That is right for the word in row {row}: find the row that is asked for.",
        "unbiased": "Its score is the largest before bias and normaliser; they decide otherwise.",
        "layer": "That is right in layer {layer}: look at the layer that is asked for.",
        "other_layer": "That is right for head {head} of layer {layer}: look at the layer and the head that are asked "
        "for.",
        "itself": "That is the word itself. A word need not attend to itself most: here another key gets more.",
        "alike": "By the vectors alone, without W_Q and W_K, that one would come first among the other words.",
        "second": "That is nearly it: just one key of this row gets more.",
        "smallest": "That gets the least of all allowed keys: the largest weight is asked for.",
        "negative": "Its product with the query is negative: the two vectors point away from each other.",
        "share": "That key gets less than it would if the row were shared equally.",
        "smaller": "In this row {n} keys get more than that one.",
    }
)
PRODUCTS = ("scaled_dot", "dot")
"""The scores whose sign is that of the product of query and key."""

Rule = tuple[str, Mapping[str, int]]
"""A row of KEYS, and the numbers that it names, counted from 0; `n` is a count."""


def said(runs: QuestionContext, index: tuple[int, int], right: frozenset[int]) -> dict[frozenset[int], str]:
    """Return what is said of each key that has not the largest weight of a row; `index` is head and query."""
    n = runs.step("weights").shape[-1]
    return {frozenset({key}): _in_words(*rule(runs, index, key)) for key in range(n) if key not in right}


def _in_words(name: str, facts: Mapping[str, int]) -> str:
    return KEYS[name].format(**{fact: n if fact == "n" else ordinal(n) for fact, n in facts.items()})


def rule(runs: QuestionContext, index: tuple[int, int], key: int) -> Rule:
    """Return the rule that leads to a wrong key: the first that holds."""
    return next(_rules(runs, index, key))


def _rules(runs: QuestionContext, index: tuple[int, int], key: int) -> Iterator[Rule]:
    head, query = index
    A, allowed = runs.step("weights").array, _allowed(runs, index)
    S = runs.steps["capped"].array[index] if "capped" in runs.steps else A[index]
    if not allowed[key]:
        yield "forbidden", {}
    if _is_largest(np.where(allowed, S, -np.inf), key):
        yield "unbiased", {}
    if query < A.shape[2] and key < A.shape[1] and _is_largest(A[head, :, query], key):
        yield "column", {}
    yield from (("head", {"head": h}) for h in _others(len(A), head) if _is_largest(A[h, query], key))
    yield from (("row", {"row": i}) for i in _others(A.shape[1], query) if _is_largest(A[head, i], key))
    yield from _in_layers(runs, index, key)
    if not runs.trace.config.is_cross_attention and key == query:
        yield "itself", {}
    if _is_largest(_likeness(runs, query), key):
        yield "alike", {}
    yield from _ranked(runs, index, key)


def _in_layers(runs: QuestionContext, index: tuple[int, int], key: int) -> Iterator[Rule]:
    """Yield the other layers in which the key is right: for the same head first."""
    head, query = index
    layers = [(n, runs.trace.layers[n]["weights"].array) for n in _others(len(runs.trace.layers), runs.layer)]
    yield from (("layer", {"layer": n}) for n, A in layers if head < len(A) and _is_largest(A[head, query], key))
    for n, A in layers:
        for other in _others(len(A), head):
            if _is_largest(A[other, query], key):
                yield "other_layer", {"head": other, "layer": n}


def _likeness(runs: QuestionContext, query: int) -> Array:
    """Return the products of the vector of a word with those of all others; none where a layer reads no embedding."""
    around = runs.trace.around
    if runs.layer > 0 or "embedded" not in around:
        return np.full(runs.step("weights").shape[-1], -np.inf)
    of_keys: Array = around.get("embedded_kv", around["embedded"]).array
    products: Array = of_keys @ around["embedded"].array[query]
    if not runs.trace.config.is_cross_attention:
        products[query] = -np.inf
    return products


def _ranked(runs: QuestionContext, index: tuple[int, int], key: int) -> Iterator[Rule]:
    """Yield how the key stands in its row; one of these holds of every key."""
    row, allowed = runs.step("weights").array[index], _allowed(runs, index)
    larger = int((row > row[key] + SAME).sum())
    if larger == 1:
        yield "second", {}
    if _is_largest(np.where(allowed, -row, -np.inf), key):
        yield "smallest", {}
    if _points_away(runs, index, key):
        yield "negative", {}
    if row[key] < row.sum() / allowed.sum():
        yield "share", {}
    yield "smaller", {"n": larger}


def _points_away(runs: QuestionContext, index: tuple[int, int], key: int) -> bool:
    """Return whether a score is negative as a product of the query and the key, and nothing turns its sign."""
    if runs.trace.config.score not in PRODUCTS or not {"queries", "keys", "capped"} <= set(runs.steps):
        return False
    head, query = index
    k = runs.steps["keys"].array[head // runs.trace.config.group_size, key]
    return float(runs.steps["queries"].array[head, query] @ k) < -SAME and runs.steps["capped"].array[index][key] < 0


def _allowed(runs: QuestionContext, index: tuple[int, int]) -> Array:
    """Return which keys a query may attend to; all, where a run has weights alone."""
    row = runs.step("weights").array[index]
    return ~np.isneginf(runs.steps["masked"].array[index]) if "masked" in runs.steps else np.ones(len(row), bool)


def _others(n: int, at: int) -> Sequence[int]:
    """Return the numbers below n but one, the nearest to that first."""
    return sorted((other for other in range(n) if other != at), key=lambda other: abs(other - at))


def _is_largest(row: Array, at: int) -> bool:
    """Return whether a number of a row is larger than every other one, and not by rounding alone."""
    return bool(row[at] > np.delete(row, at).max(initial=-np.inf) + SAME)
