"""All heads of a model at once: sorted by what one word gives another, here and in another wording of the sentence."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attnviz.analysis.all_heads import all_weights
from attnviz.analysis.token_alignment import aligned
from attnviz.arrays import Array
from attnviz.engine.records.trace import Trace
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words
from attnviz.text.query_sentences import visible_token
from attnviz.ui.components.pickers.head_mosaic import WordPair
from attnviz.ui.panels import model_views
from attnviz.ui.panels.depth import head_roles
from attnviz.ui.panels.depth.head_maps import kept
from attnviz.ui.session import admission, widgets
from attnviz.ui.session.failures import refused
from attnviz.ui.session.notices import notice, paragraph
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "beside": "Beside what “{query}” gives “{key}” here stands what “{other_query}” gives “{other_key}” there.",
        "none": "The other wording has no token in the place of “{token}”; leave that word in it.",
    }
)


def draw(trace: Trace, selection: Selection) -> Selection:
    """Draw the mosaic of all heads, and below it, where two words are chosen, a field for another wording."""
    mosaic, pair = st.container(), None
    query, key = selection.query, selection.key
    if query is not None and key is not None:
        field, _ = st.columns([2, 1])
        with field:
            selection = widgets.checked(widgets.draw(selection, "wording"))
        pair = WordPair(query, key, _other(trace, query, key, selection.wording))
    tested = head_roles.of_prompts(trace, asked=True)
    with mosaic:
        model_views.mosaic(trace, selection, tested, pair)
    return selection


def _other(trace: Trace, query: int, key: int, wording: str) -> Array | None:
    """Return what the pair has in every head of the other wording, and say which words that are; None without one."""
    if not wording.strip():
        return None
    setting = replace(trace.config.chosen, sentence=wording)
    try:
        if not admission.admitted(admission.MAPS, setting):
            return None
        queries, keys, weights = kept(trace, ("wording", wording), lambda: _heads(admission.run_of(setting)))
    except ConfigError as error:
        notice(refused(error))
        return None
    token, other = visible_token(trace.query_tokens[query]), visible_token(trace.key_tokens[key])
    row = dict(aligned(trace.query_tokens, queries)).get(query)
    column = dict(aligned(trace.key_tokens, keys)).get(key)
    if row is None or column is None:
        notice(WORDS["none"].format(token=token if row is None else other))
        return None
    there = {"other_query": visible_token(queries[row]), "other_key": visible_token(keys[column])}
    paragraph([WORDS["beside"].format(query=token, key=other, **there)])
    found: Array = weights[:, row, column]
    return found


def _heads(trace: Trace) -> tuple[tuple[str, ...], tuple[str, ...], Array]:
    """Return the tokens of a run, and the weights of all its heads, NaN where masked."""
    return tuple(trace.query_tokens), tuple(trace.key_tokens), all_weights(trace)
