"""The next words that a decoder would go on with, read off after every layer: the last norm, then the output matrix.

After the last layer that is what the model itself computes; earlier it is a reading that the model does not make, the
logit lens. Source: nostalgebraist 2020, "interpreting GPT: the logit lens".
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.pretrained.model_facts import ModelFacts
from attnviz.engine.pretrained.pretrained_config import PretrainedConfig
from attnviz.engine.records.trace import Step, Trace, result_of
from attnviz.models.sampling import by_share
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


def check(trace: Trace, row: int, facts: ModelFacts, d_model: int) -> None:
    """Raise ConfigError for what is no run of a model, or of one with the same parameters, and for a row beyond it."""
    config = trace.config if isinstance(trace, Trace) else None
    is_of_model = isinstance(config, PretrainedConfig) and config.facts.slices == facts.slices
    if not is_of_model or trace.around["embedded"].shape[-1] != d_model:
        raise ConfigError(FAULTS["no_run"])
    n = len(trace.query_tokens)
    if not hasattr(row, "__index__") or not -n <= row < n:
        raise ConfigError(FAULTS["row"].format(row=row, n=n, last=n - 1))


def stream(layer: Mapping[str, Step]) -> str:
    """Return the step that holds what a layer hands on, before the last norm; of attention alone that is `added`."""
    return "ff_added" if "ff_added" in layer else "added"


def states(trace: Trace, row: int) -> Array:
    """Return the vector of a token before the first layer and after each, before the last norm.

    Shape (layers + 1, d_model).
    """
    last, result = trace.layers[-1], result_of(trace.layers[-1])
    read = [trace.around["embedded"].array[row], *(result_of(layer).array[row] for layer in trace.layers[:-1])]
    end = last[stream(last)] if "final_normed" in last else result  # BART's last norm is one of its layer
    return np.stack([*read, end.array[row]])


def logits(H: Array, table: Array, cap: float = 0.0) -> Array:
    """Return H (rows, width) times the rows of a table (words, width): (rows, words); a cap above 0 squeezes them.

    >>> logits(np.array([[1.0, 2.0]]), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])).tolist()
    [[1.0, 2.0, 3.0]]
    """
    scores = np.empty((len(H), len(table)))
    for first in range(0, len(table), BLOCK):
        scores[:, first : first + BLOCK] = H @ np.asarray(table[first : first + BLOCK], dtype=float).T
    return cap * np.tanh(scores / cap) if cap else scores


def most_likely(shares: Array, most: int) -> list[tuple[int, float]]:
    """Return the numbers and shares of the likeliest words, the likeliest first, of equal ones the lower number.

    >>> most_likely(np.array([0.25, 0.5, 0.25]), 2)
    [(1, 0.5), (0, 0.25)]
    """
    return [(int(number), float(shares[number])) for number in by_share(shares)[:most]]


def rank(shares: Array, number: int) -> int:
    """Return the place of a word among all, 1 for the likeliest.

    >>> rank(np.array([0.25, 0.5, 0.25]), 2)
    3
    """
    return int(np.flatnonzero(by_share(shares) == number)[0]) + 1
