"""The draws of a deal: words, sizes and positions, each a function of kind, level, number and name alone."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from attnviz.classroom.practice.record import Asked

Value = TypeVar("Value")

SENTENCES = {
    3: ("the cat sat", "birds sing early", "we like tea", "she reads books", "rain falls softly", "dogs chase cats"),
    4: ("a small dog barks", "they drink green tea", "my train is late", "old houses creak loudly", "he plays it well"),
    5: ("the river runs very fast", "we saw a red kite", "she gave him two apples", "it rains in our town"),
    6: ("the tired child fell asleep early", "a good book needs no pictures", "our neighbour grows very tall trees"),
}
"""Sentences by their number of words, no word twice."""

N_SEEDS = 1_000_000
MOST_TRIES = 200
"""Draws that are looked at for one deal, until one is fit to be asked."""


@dataclass(frozen=True)
class Draw:
    """The draws of one deal.

    attempt  which of its draws, as some are not fit to be asked
    """

    asked: Asked
    attempt: int = 0

    def whole(self, name: str, n: int) -> int:
        """Return a whole number from 0 to n - 1.

        >>> [Draw(Asked("weight", 1, deal)).whole("seed", 10) for deal in range(5)]
        [5, 8, 4, 6, 6]
        """
        text = f"{self.asked.kind} {self.asked.level} {self.asked.deal} {self.attempt} {name}"
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") % n

    def one_of(self, name: str, values: Sequence[Value]) -> Value:
        """Return one of some values."""
        return values[self.whole(name, len(values))]

    def ordinal(self, name: str, low: int, high: int) -> int:
        """Return a position counted from 1, from `low` to `high`."""
        return low + self.whole(name, high - low + 1)

    def setting(self, words: int, **changes: Any) -> dict[str, Any]:
        """Return a small setting with random numbers: one head, no positions, no mask."""
        usual = {
            "sentence": self.one_of("sentence", SENTENCES[words]),
            "seed": self.whole("seed", N_SEEDS),
            "position": "none",
            "d_model": 6,
            "n_heads": 1,
            "d_k": 2,
            "d_v": 2,
            "mask": "none",
            "initialiser": "glorot",
            "output_projection": False,
        }
        return {**usual, **changes}

    def bits(self, words: int, **changes: Any) -> dict[str, Any]:
        """Return a small setting whose queries, keys, values and scores are whole numbers."""
        return self.setting(words, **{"embedding": "binary", "initialiser": "binary", "score": "dot", **changes})
