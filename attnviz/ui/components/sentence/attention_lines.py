"""One word and what it attends to: the sentence twice, lines between, and the same in words.

The component draws the lines under the pointer by itself; only the choice of a word or a head is sent to Python.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.records.trace import Trace
from attnviz.pictures.colours import SHARE
from attnviz.settings.language import Words
from attnviz.text.format.sentence_parts import TOKEN, Part
from attnviz.text.query_sentences import QueryWeights, query_weights, sentence
from attnviz.ui.session.browser.component import checked_index, component, ignore, report

WORDS = Words(
    {
        "queries": "Queries ask",
        "keys": "Keys are read",
        "hint": "Choose a word above to see what it attends to.",
        "head": "Head",
        "mean": "average over heads",
        "masked": "may not be attended to",
    }
)

_component = component(__file__, is_isolated=False)


@dataclass(frozen=True)
class Request:
    """The query and the head that were chosen, counted from 0; None for no query, and for the average over heads."""

    query: int | None
    head: int | None


def show(trace: Trace, layer: int, *, key: str, query: int | None = None, head: int | None = None) -> Request | None:
    """Draw what the words attend to in one head, or on average over all; return a choice made since the last run.

    query  the chosen word, whose lines stay drawn; a choice made since the last run takes its place at once

    Returns None if nothing was chosen since.
    """
    request = read(report(key), trace)
    now = request or Request(query, head)
    data = payload(query_weights(trace, layer, now.head), now.query)
    _component(key=key, data=data, height="content", on_choice_change=ignore)
    return request


def payload(head: QueryWeights, chosen: int | None) -> dict[str, Any]:
    """Pack the data by which the browser answers every hover: one head's weights, and the sentence of each query."""
    return {
        "queries": head.queries,
        "keys": head.keys,
        "weights": _base64(head.weights.astype("<f4")),
        "masked": _base64(np.packbits(head.masked)),
        "sentences": [[_part(part) for part in sentence(head, query)] for query in range(len(head.queries))],
        "scale": list(SHARE),
        "head": head.head,
        "n_heads": head.n_heads,
        "chosen": chosen,
        "words": dict(WORDS),
    }


def _base64(array: Array) -> str:
    """Return the bytes of an array, row by row, in base64: Streamlit does not transfer bytes inside a dictionary."""
    return base64.b64encode(array.tobytes()).decode()


def _part(part: Part) -> str | list[str]:
    """Return words of the package as a string, and a token of the visitor as a list of one string."""
    kind, words = part
    return [words] if kind == TOKEN else words


def read(answer: Any, trace: Trace) -> Request | None:
    """Read the browser's message; return None if it is malformed, or names a word or a head that does not exist."""
    request = answer.get("choice") if isinstance(answer, Mapping) else None
    if not isinstance(request, Mapping):
        return None
    try:
        query = checked_index(request.get("query"), len(trace.query_tokens))
        return Request(query, checked_index(request.get("head"), trace.config.n_heads))
    except ValueError:
        return None
