"""The numbers that a cache of keys and values keeps when a word is written, step by step, looked up in two runs."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from attnviz.analysis.circuits.attribution import decoder_of
from attnviz.analysis.circuits.key_value_cache import CACHED, cost_of_last_word, largest_change
from attnviz.engine.records.trace import Trace
from attnviz.settings.language import Words
from attnviz.text.captions import NAMES
from attnviz.text.format.number_format import localised, short
from attnviz.text.query_sentences import visible_token
from attnviz.ui.components import number_tables
from attnviz.ui.session.notices import paragraph

WORDS = Words(
    {
        "title": "What was computed for the last word, and what a cache keeps",
        "last": "“{word}” is token {n}. Its own row takes {new} numbers of the layers' steps; it reads {kept} keys and "
        "values of the {before} tokens before it, which a cache keeps from the time they were computed. The other "
        "{spared} numbers of those rows need not be there any more. This page shows all rows, so it computes all of "
        "them again.",
        "same": "Compared with the run without “{word}”, every key and value of the tokens before it is the same.",
        "nearly": "Compared with the run without “{word}”, no key or value of the tokens before it differs by more "
        "than {most}, which is rounding.",
        "step": "step, in all layers",
        "new": "computed for this word",
        "kept": "kept in the cache",
        "spared": "of words before, not needed",
    }
)


def draw(trace: Trace) -> None:
    """Draw it for a run of a decoder with two tokens or more; the second run is made only where the part is open."""
    n = len(trace.query_tokens)
    if n < 2:
        return
    part = st.expander(WORDS["title"], key="next-cache", on_change="rerun")
    if not part.open:
        return
    with part:
        costs, word = cost_of_last_word(trace), visible_token(trace.query_tokens[-1])
        sums = {name: sum(getattr(each, name) for each in costs.values()) for name in ("new", "kept", "spared")}
        counted = {name: localised(f"{number:,}") for name, number in sums.items()}
        paragraph([WORDS["last"].format(word=word, n=n, before=n - 1, **counted)])
        most = largest_change(trace, decoder_of(trace))
        paragraph([WORDS["nearly" if most else "same"].format(word=word, most=localised(short(most)))])
        names = sorted(costs, key=lambda name: name not in CACHED)  # what is kept stands first
        columns: dict[str, list[object]] = {WORDS["step"]: [NAMES[name] for name in names]}
        columns |= {WORDS[part]: [getattr(costs[name], part) for name in names] for part in sums}
        number_tables.show(pd.DataFrame(columns), hide_index=True, key="next-cache-table")
