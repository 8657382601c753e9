"""The number in a cell of a map: as many places as all of a picture have room for, as the page draws it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal

from attnviz.settings.language import current_language
from attnviz.text.format.number_format import DECIMAL_COMMA

NEARLY_ZERO = "≈0"
MOST_PLACES = 2
ALL = 0.995
"""From here on a share in two places is 1."""

NARROW, SEEN, SEEN_NARROW = 24, 0.005, 0.05
"""Pixels below which a cell is narrow, and the shares below which a cell, or a narrow one, stays empty."""


def in_language(text: str) -> str:
    """Return a number as the language of the page writes it.

    >>> in_language("−1.50"), in_language(".62")
    ('−1.50', '.62')
    """
    return text.replace(".", ",") if current_language() in DECIMAL_COMMA else text


def fixed(number: float, places: int) -> str:
    """Return a number with so many decimals, a half rounded up in size: as JavaScript's `toFixed` does.

    >>> fixed(0.125, 2), fixed(-2.5, 0), fixed(1.005, 2)
    ('0.13', '-3', '1.00')
    """
    return str(Decimal(number).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP))


def share(number: float, room: float) -> str:
    """Return a share in two places and without its zero; nothing for one too small for so narrow a cell.

    >>> share(0.617, 20), share(1.0, 20), share(0.03, 20), share(0.03, 30)
    ('.62', '1', '', '.03')
    """
    if number >= ALL:
        return "1"
    return "" if number < (SEEN_NARROW if room < NARROW else SEEN) else fixed(number, 2)[1:]


def places(numbers: Sequence[float], fits: Callable[[str], bool]) -> int:
    """Return how many decimals all of the numbers have room for, two at most; -1 where not even none have.

    fits  tells whether a text has room in a cell
    """
    high = max(map(abs, numbers), default=0.0)
    ways = (0,) if all(number == int(number) for number in numbers) else range(MOST_PLACES, -1, -1)
    return next((n for n in ways if high < 1e5 and fits("−" + fixed(high, n))), -1)


def written(number: float, places: int) -> str:
    """Return a number with so many decimals; one that is not zero but would read so is only about zero.

    >>> written(-1.5, 1), written(0.0, 2), written(1e-9, 2)
    ('−1.5', '0', '≈0')
    """
    text = fixed(number, places)
    if float(text) == 0:
        return NEARLY_ZERO if number else "0"
    return text.replace("-", "−")
