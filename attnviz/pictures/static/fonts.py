"""The fonts that come with the package, so that a picture has the same letters on every machine.

DejaVu Sans, in part, has what most European scripts and all formulas need; Droid Sans Fallback, in part, has the common
Chinese characters. `tools/subset_font.py` makes the files; their licenses stand beside them.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "fonts"
FACES = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf")
CHINESE = "DroidSansFallback.ttf"
FAMILY = "DejaVu Sans, sans-serif"
"""The font-family of every picture: where an SVG is opened on a machine that lacks the first, its own font is used."""

RANGES = (
    (0x0020, 0x007E),
    (0x00A0, 0x017F),  # Latin-1, Latin Extended-A
    (0x0192, 0x0192),
    (0x01A0, 0x01B0),  # Vietnamese, with the marks and vowels below
    (0x0218, 0x021B),
    (0x02C6, 0x02DD),
    (0x0300, 0x0331),
    (0x0386, 0x0386),
    (0x0388, 0x038A),
    (0x038C, 0x03CE),  # Greek
    (0x0400, 0x045F),  # Cyrillic
    (0x0490, 0x0491),
    (0x1D40, 0x1D40),  # the T of a transpose
    (0x1EA0, 0x1EF9),
    (0x2010, 0x2044),  # dashes, quotes, primes
    (0x2070, 0x209C),  # raised and lowered digits and letters
    (0x20AC, 0x20AC),
    (0x2102, 0x2102),
    (0x2113, 0x211D),
    (0x2122, 0x2122),
    (0x2190, 0x21D5),  # arrows
    (0x2200, 0x2265),  # mathematical operators
    (0x2282, 0x2287),
    (0x2295, 0x2299),
    (0x22A4, 0x22A5),
    (0x22C5, 0x22C5),
    (0x22EE, 0x22F1),
    (0x2308, 0x230B),
    (0x2500, 0x2503),
    (0x250C, 0x254B),  # boxes
    (0x2580, 0x25CF),  # blocks (word pieces begin with one), shapes
    (0x27E8, 0x27E9),
    (0xFB01, 0xFB02),
    (0xFFFD, 0xFFFD),
)
"""The ranges of the font, but for what Unicode leaves empty."""
_LACKING = re.compile("[^\n" + "".join(f"{chr(low)}-{chr(high)}" for low, high in RANGES) + "]")


FULL_WIDTH = "、。々《》「」『』【】〔〕〖〗！％（），：；？［］｛｝～￥"
"""The signs of Chinese text beside its characters."""
RARER = "浏熵蝙蝠阈"
"""Characters of the second level of GB 2312 in which the page speaks: entropy, a bat, a threshold."""


@cache
def chinese() -> frozenset[str]:
    """Return the characters of `CHINESE`: the 3,755 most common of GB 2312, its first level, and the signs."""
    level = (bytes((row, cell)) for row in range(0xB0, 0xD8) for cell in range(0xA1, 0xFF))
    return frozenset("".join(each.decode("gb2312", "ignore") for each in level) + FULL_WIDTH + RARER)


def has(text: str) -> bool:
    """Return whether the fonts have every character of a text.

    >>> has("QKᵀ / √d — größer"), has("注意力 (猫)"), has("ねこ")
    (True, True, False)
    """
    return all(lacking in chinese() for lacking in set(_LACKING.findall(text)))


def files(text: str) -> tuple[str, ...]:
    """Return the fonts that the plain letters of a text are taken from, the one to look in first before the other.

    >>> files("attention"), files("注意力")
    (('DejaVuSans.ttf',), ('DejaVuSans.ttf', 'DroidSansFallback.ttf'))
    """
    return (FACES[0], CHINESE) if any(each in chinese() for each in set(_LACKING.findall(text))) else FACES[:1]
