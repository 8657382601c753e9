"""What a query takes from one key, in a plain sentence: "it takes 62 % from cat, more than from any other key." """

from __future__ import annotations

import numpy as np

from attnviz.core.config import Config
from attnviz.core.given import ONE, forbidden, is_given
from attnviz.core.language import Words, say
from attnviz.core.trace import Trace
from attnviz.views.place import Place
from attnviz.views.sentences import Sentence, filled, naming, rounded

LOOKING = Words(
    {
        "share": "{query} takes {percent} from {key}{rank}.",
        "weight": "{query} gives {key} the weight {weight}.",
        "nothing": "{query} takes nothing from {key}.",
        "forbidden": "{query} may not look at {key}: {why}.",
        "undefined": "{query} gives {key} a weight that is no number.",
    }
)

RANK = Words(
    {
        "only": ", the only key with any weight",
        "largest": ", more than from any other key",
        "tied": ", as much as from {n} other and more than from the rest",
        "tied_many": ", as much as from {n} others and more than from the rest",
        "all_tied": ", as much as from every other key",
        "behind": "",
    }
)

PERCENT, BELOW, ABOVE = "{n} %", "less than 1 %", "more than 99 %"


def looking(trace: Trace, layer: int, head: int, query: int, key: int) -> Sentence:
    """What one query takes from one key, and how that stands among the others; or why it may not look there."""
    place = Place(trace, layer, head, query, key)
    row, weight = trace.layers[layer]["weights"].array[head, query], float(place.at("weights"))
    named = {"query": naming(trace.query_tokens, query), "key": naming(trace.key_tokens, key)}
    if np.isnan(weight):
        return filled(LOOKING["undefined"], **named)
    if weight == 0:
        if forbidden(place.steps)[head, query, key]:
            return filled(LOOKING["forbidden"], **named, why=place.why)
        return filled(LOOKING["nothing"], **named)
    if _case(trace.config, row, ONE if is_given(trace) else 1e-9) in ("takes", "rest"):
        return filled(LOOKING["share"], **named, percent=percent(weight), rank=_rank(row, key))
    return filled(LOOKING["weight"], **named, weight=rounded(weight))


def percent(share: float) -> str:
    """A share in whole percent; what is not nothing never reads 0 %, what is not all never 100 %.

    >>> percent(0.617), percent(0.004), percent(0.998), percent(1.0)
    ('62 %', 'less than 1 %', 'more than 99 %', '100 %')
    """
    if 0 < share < 0.01:
        return say(BELOW)
    if 0.99 < share < 1 - 1e-12:
        return say(ABOVE)
    return say(PERCENT, n=round(100 * share))


def _case(config: Config, row: np.ndarray, near: float) -> str:
    """Whether the weights of a row are shares, shares that leave something, or what else they are.

    near  how far the sum of shares may be from 1
    """
    total = row.sum()
    if config.normalise_over == "queries":
        return "wrong_way"
    if config.normaliser == "sigmoid":
        return "alone"
    if abs(total - 1) <= near and row.min() >= 0:
        return "takes"
    return "rest" if config.normaliser == "quiet_softmax" and row.min() >= 0 and total < 1 else "not_shares"


def _alike(left: float, right: float) -> bool:
    """Equal but for rounding."""
    return bool(abs(left - right) <= 1e-12 * max(abs(left), abs(right)))


def _rank(row: np.ndarray, key: int) -> str:
    """How the weight of a key stands among the others, where none is larger."""
    others = np.delete(row, key)
    tied = sum(_alike(other, row[key]) for other in others)
    if not others.any():
        return RANK["only"]
    if any(other > row[key] and not _alike(other, row[key]) for other in others):
        return RANK["behind"]
    if tied == len(others):
        return RANK["all_tied"]
    return RANK["largest" if not tied else "tied" if tied == 1 else "tied_many"].format(n=tied)
