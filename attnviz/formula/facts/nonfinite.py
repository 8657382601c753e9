"""The first cell of a formula that is not finite, and the term of the line that made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from attnviz.arrays import Array
from attnviz.formula.evaluation.arrays import Part, of_normaliser, of_score
from attnviz.formula.evaluation.numbers import Numbers, scores, weights
from attnviz.formula.graph import Formula, Node
from attnviz.settings.language import Words

TROUBLE = Words(
    {
        "from": "{term} is {value}, made from {parts}, at query {query} and key {key} of head {head}; "
        "{n} of {all} numbers are like that",
        "alone": "{term} is {value} at query {query} and key {key} of head {head}; {n} of {all} numbers are like that",
    }
)


@dataclass(frozen=True)
class Trouble:
    """The first cell that is not finite: its position, counted from 0, the term's position in the line, and words."""

    head: int
    query: int
    key: int
    span: tuple[int, int]
    words: str


def of_scores(formula: Formula, Q: Array, K: Array, parameters: Mapping[str, Array]) -> Trouble | None:
    """Return the first score that is infinite or no number and the term that made it; None if all are finite."""
    S = scores(formula, of_score(formula, Q, K, parameters))
    bad = np.argwhere(~np.isfinite(S))
    if not len(bad):
        return None
    h, i, j = map(int, bad[0])
    one = {name: array[h : h + 1] for name, array in parameters.items()}
    position = Part(i, j, Q.shape[1], K.shape[1], (h,), len(S))
    q, k = Q[min(h, len(Q) - 1)], K[min(h, len(K) - 1)]
    return _trouble_at(
        formula, Numbers(of_score(formula, q[None, i : i + 1], k[None, j : j + 1], one, position)), bad, S.size
    )


def of_weights(formula: Formula, X: Array, learned: Mapping[str, Array]) -> Trouble | None:
    """Return the same for the weights of a normaliser, from the scores (heads, queries, keys), -inf where forbidden."""
    A = weights(formula, of_normaliser(X, own=learned))
    bad = np.argwhere(~np.isfinite(A))
    if not len(bad):
        return None
    h, i, _ = map(int, bad[0])
    position = Part(i, 0, X.shape[1], X.shape[2], (h,), len(X))
    one = {name: array[h : h + 1] for name, array in learned.items()}
    return _trouble_at(formula, Numbers(of_normaliser(X[h : h + 1, i : i + 1], position, one)), bad, A.size)


def _trouble_at(formula: Formula, numbers: Numbers, bad: Array, size: int) -> Trouble:
    h, i, j = map(int, bad[0])
    allowed = numbers.arrays.allowed
    for node in formula.nodes:
        if node.op in ("text", "matrix") or node.truth or node.value == "x":
            continue
        computed = numbers(node)
        wrong = ~np.isfinite(computed)
        if allowed is not None and computed.shape[-2] > 1:
            wrong = wrong & allowed
        if wrong.any():
            parts = ", ".join(f"{numbers(arg).item():.4g}" for arg in node.args if _is_one(arg, numbers))
            facts = {"query": i + 1, "key": j + 1, "head": h + 1, "n": len(bad), "all": size}
            term, value = formula.text[slice(*node.span)], f"{computed[wrong][0]:g}"
            words = TROUBLE["from" if parts else "alone"].format(term=term, value=value, parts=parts, **facts)
            return Trouble(h, i, j, node.span, words)
    return Trouble(h, i, j, formula.root.span, "")  # a rounding of the whole that the cell alone does not repeat


def _is_one(node: Node, numbers: Numbers) -> bool:
    return node.op not in ("matrix", "text") and not node.truth and numbers(node).size == 1
