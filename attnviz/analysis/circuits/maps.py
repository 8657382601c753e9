"""The difference of two next words: without each head, and with each part of another run put in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from attnviz.analysis.circuits.attribution import decoder_of, direction
from attnviz.analysis.circuits.changed_runs import recomputed
from attnviz.analysis.circuits.interventions import Part, parts_of, patch, without
from attnviz.arrays import Array
from attnviz.engine.records.trace import Trace
from attnviz.models.next_words import logits, most_likely, rank, stream
from attnviz.models.sampling import softmax
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words

FAULTS = Words(
    {
        "length": "the other sentence has {other} tokens and this one {own}; patch between sentences with the same "
        "number of tokens"
    }
)


@dataclass(frozen=True)
class Without:
    """The fate of a next word without each part of a model.

    All arrays are (layers, parts): the heads and, where layers have one, the feed-forward block as a last column.

    difference  the change of its logit against another word's;  share  what its share is then;  rank  its place
    other_share the share of the other word then
    said        the number of the likeliest word then;  said_share  the share of that word
    before      the share of the word with all parts in place
    """

    difference: Array
    share: Array
    other_share: Array
    rank: Array
    said: Array
    said_share: Array
    before: float


@dataclass(frozen=True)
class Patched:
    """The distance by which each part of another run moves the difference of two next words.

    stream  (layers, tokens): the vector of one token after one layer;  heads (layers, heads): one head at all tokens
    whole   how far the other run is from this one, which is what the whole of it moves
    """

    stream: Array
    heads: Array
    whole: float

    @property
    def path(self) -> list[tuple[int, float]]:
        """The token that carries most of the other run behind each layer, from 0, and how much of `whole` it moves.

        Empty where the two runs do not differ.
        """
        if not self.whole:
            return []
        moved = self.stream / self.whole
        return [(int(at), float(row[at])) for row, at in zip(moved, moved.argmax(axis=1))]


def without_each_head(trace: Trace, word: str | int, instead_of: str | int, how: str = "zero") -> Array:
    """Return by how much the logit of a next word against another's changes without each head: (layers, heads).

    The model runs on from the layer of each head. Raises ConfigError as `attribute` and `knock_out`.
    """
    u = direction(trace, word, instead_of)
    heads = range(trace.config.n_heads)
    off = [_ends(trace, i, heads, how) @ u for i in range(len(trace.layers))]
    return np.array(off) - _read(trace, u)


def without_each_part(trace: Trace, word: str | int, instead_of: str | int, how: str = "zero") -> Without:
    """Return what becomes of a next word against another without each head and each feed-forward block.

    A difference of logits compares two words alone: a part that both need leaves it as it was when it goes, and the
    share of the word falls all the same. Raises ConfigError as `without_each_head`.
    """
    model, u = decoder_of(trace), direction(trace, word, instead_of)
    number, other = (model.word_number(each, trace) for each in (word, instead_of))

    def shares(H: Array) -> Array:
        return softmax(logits(H, model.words_table, model.shape.logits_softcap))

    layers = range(len(trace.layers))
    ends = [_ends(trace, i, parts_of(trace, i), how) for i in layers]
    each = [shares(H) for H in ends]  # a layer at a time, as the output matrix of a large model takes a while to read
    likeliest = np.array([[most_likely(row, 1)[0] for row in rows] for rows in each])
    return Without(
        np.array([H @ u for H in ends]) - _read(trace, u),
        np.array([rows[:, number] for rows in each]),
        np.array([rows[:, other] for rows in each]),
        np.array([[rank(row, number) for row in rows] for rows in each]),
        likeliest[..., 0].astype(int),
        likeliest[..., 1],
        float(shares(trace.result.array[-1:])[0, number]),
    )


def _ends(trace: Trace, layer: int, parts: Iterable[Part], how: str) -> Array:
    """Return the last token's vector, as words are read off it, without each of some parts of a layer: (parts, d)."""
    return np.stack([recomputed(trace, without(trace, [(layer, each)], how)).result.array[-1] for each in parts])


def with_each_part(trace: Trace, other: Trace, word: str | int, instead_of: str | int) -> Patched:
    """Return by how much the same changes with each token's vector, and each head, as it is in another run.

    Raises ConfigError for runs of different lengths, and as `attribute`.
    """
    u = direction(trace, word, instead_of)
    n, layers = len(trace.query_tokens), range(len(trace.layers))
    if len(other.query_tokens) != n:
        raise ConfigError(FAULTS["length"].format(other=len(other.query_tokens), own=n))
    step = stream(trace.layers[0])
    vectors = [[_read(patch(trace, other, [(i, step, [j], None)]), u) for j in range(n)] for i in layers]
    heads = [
        [_read(patch(trace, other, [(i, "heads", None, [h])]), u) for h in range(trace.config.n_heads)] for i in layers
    ]
    before = _read(trace, u)
    return Patched(np.array(vectors) - before, np.array(heads) - before, _read(other, u) - before)


def _read(trace: Trace, u: Array) -> float:
    """Return the product of the last token's vector, as words are read off it, with a direction."""
    return float(trace.result.array[-1] @ u)
