"""The error of a setting that cannot be used, and what its messages quote."""

from __future__ import annotations

from collections.abc import Sequence

MAX_MESSAGE_CHARACTERS = 2_000
"""More than any message has that quotes what was given by `shorten`."""


class ConfigError(ValueError):
    """A setting that cannot be used. The message says what was given, what is allowed and what to do.

    Whatever it is made of, it is no longer than a page has room for: of more, the middle is left out.
    """

    def __init__(self, message: str = "") -> None:
        half = MAX_MESSAGE_CHARACTERS // 2
        super().__init__(message if len(message) <= 2 * half else f"{message[: half - 2]} … {message[1 - half :]}")


class SeveralFaultsError(ConfigError):
    """Several faults of one thing, each a sentence; the message is all of them."""

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(self.faults))


def shorten(value: object, longest: int = 40) -> str:
    """Return what was given as a message quotes it: a text in quotes, anything else as Python writes it.

    It is cut, so that nothing from outside can fill the page.

    >>> shorten("a" * 90_000, 5), shorten([0.5] * 90_000, 6), shorten(0.5)
    ("'aaaa…'", '[0.5,…', '0.5')
    >>> print(shorten("👨‍👩‍👧"))  # what joins them has no width, and Python would write its number
    '👨‍👩‍👧'
    """
    if isinstance(value, str):
        return repr(cut(value, longest)).replace(r"\u200d", "\u200d")
    try:
        written = repr(value)
    except (ValueError, RecursionError):  # of a whole number with thousands of digits, and of lists that deep
        written = type(value).__name__
    return cut(written, longest)


def cut(text: str, longest: int = 40) -> str:
    """Return the beginning of a text, as `shorten`, without quotes."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def shorten_name(text: str, longest: int = 80) -> str:
    """Return a dotted name in quotes for a message, cut in its middle: what differs stands at its ends.

    >>> shorten_name("encoder.layer.0.attention.output.LayerNorm.weight", 30)
    "'encoder.layer.0…yerNorm.weight'"
    """
    half = longest // 2
    return repr(text if len(text) <= longest else f"{text[:half]}…{text[half - longest + 1 :]}")
