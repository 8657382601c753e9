"""The difference of two next words: without each head, and with each part of another run put in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.analysis.circuits.attribution import direction
from attnviz.analysis.circuits.interventions import knock_out, patch
from attnviz.arrays import Array
from attnviz.engine.records.trace import Trace
from attnviz.models.next_words import stream
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words

FAULTS = Words(
    {"length": "the other sentence has {other} tokens and this one {own}; patch between sentences of as many tokens"}
)


@dataclass(frozen=True)
class Patched:
    """The distance by which each part of another run moves the difference of two next words.

    stream  (layers, tokens): the vector of one token after one layer;  heads (layers, heads): one head at all tokens
    whole   how far the other run is from this one, which is what the whole of it moves
    """

    stream: Array
    heads: Array
    whole: float


def without_each_head(trace: Trace, word: str | int, instead_of: str | int, how: str = "zero") -> Array:
    """Return by how much the logit of a next word against another's changes without each head: (layers, heads).

    The model runs on from the layer of each head. Raises ConfigError as `attribute` and `knock_out`.
    """
    u = direction(trace, word, instead_of)
    heads = range(trace.config.n_heads)
    off = [[_read(knock_out(trace, [(i, h)], how), u) for h in heads] for i in range(len(trace.layers))]  # type: ignore[arg-type]
    return np.array(off) - _read(trace, u)


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
