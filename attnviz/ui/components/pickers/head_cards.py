"""A card for each head, sorted by what it does; a press on one brings that head forward in the maps."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from attnviz.analysis.all_heads import all_kinds
from attnviz.analysis.head_kinds import in_order
from attnviz.engine.external.traces import forbidden
from attnviz.engine.records.trace import Trace
from attnviz.pictures.colours import DARK, SHARE
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words
from attnviz.text import head_sentences
from attnviz.text.query_sentences import visible_token
from attnviz.ui.components.pickers.film_strip import small_pictures
from attnviz.ui.session.browser import transport
from attnviz.ui.session.browser.component import component, ignore

WORDS = Words({"cards": "Heads, sorted by what they do; click one to enlarge it", "head": "head {n}"})

_component = component(__file__)


def show(trace: Trace, layer: int, *, key: str, focus: int | None) -> None:
    """Draw the cards; `focus` is the head that is shown large, counted from 0."""
    _component(key=key, data=packed(trace, layer, focus), height="content", on_event_change=ignore)


def packed(trace: Trace, layer: int, focus: int | None) -> bytes:
    """Pack the data for the browser: for each card its words and its picture, 0 for masked."""
    steps = trace.layers[layer]
    array = steps["weights"].array
    hidden = np.broadcast_to(forbidden(steps), array.shape)
    by_head = all_kinds(trace, np.where(hidden, 0.0, array))
    names, kinds = head_sentences.names(trace, layer, by_head), in_order(by_head)
    small = small_pictures(np.where(hidden, np.nan, array))
    words = [visible_token(trace.key_tokens[head_kind.key]) for head_kind in kinds]
    cards: list[dict[str, Any]] = [
        {
            "head": head_kind.head,
            "name": WORDS["head"].format(n=ordinal(head_kind.head)),
            "title": names[head_kind.head],
            "lines": head_sentences.lines(head_kind, word, array.shape[2], names[head_kind.head]),
            "pixels": base64.b64encode(small[head_kind.head].tobytes()).decode(),
        }
        for head_kind, word in zip(kinds, words, strict=True)
    ]
    scales = [list(SHARE), list(DARK[SHARE])]
    data = {"cards": cards, "size": list(small.shape[1:]), "focus": focus, "label": WORDS["cards"], "scales": scales}
    return transport.packed(data)
