"""All heads of all layers as one mosaic of small pictures, in order or sorted by what they do; click one to open it."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st

from attnviz.analysis import special_tokens
from attnviz.analysis.head_kinds import HeadKind, head_kinds, in_order
from attnviz.arrays import Array
from attnviz.engine.external import forbidden
from attnviz.engine.records.trace import Trace
from attnviz.pictures.colours import DARK, SHARE
from attnviz.settings.language import Words
from attnviz.text import head_sentences
from attnviz.text.query_sentences import visible_token
from attnviz.ui.components.pickers.film_strip import small_pictures
from attnviz.ui.session import transport
from attnviz.ui.session.component import component

WORDS = Words(
    {
        "label": "All heads of all layers; click one to open it",
        "name": "layer {layer}, head {head}",
        "layers": "in order",
        "kinds": "by what they do on this sentence",
        "row": "layer {n}",
        "scale": "white is 0, dark is {high:.2g}",
    }
)
SHORT = Words(
    {"previous": "previous", "self": "itself", "next": "next", "same": "same word", "article": "article → noun"}
)

_component = component(__file__)


def show(trace: Trace, *, key: str, kept: Sequence[int] | None = None) -> None:
    """Draw the mosaic; `kept` are the places of the tokens that are shown, all if left out. `chosen` tells a press."""
    _component(key=key, data=packed(trace, kept), height="content", on_head_change=lambda: None)


def chosen(key: str, trace: Trace) -> tuple[int, int] | None:
    """Return the layer and head that were pressed since the last run, from 0; None as a rule.

    A browser can say anything.
    """
    state = st.session_state.get(key)
    at = state.get("head") if isinstance(state, Mapping) else None
    heads = trace.config.n_heads
    if isinstance(at, bool) or not isinstance(at, int) or not 0 <= at < heads * len(trace.layers):
        return None
    return divmod(at, heads)


def packed(trace: Trace, kept: Sequence[int] | None) -> bytes:
    """Pack for the browser the words and the picture of each head, 0 for what is masked."""
    weights = all_weights(trace)
    left = special_tokens.words(trace.query_tokens)
    named = left if special_tokens.has_both(trace.query_tokens) else range(weights.shape[-2])
    kinds = _kinds(trace, weights, list(named))
    if kept is not None:
        weights = weights[:, list(kept)][..., list(kept)]
    high = float(np.nanmax(weights)) or 1.0 if kept is not None else 1.0
    small, heads = small_pictures(weights / high), trace.config.n_heads
    tiles = [_tile(trace, found, divmod(at, heads)) for at, found in enumerate(kinds)]
    data: dict[str, Any] = {
        "tiles": tiles,
        "sorted": [found.head for found in in_order(kinds)],
        "heads": heads,
        "size": list(small.shape[1:]),
        "pixels": base64.b64encode(small.tobytes()).decode(),
        "words": {**WORDS, "scale": WORDS["scale"].format(high=high)},
        "rows": [WORDS["row"].format(n=n + 1) for n in range(len(trace.layers))],
        "scales": [list(SHARE), list(DARK[SHARE])],
    }
    return transport.packed(data)


def all_weights(trace: Trace) -> Array:
    """Return the weights of all heads of all layers, (layers times heads, queries, keys), NaN where masked."""
    return np.concatenate(
        [
            np.where(np.broadcast_to(forbidden(steps), steps["weights"].shape), np.nan, steps["weights"].array)
            for steps in trace.layers
        ]
    )


def _kinds(trace: Trace, weights: Array, words: Sequence[int]) -> list[HeadKind]:
    """Return the kind of each head by the rows of words: those of special tokens mean nothing."""
    if trace.config.is_cross_attention:
        return head_kinds(np.nan_to_num(weights), is_self=False)
    found = np.nan_to_num(weights)
    outside = np.setdiff1d(np.arange(found.shape[-2]), words)
    found[:, outside] = 0.0
    return head_kinds(found, tokens=trace.query_tokens)


def _tile(trace: Trace, found: HeadKind, at: tuple[int, int]) -> dict[str, Any]:
    word = visible_token(trace.key_tokens[found.key])
    title = head_sentences.title(found, word)
    first, _ = head_sentences.lines(found, word, len(trace.key_tokens))
    return {
        "name": f"{at[0] + 1}.{at[1] + 1}",
        "about": f"{WORDS['name'].format(layer=at[0] + 1, head=at[1] + 1)}: {title}, {first}",
        "title": SHORT.get(found.kind, word),
        "kind": found.kind,
    }
