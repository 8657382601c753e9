"""The sentence over the maps: arcs from one word to those that it takes from, and one line that says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.engine.records.trace import Trace
from attnviz.pictures.colours import DARK, SHARE
from attnviz.settings.counting import ordinal
from attnviz.text import opening_sentence
from attnviz.text.query_sentences import query_weights
from attnviz.ui.session.browser import transport
from attnviz.ui.session.browser.component import component, ignore, report

_component = component(__file__, is_isolated=False)


@dataclass(frozen=True)
class Opening:
    """The state of the sentence: what one word takes in a head, counted from 0, until another is pointed at.

    is_chosen  whether a visitor has chosen the word, so that it is marked
    queries, keys  the positions of the words that stand there; None for all
    roles          what each head does, in a few words
    """

    head: int
    query: int
    roles: Sequence[str]
    is_chosen: bool = False
    queries: Sequence[int] | None = None
    keys: Sequence[int] | None = None


def show(trace: Trace, layer: int, opening: Opening, *, key: str) -> None:
    """Draw the sentence."""
    _component(key=key, data=packed(trace, layer, opening), height="content", on_query_change=ignore)


def chosen_query(key: str, words: int) -> int | None:
    """Return the word that was chosen since the last run, its position among all; None as a rule.

    Browsers can say anything.
    """
    query = report(key).get("query")
    good = isinstance(query, int) and not isinstance(query, bool) and 0 <= query < words
    return query if good else None


def packed(trace: Trace, layer: int, opening: Opening) -> bytes:
    """Pack the data by which the browser answers every hover: the words, and the weights of one head."""
    head = query_weights(trace, layer, opening.head)
    words = opening_sentence.WORDS
    rows, columns = (
        range(n) if positions is None else positions
        for n, positions in zip(head.weights.shape, (opening.queries, opening.keys))
    )
    is_one = head.is_self and list(rows) == list(columns)
    data: dict[str, Any] = {
        "queries": [head.queries[at] for at in rows],
        "keys": None if is_one else [head.keys[at] for at in columns],
        "positions": None if opening.queries is None else [list(rows), list(columns)],
        "same": head.is_self,
        "head": opening.head,
        "query": list(rows).index(opening.query),
        "chosen": opening.is_chosen,
        "kinds": [head.kind(at) for at in rows],
        "shows": words["shows" if head.is_self else "crossed"],
        "words": {
            name: words[name]
            for name in ("takes", "takes_two", "weighs", "nothing", "no_numbers", "itself", "sentence")
        },
        "heads": [words["head"].format(n=ordinal(at)) for at in range(len(opening.roles))],
        "roles": list(opening.roles),
        "promises": bool(head.is_promised),
        "made": opening_sentence.describe_origin(trace),
        "scales": [list(SHARE), list(DARK[SHARE])],
    }
    part = np.ix_(rows, columns)
    weights = np.where(head.masked[part], np.nan, head.weights[part])
    return transport.packed(data, weights.astype("<f8").tobytes())  # in whole: a percentage must be that of the answer
