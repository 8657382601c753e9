"""The sentence over the maps: arcs from one word to those that it takes from, and one line that says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from attnviz.engine.records.trace import Trace
from attnviz.pictures.colours import DARK, SHARE
from attnviz.pictures.columns import roles
from attnviz.text import opening_sentence
from attnviz.text.query_sentences import reading
from attnviz.ui.session import transport
from attnviz.ui.session.component import component

_component = component(__file__, is_isolated=False)


def show(trace: Trace, layer: int, *, key: str, head: int, query: int, chosen: bool) -> None:
    """Draw the sentence; what one word of it takes in a head, counted from 0, is shown until another is pointed at.

    chosen  whether a visitor has chosen the word, so that it is marked
    """
    _component(
        key=key, data=packed(trace, layer, head, query, chosen=chosen), height="content", on_query_change=lambda: None
    )


def chosen_query(key: str, words: int) -> int | None:
    """Return the word that was chosen since the last run, counted from 0; None as a rule: browsers can say anything."""
    state = st.session_state.get(key)
    query = state.get("query") if isinstance(state, Mapping) else None
    good = isinstance(query, int) and not isinstance(query, bool) and 0 <= query < words
    return query if good else None


def packed(trace: Trace, layer: int, head: int, query: int, *, chosen: bool) -> bytes:
    """Pack the data by which the browser answers every hover: the words, and the weights of one head."""
    found, role = reading(trace, layer, head), roles(trace, layer)
    words = opening_sentence.WORDS
    data: dict[str, Any] = {
        "queries": found.queries,
        "keys": None if found.is_self else found.keys,
        "head": head,
        "query": query,
        "chosen": chosen,
        "shares": bool(found.shares.all()),
        "shows": words["shows" if found.is_self else "crossed"],
        "words": {name: words[name] for name in ("takes", "weighs", "nothing", "itself", "sentence")},
        "heads": [" · ".join((words["head"].format(n=at + 1), each)) for at, each in enumerate(role)],
        "made": opening_sentence.made(trace),
        "scales": [list(SHARE), list(DARK[SHARE])],
    }
    weights = np.where(found.masked, np.nan, found.weights)
    with np.errstate(over="ignore"):
        return transport.packed(data, weights.astype("<f4").tobytes())
