"""What the Explore page shows of a run with many layers: one or all of them, with special tokens or without."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from attnviz.analysis import special_tokens
from attnviz.arrays import Array
from attnviz.engine.records.trace import Trace
from attnviz.pictures.stage_record import Stage
from attnviz.settings.language import Words
from attnviz.text.cell_sentence import percent
from attnviz.ui.components.pickers import head_mosaic
from attnviz.ui.panels import explore_panels
from attnviz.ui.session import widgets
from attnviz.ui.session.notices import paragraph
from attnviz.ui.session.selection import Selection

MOSAIC = "mosaic"
WORDS = Words(
    {
        "views": "Layers shown",
        "one": "One layer",
        "all": "All {n} heads",
        "tokens": "Special tokens",
        "with": "All tokens",
        "without": "Without {names}",
        "left_out": "Words give {names} {share} of their weight{where}: hidden here, and nothing is normalised anew.",
        "in_layer": " in this layer",
        "in_all": " in all heads together",
    }
)


@dataclass(frozen=True)
class Seen:
    """The places of the tokens that are shown; None for all of them. Places count from 0, a selection's from 1."""

    rows: tuple[int, ...] | None = None

    def has(self, place: int) -> bool:
        """Return whether a token is shown."""
        return self.rows is None or place in self.rows

    def place(self, place: int) -> int:
        """Return where among the tokens that are shown a token stands."""
        return place if self.rows is None else self.rows.index(place)

    def inside(self, selection: Selection) -> Selection:
        """Return the selection with places among the tokens that are shown; none for one that is not."""
        if self.rows is None:
            return selection
        at = {row + 1: number + 1 for number, row in enumerate(self.rows)}
        query, key = (None if place is None else at.get(place) for place in (selection.query, selection.key))
        key = None if query is None or (selection.key and not key) else key
        return replace(selection, query=query, key=key)

    def outside(self, before: Selection, picked: Selection) -> Selection:
        """Return what was picked among the tokens that are shown as places of all tokens."""
        if self.rows is None:
            return picked
        changed: dict[str, Any] = {}
        for name in ("query", "key"):
            place = getattr(picked, name)
            if place is not None and picked != before:
                changed[name] = self.rows[place - 1] + 1 if place <= len(self.rows) else None
        return replace(picked, **changed)

    def part(self, stage: Stage) -> Stage:
        """Return the part of a stage that is shown; what has no tokens along its axes stays whole."""
        if self.rows is None:
            return stage
        rows, columns = list(self.rows), list(self.rows)
        array, masked = stage.array, stage.masked
        if stage.axes[0] in ("query", "key"):
            array = array[:, rows]
            masked = None if masked is None else masked[:, rows]
            stage = replace(stage, rows=[stage.rows[at] for at in rows], edited=())
        if stage.axes[1] == "key" and stage.columns is not None:
            array = array[..., columns]
            masked = None if masked is None else masked[..., columns]
            stage = replace(stage, columns=[stage.columns[at] for at in columns], edited=(), tight=True)
        return replace(stage, array=array, masked=masked)

    def of_weights(self, weights: Array) -> Array:
        """Return the part of weights (heads, queries, keys) that is shown."""
        return weights if self.rows is None else weights[:, list(self.rows)][..., list(self.rows)]


def seen(trace: Trace, selection: Selection) -> Seen:
    """Return which tokens are shown."""
    is_offered = special_tokens.has_both(trace.query_tokens) and trace.query_tokens == trace.key_tokens
    return Seen(special_tokens.words(trace.query_tokens)) if selection.specials and is_offered else Seen()


def choose(trace: Trace, selection: Selection) -> Selection:
    """Draw which layers and which tokens are shown, where there is a choice; the selection as the visitor leaves it."""
    tokens, n = trace.query_tokens, len(trace.layers)
    offers = special_tokens.has_both(tokens) and tokens == trace.key_tokens
    if n == 1 and not offers:
        return selection
    with st.container(key="views", horizontal=True, gap="small", vertical_alignment="bottom"):
        if n > 1:
            words: Mapping[bool, str] = {
                False: WORDS["one"],
                True: WORDS["all"].format(n=n * trace.config.n_heads),
            }
            selection = widgets.choose_available(
                selection, "every", WORDS["views"], (False, True), words=words.__getitem__, buttons=True,
                label_visibility="collapsed",
            )  # fmt: skip
            if not selection.every:
                selection = explore_panels.choose_layer(trace, selection, label_visibility="collapsed")
        if offers:
            without = WORDS["without"].format(names=_specials(trace))
            words = {False: WORDS["with"], True: without}
            selection = widgets.choose_available(
                selection, "specials", WORDS["tokens"], (False, True), words=words.__getitem__, buttons=True,
                label_visibility="collapsed",
            )  # fmt: skip
    shown = seen(trace, selection)
    if shown.rows is not None:
        _say(trace, selection)
    return selection


def _specials(trace: Trace) -> str:
    words = special_tokens.words(trace.query_tokens)
    found = dict.fromkeys(token for at, token in enumerate(trace.query_tokens) if at not in words)
    return ", ".join(found)


def _say(trace: Trace, selection: Selection) -> None:
    """Say how much is left out."""
    layers = trace.layers if selection.every else (trace.layers[selection.layer - 1],)
    A = np.concatenate([steps["weights"].array for steps in layers])
    share = percent(special_tokens.share(A, trace.query_tokens, trace.key_tokens))
    where = WORDS["in_all" if selection.every else "in_layer"]
    paragraph([WORDS["left_out"].format(names=_specials(trace), share=share, where=where)])


def mosaic(trace: Trace, selection: Selection) -> None:
    """Draw all heads of all layers."""
    head_mosaic.show(trace, key=MOSAIC, kept=seen(trace, selection).rows)


def opened(trace: Trace) -> tuple[int, int] | None:
    """Return the layer and the head that were opened in the mosaic since the last run, from 0; None as a rule."""
    return head_mosaic.chosen(MOSAIC, trace)
