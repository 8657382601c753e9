"""All heads of all layers as one mosaic of small pictures, in order or sorted by what they do; click one to open it."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.analysis.all_heads import all_kinds, all_weights
from attnviz.analysis.circuits.behaviours import KINDS
from attnviz.analysis.circuits.prompts import prompts
from attnviz.analysis.head_kinds import HeadKind, in_order
from attnviz.arrays import Array
from attnviz.engine.records.trace import Trace
from attnviz.pictures.colours import DARK, SHARE
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words
from attnviz.text import head_roles, head_sentences
from attnviz.text.cell_sentence import percent
from attnviz.text.format.number_format import localised
from attnviz.text.head_roles import Roles
from attnviz.text.query_sentences import visible_token
from attnviz.ui.components.pickers.film_strip import small_pictures
from attnviz.ui.session.browser import transport
from attnviz.ui.session.browser.component import component, ignore

WORDS = Words(
    {
        "label": "All heads of all layers; click one to open it",
        "layers": "in order",
        "kinds": "by what they do on this sentence",
        "test": "by test on {n} other sentences",
        "pair": "by “{query}” → “{key}”",
        "row": "layer {n}",
        "head": "head {n}",
        "queries": "The words that attend",
        "keys": "The words that are attended to",
        "first": "Press two words to sort the heads by what the first gives the second.",
        "second": "“{word}” attends to … press a second word.",
        "framed": "“{query}” → “{key}” is framed in each head.",
        "away": "no pair",
    }
)
AMOUNTS = Words({"both": "{amount} · {other}", "masked": "masked"})
_component = component(__file__)


@dataclass(frozen=True)
class WordPair:
    """A word that attends and one that is attended to, and what each head gives the second of the first.

    query, key  their positions, from 0
    other       the weight of each head in another wording, (layers times heads,), NaN where masked; None without one
    """

    query: int
    key: int
    other: Array | None = None


def show(
    trace: Trace,
    *,
    key: str,
    kept: Sequence[int] | None = None,
    tested: Roles | None = None,
    pair: WordPair | None = None,
) -> None:
    """Draw the mosaic.

    kept    the positions of the tokens shown, all if left out
    tested  what the heads do by test;  pair  two words: the heads can be sorted by either
    """
    data = packed(trace, kept, tested, pair)
    _component(key=key, data=data, height="content", on_event_change=ignore)


def packed(
    trace: Trace, kept: Sequence[int] | None, tested: Roles | None = None, pair: WordPair | None = None
) -> bytes:
    """Pack for the browser the words and the picture of each head, 0 for what is masked."""
    weights = all_weights(trace)
    kinds = all_kinds(trace, weights)
    of_pair = None if pair is None else weights[:, pair.query, pair.key]
    if kept is not None:
        weights = weights[:, list(kept)][..., list(kept)]
    high = float(np.nanmax(weights)) or 1.0 if kept is not None else 1.0
    small, heads = small_pictures(weights / high), trace.config.n_heads
    firsts = range(0, len(kinds), heads)
    names = [name for n, at in enumerate(firsts) for name in head_sentences.names(trace, n, kinds[at : at + heads])]
    tiles = [
        _tile(trace, head_kind, divmod(at, heads), names[at])
        | _by_test(tested or {}, *divmod(at, heads))
        | {"amount": "" if of_pair is None or pair is None else _amount(of_pair, pair, at)}
        for at, head_kind in enumerate(kinds)
    ]
    data: dict[str, Any] = {
        "tiles": tiles,
        "sorted": [head_kind.head for head_kind in in_order(kinds)],
        "by_test": None if tested is None else _by_role(tested, len(trace.layers), heads),
        "by_pair": None if of_pair is None else np.argsort(-np.nan_to_num(of_pair, nan=-1.0), kind="stable").tolist(),
        "heads": heads,
        "size": list(small.shape[1:]),
        "pixels": base64.b64encode(small.tobytes()).decode(),
        "rows": [WORDS["row"].format(n=ordinal(n)) for n in range(len(trace.layers))],
        "scales": [list(SHARE), list(DARK[SHARE])],
        **_words(trace, kept, pair, high),
    }
    return transport.packed(data)


def _words(trace: Trace, kept: Sequence[int] | None, pair: WordPair | None, high: float) -> dict[str, Any]:
    """Return the words of the page, those of the sentence, and which of these are the pair."""
    shown = [range(len(tokens)) if kept is None else list(kept) for tokens in (trace.query_tokens, trace.key_tokens)]
    queries, keys = (
        [visible_token(tokens[at]) for at in positions]
        for tokens, positions in zip((trace.query_tokens, trace.key_tokens), shown, strict=True)
    )
    said = {
        **WORDS,
        "high": localised(f"{high:.2g}"),
        "test": WORDS["test"].format(n=len(prompts())),
        "pair": "",
        "framed": "",
    }
    at = None
    if pair is not None:
        word, other = visible_token(trace.query_tokens[pair.query]), visible_token(trace.key_tokens[pair.key])
        said |= {name: WORDS[name].format(query=word, key=other) for name in ("pair", "framed")}
        if pair.query in shown[0] and pair.key in shown[1]:
            at = [shown[0].index(pair.query), shown[1].index(pair.key)]
    return {
        "words": said,
        "queries": queries,
        "keys": keys if trace.config.is_cross_attention else None,
        "pair": at,
    }


def _amount(of_pair: Array, pair: WordPair, at: int) -> str:
    """Return what the first of two words gives the second in a head, here and in another wording."""
    here = _share(of_pair[at])
    return here if pair.other is None else AMOUNTS["both"].format(amount=here, other=_share(pair.other[at]))


def _share(weight: float) -> str:
    return AMOUNTS["masked"] if np.isnan(weight) else percent(float(weight))


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
