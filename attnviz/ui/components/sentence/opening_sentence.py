"""The sentence over the maps: arcs from one word to those that it takes from, and one line that says it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.engine.records.trace import Trace
from attnviz.pictures.colours import DARK, SHARE
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words
from attnviz.text import opening_sentence
from attnviz.text.format import patch_words
from attnviz.text.query_sentences import query_weights
from attnviz.ui.components.sentence import movable_words
from attnviz.ui.session.browser import transport
from attnviz.ui.session.browser.component import component, ignore, report

HAND = Words(
    {
        "hint": "Drag moves it, off the line leaves it out; double-click replaces it. Keys: Alt + arrow, Delete, F2.",
        "moves": "“{word}” to place {place} of {all}",
        "becomes": "“{other}” for “{word}”",
        "off": "without “{word}”",
        "keeps": "Letting go or Enter keeps it, Esc takes it back.",
        "stays": "Changed numbers and cells stay where they are.",
    }
)
_component = component(__file__, is_isolated=False)


@dataclass(frozen=True)
class Opening:
    """The state of the sentence: what one word takes in a head, counted from 0, until another is pointed at.

    is_chosen  whether a visitor has chosen the word, so that it is marked
    queries, keys  the positions of the words that stand there; None for all
    roles          what each head does, in a few words
    there          the name of the stages below, where they are not sent: it is drawn as soon as they are there
    """

    head: int
    query: int
    roles: Sequence[str]
    is_chosen: bool = False
    queries: Sequence[int] | None = None
    keys: Sequence[int] | None = None
    there: str | None = None


def show(trace: Trace, layer: int, opening: Opening, *, key: str, edited: Callable[[], None] | None = None) -> None:
    """Draw the sentence.

    edited  is called when a visitor has changed its words, before the next run; None: they are not to be changed here
    """
    data = packed(trace, layer, opening, can_edit=edited is not None)
    _component(key=key, data=data, height="content", on_event_change=ignore, on_edited_change=edited or ignore)


def edited_sentence(key: str) -> str | None:
    """Return the sentence as a visitor has changed it since the last run; None as a rule. Browsers can say anything."""
    text = report(key).get("edited")
    return text if isinstance(text, str) and text.strip() else None


def packed(trace: Trace, layer: int, opening: Opening, *, can_edit: bool = False) -> bytes:
    """Pack the data by which the browser answers every hover: the words, and the weights of one head."""
    head = query_weights(trace, layer, opening.head)
    words = patch_words.table_of(opening_sentence.WORDS, patches=patch_words.has_patches(trace))
    rows, columns = (
        range(n) if positions is None else positions
        for n, positions in zip(head.weights.shape, (opening.queries, opening.keys))
    )
    is_one = head.is_self and list(rows) == list(columns)
    data: dict[str, Any] = {
        **({"there": opening.there} if opening.there else {}),
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
        "edit": _editable(trace, rows) if can_edit else None,
    }
    part = np.ix_(rows, columns)
    weights = np.where(head.masked[part], np.nan, head.weights[part])
    return transport.packed(data, weights.astype("<f8").tobytes())  # in whole: a percentage must be that of the answer


def _editable(trace: Trace, rows: Sequence[int]) -> dict[str, Any] | None:
    """Return the words that can be moved, and of which of them the queries are that are shown; None if none can be."""
    config = trace.config.chosen
    if len(config.sentence) > movable_words.LONGEST:
        return None
    words = movable_words.words_of(config)
    places = movable_words.places(words, trace.query_tokens)
    if places is None:
        return None
    said = {name: text for name, text in HAND.items() if name != "stays"}
    if config.edits or "custom" in config.mask or config.embedding == "own":  # these hang on positions
        said["keeps"] = HAND["stays"]  # there is room for one of the two
    of = [places[at] for at in rows]
    is_plain = of == list(range(len(words)))
    return {
        "words": [_word(word, trace.query_tokens[at] if is_plain else "") for at, word in enumerate(words)],
        "of": None if is_plain else of,
        "said": said,
    }


def _word(word: movable_words.Word, token: str) -> tuple[str, str, int] | int:
    """Return a word as it is sent; 0 for the most common: a token of its own, with a space before it and after it."""
    packed = word.gap, word.text, word.starts + 2 * word.ends
    return 0 if packed == (" ", token, 3) else packed
