"""BERT's tokeniser: words and signs, then from the left the longest pieces that the vocabulary has.

The package `tokenizers` does the same, but would be a fifth one to install; `tokeniser.py` takes it for other kinds.

Source: Devlin et al. 2018, arXiv:1810.04805, section 3 and its tokenization.py.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

CHINESE = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip
"""The characters that are words by themselves."""

SIGNS = ((33, 47), (58, 64), (91, 96), (123, 126))
"""Characters of ASCII that count as punctuation, though Unicode calls some of them symbols."""

LONGEST_WORD = 100


@dataclass(frozen=True)
class WordPiece:
    """A vocabulary, and how a text is prepared for it."""

    vocabulary: Mapping[str, int]
    lowercase: bool = True
    strip_accents: bool = True
    separates_chinese: bool = True
    unknown: str = "[UNK]"
    prefix: str = "##"
    keeps_unknown: bool = False
    """Whether a word that the vocabulary does not have stays as it is, for a spare word to take its place."""

    def pieces(self, text: str) -> Iterator[str]:
        """Yield the pieces of a text.

        >>> list(WordPiece({"warm": 0, "##er": 1, ".": 2}).pieces("Warmer. Cats"))
        ['warm', '##er', '.', '[UNK]']
        """
        for word in self._words(text):
            yield from self._of_word(word)

    def _words(self, text: str) -> Iterator[str]:
        """Yield words and signs: without control characters, and in small letters where that is wanted."""
        line = "".join(map(self._cleaned, text))
        if self.strip_accents:
            line = "".join(c for c in unicodedata.normalize("NFD", line) if unicodedata.category(c) != "Mn")
        if self.lowercase:
            line = line.lower()
        for word in line.split():
            yield from _apart(word)

    def _cleaned(self, character: str) -> str:
        if character in "\t\n\r":
            return " "
        code = ord(character)
        if code in (0, 0xFFFD) or unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs"):
            return ""
        if character.isspace():
            return " "
        is_word = self.separates_chinese and any(first <= code <= last for first, last in CHINESE)
        return f" {character} " if is_word else character

    def _of_word(self, word: str) -> list[str]:
        if len(word) > LONGEST_WORD:
            return [self.unknown]
        pieces: list[str] = []
        start = 0
        while start < len(word):
            before = self.prefix if start else ""
            ends = (end for end in range(len(word), start, -1) if before + word[start:end] in self.vocabulary)
            end = next(ends, None)
            if end is None:
                return [word if self.keeps_unknown else self.unknown]
            pieces.append(before + word[start:end])
            start = end
        return pieces


def _apart(word: str) -> Iterator[str]:
    """Yield the parts of a word between its punctuation, and each sign."""
    part = ""
    for character in word:
        if _is_sign(character):
            yield from (part, character) if part else (character,)
            part = ""
        else:
            part += character
    if part:
        yield part


def _is_sign(character: str) -> bool:
    code = ord(character)
    return unicodedata.category(character)[0] == "P" or any(first <= code <= last for first, last in SIGNS)


def words_of(pieces: Sequence[str], prefix: str = "##") -> str:
    """Return the text that pieces are behind another: a space before each word, none before what goes on with one.

    >>> words_of(["play", "##ing", "chess"])
    ' playing chess'
    """
    return "".join(piece.removeprefix(prefix) if piece.startswith(prefix) else f" {piece}" for piece in pieces)
