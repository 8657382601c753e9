"""Questions that are answered otherwise than by a number or a choice: an order, a cell, a mask, a slider, a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.classroom.wrong_choices.keys import KEYS
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words
from attnviz.text.format.sentence_parts import Sentence, fill, join_sentences, name_token, rounded_number

WORDS = Words(
    {
        "order": "From the largest weight to the smallest: {keys}.",
        "order_start": "The first ones are in the right order; look again from number {n} on.",
        "order_missing": "So far the order is right, but a key is missing.",
        "order_no_weight": "One of these keys gets no weight: it stays out.",
        "order_reversed": "That is from the smallest to the largest.",
        "order_first": "Look for the largest score of the row: its key comes first.",
        "cell": "row {row}, column {column}",
        "cell_is": "It is in the row of {query} and the column of {key}: {weight}.",
        "cell_transposed": "That is the cell across the diagonal: rows are queries, columns are keys.",
        "cell_row": "The row is right; its column is not.",
        "cell_column": "The column is right; its row is not.",
        "cell_other": "First find the row of the query, then the column of the key in it.",
        "cell_of_query": "First find the row of the query, then the largest weight in it.",
        "cell_of_key": "First find the column of the key, then the largest weight in it.",
        "cell_of_any": "Another cell holds a larger weight.",
        "cell_allowed": "A causal mask allows that cell: what it forbids lies above the diagonal.",
        "cell_ahead": "A causal mask would forbid that cell, too, but another such cell holds more.",
        "mask_is": "{n} of {all} cells are allowed.",
        "mask_rows": "Columns that are allowed, row by row: {rows}.",
        "mask_row": "{row}: {columns}",
        "mask_no_column": "none",
        "mask_inverted": "That forbids what is allowed and allows what is forbidden.",
        "mask_transposed": "That is the mask mirrored at the diagonal: rows are queries, columns are keys.",
        "mask_itself": "All is right but the diagonal: may a word attend to itself?",
        "mask_more": "Allowed, but should be forbidden: {n} of the cells.",
        "mask_less": "Forbidden, but should be allowed: {n} of the cells.",
        "mask_both": "Allowed, but should be forbidden: {more} of the cells. Forbidden, but should be allowed: {less}.",
        "slider": "The weight is right at {values}.",
        "slider_high": "The weight is {weight} there, which is too large.",
        "slider_low": "The weight is {weight} there, which is too small.",
    }
)


def order(trace: Trace, head: int, query: int, layer: int = 0) -> ResolvedQuestion:
    """Return the question in which order the keys of a row stand by their weights."""
    A, tokens = trace.layers[layer]["weights"].array, trace.key_tokens
    allowed = [key for key in range(len(tokens)) if A[head, query, key] > 0]
    right = tuple(sorted(allowed, key=lambda key: -A[head, query, key]))

    def said_of(chosen: Sequence[int]) -> str:
        if not {*chosen} <= {*allowed}:
            return WORDS["order_no_weight"]
        if tuple(chosen) == right[::-1]:
            return WORDS["order_reversed"]
        if chosen and tuple(chosen) == right[: len(chosen)]:
            return WORDS["order_missing"]
        if elsewhere := _of_another_line(A, (head, query), tuple(chosen)):
            return elsewhere
        n = next((n for n, pair in enumerate(zip(chosen, right)) if pair[0] != pair[1]), 0)
        return WORDS["order_start"].format(n=ordinal(n)) if n else WORDS["order_first"]

    named = tuple(name_token(tokens, key) for key in range(len(tokens)))
    return ResolvedQuestion(
        form="order",
        options=named,
        in_order=right,
        solution=(fill(WORDS["order"], keys=join_sentences([named[key] for key in right])),),
        said_in_order=said_of,
    )


def _of_another_line(A: Array, at: tuple[int, int], chosen: tuple[int, ...]) -> str:
    """Return what is said of the order of another head, another row, or the column of the word; else nothing."""
    head, query = at
    if query < A.shape[2] and chosen == _ordered(A[head, :, query]):
        return KEYS["column"]
    for other in range(len(A)):
        if other != head and chosen == _ordered(A[other, query]):
            return KEYS["head"].format(head=ordinal(other))
    for other in range(A.shape[1]):
        if other != query and chosen == _ordered(A[head, other]):
            return KEYS["row"].format(row=ordinal(other))
    return ""


def _ordered(line: Array) -> tuple[int, ...]:
    """Return the positions of the weights above 0, the largest first."""
    return tuple(sorted(np.flatnonzero(line > 0).tolist(), key=lambda at: -line[at]))


def cell(trace: Trace, head: int, row: int, column: int, layer: int = 0, asked: str = "cell_other") -> ResolvedQuestion:
    """Return the question in which cell a weight stands; cells are counted row by row.

    asked  what is said of a cell in another row and another column, as a row of WORDS: it follows from what is asked
    """
    A = trace.layers[layer]["weights"].array[head]
    n = A.shape[1]
    cells = [divmod(at, n) for at in range(A.size)]
    tokens = trace.query_tokens, trace.key_tokens
    names = {"query": name_token(tokens[0], row), "key": name_token(tokens[1], column)}
    said = {frozenset({at}): _cell(each, (row, column), asked) for at, each in enumerate(cells)}
    return ResolvedQuestion(
        form="cell",
        options=tuple(map(_named, cells)),
        right=frozenset({row * n + column}),
        solution=(fill(WORDS["cell_is"], weight=rounded_number(A[row, column]), **names),),
        said_of=said.get,
    )


def _named(at: tuple[int, ...]) -> Sentence:
    """Return a cell in words."""
    return fill(WORDS["cell"], row=str(ordinal(at[0])), column=str(ordinal(at[1])))


def _cell(at: tuple[int, int], right: tuple[int, int], asked: str) -> str:
    if asked == "cell_ahead" and at[1] <= at[0]:
        return WORDS["cell_allowed"]
    if asked in ("cell_ahead", "cell_of_any"):  # there is no row and no column that could be found first
        return WORDS[asked]
    if at == right[::-1]:
        return WORDS["cell_transposed"]
    same = "cell_row" if at[0] == right[0] else "cell_column" if at[1] == right[1] else asked
    return WORDS[same]


def mask(trace: Trace, layer: int = 0) -> ResolvedQuestion:
    """Return the question which cells of the mask are allowed; cells are counted row by row."""
    allowed = trace.layers[layer]["allowed"].array.astype(bool)
    right = frozenset(np.flatnonzero(allowed).tolist())

    def said_of(chosen: frozenset[int]) -> str:
        drawn = np.isin(np.arange(allowed.size), [*chosen]).reshape(allowed.shape)
        return _mask(drawn, allowed)

    return ResolvedQuestion(
        form="mask",
        options=tuple(map(_named, np.ndindex(allowed.shape))),
        right=right,
        solution=(
            fill(WORDS["mask_is"], n=str(len(right)), all=str(allowed.size)),
            fill(WORDS["mask_rows"], rows=_allowed_columns(allowed)),
        ),
        said_of=said_of,
    )


def _allowed_columns(allowed: Array) -> str:
    """Return a mask in words: the columns that are allowed in each row, counted from 1, neighbours as a range."""
    rows = []
    for row, cells in enumerate(allowed):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], cells.astype(int), [0]))))
        runs = [(ordinal(first), end) for first, end in edges.reshape(-1, 2).tolist()]
        columns = ", ".join(f"{first}" if first == last else f"{first}–{last}" for first, last in runs)
        rows.append(WORDS["mask_row"].format(row=ordinal(row), columns=columns or WORDS["mask_no_column"]))
    return "; ".join(rows)


def _mask(drawn: Array, allowed: Array) -> str:
    if np.array_equal(drawn, np.logical_not(allowed)):
        return WORDS["mask_inverted"]
    if np.array_equal(drawn, allowed.T):
        return WORDS["mask_transposed"]
    off = np.eye(*allowed.shape) == 0
    if np.array_equal(drawn[off], allowed[off]):
        return WORDS["mask_itself"]
    more, less = int((drawn & ~allowed).sum()), int((~drawn & allowed).sum())
    words = "mask_both" if more and less else "mask_more" if more else "mask_less"
    return WORDS[words].format(n=more or less, more=more, less=less)


@dataclass(frozen=True)
class Slider:
    """A slider in a question: the setting it moves, and its stops.

    start  the stop, counted from 0, at which it stands first
    """

    name: str
    stops: tuple[float, ...]
    start: int

    def moved(self, config: Config, at: int) -> Config:
        """Return the setting with the slider at one of its stops."""
        change: dict[str, Any] = {self.name: self.stops[at]}
        return replace(config, **change)


def slider(moving: Slider, weights: Sequence[float], wanted: float, tolerance: float) -> ResolvedQuestion:
    """Return the question at which stop of a slider a weight is what is wanted."""
    stops = moving.stops
    most = tolerance + 1e-9  # 0.34 - 0.32 is a little more than 0.02
    right = frozenset(at for at, weight in enumerate(weights) if abs(weight - wanted) <= most)
    said = {
        frozenset({at}): WORDS["slider_high" if weight > wanted else "slider_low"].format(weight=f"{weight:.2f}")
        for at, weight in enumerate(weights)
    }
    values = ", ".join(f"{stops[at]:.3g}" for at in sorted(right))
    return ResolvedQuestion(
        form="slider",
        options=tuple(fill(f"{stop:.3g}") for stop in stops),
        right=right,
        solution=(fill(WORDS["slider"], values=values),),
        start=moving.start,
        said_of=said.get,
    )
