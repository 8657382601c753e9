"""The error of a setting that cannot be used, and what its messages quote."""

from __future__ import annotations


class ConfigError(ValueError):
    """A setting that cannot be used. The message says what was given, what is allowed and what to do."""


def shorten(text: str, longest: int = 40) -> str:
    """Return `text` in quotes for a message, cut so that a hostile address cannot fill the page."""
    return repr(text if len(text) <= longest else text[: longest - 1] + "…")


def shorten_name(text: str, longest: int = 80) -> str:
    """Return a dotted name in quotes for a message, cut in its middle: what differs stands at its ends.

    >>> shorten_name("encoder.layer.0.attention.output.LayerNorm.weight", 30)
    "'encoder.layer.…ayerNorm.weight'"
    """
    half = longest // 2
    return repr(text if len(text) <= longest else f"{text[:half]}…{text[half - longest + 1 :]}")
