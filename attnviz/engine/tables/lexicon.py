"""The list of English words that come with a vector of meaning: learned from text, packed, read when first needed."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from attnviz.arrays import Array

COLUMNS = 64
"""The length of a word's vector."""

MAX_NUMBER = 7
"""The numbers are whole, from minus this to this, before they are halved."""

CLITICS = ("n't", "'s", "'d", "'m", "'ll", "'re", "'ve")
"""Endings that may follow a word after an apostrophe."""

ENDINGS = (
    *((ending, "") for ending in CLITICS),
    ("ies", "y"),
    ("es", ""),
    ("s", ""),
    ("ied", "y"),
    ("ed", ""),
    ("ed", "e"),
    ("ing", ""),
    ("ing", "e"),
    ("ly", ""),
    ("er", ""),
    ("er", "e"),
    ("est", ""),
    ("est", "e"),
)
"""Suffixes of words, and what replaces each in the word that it was derived from."""

SHORTEST = 3
"""Letters that must be left of a word without its ending, where no apostrophe says that it is one."""


@dataclass(frozen=True)
class Lexicon:
    """The words of the list, each with its position, and a row of whole numbers for each."""

    positions: Mapping[str, int]
    numbers: Array

    def listed(self, token: str) -> str:
        """Return the word of the list that stands for a token: itself, in small letters, or what it was made from.

        Empty for a token of which the list has neither.
        """
        word = token.lower().replace("’", "'")
        if word in self.positions:
            return word
        return next((base for base in _bases(word) if base in self.positions), "")

    def vector(self, word: str) -> Array:
        """Return the vector of a word of the list. Shape (COLUMNS,); its entries have mean square 1 or so."""
        return self.numbers[self.positions[word]] / 2.0


def _bases(word: str) -> list[str]:
    """Return the words that a word may be without an ending, the likeliest first.

    >>> _bases("stopped")
    ['stopp', 'stop', 'stoppe']
    """
    bases = []
    for ending, instead in ENDINGS:
        stem = word.removesuffix(ending)
        if stem == word or (len(stem) < SHORTEST and ending not in CLITICS):
            continue
        bases.append(stem + instead)
        if not instead and len(stem) > SHORTEST and stem[-1] == stem[-2]:
            bases.append(stem[:-1])
    return bases


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """Return the list, read from the package once."""
    from importlib.resources import files  # here, as importing attnviz need not wait for it

    stored = np.load(io.BytesIO((files("attnviz") / "lexicon" / "lexicon.npz").read_bytes()))
    words = stored["words"].tobytes().decode("ascii").split("\n")
    packed = stored["numbers"]
    numbers = np.stack([packed >> 4, packed & 15], axis=-1).reshape(len(words), COLUMNS).astype(np.int8) - MAX_NUMBER
    numbers.flags.writeable = False
    return Lexicon({word: i for i, word in enumerate(words)}, numbers)
