"""Answers in free text, packed into whole numbers for an answer code; a teacher marks them, no program does."""

from __future__ import annotations

from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words
from attnviz.settings.plain_text import clean

MAX_ANSWER_CHARACTERS = 240

MAX_ANSWER_BYTES = 600
"""Length of an answer in UTF-8; the rest is cut off between two characters, so that a code is short enough to paste."""

PROMPTS = Words(
    {
        "reason": "Explain your answer to the question before this one, in your own words.",
        "describe": "What do the heads attend to? Describe it in your own words.",
        "unlearnable": "Change one thing so that the head can no longer learn its task. What did you change, and why "
        "does it fail now?",
        "instructions": "Answer the question in the instructions, in your own words.",
    }
)
"""The prompts for free text, by their names in links."""

FAULT = Words({"text": "answer {n} of the code is not text"})


def encode_text(text: str) -> int:
    """Return a text as a positive whole number, and an empty one as 0.

    >>> decode_text(encode_text("weil −∞ zu 0 wird")), encode_text("  ")
    ('weil −∞ zu 0 wird', 0)
    """
    data = " ".join(clean(text).split())[:MAX_ANSWER_CHARACTERS].encode("utf-8", "replace")[:MAX_ANSWER_BYTES]
    whole = data.decode("utf-8", "ignore").encode()
    return int.from_bytes(b"\1" + whole, "big") if whole else 0


def decode_text(number: int) -> str:
    """Return the text that `encode_text` packed into the number; raise ConfigError if the number encodes none."""
    if number == 0:
        return ""
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    try:
        text = data[1:].decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if data[:1] != b"\1" or not text or len(text) > MAX_ANSWER_CHARACTERS:
        raise ConfigError(FAULT["text"])
    return clean(text)
