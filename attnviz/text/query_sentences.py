"""The weights of each query, in one head or on average over heads, and a sentence for each."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.external.notes import ONE
from attnviz.engine.external.traces import forbidden, is_external
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import normaliser_of
from attnviz.settings.language import Words
from attnviz.text.cell_sentence import percent
from attnviz.text.format.sentence_parts import Sentence, fill, join_sentences, name_token, rounded_number

MOST_NAMED = 3
LEAST_NAMED = 0.01
MOST_KEPT = 512
"""Tokens that are kept as they can be seen."""
ALIKE = 1e-9
"""Weights that differ by less than this part of themselves are a tie: the last bits of a sum depend on its order."""

WORDS = Words(
    {
        "shares": "{query} attends to {list}.",
        "weights": "{query} puts weight {list}.",
        "mean": "On average over {n} heads, {said}",
        "share_of": "{key} ({amount})",
        "share_of_each": "each of {n} words ({amount})",
        "share_of_others": "{n} others ({amount} in all)",
        "share_of_each_other": "each of {n} others ({amount})",
        "weight_of": "{amount} on {key}",
        "weight_of_each": "{amount} on each of {n} words",
        "weight_of_others": "{amount} in all on {n} others",
        "weight_of_each_other": "{amount} on each of {n} others",
        "itself": "itself",
        "nothing_open": "{query} has nothing to attend to.",
        "nothing_taken": "{query} attends to no word.",
        "no_numbers": "{query} has weights that are not finite numbers.",
        "empty": "(empty)",
    }
)
"""Every word of a sentence; a translation keeps the names in braces."""

_BIDI = dict.fromkeys((0x200E, 0x200F, 0x61C, *range(0x202A, 0x202F), *range(0x2066, 0x206A)))
_BLANK = {"\n": "↵", "\t": "→", "\r": "↵"}


@dataclass(frozen=True, eq=False)
class QueryWeights:
    """The weights of queries on keys, in one head or on average over all.

    weights  (queries, keys)
    masked   True where the query may not attend to the key; in a mean, where it may not in any head
    shares   (queries,) whether the row is shares of one: always false for a normaliser that promises no such thing
    is_promised  whether the normaliser promises shares
    queries, keys  the tokens as they can be seen
    is_self  whether queries and keys are the same words
    head     None = the mean over `n_heads`
    """

    weights: Array
    masked: Array
    shares: Array
    queries: tuple[str, ...]
    keys: tuple[str, ...]
    is_self: bool
    head: int | None
    n_heads: int
    is_promised: bool = False

    def kind(self, query: int) -> str:
        """Return what the weights of a query are, by which they are written: shares, weights or no_numbers."""
        may = ~self.masked[query]
        if not np.isfinite(self.weights[query][may]).all():
            return "no_numbers"
        return "shares" if self.shares[query] else "weights"


def query_weights(trace: Trace, layer: int, head: int | None = None) -> QueryWeights:
    """Return the weights of one head of a layer, both counted from 0, or their mean over the heads.

    Raises ValueError if the trace has no such layer or head.

    >>> from attnviz import Config, run
    >>> found = query_weights(run(Config(sentence="a b", n_heads=1, mask="causal")), 0, 0)
    >>> found.weights[0], found.masked[0], found.shares[0]
    (array([1., 0.]), array([False,  True]), np.True_)
    """
    config = trace.config
    for name, value, n in (("layer", layer, len(trace.layers)), ("head", head or 0, config.n_heads)):
        if not 0 <= value < n:
            raise ValueError(f"{name} is {value}; there are {n}, choose 0 to {n - 1}")
    steps = trace.layers[layer]
    hidden = forbidden(steps)
    weights, masked = steps["weights"].array, np.broadcast_to(hidden, steps["weights"].shape)
    promised = normaliser_of(config).sums_to_one and config.normalise_over == "keys"
    with np.errstate(all="ignore"):  # edited weights can be infinite
        if head is None:
            weights, masked = weights.mean(axis=0), np.all(masked, axis=0)
        else:
            weights, masked = weights[head], masked[head]
        one = abs(weights.sum(axis=-1) - 1.0) < (ONE if is_external(trace) else ALIKE)
    return QueryWeights(
        weights,
        masked,
        promised & one & (weights >= 0.0).all(axis=-1),
        tuple(map(visible_token, trace.query_tokens)),
        tuple(map(visible_token, trace.key_tokens)),
        not config.is_cross_attention,
        head,
        config.n_heads,
        promised,
    )


def visible_token(token: str) -> str:
    """Return a token as it can be seen: a blank one shows what it is made of, and none turns the text around it.

    >>> visible_token(""), visible_token(" \\t"), visible_token("\u200b"), visible_token("a\u202eb")
    ('(empty)', '·→', 'U+200B', 'ab')
    """
    return _visible(token) if token else WORDS["empty"]


@lru_cache(MOST_KEPT)
def _visible(token: str) -> str:
    if token.isspace():
        return "".join(_BLANK.get(character, "·") for character in token)
    if all(unicodedata.category(character)[0] in "CZ" for character in token):
        return " ".join(f"U+{ord(character):04X}" for character in token)
    return re.sub(r"\s", " ", token.translate(_BIDI))


def sentence(rows: QueryWeights, query: int) -> Sentence:
    """Describe the weights of one query, the largest first.

    At most MOST_NAMED keys are named, or one more where only one is left. A tie is never cut in two: words that are
    alike are named all or counted.

    >>> from attnviz import Config, run
    >>> sentence(query_weights(run(Config(sentence="a b", n_heads=1, mask="causal")), 0, 0), 0)
    (('token', 'a'), ('text', ' attends to itself (100 %).'))
    """
    row = _row_sentence(rows, query)
    if rows.head is None and rows.n_heads > 1:
        return fill(WORDS["mean"], n=str(rows.n_heads), said=row)
    return row


def _row_sentence(rows: QueryWeights, query: int) -> Sentence:
    asks = name_token(rows.queries, query)
    a, may = rows.weights[query], ~rows.masked[query]
    if not may.any():
        return fill(WORDS["nothing_open"], query=asks)
    kind = rows.kind(query)
    if kind == "no_numbers":
        return fill(WORDS[kind], query=asks)
    if not a[may].any():
        return fill(WORDS["nothing_taken"], query=asks)
    listed = join_sentences(_listed(rows, query, np.flatnonzero(may & (a != 0)).tolist()))
    return fill(WORDS[kind], query=asks, list=listed)


def _listed(rows: QueryWeights, query: int, keys: list[int]) -> list[Sentence]:
    """Return keys by name, then how many others there are and what they come to."""
    a, is_share = rows.weights[query].tolist(), rows.shares[query]
    keys = sorted(keys, key=lambda j: -a[j])
    named, alike = _split([a[j] for j in keys])
    tied, rest = keys[named : named + alike], keys[named + alike :]

    def item(ending: str, weight: float, **slots: str | Sentence) -> Sentence:
        amount = percent(weight) if is_share else rounded_number(weight)
        return fill(WORDS[("share_of" if is_share else "weight_of") + ending], amount=amount, **slots)

    items = [item("", a[j], key=_key(rows, query, j)) for j in keys[:named]]
    if tied:
        items.append(item("_each_other" if named else "_each", a[tied[0]], n=str(len(tied))))
    if len(rest) == 1:
        items.append(item("", a[rest[0]], key=_key(rows, query, rest[0])))
    elif rest:
        items.append(item("_others", sum(a[j] for j in rest), n=str(len(rest))))
    return items


def _key(rows: QueryWeights, query: int, key: int) -> str | Sentence:
    return WORDS["itself"] if rows.is_self and query == key else name_token(rows.keys, key)


def _split(falling: list[float]) -> tuple[int, int]:
    """Count the weights that are named, and those after them that are counted as alike; the rest is summed."""

    def ties(start: int) -> int:
        first = falling[start]
        alike = takewhile(lambda weight: abs(weight - first) <= ALIKE * abs(first), falling[start:])
        return sum(1 for _ in alike)

    named = 0
    while named < len(falling) and (not named or falling[named] >= LEAST_NAMED):
        if named + ties(named) > MOST_NAMED:
            break
        named += ties(named)
    left = len(falling) - named
    if left > 1 and (not named or ties(named) == left):
        return named, ties(named)
    return named, 0
