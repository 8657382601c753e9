"""The words on a wrong yes or no: where to look, in this run, for what speaks against it.

A statement that does not hold fails somewhere: the cell where it fails by most is named. Of one that holds, the reason
is named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.classroom.context.question_context import QuestionContext
from attnviz.engine.tables.tokenisers import PAD
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words

YES = Words(
    {
        "symmetric": "Compare row {row}, column {column} with row {column}, column {row}: they are products of other "
        "queries and keys.",
        "oblong": "There are not as many rows as columns, so there is no diagonal to compare across.",
        "rows_sum_to_one": "Add up row {row}: it does not make 1.",
        "columns_sum_to_one": "Add up column {column}: it does not make 1. By which sum was each weight divided?",
        "same": "Look at row {row}, column {column} in both settings: something that it is computed from has changed.",
        "looks_ahead": "Above the diagonal every weight is 0: no later key gets any.",
        "mostly_one_key": "Look at row {row} of head {head}: its largest weight is no more than half.",
        "padding_is_not_read": "Look at row {row}, column {column} of head {head}: that key is padding, and gets "
        "weight.",
        "heads_add_up": "Work out row {row}, column {column} both ways: they differ.",
        "groups_agree": "Compare row {row}, column {column} of head {other} and of head {head}: they share keys, but "
        "each has queries of its own.",
        "product_has_full_rank": "W_Q and W_K have {n} columns, fewer than d_model: no product of theirs has a higher "
        "rank.",
        "scores_within_v": "Look at row {row}, column {column} of head {head}: that score is larger.",
        "scores_follow_distance": "Compare two cells of head {head}: row {row}, column {column}, and row {row2}, "
        "column {column2}. The words and their distance are the same, the scores are not.",
        "values_within_limit": "Look at row {row}, column {column} of the W_V of head {head}: without its sign, that "
        "entry is larger than the limit.",
        "scores_of_queries": "Multiply the query of row {row} and the key of column {column} in head {head}: the score "
        "is another number.",
    }
)
"""Of a statement that does not hold, to one who said Yes."""
NO = Words(
    {
        "symmetric": "Exchange the two words of any cell: here the product of query and key stays the same.",
        "tied": "Here the queries equal the keys, so exchanging two words leaves their product as it is.",
        "rows_sum_to_one": "Add up any row: it makes 1. What one key gets more, others get less.",
        "columns_sum_to_one": "Add up any column: here it makes 1. By which sum was each weight divided?",
        "same": "The change reaches none of these numbers: follow what this step is computed from.",
        "looks_ahead": "Look at row {row}, column {column}: that key comes later, and gets weight.",
        "mostly_one_key": "Look at row {row} of head {head}: one key gets more than half. On average it is so, too.",
        "padding_is_not_read": "In the rows of the words every weight of padding is 0. What padding itself attends to "
        "is another question.",
        "heads_add_up": "Cut W_O into blocks of rows, one for each head: C times W_O is the sum over the heads, each "
        "times its block.",
        "groups_agree": "Compare any two heads of a group: their weights are the same here.",
        "product_has_full_rank": "W_Q and W_K have {n} columns, as many as d_model or more: nothing keeps the rank "
        "down.",
        "scores_within_v": "A tanh lies between −1 and 1: no entry of v can add more than its own size.",
        "scores_follow_distance": "Move both words by the same number of positions: here their score stays the same.",
        "values_within_limit": "The largest entry of W_V, without its sign, does not exceed the limit.",
        "scores_of_queries": "Multiply any query by any key, entry by entry, and add up: you find the score.",
    }
)
"""Of a statement that holds, to one who said No."""


@dataclass(frozen=True)
class Seen:
    """The words on a wrong verdict, and where it can be seen: a step, its head, and cells of it.

    step  "" where no picture shows it
    """

    said: str
    step: str = ""
    head: int = 0
    cells: tuple[tuple[int, int], ...] = ()


Find = Callable[[QuestionContext, Mapping[str, Any], bool], Seen]


def wrong(runs: QuestionContext, at: Mapping[str, Any], holds: bool) -> Seen:
    """Return what is said to one who takes a statement for false where it holds, or the other way round."""
    return FOUND[at["says"]](runs, at, holds)


def _seen(
    holds: bool, name: str, step: str = "", at: tuple[int, ...] = (), also: tuple[int, int] | None = None, **facts: int
) -> Seen:
    """Return the words of a statement with its cell, (head, row, column), filled in."""
    named = dict(zip(("head", "row", "column"), map(ordinal, at)))
    if also is not None:
        named |= {"row2": ordinal(also[0]), "column2": ordinal(also[1])}
    said = (NO if holds else YES)[name].format(**named, **facts)
    cells = ((at[1], at[2]), *([also] if also is not None else [])) if at else ()
    return Seen(said, step, at[0] if at else 0, cells)


def _largest(array: Array) -> tuple[int, ...]:
    return tuple(map(int, np.unravel_index(int(array.argmax()), array.shape)))


def _head(runs: QuestionContext, at: Mapping[str, Any]) -> int:
    return runs.index(runs.step("weights"), at, ("head",))[0]


def _symmetric(runs: QuestionContext, at: Mapping[str, Any], holds: bool) -> Seen:
    head = _head(runs, at)
    S = runs.step("scores").array[head]
    if S.shape[0] != S.shape[1]:
        return _seen(False, "oblong")
    if holds:
        Q, K = (runs.step(name).array for name in ("queries", "keys"))
        k = K[head // runs.trace.config.group_size]
        return _seen(True, "tied" if np.array_equal(Q[head], k) else "symmetric")
    row, column = _largest(np.abs(S - S.T))
    return _seen(False, "symmetric", "scores", (head, row, column), (column, row))


def _sums(axis: int, name: str) -> Find:
    def found(runs: QuestionContext, at: Mapping[str, Any], holds: bool) -> Seen:
        head = _head(runs, at)
        A = runs.step("weights").array[head]
        line = int(np.abs(A.sum(axis=axis) - 1).argmax())
        cell = (line, int(A[line].argmax())) if axis else (int(A[:, line].argmax()), line)
        return _seen(holds, name, "weights", (head, *cell))

    return found


def _same(runs: QuestionContext, at: Mapping[str, Any], holds: bool) -> Seen:
    if holds:
        return _seen(True, "same")
    apart = runs.compared(at.get("step", "weights"), at)
    head, row, column = _largest(apart.reshape(-1, *apart.shape[-2:]))
    return _seen(False, "same", at.get("step", "weights"), (head, row, column))


def _looks_ahead(runs: QuestionContext, at: Mapping[str, Any], holds: bool) -> Seen:
    head = _head(runs, at)
    ahead = np.triu(runs.step("weights").array[head], 1)
    return _seen(holds, "looks_ahead", "weights", (head, *_largest(ahead)))


def _mostly_one_key(runs: QuestionContext, at: Mapping[str, Any], holds: bool) -> Seen:
    A = runs.step("weights").array
    largest = A.max(axis=-1)
    head, row = _largest(largest if holds else -largest)
    return _seen(holds, "mostly_one_key", "weights", (head, row, int(A[head, row].argmax())))


def _padding(runs: QuestionContext, at: Mapping[str, Any], holds: bool) -> Seen:
    words, padding = (
        np.array([(token == PAD) == is_key for token in tokens])
        for tokens, is_key in ((runs.trace.query_tokens, False), (runs.trace.key_tokens, True))
    )
    A = np.where(words[:, None] & padding, np.abs(runs.step("weights").array), -1.0)
    return _seen(holds, "padding_is_not_read", "weights", _largest(A))


def _heads_add_up(runs: QuestionContext, at: Mapping[str, Any], holds: bool) -> Seen:
    if holds:
        return _seen(True, "heads_add_up", "w_o")
    heads, W_O = runs.step("heads"), runs.step("w_o").array
    Z = [heads.head(h) for h in range(len(heads.array))]
    rows = np.split(W_O, np.cumsum([z.shape[-1] for z in Z])[:-1])
    off = np.abs(np.sum([z @ w for z, w in zip(Z, rows)], axis=0) - runs.step("output").array)
    return _seen(False, "heads_add_up", "output", (0, *_largest(off)))


def _groups_agree(runs: QuestionContext, at: Mapping[str, Any], holds: bool) -> Seen:
    A, size = runs.step("weights").array, runs.trace.config.group_size
    first = A[np.arange(len(A)) // size * size]
    head, row, column = _largest(np.abs(A - first))
    return _seen(holds, "groups_agree", "weights", (head, row, column), other=ordinal(head // size * size))


def _full_rank(runs: QuestionContext, at: Mapping[str, Any], holds: bool) -> Seen:
    widths = runs.trace.config.key_widths()
    return _seen(holds, "product_has_full_rank", "w_q", n=min(widths))


def _within_v(runs: QuestionContext, at: Mapping[str, Any], holds: bool) -> Seen:
    S, bounds = runs.step("scores").array, np.abs(runs.step("score_v").array).sum(axis=-1)
    off = np.abs(S) - np.reshape(bounds, (-1, 1, 1))
    return _seen(holds, "scores_within_v", "scores", _largest(off))


def _follow_distance(runs: QuestionContext, at: Mapping[str, Any], holds: bool) -> Seen:
    if holds:
        return _seen(True, "scores_follow_distance")
    S, tokens = runs.step("scores").array, (runs.trace.query_tokens, runs.trace.key_tokens)
    first, most, cells = dict[tuple[str, str, int], tuple[int, int]](), -1.0, (0, (0, 0), (0, 0))
    for row, column in np.ndindex(S.shape[1:]):
        one = first.setdefault((tokens[0][row], tokens[1][column], column - row), (row, column))
        apart = np.abs(S[:, row, column] - S[:, one[0], one[1]])
        if float(apart.max()) > most:
            most, cells = float(apart.max()), (int(apart.argmax()), one, (row, column))
    head, one, other = cells
    return _seen(False, "scores_follow_distance", "scores", (head, *one), other)


def _within_limit(runs: QuestionContext, at: Mapping[str, Any], holds: bool) -> Seen:
    return _seen(holds, "values_within_limit", "w_v", _largest(np.abs(runs.step("w_v").array)))


def _of_queries(runs: QuestionContext, at: Mapping[str, Any], holds: bool) -> Seen:
    Q, K = runs.step("queries").array, np.repeat(runs.step("keys").array, runs.trace.config.group_size, axis=0)
    off = np.abs(runs.step("scores").array - Q @ np.swapaxes(K, -1, -2))
    return _seen(holds, "scores_of_queries", "scores", _largest(off))


FOUND: dict[str, Find] = {
    "symmetric": _symmetric,
    "rows_sum_to_one": _sums(1, "rows_sum_to_one"),
    "columns_sum_to_one": _sums(0, "columns_sum_to_one"),
    "same": _same,
    "looks_ahead": _looks_ahead,
    "mostly_one_key": _mostly_one_key,
    "padding_is_not_read": _padding,
    "heads_add_up": _heads_add_up,
    "groups_agree": _groups_agree,
    "product_has_full_rank": _full_rank,
    "scores_within_v": _within_v,
    "scores_follow_distance": _follow_distance,
    "values_within_limit": _within_limit,
    "scores_of_queries": _of_queries,
}
"""By the names of the statements."""
