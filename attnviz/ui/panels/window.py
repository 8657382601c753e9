"""The part of a run's tokens that is shown: without special ones where that is chosen, and of a long text a window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from attnviz.analysis import special_tokens
from attnviz.arrays import Array
from attnviz.engine.external.traces import forbidden
from attnviz.engine.inputs import tokens
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.pictures.figures import bars
from attnviz.pictures.stage_record import Stage
from attnviz.settings.faults import ConfigError
from attnviz.settings.fields import settings
from attnviz.settings.language import Words
from attnviz.text.format.number_format import grouped
from attnviz.ui.components.pickers.overview import Overview
from attnviz.ui.session import session_state
from attnviz.ui.session.callback import callback
from attnviz.ui.session.selection import Selection

MOST_WHOLE = 64
"""Tokens that are shown all at once; of more there is a window, and an overview of all of them."""
LENGTH = 32
"""Tokens of a window: a number fits into the cells of a head that is shown alone."""

MOST = int(next(item.metadata["kind"].high for item in settings(Config) if item.name == "max_tokens"))
"""Tokens of a text that can be used."""
WORDS = Words({"more": "Use {n} tokens"})

Positions = tuple[int, ...]


@dataclass(frozen=True)
class Seen:
    """The positions of the tokens that are shown; None for all of them.

    queries, keys      what is shown;  is_window  whether that is a window of a longer text
    of_queries, of_keys  what could be shown if there were room for all
    """

    queries: Positions | None = None
    keys: Positions | None = None
    of_queries: Positions | None = None
    of_keys: Positions | None = None
    is_window: bool = False

    def has(self, query: int) -> bool:
        """Return whether a query is shown."""
        return self.queries is None or query in self.queries

    def position(self, query: int) -> int:
        """Return where among the queries that are shown one stands."""
        return query if self.queries is None else self.queries.index(query)

    def inside(self, selection: Selection) -> Selection:
        """Return the selection with positions among the tokens that are shown; none for one that is not."""
        if self.queries is None and self.keys is None:
            return selection
        query, key = _inside(selection.query, self.queries), _inside(selection.key, self.keys)
        key = None if query is None and not selection.number_of else key
        return replace(selection, query=query, key=key)

    def outside(self, before: Selection, picked: Selection) -> Selection:
        """Return the selection with positions among the shown tokens turned into positions among all."""
        changed: dict[str, Any] = {}
        for name, positions in (("query", self.queries), ("key", self.keys)):
            position = getattr(picked, name)
            if positions is not None and position is not None and picked != before:
                changed[name] = positions[position] if position < len(positions) else None
        return replace(picked, **changed)

    def part(self, stage: Stage) -> Stage:
        """Return the part of a stage that is shown; what has no tokens along its axes stays whole.

        Bars are those of all that could be shown.
        """
        along = [self._along(axis) for axis in stage.axes]
        if stage.columns is None:
            along[1] = None
        if along == [None, None]:
            return stage
        shown = _cut(stage, along)
        if not stage.sums:
            return shown
        whole = [self._of(axis) for axis in stage.axes]
        totals, spread = bars(_cut(stage, (whole[0], along[1])))[0], bars(_cut(stage, (along[0], whole[1])))[1]
        return replace(shown, bars=(totals, spread))

    def of_weights(self, weights: Array) -> Array:
        """Return the part of weights (heads, queries, keys) that could be shown if there were room for all."""
        return _taken(_taken(weights, 1, self.of_queries), 2, self.of_keys)

    def _along(self, axis: str) -> Positions | None:
        return {"query": self.queries, "key": self.keys}.get(axis)

    def _of(self, axis: str) -> Positions | None:
        return {"query": self.of_queries, "key": self.of_keys}.get(axis)


def seen(trace: Trace, selection: Selection) -> Seen:
    """Return the tokens that are shown.

    >>> from attnviz import Config, run
    >>> found = seen(run(Config(sentence="a " * 70, max_tokens=80)), Selection(from_key=59))
    >>> found.queries[0], len(found.queries), found.keys[0], found.keys[-1]
    (0, 32, 38, 69)
    """
    n, m = len(trace.query_tokens), len(trace.key_tokens)
    words = special_tokens.words(trace.query_tokens) if is_without_specials(trace, selection) else None
    long = [len(words) if words else length for length in (n, m)]
    if max(long) <= MOST_WHOLE:
        return Seen(words, words, words, words)
    key = selection.query if selection.key is None else selection.key
    starts = ((selection.from_query, selection.query), (selection.from_key, key))
    queries, keys = (
        _window(words or tuple(range(length)), start, chosen)
        for length, (start, chosen) in zip((n, m), starts, strict=True)
    )
    return Seen(queries, keys, words or tuple(range(n)), words or tuple(range(m)), is_window=True)


def may_be_cut(config: Config) -> bool:
    """Return whether a text has as many tokens as are used, so that it may have more, or none that can be used."""
    try:
        return max(map(len, tokens(config)[:2])) >= config.max_tokens
    except ConfigError:
        return True


def offer_more(trace: Trace) -> None:
    """Offer to use all tokens of a text that is cut, or as many as can be."""
    config = trace.config.chosen
    if config.model or max(len(trace.query_tokens), len(trace.key_tokens)) < config.max_tokens:
        return
    n = max(map(len, tokens(replace(config, max_tokens=MOST))[:2]))
    if n <= config.max_tokens:
        return
    st.button(WORDS["more"].format(n=grouped(n)), key="more-tokens", on_click=_use, args=(n,))


@callback
def _use(n: int) -> None:
    """Use so many tokens in the setting as it is now: parts of the page may have run since the button was drawn."""
    config, selection = session_state.saved(Config, Selection)
    session_state.adopt(replace(config, max_tokens=n), selection)


def is_without_specials(trace: Trace, selection: Selection) -> bool:
    """Return whether special tokens are left out, and there are some."""
    tokens = trace.query_tokens
    return selection.specials and special_tokens.has_both(tokens) and tokens == trace.key_tokens


def held(selection: Selection, before: Seen) -> Selection:
    """Return the selection with the window where it was, or around what is chosen now if that is elsewhere."""
    if not before.is_window or selection.every:
        return selection
    changed: dict[str, int | None] = {}
    words = (
        (selection.query, before.queries or (), before.of_queries),
        (selection.key, before.keys or (), before.of_keys),
    )
    is_inside = all(chosen is None or chosen in positions for chosen, positions, _ in words)
    is_any = selection.query is not None or selection.key is not None
    for name, (chosen, positions, among) in zip(("from_query", "from_key"), words, strict=True):
        if chosen is not None:
            changed[name] = positions[0] if chosen in positions else None
        elif is_inside and getattr(selection, name) is None and (is_any or positions[:1] != (among or ())[:1]):
            changed[name] = positions[0]  # else it would go where the other one is, or to the beginning
    return replace(selection, **changed)  # type: ignore[arg-type]


def overview(trace: Trace, selection: Selection, shown: Seen) -> Overview | None:
    """Return the overview of all tokens beside a window of them: of the head in focus, or else of all heads."""
    if not shown.is_window or shown.queries is None or shown.keys is None:
        return None
    steps = trace.layers[selection.layer]
    weights = np.where(np.broadcast_to(forbidden(steps), steps["weights"].shape), np.nan, steps["weights"].array)
    weights = shown.of_weights(weights if selection.focus is None else weights[selection.focus][None])
    positions = (_position(shown.queries[0], shown.of_queries), _position(shown.keys[0], shown.of_keys))
    return Overview(weights, positions, (len(shown.queries), len(shown.keys)))


def moved(selection: Selection, shown: Seen, to: tuple[int, int] | None) -> Selection:
    """Return the selection with its window where it was dragged to, if it was."""
    if to is None or not shown.is_window or shown.of_queries is None or shown.of_keys is None:
        return selection
    query, key = (
        positions[min(at, len(positions) - 1)] for at, positions in zip(to, (shown.of_queries, shown.of_keys))
    )
    return replace(selection, from_query=query, from_key=key)


def _window(words: Positions, start: int | None, chosen: int | None) -> Positions:
    """Return so many positions from a token on, or around one that is chosen."""
    if len(words) <= MOST_WHOLE:
        return words
    first = start if start is not None else chosen or 0
    at = sum(word < first for word in words)
    if start is None and chosen is not None:
        at -= LENGTH // 2
    at = min(max(at, 0), len(words) - LENGTH)
    return words[at : at + LENGTH]


def _inside(position: int | None, positions: Positions | None) -> int | None:
    if position is None or positions is None:
        return position
    return positions.index(position) if position in positions else None


def _position(at: int, of: Positions | None) -> int:
    return at if of is None else of.index(at)


def _taken(array: Array, axis: int, positions: Sequence[int] | None) -> Array:
    """Return the part of an array at some positions of an axis; neighbours are a view, and cost nothing."""
    if positions is None:
        return array
    first, last = positions[0], positions[-1]
    run = slice(first, last + 1) if last - first + 1 == len(positions) else list(positions)
    return array[(slice(None),) * axis + (run,)]


def _cut(stage: Stage, along: Sequence[Positions | None]) -> Stage:
    """Return a stage with some of its rows and columns."""
    rows, columns = along
    masked = stage.masked
    for axis, positions in enumerate(along, 1):
        masked = masked if masked is None or masked.shape[axis] == 1 else _taken(masked, axis, positions)

    def framed(cells: Sequence[tuple[int, int, int]]) -> tuple[tuple[int, int, int], ...]:
        at = [
            None if positions is None else {position: n for n, position in enumerate(positions)} for positions in along
        ]
        moved = [
            (head, row if at[0] is None else at[0].get(row, -1), column if at[1] is None else at[1].get(column, -1))
            for head, row, column in cells
        ]
        return tuple(cell for cell in moved if min(cell) >= 0)

    return replace(
        stage,
        array=_taken(_taken(stage.array, 1, rows), 2, columns),
        masked=masked,
        rows=stage.rows if rows is None else [stage.rows[at] for at in rows],
        columns=stage.columns if columns is None or stage.columns is None else [stage.columns[at] for at in columns],
        widths=stage.widths if columns is None else None,
        edited=framed(stage.edited),
        wanted=framed(stage.wanted),
        positions=(rows, columns),
    )
