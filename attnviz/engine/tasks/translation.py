"""Translation of a short English sentence into French, in which the adjective comes after its noun."""

from __future__ import annotations

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.tasks.game import Answers, below, one_hot

DETERMINERS, ADJECTIVES = ("the", "a", "this", "my"), ("red", "grey", "black", "sad")
NOUNS, VERBS = ("cat", "dog", "boy", "horse"), ("sees", "follows", "likes", "hears")
FRENCH = (
    *("le", "un", "ce", "mon", "rouge", "gris", "noir", "triste"),
    *("chat", "chien", "garçon", "cheval", "voit", "suit", "aime", "entend"),
)
ENGLISH = DETERMINERS + ADJECTIVES + NOUNS + VERBS
BEGIN = "begin"
TRANSLATION = (*ENGLISH, *FRENCH, BEGIN)
KINDS = np.repeat(np.arange(4), 4)
"""Of each English word: 0 a determiner, 1 an adjective, 2 a noun, 3 a verb."""

BEFORE_FIRST, BEFORE_SECOND = (0, 1, 2, 3, 0, 2), (0, 2, 3, 0, 1, 2)
"""The kinds of the words where the adjective stands before the first noun, or before the second."""

READ = np.array([[0, 2, 1, 3, 4, 5], [0, 1, 2, 3, 5, 4]])
"""The English word behind each French one: in French the adjective comes after its noun."""


def draw_translation(u: Array) -> tuple[Array, Array]:
    """Return the positions of the French words so far and of the English sentence, a sentence for each row of u."""
    first, verb, second = (below(u[:, i : i + 3], 4) for i in (0, 3, 6))
    determiner, adjective, noun = first[:, 0], first[:, 1], first[:, 2]
    other_determiner, other_noun = second[:, 0], second[:, 1]
    before_first = u[:, 8] < 0.5
    described = np.where(before_first, noun, other_noun)
    held_out = (adjective == 2) & (described == 0)  # "black cat" is never shown
    described = np.where(held_out, 1 + below(u[:, 9], 3), described)
    noun, other_noun = np.where(before_first, described, noun), np.where(before_first, other_noun, described)
    d, a, n, v, e, o = determiner, 4 + adjective, 8 + noun, 12 + verb[:, 0], other_determiner, 8 + other_noun
    keys = np.where(before_first[:, None], np.stack([d, a, n, v, e, o], 1), np.stack([d, n, v, e, a, o], 1))
    french = _in_french(keys)
    start = np.full((len(u), 1), len(TRANSLATION) - 1)
    return np.concatenate([start, french[:, :-1]], 1), keys


def _read_at(keys: Array) -> Array:
    return READ[np.where(KINDS[keys[:, 1]] == 1, 0, 1)]


def _in_french(keys: Array) -> Array:
    return np.take_along_axis(keys, _read_at(keys), 1) + len(ENGLISH)


def judge_translation(queries: Array, keys: Array) -> Answers:
    """Return the next French word of each row, and the English word that it stands for."""
    where = one_hot(_read_at(keys), keys.shape[1])[:, : queries.shape[1]]
    return Answers(_in_french(keys)[:, : queries.shape[1]], np.ones(queries.shape, dtype=bool), where)


def is_english(queries: Array, keys: Array) -> bool:
    """Return whether the keys are an English sentence of the task, and the queries no longer than its translation."""
    if len(keys) != 6 or len(queries) > 6 or (keys >= len(ENGLISH)).any():
        return False
    return tuple(KINDS[keys]) in (BEFORE_FIRST, BEFORE_SECOND)
