"""Seeded draws, and what is kept from training: the same on every machine and with every version of Python."""

from __future__ import annotations

import random
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TypeVar

T = TypeVar("T")

ONE_IN = 6
"""One combination in six is kept from training."""


class Again(Exception):  # noqa: N818  no error, but a part of how documents are drawn
    """A draw that cannot be finished; the next one may."""


@dataclass(frozen=True)
class Question:
    """A document, cut before a word that what stands before it decides.

    wrong  what a guess would take for the answer
    after  how the document goes on behind the answer
    key    the combination by which the question is one for training or kept from it
    """

    before: list[str]
    answer: str
    wrong: list[str]
    after: list[str] = field(default_factory=list)
    key: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        """The whole document."""
        return [*self.before, self.answer, *self.after]

    def renamed(self, names: dict[str, str]) -> Question:
        """Return the same document with other words in the place of some."""

        def put(words: Sequence[str]) -> list[str]:
            return [names.get(word, word) for word in words]

        return replace(
            self, before=put(self.before), answer=put([self.answer])[0], wrong=put(self.wrong), after=put(self.after)
        )


@cache
def held(*key: str) -> bool:
    """Return whether a combination of words, in this order, is kept from training.

    >>> held("agreement", "cup", "key"), held("agreement", "cup", "bag")
    (True, False)
    """
    return zlib.crc32(" ".join(key).encode()) % ONE_IN == 0


def pair(skill: str, left: str, right: str) -> tuple[str, ...]:
    """Return the key of two words whose order does not matter."""
    return (skill, *sorted((left, right)))


class Draw:
    """Draws for documents, from what is trained on or from what is kept from it.

    Everything is made of `random()`, the one method whose numbers Python promises to keep.
    """

    def __init__(self, seed: int | str, asked: bool = False) -> None:
        self._random, self.asked = random.Random(seed), asked  # noqa: S311  nothing here is a secret

    def chance(self, share: float) -> bool:
        """Return True with a probability."""
        return self._random.random() < share

    def below(self, n: int) -> int:
        """Return a whole number from 0 to n - 1."""
        return int(self._random.random() * n)

    def one(self, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[self.below(len(items))]

    def some(self, items: Sequence[T], n: int) -> list[T]:
        """Return n different items, in random order."""
        left = list(items)
        for i in range(n):
            other = i + self.below(len(left) - i)
            left[i], left[other] = left[other], left[i]
        return left[:n]

    def partner(self, skill: str, word: str, items: Sequence[str], but: Sequence[str] = ()) -> str:
        """Return an item whose pair with a word is on the side that is drawn from; raise Again where there is none."""
        there = [each for each in items if each != word and each not in but and self.wants(pair(skill, word, each))]
        if not there:
            raise Again
        return self.one(there)

    def wants(self, key: tuple[str, ...]) -> bool:
        """Return whether a combination is on the side that is drawn from."""
        return held(*key) == self.asked

    def must(self, key: tuple[str, ...]) -> tuple[str, ...]:
        """Return a combination; raise Again where it is on the other side."""
        if not self.wants(key):
            raise Again
        return key
