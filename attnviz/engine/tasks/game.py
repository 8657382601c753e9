"""The generator of one task: its vocabulary, its sentences and the right answers.

A sentence is a row of indices into the vocabulary. What is right follows from the sentence alone, so that a sentence
that somebody types can be judged as one that was drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.numerics.noise import Address, uniform
from attnviz.settings.rows import Choice


@dataclass(frozen=True)
class Answers:
    """The right answers in a number of sentences.

    words   (sentences, queries): the index into the vocabulary of what each row should say
    counts  (sentences, queries): whether the row has an answer at all
    where   (sentences, queries, keys): where the row should attend to, False in rows that have no answer
    """

    words: Array
    counts: Array
    where: Array


@dataclass(frozen=True)
class Game(Choice):
    """One task. `fn(u)` generates sentences from rows of uniform numbers, and returns their queries and keys.

    Queries and keys are rows of words, one for each sentence; the keys are None in self-attention.

    vocabulary  its words
    n_random    how many uniform numbers a sentence takes
    judge       returns what is right, from the indices of queries and keys
    fits        whether `judge` can judge a sentence
    recipe      the settings in which it is learned well, with the sentence that it opens with
    """

    vocabulary: tuple[str, ...] = ()
    n_random: int = 0
    judge: Callable[[Array, Array], Answers] = field(default=lambda queries, keys: NotImplemented)
    fits: Callable[[Array, Array], bool] = field(default=lambda queries, keys: True)
    recipe: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_cross(self) -> bool:
        """True if keys come from a sentence of their own."""
        return bool(self.recipe.get("second_sentence"))

    def examples(self, seed: int, purpose: str, n: int, *at: int) -> tuple[Array, Array]:
        """Draw n sentences; return the indices of their queries and of their keys, (n, queries) and (n, keys)."""
        queries, keys = self.fn(uniform(Address(seed, f"task/{self.name}/{purpose}", at), (n, self.n_random)))
        return queries, queries if keys is None else keys

    def positions(self, words: Sequence[str]) -> Array | None:
        """Return the index of each word in the vocabulary; None if one is not in it."""
        known = {word: position for position, word in enumerate(self.vocabulary)}
        return np.array([known[word] for word in words], dtype=int) if set(words) <= known.keys() else None

    def answers(self, queries: Sequence[str], keys: Sequence[str]) -> Answers | None:
        """Return the right answers in one sentence of words; None where the task has no answer to it."""
        x, y = self.positions(queries), self.positions(keys)
        if x is None or y is None or not self.fits(x, y):
            return None
        return self.judge(x[None], y[None])


def below(u: Array, n: int) -> Array:
    """Return whole numbers from 0 to n - 1 out of uniform numbers."""
    return np.minimum(np.floor(u * n).astype(int), n - 1)


def shuffled(u: Array) -> Array:
    """Return a permutation of 0 ... in each row."""
    return np.argsort(u, axis=-1, kind="stable")


def one_hot(positions: Array, n: int) -> Array:
    """Return True at each position, along a new last axis of length n."""
    return positions[..., None] == np.arange(n)


def positions_of(names: Sequence[str], *words: str) -> list[int]:
    """Return the position of each word among the names."""
    return [list(names).index(word) for word in words]
