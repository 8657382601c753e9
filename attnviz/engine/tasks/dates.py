"""Dates in several orders, and the questions for their year, month and day."""

from __future__ import annotations

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.tasks.game import Answers, below, positions_of

DAYS, YEARS = tuple(str(day) for day in range(1, 32)), tuple(str(year) for year in range(1990, 2010))
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
QUESTIONS = ("year", "month", "day")
DATES = (*DAYS, *MONTHS, *YEARS, *QUESTIONS, "of", ",")
SORTS = np.array([2] * len(DAYS) + [1] * len(MONTHS) + [0] * len(YEARS) + [-1] * 5)
"""Of each word which question it answers, by its position in QUESTIONS."""


def draw_dates(u: Array) -> tuple[Array, Array]:
    """Return the positions of the three questions and of a date, for each row of u."""
    day, month = below(u[:, 0], len(DAYS)), len(DAYS) + below(u[:, 1], len(MONTHS))
    year = len(DAYS) + len(MONTHS) + below(u[:, 2], len(YEARS))
    of, comma = (np.full(len(u), position) for position in positions_of(DATES, "of", ","))
    orders = [(day, of, month, year), (month, day, comma, year), (year, comma, month, day)]
    keys = np.choose(below(u[:, 3], 3)[:, None], [np.stack(order, 1) for order in orders])
    return np.tile(positions_of(DATES, *QUESTIONS), (len(u), 1)), keys


def judge_dates(queries: Array, keys: Array) -> Answers:
    """Return the word of the date that answers each question."""
    questions = queries - DATES.index("year")
    where = questions[:, :, None] == SORTS[keys][:, None, :]
    words = np.take_along_axis(keys, np.argmax(where, axis=-1), 1)
    return Answers(words, np.asarray(where.any(axis=-1)), where)


def is_date(queries: Array, keys: Array) -> bool:
    """Return whether the keys hold one day, one month and one year, and the queries only questions."""
    questions = [DATES[position] in QUESTIONS for position in queries]
    return all(questions) and sorted(SORTS[keys][SORTS[keys] >= 0].tolist()) == [0, 1, 2]
