"""All heads of all layers as one mosaic of small pictures, in order or sorted by what they do; click one to open it."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from attnviz.analysis.all_heads import all_kinds, all_weights
from attnviz.analysis.head_kinds import HeadKind, in_order
from attnviz.engine.records.trace import Trace
from attnviz.pictures.colours import DARK, SHARE
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words
from attnviz.text import head_sentences
from attnviz.text.query_sentences import visible_token
from attnviz.ui.components.pickers.film_strip import small_pictures
from attnviz.ui.session.browser import transport
from attnviz.ui.session.browser.component import component, ignore, report

WORDS = Words(
    {
        "label": "All heads of all layers; click one to open it",
        "layers": "in order",
        "kinds": "by what they do on this sentence",
        "row": "layer {n}",
        "scale": "faint is 0, strong is {high:.2g}",
    }
)
_component = component(__file__)


def show(trace: Trace, *, key: str, kept: Sequence[int] | None = None) -> None:
    """Draw the mosaic; `kept` are the positions of the tokens shown, all if left out. `chosen` tells a press."""
    _component(key=key, data=packed(trace, kept), height="content", on_head_change=ignore)


def chosen(key: str, trace: Trace) -> tuple[int, int] | None:
    """Return the layer and head that were pressed since the last run, from 0; None as a rule.

    A browser can say anything.
    """
    at = report(key).get("head")
    heads = trace.config.n_heads
    if isinstance(at, bool) or not isinstance(at, int) or not 0 <= at < heads * len(trace.layers):
        return None
    return divmod(at, heads)


def packed(trace: Trace, kept: Sequence[int] | None) -> bytes:
    """Pack for the browser the words and the picture of each head, 0 for what is masked."""
    weights = all_weights(trace)
    kinds = all_kinds(trace, weights)
    if kept is not None:
        weights = weights[:, list(kept)][..., list(kept)]
    high = float(np.nanmax(weights)) or 1.0 if kept is not None else 1.0
    small, heads = small_pictures(weights / high), trace.config.n_heads
    firsts = range(0, len(kinds), heads)
    names = [name for n, at in enumerate(firsts) for name in head_sentences.names(trace, n, kinds[at : at + heads])]
    tiles = [_tile(trace, head_kind, divmod(at, heads), names[at]) for at, head_kind in enumerate(kinds)]
    data: dict[str, Any] = {
        "tiles": tiles,
        "sorted": [head_kind.head for head_kind in in_order(kinds)],
        "heads": heads,
        "size": list(small.shape[1:]),
        "pixels": base64.b64encode(small.tobytes()).decode(),
        "words": {**WORDS, "scale": WORDS["scale"].format(high=high)},
        "rows": [WORDS["row"].format(n=ordinal(n)) for n in range(len(trace.layers))],
        "scales": [list(SHARE), list(DARK[SHARE])],
    }
    return transport.packed(data)


def _tile(trace: Trace, head_kind: HeadKind, at: tuple[int, int], name: str) -> dict[str, Any]:
    word = visible_token(trace.key_tokens[head_kind.key])
    return {
        "name": f"{ordinal(at[0])}.{ordinal(at[1])}",
        "about": head_sentences.about(head_kind, word, at, len(trace.key_tokens), name),
        "title": head_sentences.short(head_kind, word),
        "kind": head_kind.kind,
    }
