"""All heads of all layers as one mosaic of small pictures, in order or sorted by what they do; click one to open it."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from attnviz.analysis.all_heads import all_kinds, all_weights
from attnviz.analysis.circuits.behaviours import KINDS
from attnviz.analysis.circuits.prompts import prompts
from attnviz.analysis.head_kinds import HeadKind, in_order
from attnviz.engine.records.trace import Trace
from attnviz.pictures.colours import DARK, SHARE
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words
from attnviz.text import head_roles, head_sentences
from attnviz.text.head_roles import Roles
from attnviz.text.query_sentences import visible_token
from attnviz.ui.components.pickers.film_strip import small_pictures
from attnviz.ui.session.browser import transport
from attnviz.ui.session.browser.component import component, ignore, report

WORDS = Words(
    {
        "label": "All heads of all layers; click one to open it",
        "layers": "in order",
        "kinds": "by what they do on this sentence",
        "test": "by test on {n} other sentences",
        "row": "layer {n}",
        "scale": "faint is 0, strong is {high:.2g}",
    }
)
_component = component(__file__)


def show(trace: Trace, *, key: str, kept: Sequence[int] | None = None, tested: Roles | None = None) -> None:
    """Draw the mosaic; `chosen` tells a press.

    kept    the positions of the tokens shown, all if left out
    tested  what the heads do by test, by which they can be sorted then
    """
    _component(key=key, data=packed(trace, kept, tested), height="content", on_head_change=ignore)


def chosen(key: str, trace: Trace) -> tuple[int, int] | None:
    """Return the layer and head that were pressed since the last run, from 0; None as a rule.

    A browser can say anything.
    """
    at = report(key).get("head")
    heads = trace.config.n_heads
    if isinstance(at, bool) or not isinstance(at, int) or not 0 <= at < heads * len(trace.layers):
        return None
    return divmod(at, heads)


def packed(trace: Trace, kept: Sequence[int] | None, tested: Roles | None = None) -> bytes:
    """Pack for the browser the words and the picture of each head, 0 for what is masked."""
    weights = all_weights(trace)
    kinds = all_kinds(trace, weights)
    if kept is not None:
        weights = weights[:, list(kept)][..., list(kept)]
    high = float(np.nanmax(weights)) or 1.0 if kept is not None else 1.0
    small, heads = small_pictures(weights / high), trace.config.n_heads
    firsts = range(0, len(kinds), heads)
    names = [name for n, at in enumerate(firsts) for name in head_sentences.names(trace, n, kinds[at : at + heads])]
    tiles = [
        _tile(trace, head_kind, divmod(at, heads), names[at]) | _by_test(tested or {}, *divmod(at, heads))
        for at, head_kind in enumerate(kinds)
    ]
    data: dict[str, Any] = {
        "tiles": tiles,
        "sorted": [head_kind.head for head_kind in in_order(kinds)],
        "by_test": None if tested is None else _by_role(tested, len(trace.layers), heads),
        "heads": heads,
        "size": list(small.shape[1:]),
        "pixels": base64.b64encode(small.tobytes()).decode(),
        "words": {**WORDS, "scale": WORDS["scale"].format(high=high), "test": WORDS["test"].format(n=len(prompts()))},
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


def _by_test(tested: Roles, layer: int, head: int) -> dict[str, str]:
    """Return what a tile says of its head by test: in short, and whole; empty where it does none of the kinds."""
    return {"role": head_roles.heading(tested, layer, head), "tested": head_roles.in_words(tested, layer, head)}


def _by_role(tested: Roles, layers: int, heads: int) -> list[int]:
    """Return the numbers of all heads by the kind that they are called by, those with most of it first; others last.

    >>> _by_role({}, 1, 2)
    [0, 1]
    """

    def place(at: int) -> tuple[int, float]:
        called = head_roles.called_by(tested, *divmod(at, heads))
        return (len(KINDS), 0.0) if called is None else (KINDS.index(called.kind), -called.weight[divmod(at, heads)])

    return sorted(range(layers * heads), key=place)
