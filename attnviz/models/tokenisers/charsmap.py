"""SentencePiece's table of characters that are written in another way before a text is cut: ﬁ as fi, Ａ as A.

It is a trie in a double array, and the texts that its keys turn into behind it, each ended by a zero.

Source: Aoe 1989, IEEE Transactions on Software Engineering 15(9); the layout is that of SentencePiece's files.
"""

from __future__ import annotations

import base64
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

LONGEST = 5
"""The most bytes of a letter and its marks that are looked up as one."""

PREPENDED = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f")
"""The characters of two bytes that belong to the one behind them."""


@dataclass(frozen=True)
class Charsmap:
    """units is the double array, texts what its keys turn into."""

    units: list[int]
    texts: bytes

    def __call__(self, text: str) -> str:
        """Return a text with each letter, or letter with its marks, as the table has it."""
        return "".join(map(self._changed, _letters(text)))

    def _changed(self, letter: str) -> str:
        if len(letter) > 1 and len(letter.encode("utf-8", "replace")) <= LONGEST:
            whole = self._found(letter)
            if whole is not None:
                return whole
        return "".join(self._of_character(character) for character in letter)

    def _of_character(self, character: str) -> str:
        found = self._found(character)
        return character if found is None else found

    def _found(self, key: str) -> str | None:
        """Return what the shortest key that a text begins with turns into."""
        at = _offset(self.units[0])
        for byte in key.encode("utf-8", "replace"):
            at ^= byte
            if byte == 0 or at >= len(self.units):
                return None
            unit = self.units[at]
            if unit & 0x800000FF != byte:
                return None
            at ^= _offset(unit)
            if unit >> 8 & 1 and at < len(self.units):
                start = self.units[at] & 0x7FFFFFFF
                return self.texts[start : self.texts.find(b"\0", start)].decode("utf-8", "replace")
        return None


def _offset(unit: int) -> int:
    """Return the distance to the children of a unit."""
    return (unit >> 10) << ((unit & 0x200) >> 6)


def read(stored: str | None) -> Callable[[str], str]:
    """Return the table that a tokenizer.json holds. Raises ValueError for a damaged one."""
    if not stored:
        return str
    whole = base64.b64decode(stored, validate=True)
    size = int.from_bytes(whole[:4], "little")
    if len(whole) < 8 or size % 4 or not 4 <= size <= len(whole) - 4 or not whole.endswith(b"\0"):
        raise ValueError
    return Charsmap(np.frombuffer(whole[4 : 4 + size], "<u4").tolist(), whole[4 + size :])


def _letters(text: str) -> Iterator[str]:
    """Yield each letter with the marks that belong to it, as far as both can be one key."""
    letter: list[str] = []
    for character in text:
        goes_on = letter and (
            (letter[-1] == "\r" and character == "\n")
            or (letter[-1] in PREPENDED and not _is_control(character))
            or (_is_mark(character) and not _is_control(letter[-1]))
        )
        if letter and not goes_on:
            yield "".join(letter)
            letter = []
        letter.append(character)
    if letter:
        yield "".join(letter)


def _is_mark(character: str) -> bool:
    is_tone = "\U0001f3fb" <= character <= "\U0001f3ff"
    return is_tone or character in "\u200c\u200d" or unicodedata.category(character)[0] == "M"


def _is_control(character: str) -> bool:
    """Return whether no mark can belong to a character."""
    is_joiner = character in "\u200c\u200d" or character in PREPENDED
    return unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp") and not is_joiner
