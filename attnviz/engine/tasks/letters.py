"""Rows of letters: said backwards, or going on as they went before (induction)."""

from __future__ import annotations

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.tasks.game import Answers, below, shuffled

LETTERS = tuple("abcdefgh")


def draw_backwards(u: Array) -> tuple[Array, None]:
    """Return the positions of letters drawn independently, for each row of u."""
    return below(u, len(LETTERS)), None


def judge_backwards(queries: Array, keys: Array) -> Answers:
    """Return the letters in reverse order."""
    n = queries.shape[1]
    where = np.broadcast_to(np.eye(n, dtype=bool)[::-1], (len(queries), n, n))
    return Answers(queries[:, ::-1], np.ones(queries.shape, dtype=bool), where)


LENGTH, BLOCKS = 12, (3, 4, 5, 6)


def draw_induction(u: Array) -> tuple[Array, None]:
    """Return the positions of letters in which a block repeats, for each row of u."""
    block = shuffled(u[:, : len(LETTERS)])
    size = np.array(BLOCKS)[below(u[:, len(LETTERS)], len(BLOCKS))]
    return np.take_along_axis(block, np.arange(LENGTH) % size[:, None], 1), None


def judge_induction(queries: Array, keys: Array) -> Answers:
    """Return the letter that followed the latest earlier copy of each, where there is one."""
    n = queries.shape[1]
    where = np.zeros((len(queries), n, n), dtype=bool)
    where[:, :, 1:] = queries[:, :, None] == queries[:, None, :-1]  # what stands after an earlier copy of the word
    where &= np.tri(n, dtype=bool)
    latest = n - 1 - np.argmax(where[:, :, ::-1], axis=-1)
    return Answers(np.take_along_axis(queries, latest, 1), np.asarray(where.any(axis=-1)), where)
