"""The shape that a cell of a heat map may have, and how well it can be read: lengths are CSS pixels."""

from __future__ import annotations

import math

TALL, TALLER, FLAT = 1.35, 1.6, 0.75  # a cell's height over its width: at most, at most in focus, at least
TALL_FOR_A_WORD = 2.2  # at most where that gives its row a word
FLATTER, FLATTEST = 0.5, 0.3  # at least in a stage by itself, and in one head of it: there is width to spare
LEGIBLE, WORDS_WORTH = 11, 1.26  # the height of the smallest type, so that each row has its word; what that is worth
PRINTED, NUMBERS_WORTH = (17, 14), 1.1  # the size from which a share is printed in a cell, and what that is worth


def tallest(width: float, *, focused: bool) -> float:
    """Return the height that a cell of a width may have; a narrow one is higher where that gives its row a word.

    >>> tallest(20, focused=False), tallest(20, focused=True), tallest(7, focused=False), tallest(5, focused=False)
    (27.0, 32.0, 11, 11)
    """
    return width * TALLER if focused else max(width * TALL, min(LEGIBLE, width * TALL_FOR_A_WORD))


def flattest(stages: int, heads: int) -> float:
    """Return the least height over its width of a cell, with so many stages beside each other and heads in each.

    >>> flattest(3, 8), flattest(1, 8), flattest(1, 1)
    (0.75, 0.5, 0.3)
    """
    return FLAT if stages > 1 else FLATTER if heads > 1 else FLATTEST


def worth(width: float, height: float) -> float:
    """Return the shorter side of a cell, and more where every row has its word beside it and every share its number.

    >>> worth(9, 7.5), worth(6, 11) > worth(9, 7.5), worth(20, 14) > worth(21, 13)
    (7.5, True, True)
    """
    words = WORDS_WORTH if height >= LEGIBLE else 1
    numbers = NUMBERS_WORTH if width >= PRINTED[0] and height >= PRINTED[1] else 1
    return min(width, height) * words * numbers


def whole(high: float) -> float:
    """Return a cell's height in whole pixels, small ones in halves and tenths.

    >>> whole(11.7), whole(5.9), whole(2.18)
    (11, 5.5, 2.1)
    """
    if high >= 8:
        return math.floor(high)
    return math.floor(high * 2) / 2 if high >= 3 else math.floor(high * 10) / 10
