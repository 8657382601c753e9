"""The weight of a query on one key, in a plain sentence."""

from __future__ import annotations

import math

import numpy as np

from attnviz.arithmetic.cell_position import CellPosition
from attnviz.arrays import Array
from attnviz.engine.external.notes import ONE
from attnviz.engine.external.traces import forbidden, is_external
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import normaliser_of
from attnviz.settings.language import Plural, Words, sign
from attnviz.text.format.sentence_parts import Sentence, fill, name_token, rounded_number

LOOKING = Words(
    {
        "share": "{query} attends to {key} ({percent}){rank}.",
        "weight": "{query} gives {key} the weight {weight}.",
        "nothing": "{query} gives {key} no weight.",
        "forbidden": "{query} may not attend to {key}: {why}.",
        "undefined": "{query} gives {key} a weight that is not a number.",
    }
)

RANK = Words(
    {
        "only": ", the only key with any weight",
        "largest": ", more than to any other key",
        "all_tied": ", as much as to every other key",
        "behind": "",
    }
)
TIED = Plural(
    ", as much as to {n} other and more than to the rest",
    ", as much as to {n} others and more than to the rest",
)

PERCENTS = {"share": "{n}", "below": "< 1", "above": "> 99"}
"""A share in percent, one that is not nothing, and one that is not all; the sign follows."""


def cell_sentence(trace: Trace, layer: int, head: int, query: int, key: int) -> Sentence:
    """Describe the weight of one query on one key, and its rank among the others.

    Where it may not attend, return why.
    """
    position = CellPosition(trace, layer, head, query, key)
    row, weight = trace.layers[layer]["weights"].array[head, query], float(position.at("weights"))
    named = {"query": name_token(trace.query_tokens, query), "key": name_token(trace.key_tokens, key)}
    if np.isnan(weight):
        return fill(LOOKING["undefined"], **named)
    if weight == 0:
        if forbidden(position.steps)[head, query, key]:
            return fill(LOOKING["forbidden"], **named, why=position.why)
        return fill(LOOKING["nothing"], **named)
    if _case(trace.config, row, ONE if is_external(trace) else 1e-9) in ("takes", "rest"):
        return fill(LOOKING["share"], **named, percent=percent(weight), rank=_rank(row, key))
    return fill(LOOKING["weight"], **named, weight=rounded_number(weight))


def percent(share: float) -> str:
    """Return a share in whole percent, halves upwards, as `percent.js` does.

    What is not nothing never reads 0 %, what is not all never 100 %.

    >>> percent(0.617), percent(0.125), percent(0.004), percent(0.998), percent(1.0)
    ('62 %', '13 %', '< 1 %', '> 99 %', '100 %')
    """
    if 0 < share < 0.01:
        return percents()["below"]
    if 0.99 < share < 1 - 1e-12:
        return percents()["above"]
    return percents()["share"].format(n=math.floor(100 * share + 0.5))


def percents() -> dict[str, str]:
    """Return how the language of the page writes shares in percent."""
    return {name: text + sign(" %") for name, text in PERCENTS.items()}


def _case(config: Config, row: Array, near: float) -> str:
    """Return whether the weights of a row are shares, shares that leave something, or what else they are.

    near  how far the sum of shares may be from 1
    """
    total = row.sum()
    if config.normalise_over == "queries":
        return "wrong_way"
    normaliser = normaliser_of(config)
    if normaliser.judges_alone:
        return "alone"
    if abs(total - 1) <= near and row.min() >= 0:
        return "takes"
    return "rest" if normaliser.leaves_a_rest and row.min() >= 0 and total < 1 else "not_shares"


def _alike(left: float, right: float) -> bool:
    """Compare two numbers, equal but for rounding."""
    return bool(abs(left - right) <= 1e-12 * max(abs(left), abs(right)))


def _rank(row: Array, key: int) -> str:
    """Describe the rank of a key's weight among the others, where none is larger."""
    others = np.delete(row, key)
    tied = sum(_alike(other, row[key]) for other in others)
    if not others.any():
        return RANK["only"]
    if any(other > row[key] and not _alike(other, row[key]) for other in others):
        return RANK["behind"]
    if tied == len(others):
        return RANK["all_tied"]
    return TIED.format(n=tied) if tied else RANK["largest"]
