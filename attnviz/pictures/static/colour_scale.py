"""The colour of a number on a scale, and what can be read on it."""

from __future__ import annotations

from functools import cache

from attnviz.pictures.stage_record import Scale

INK, PALE_INK = "#000000", "#ffffff"
SWITCHED_AT = 0.179  # of full luminance: here both read alike, at 4.58 to 1; an ink less than black reads worse


def colour(shades: Scale, number: float) -> str:
    """Return the colour of a number, as #rrggbb; beyond the ends of the scale it is that of the end.

    >>> colour(Scale(0.0, 1.0, ("#000000", "#ffffff")), 0.5)
    '#808080'
    """
    half = shades.high / 2 - shades.low / 2  # halves, so that the difference of two large numbers stays finite
    share = min(max((number / 2 - shades.low / 2) / half, 0.0), 1.0) * (len(shades.colours) - 1)
    at = min(int(share), len(shades.colours) - 2)
    low, high = _parts(shades.colours[at]), _parts(shades.colours[at + 1])
    return "#" + "".join(f"{int(a + (b - a) * (share - at) + 0.5):02x}" for a, b in zip(low, high))


def contrast(ground: str) -> str:
    """Return black or white, whichever reads better on a colour.

    >>> contrast("#ffffff"), contrast("#000000")
    ('#000000', '#ffffff')
    """
    red, green, blue = ((part / 255) ** 2.2 for part in _parts(ground))
    return INK if 0.2126 * red + 0.7152 * green + 0.0722 * blue > SWITCHED_AT else PALE_INK


@cache
def _parts(hexadecimal: str) -> tuple[int, int, int]:
    red, green, blue = (int(hexadecimal[at : at + 2], 16) for at in (1, 3, 5))
    return red, green, blue
