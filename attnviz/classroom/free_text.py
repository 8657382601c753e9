"""Answers in free text, packed into whole numbers for an answer code; a teacher marks them, no program does."""

from __future__ import annotations

import zlib

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

OFTEN = (
    " Vorgänger Nachfolger Diagonale Skalarprodukt vorher nachher Wörter Spalte Zeilen Spalten berechnet "
    "multipliziert addiert Summe ergibt Ergebnis größer kleiner gleich ist nicht keine einen eine der die das und "
    "den dem des mit auf für von zu sich auch dann wenn dass weil nur noch nach bei wird werden Gewichte Gewicht "
    "Maske Zeile Wort beachtet Kopf Scores Wert Werte because attends attention weights weight softmax scores "
    "score query queries key keys value values mask masked causal head heads row rows column columns word words "
    "token tokens position positions previous next first last diagonal future later before after larger smaller "
    "same different sum adds up to one divided by the square root of d_k dot product multiplied by every each "
    "only itself therefore there is no not more than less that this the it its of and in for with are can be does "
    "has have which so if then when all other would "
).encode()
"""What answers often hold, so that deflate makes them shorter. A code is read with the very list that it was made with,
so this never changes; another list would need another sign than `PACKED`."""
PLAIN, PACKED = b"\1", b"\2"

FAULT = Words({"text": "answer {n} of the code is not text"})


def encode_text(text: str) -> int:
    """Return a text as a positive whole number, and an empty one as 0.

    >>> decode_text(encode_text("weil −∞ zu 0 wird")), encode_text("  ")
    ('weil −∞ zu 0 wird', 0)
    """
    data = " ".join(clean(text).split())[:MAX_ANSWER_CHARACTERS].encode("utf-8", "replace")[:MAX_ANSWER_BYTES]
    whole = data.decode("utf-8", "ignore").encode()
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zlib.Z_DEFAULT_STRATEGY, OFTEN)
    packed = packer.compress(whole) + packer.flush()
    held = PACKED + packed if len(packed) < len(whole) else PLAIN + whole
    return int.from_bytes(held, "big") if whole else 0


def _unpacked(data: bytes) -> bytes:
    """Return what was packed; nothing for what is no packed text, or a longer one than an answer can be."""
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS, OFTEN)
    try:
        whole = unpacker.decompress(data, MAX_ANSWER_BYTES + 1)
    except zlib.error:
        return b""
    return whole if unpacker.eof and not unpacker.unused_data else b""


def decode_text(number: int) -> str:
    """Return the text that `encode_text` packed into the number; raise ConfigError if the number encodes none."""
    if number == 0:
        return ""
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    try:
        text = (_unpacked(data[1:]) if data[:1] == PACKED else data[1:]).decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if data[:1] not in (PLAIN, PACKED) or not text or len(text) > MAX_ANSWER_CHARACTERS:
        raise ConfigError(FAULT["text"])
    return clean(text)
