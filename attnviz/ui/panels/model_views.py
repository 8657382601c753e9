"""The views of a run with many layers on the Explore page: one or all of them, with special tokens or without."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import streamlit as st

from attnviz.analysis import special_tokens
from attnviz.engine.records.trace import Trace
from attnviz.settings.language import Words, sign
from attnviz.text.cell_sentence import percent
from attnviz.text.head_roles import Roles
from attnviz.ui.components.pickers import head_mosaic
from attnviz.ui.components.pickers.head_mosaic import WordPair
from attnviz.ui.panels import explore_panels
from attnviz.ui.panels.window import is_without_specials
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
        "left_out": "Words give {names} {share} of their weight{where}: hidden here, and nothing is renormalised.",
        "in_layer": " in this layer",
        "in_all": " in all heads together",
    }
)


def choose(trace: Trace, selection: Selection, beside: Callable[[Trace], None]) -> Selection:
    """Draw which layers and which tokens are shown, where there is a choice; the selection as the visitor leaves it.

    beside  draws what stands at the end of the same row
    """
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
        beside(trace)
    if is_without_specials(trace, selection):
        _say(trace, selection)
    return selection


def _specials(trace: Trace) -> str:
    words = special_tokens.words(trace.query_tokens)
    tokens = dict.fromkeys(token for at, token in enumerate(trace.query_tokens) if at not in words)
    return sign(", ").join(tokens)


def _say(trace: Trace, selection: Selection) -> None:
    """Say how much is left out."""
    layers = trace.layers if selection.every else (trace.layers[selection.layer],)
    A = np.concatenate([steps["weights"].array for steps in layers])
    share = percent(special_tokens.share(A, trace.query_tokens, trace.key_tokens))
    where = WORDS["in_all" if selection.every else "in_layer"]
    paragraph([WORDS["left_out"].format(names=_specials(trace), share=share, where=where)])


def mosaic(trace: Trace, selection: Selection, tested: Roles | None, pair: WordPair | None) -> None:
    """Draw all heads of all layers, with what they do by test where that is known, and what a pair of words has."""
    kept = kept_tokens(trace, selection)
    head_mosaic.show(trace, key=MOSAIC, kept=kept, tested=tested, pair=pair)


def kept_tokens(trace: Trace, selection: Selection) -> list[int] | None:
    """Return the positions of the tokens that are shown, None for all."""
    return list(special_tokens.words(trace.query_tokens)) if is_without_specials(trace, selection) else None
