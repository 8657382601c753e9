"""The next words that a decoder would go on with, read off after every layer: the last norm, then the output matrix.

After the last layer that is what the model itself computes; earlier it is a reading that the model does not make, the
logit lens. Source: nostalgebraist 2020, "interpreting GPT: the logit lens".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.pretrained.model_facts import ModelFacts
from attnviz.engine.pretrained.pretrained_config import PretrainedConfig
from attnviz.engine.records.trace import Trace
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words

FAULTS = Words(
    {
        "no_run": "the trace is no run of this model; give one that the model made, as in trace = model(text)",
        "row": "row is {row}; the run has {n} tokens, choose 0 to {last}",
    }
)
BLOCK = 2048
"""Rows of the output matrix that are made float64 at a time."""


@dataclass(frozen=True)
class NextWord:
    """A word that may come next: its number in the vocabulary, and the share of probability that it has."""

    number: int
    share: float


def check(trace: Trace, row: int, facts: ModelFacts, d_model: int) -> None:
    """Raise ConfigError for what is no run of a model, or of one with the same parameters, and for a row beyond it."""
    config = trace.config if isinstance(trace, Trace) else None
    is_of_model = isinstance(config, PretrainedConfig) and config.facts.slices == facts.slices
    if not is_of_model or trace.around["embedded"].shape[-1] != d_model:
        raise ConfigError(FAULTS["no_run"])
    n = len(trace.query_tokens)
    if not hasattr(row, "__index__") or not -n <= row < n:
        raise ConfigError(FAULTS["row"].format(row=row, n=n, last=n - 1))


def logits(H: Array, table: Array, cap: float = 0.0) -> Array:
    """Return H (rows, width) times the rows of a table (words, width): (rows, words); a cap above 0 squeezes them.

    >>> logits(np.array([[1.0, 2.0]]), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])).tolist()
    [[1.0, 2.0, 3.0]]
    """
    scores = np.empty((len(H), len(table)))
    for first in range(0, len(table), BLOCK):
        scores[:, first : first + BLOCK] = H @ np.asarray(table[first : first + BLOCK], dtype=float).T
    return cap * np.tanh(scores / cap) if cap else scores


def most_likely(scores: Array, most: int) -> list[list[NextWord]]:
    """Return for each row of logits the words with the largest shares of its softmax, the largest first.

    >>> most_likely(np.log([[1.0, 3.0]]), 1)
    [[NextWord(number=1, share=0.75)]]
    """
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares = exponentials / exponentials.sum(axis=-1, keepdims=True)
    best = np.argsort(-shares, axis=-1, kind="stable")[:, :most]
    return [[NextWord(int(n), float(row[n])) for n in numbers] for row, numbers in zip(shares, best)]
