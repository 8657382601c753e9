"""Short codes that a person can read out, type and paste: whole numbers as letters and digits, with two check signs.

No two signs look alike, capitals and small letters count the same, and whatever stands between the groups is ignored.
The number of signs is prime, so a weighted sum of them changes with any single sign and with any two neighbours that
change places: a difference d at position i moves it by d times 5 to the i, which is never 0. Of all other garblings two
sums let one in 529 by.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words

SIGNS = "34679ACDEFGHJKMNPRTVWXY"
BASE = len(SIGNS)
WEIGHTS = (5, 7)
"""Both generate every residue of 23 but 0, so neighbours never weigh the same."""

WIDE = 12
"""Signs up to which a number is written without their count."""

GROUP = 4
MAX_CHARACTERS = 8_000
_HALF = BASE // 2
_BETWEEN = dict.fromkeys(map(ord, " \t\r\n-–—.·_\xad\xa0\u2009\u200b\u2010\u2011\u2012\u202f\u2060\u2212\ufeff"))
"""Also the hyphens and spaces that editors put in place of those that were typed."""


FAULTS = Words(
    {
        "empty": "there is no code; copy the whole line that the page shows",
        "long": "the code has {n:,} characters; none is longer than {most:,}, so copy just the code",
        "sign": "the code holds {sign}, which no code does; its characters are {signs}",
        "check": "the code was mistyped or cut: its check characters do not fit; copy it again",
        "short": "the code ends too early; copy it again",
    }
)


def encode_fixed(number: int, n: int) -> tuple[int, ...]:
    """Return a number below 23 to the n as exactly n signs, the largest position first.

    >>> encode_fixed(24, 3)
    (0, 1, 1)
    """
    if not 0 <= number < BASE**n:
        raise ValueError(f"{number} does not fit into {n} signs")
    return tuple(number // BASE**position % BASE for position in range(n - 1, -1, -1))


def decode_fixed(signs: Sequence[int]) -> int:
    """Return the number that `encode_fixed` wrote.

    >>> decode_fixed((0, 1, 1))
    24
    """
    number = 0
    for sign in signs:
        number = number * BASE + sign
    return number


def encode_free(number: int) -> tuple[int, ...]:
    """Return a number of any size from 0 up, in as few signs as say where it ends: 11 values each, the smallest
    position first.

    >>> encode_free(3), encode_free(11)
    ((3,), (11, 1))
    """
    if number < 0:
        raise ValueError(f"{number} is below 0")
    signs = []
    while number >= _HALF:
        signs.append(_HALF + number % _HALF)
        number //= _HALF
    return (*signs, number)


def decode_free(signs: Sequence[int]) -> tuple[int, ...]:
    """Return all the numbers that `encode_free` wrote one after another; raises ConfigError where the last one does
    not end.

    >>> decode_free(encode_free(3) + encode_free(11) + encode_free(12_345))
    (3, 11, 12345)
    """
    choices, number, position = [], 0, 1
    for sign in signs:
        number += sign % _HALF * position
        position *= _HALF
        if sign < _HALF:
            choices.append(number)
            number, position = 0, 1
        elif sign == BASE - 1:
            raise ConfigError(FAULTS["check"])
    if position > 1:
        raise ConfigError(FAULTS["short"])
    return tuple(choices)


def encode_wide(number: int) -> tuple[int, ...]:
    """Return a number of any size from 0 up in fewer signs where it is large: their count, and 23 values each.

    >>> encode_wide(3), len(encode_wide(10**60)), len(encode_free(10**60))
    ((6,), 47, 58)
    """
    n = 0
    while BASE**n <= number:
        n += 1
    return encode_free(2 * number) if n <= WIDE else (*encode_free(2 * n + 1), *encode_fixed(number, n))


def decode_wide(signs: Sequence[int]) -> tuple[int, ...]:
    """Return all the numbers that `encode_wide` wrote one after another; raises ConfigError where the last one does
    not end.

    >>> decode_wide(encode_wide(3) + encode_wide(10**60) + encode_wide(12_345)) == (3, 10**60, 12345)
    True
    """
    numbers, at = list[int](), 0
    while at < len(signs):
        end = next((n for n in range(at, len(signs)) if signs[n] < _HALF), None)
        if end is None:
            raise ConfigError(FAULTS["short"])
        (number,) = decode_free(signs[at : end + 1])
        at = end + 1
        if number % 2:
            end = at + number // 2
            if end > len(signs):
                raise ConfigError(FAULTS["short"])
            number, at = 2 * decode_fixed(signs[at:end]), end
        numbers.append(number // 2)
    return tuple(numbers)


def with_checksum(signs: Iterable[int]) -> str:
    """Return the signs with their check signs, in groups of four.

    >>> with_checksum((0, 1, 2, 3, 4))
    '3467-99D'
    """
    numbers = list(signs)
    text = "".join(SIGNS[sign] for sign in (*numbers, *_sums(numbers)))
    return "-".join(text[at : at + GROUP] for at in range(0, len(text), GROUP))


def without_checksum(text: str) -> tuple[int, ...]:
    """Return the signs of a code without its check signs.

    Raises ConfigError in one sentence for a sign that no code has, and for check signs that do not fit.
    """
    bare = text.translate(_BETWEEN).upper()
    if not bare:
        raise ConfigError(FAULTS["empty"])
    if len(bare) > MAX_CHARACTERS:
        raise ConfigError(FAULTS["long"].format(n=len(bare), most=MAX_CHARACTERS))
    strange = next((sign for sign in bare if sign not in SIGNS), None)
    if strange is not None:
        raise ConfigError(FAULTS["sign"].format(sign=shorten(strange), signs=SIGNS))
    numbers = [SIGNS.index(sign) for sign in bare]
    if tuple(numbers[-2:]) != _sums(numbers[:-2]):
        raise ConfigError(FAULTS["check"])
    return tuple(numbers[:-2])


def _sums(signs: Sequence[int]) -> tuple[int, ...]:
    """Return the check signs: the sum of the signs, each counted as often as a power of the weight says, and their
    number.
    """
    return tuple(
        (len(signs) + sum(sign * pow(weight, position + 1, BASE) for position, sign in enumerate(signs))) % BASE
        for weight in WEIGHTS
    )
