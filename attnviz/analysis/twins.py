"""A head set by hand, and the head of a run that comes nearest to doing the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.analysis import special_tokens
from attnviz.arrays import Array
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words

FAULTS = Words(
    {"tokens": "a head is set by hand for {most} tokens at most, and there are {n}; a shorter sentence would do"}
)
MAX_TOKENS = 64
"""Tokens for which a head is set by hand here."""


@dataclass(frozen=True, eq=False)
class Twin:
    """The head that comes nearest; layer and head count from 0.

    made     the weights of the head set by hand, (queries, keys);  `found` those of the run's head
    overlap  the part of the weight, 0 to 1, that both put in the same position, as a mean over the rows that are words
    all      the overlap of every head, (layers, heads)
    """

    layer: int
    head: int
    made: Array
    found: Array
    overlap: float
    all: Array


def set_by_hand(trace: Trace, pattern: str) -> Array:
    """Return the weights of a head that is set by hand to a pattern on the words of a run: (queries, keys).

    The words only count as equal or not, so they are written as numbers. Where the run is causal, so is the head.
    """
    n = len(trace.query_tokens)
    if n > MAX_TOKENS:
        raise ConfigError(FAULTS["tokens"].format(most=MAX_TOKENS, n=n))
    positions = {word: at for at, word in enumerate(dict.fromkeys(trace.query_tokens))}
    config = Config(
        sentence=" ".join(f"w{positions[word]}" for word in trace.query_tokens),
        tokeniser="whitespace",
        max_tokens=MAX_TOKENS,
        d_model=256,
        n_heads=1,
        embedding="normal",
        position="sinusoidal",
        initialiser="by_hand",
        patterns=(pattern,),  # type: ignore[arg-type]
        mask="causal" if "causal" in trace.config.mask else "none",
    )
    return run(config)["weights"].array[0]


def twin(trace: Trace, pattern: str) -> Twin:
    """Return the head of a run that does most of what a head set by hand does; layers and heads are all compared.

    Raises ConfigError for more tokens than a head is set by hand for.
    """
    by_hand = set_by_hand(trace, pattern)
    rows = list(special_tokens.words(trace.query_tokens)) or list(range(len(by_hand)))
    A = np.stack([np.nan_to_num(steps["weights"].array) for steps in trace.layers])
    overlap = np.minimum(A[:, :, rows], by_hand[rows]).sum(axis=-1).mean(axis=-1)
    layer, head = (int(at) for at in np.unravel_index(int(overlap.argmax()), overlap.shape))
    return Twin(layer, head, by_hand, A[layer, head], float(overlap[layer, head]), overlap)
