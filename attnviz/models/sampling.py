"""One word drawn from the shares of all: hotter or colder, among the likeliest few, and the same on every machine.

The temperature divides the logits; then come the `top_k` likeliest words, then the likeliest that have `top_p` of the
rest together, as Transformers has it. Source of the last: Holtzman et al. 2020, arXiv:1904.09751, section 3.1.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.numerics.noise import Address, uniform
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words

FAULTS = Words(
    {
        "temperature": "temperature is {given}; give a number above 0, or top_k=1 for always the likeliest word",
        "top_k": "top_k is {given}; give a whole number from 1 on, or None for all words",
        "top_p": "top_p is {given}; give a number above 0 and up to 1, or None for all words",
        "seed": "seed is {given}; give a whole number from 0 on",
    }
)
EQUAL = 1e-9
"""Shares that differ by less, as a part of the larger, count as equal: so far apart can rounding bring equal ones."""


@dataclass(frozen=True)
class Sampling:
    """How a word is drawn. Raises ConfigError for a temperature, a `top_k` or a `top_p` that cannot be."""

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None

    def __post_init__(self) -> None:
        if not (_is_number(self.temperature) and 0 < self.temperature < math.inf):
            raise ConfigError(FAULTS["temperature"].format(given=shorten(self.temperature)))
        if self.top_k is not None and not (_is_whole(self.top_k) and self.top_k >= 1):
            raise ConfigError(FAULTS["top_k"].format(given=shorten(self.top_k)))
        if self.top_p is not None and not (_is_number(self.top_p) and 0 < self.top_p <= 1):
            raise ConfigError(FAULTS["top_p"].format(given=shorten(self.top_p)))

    def shares(self, scores: Array) -> Array:
        """Return the share with which each word is drawn, from the logits of all; 0 for those that are left out.

        >>> Sampling(top_k=2).shares(np.log([1.0, 3.0, 5.0])).tolist()
        [0.0, 0.375, 0.625]
        """
        kept = softmax(np.asarray(scores, dtype=float) / self.temperature)
        if self.top_k is not None:
            kept[by_share(kept)[self.top_k :]] = 0.0
            kept /= kept.sum()
        if self.top_p is not None and self.top_p < 1:
            order = by_share(kept)
            reached = np.cumsum(kept[order]) >= self.top_p - EQUAL  # the last always is
            kept[order[int(reached.argmax()) + 1 :]] = 0.0
            kept /= kept.sum()
        return kept


def softmax(scores: Array) -> Array:
    """Return the shares of logits along the last axis."""
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares: Array = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return shares


def by_share(shares: Array) -> Array:
    """Return the numbers of the words, those with the largest shares first, and of equal ones the lower number.

    >>> by_share(np.array([0.25, 0.5 - 1e-12, 0.5 + 1e-12])).tolist()
    [1, 2, 0]
    """
    order = np.argsort(-shares, kind="stable")
    falling = shares[order]
    apart = falling[:-1] - falling[1:] > EQUAL * falling[:-1]
    rank = np.concatenate([[0], np.cumsum(apart)])
    return order[np.lexsort((order, rank))]


def drawn(shares: Array, seed: int, place: int) -> int:
    """Return the number of the word that is drawn for a place of a text, its tokens counted from 0.

    The uniform number of a place is a function of seed and place alone. It picks among the words in the order of the
    vocabulary, which no rounding changes.

    Raises ConfigError for a seed that is no whole number from 0 on.

    >>> [drawn(np.array([0.5, 0.5]), 1, place) for place in range(8)]
    [0, 0, 0, 1, 1, 1, 1, 0]
    """
    if not (_is_whole(seed) and seed >= 0):
        raise ConfigError(FAULTS["seed"].format(given=shorten(seed)))
    [u] = uniform(Address(operator.index(seed), "next word", (place,)), (1,))
    ends = np.cumsum(shares)
    return min(int(np.searchsorted(ends, u * ends[-1], side="right")), int(np.flatnonzero(shares)[-1]))


def _is_number(given: Any) -> bool:
    return isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, bool)


def _is_whole(given: Any) -> bool:
    return hasattr(given, "__index__") and not isinstance(given, bool)
