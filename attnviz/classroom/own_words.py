"""Answers in a person's own words: as numbers that a code can hold; no program judges them."""

from __future__ import annotations

from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words
from attnviz.settings.plain_text import clean

LONGEST = 240
"""Characters of an answer."""

MOST_BYTES = 600
"""Bytes of an answer in UTF-8; more are cut off at a character, so that a code can still be pasted."""

PROMPTS = Words(
    {
        "reason": "Explain your answer to the question before this one, in your own words.",
        "describe": "What do the heads attend to? Describe it in your own words.",
        "unlearnable": "Change one thing so that the head can no longer learn its task. What did you change, and why "
        "does it fail now?",
        "instructions": "Answer the question in the instructions, in your own words.",
    }
)
"""What can be asked for, by the names that stand in links."""

FAULT = Words({"text": "answer {n} of the code is no text"})


def encode_text(text: str) -> int:
    """Return a text as a whole number above 0; 0 for one with nothing in it.

    >>> decode_text(encode_text("weil −∞ zu 0 wird")), encode_text("  ")
    ('weil −∞ zu 0 wird', 0)
    """
    held = " ".join(clean(text).split())[:LONGEST].encode("utf-8", "replace")[:MOST_BYTES]
    whole = held.decode("utf-8", "ignore").encode()
    return int.from_bytes(b"\1" + whole, "big") if whole else 0


def decode_text(number: int) -> str:
    """Return the text that `encode_text` made a number of; raises ConfigError for a number that stands for none."""
    if number == 0:
        return ""
    held = number.to_bytes((number.bit_length() + 7) // 8, "big")
    try:
        text = held[1:].decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if held[:1] != b"\1" or not text or len(text) > LONGEST:
        raise ConfigError(FAULT["text"])
    return clean(text)
