"""Pairs of a person and a colour, and the question for the colour of one of them."""

from __future__ import annotations

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.tasks.game import Answers, below, shuffled

PEOPLE, COLOURS = ("tom", "ann", "bob", "eve", "sam", "joe"), ("red", "blue", "green", "pink", "gold", "grey")
PAIRS = 4


def draw_recall(u: Array) -> tuple[Array, None]:
    """Return the positions of the pairs and of the person asked about, for each row of u."""
    n = len(PEOPLE)
    people, colours = shuffled(u[:, :n])[:, :PAIRS], n + below(u[:, n : n + PAIRS], len(COLOURS))
    queried = np.take_along_axis(people, below(u[:, n + PAIRS :], PAIRS), 1)
    pairs = np.stack([people, colours], axis=-1).reshape(len(u), 2 * PAIRS)
    return np.concatenate([pairs, queried], 1), None


def judge_recall(queries: Array, keys: Array) -> Answers:
    """Return the colour of the last person, who alone has an answer."""
    n = queries.shape[1]
    where = np.zeros((len(queries), n, n), dtype=bool)
    where[:, -1, 1:-1:2] = queries[:, 0:-2:2] == queries[:, -1:]
    counts = np.zeros(queries.shape, dtype=bool)
    counts[:, -1] = True
    return Answers(np.take_along_axis(queries, np.argmax(where, axis=-1), 1), counts, where)


def is_recall(queries: Array, keys: Array) -> bool:
    """Return whether a sentence is of pairs and one of their people, who stands in it once before."""
    people, colours = queries[0:-1:2], queries[1:-1:2]
    alternate = len(queries) % 2 == 1 and (people < len(PEOPLE)).all() and (colours >= len(PEOPLE)).all()
    return bool(alternate) and np.count_nonzero(people == queries[-1]) == 1
