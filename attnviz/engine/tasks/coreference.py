"""A sentence in which “it” is an animal or a thing, by what is told of it at the end."""

from __future__ import annotations

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.tasks.game import Answers, below, positions_of

ANIMALS, THINGS = ("cat", "dog", "horse", "girl"), ("street", "car", "bridge", "door")
OF_ANIMALS, OF_THINGS = ("tired", "hungry", "happy"), ("wide", "broken", "new")
FRAME = ("the", "saw", "passed", "because", "it", "was")
COREFERENCE = (*FRAME, *ANIMALS, *THINGS, *OF_ANIMALS, *OF_THINGS)
IT = 6
"""The row that is asked: “it”."""


def draw_coreference(u: Array) -> tuple[Array, None]:
    """Return the positions of the words of a sentence, for each row of u."""
    n = len(u)
    the, saw, because, it, was = (
        np.full(n, position) for position in positions_of(COREFERENCE, "the", "saw", *FRAME[3:])
    )
    animal, thing = len(FRAME) + below(u[:, 0], 4), len(FRAME) + 4 + below(u[:, 1], 4)
    first, second = np.where(u[:, 2] < 0.5, (animal, thing), (thing, animal))
    verb = len(FRAME) + 8 + below(u[:, 4], 3) + np.where(u[:, 3] < 0.5, 0, 3)
    return np.stack([the, first, saw + below(u[:, 5], 2), the, second, because, it, was, verb], 1), None


def judge_coreference(queries: Array, keys: Array) -> Answers:
    """Return the noun that “it” stands for, which alone has an answer."""
    n = queries.shape[1]
    is_animal = queries[:, -1] < COREFERENCE.index("wide")
    first = (queries[:, 1] < COREFERENCE.index("street")) == is_animal
    where = np.zeros((len(queries), n, n), dtype=bool)
    where[:, IT, 1], where[:, IT, 4] = first, ~first
    counts = np.zeros(queries.shape, dtype=bool)
    counts[:, IT] = True
    return Answers(np.take_along_axis(queries, np.argmax(where, axis=-1), 1), counts, where)


def is_coreference(queries: Array, keys: Array) -> bool:
    """Return whether a sentence has the frame, one animal, one thing, and a word told of either."""
    if len(queries) != 9:
        return False
    words = [COREFERENCE[position] for position in queries]
    frame = words[0] == words[3] == "the" and words[2] in FRAME[1:3] and words[5:8] == [*FRAME[3:]]
    nouns = {words[1] in ANIMALS, words[4] in ANIMALS} == {True, False} and {*words} & {*THINGS}
    return bool(frame and nouns and words[-1] in OF_ANIMALS + OF_THINGS)
