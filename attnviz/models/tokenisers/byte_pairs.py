"""Byte-level byte-pair encoding: GPT-2's tokeniser, and those of RoBERTa, GPT-NeoX, Llama 3 and Qwen.

A text is cut into words, each word into its bytes, and pairs of neighbours are joined in the order in which they were
learned. Bytes are written as letters: a space is Ġ. For whoever reads them they are put together again.

The package `tokenizers` does the same, but would be a fifth one to install; `tokeniser.py` takes it for other kinds.

Source: Radford et al. 2019 (GPT-2), section 2.2 and its encoder.py; Sennrich et al. 2016, arXiv:1508.07909.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

GPT_2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA_3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN = LLAMA_3.replace("{1,3}", "")

_SHORT_FORMS = r"'(?:s|t|re|ve|m|ll|d)"
_NEWER = r"[^rln]?l+|{numbers}| ?o+r*|[ sr]*r+|[ sr]+(?![lno])|[ sr]+"
WORDS = {
    GPT_2: (re.compile(_SHORT_FORMS), re.compile(r" ?l+| ?n+| ?o+|[ sr]+(?![lno])|[ sr]+")),
    LLAMA_3: (re.compile(_SHORT_FORMS, re.IGNORECASE), re.compile(_NEWER.format(numbers="n{1,3}"))),
    QWEN: (re.compile(_SHORT_FORMS, re.IGNORECASE), re.compile(_NEWER.format(numbers="n"))),
}
r"""The functions that cut words, by the pattern that a tokeniser's file names.

Python's expressions know no \p{L}, so each character is first replaced by its kind, see `_kind`; the short forms, such
as 's, are looked for in the text itself.
"""


@dataclass(frozen=True)
class BytePairs:
    """A vocabulary, the rank of each pair that was learned, and the pattern that cuts words."""

    vocabulary: Mapping[str, int]
    ranks: Mapping[tuple[str, str], int]
    pattern: str = GPT_2
    begins_with_space: bool = False
    whole_words_first: bool = False

    def pieces(self, text: str) -> Iterator[str]:
        """Yield the pieces of a text.

        >>> list(BytePairs({}, {("a", "t"): 0, ("c", "at"): 1}).pieces("cat at"))
        ['cat', 'Ġ', 'at']
        """
        if self.begins_with_space and text and text[0] != " ":
            text = f" {text}"
        for word in cut(text, self.pattern):
            written = "".join(LETTERS[byte] for byte in word.encode("utf-8", "surrogatepass"))
            yield from [written] if self.whole_words_first and written in self.vocabulary else self._joined(written)

    def _joined(self, word: str) -> list[str]:
        """Join the pair that was learned first, the leftmost of several, until no pair is left that was.

        Each pair is looked up once, when it comes to stand together, so that a long word takes no longer than many
        short ones.
        """
        parts, n = list(word), len(word)  # a part that was joined to the one before it is empty
        before, after = [*range(-1, n - 1)], [*range(1, n + 1)]
        pairs: list[tuple[int, int, str, str]] = []

        def look_up(at: int) -> None:
            if at >= 0 and after[at] < n:
                left, right = parts[at], parts[after[at]]
                rank = self.ranks.get((left, right))
                if rank is not None:
                    heappush(pairs, (rank, at, left, right))

        for at in range(n):
            look_up(at)
        while pairs:
            _, at, left, right = heappop(pairs)
            then = after[at]
            if then == n or (parts[at], parts[then]) != (left, right):
                continue  # one of them has been joined to another
            parts[at], parts[then] = left + right, ""
            after[at] = after[then]
            if after[at] < n:
                before[after[at]] = at
            look_up(before[at])
            look_up(at)
        return [part for part in parts if part]


def cut(text: str, pattern: str) -> Iterator[str]:
    """Yield the words of a text, each with the space before it.

    >>> list(cut("it's 42  cats!", GPT_2))
    ['it', "'s", ' 42', ' ', ' cats', '!']
    """
    short_forms, words = WORDS[pattern]
    kinds, at = "".join(map(_kind, text)), 0
    while at < len(text):
        match = short_forms.match(text, at) or words.match(kinds, at)
        end = match.end() if match else at + 1
        yield text[at:end]
        at = end


def _kind(character: str) -> str:
    """Return l for a letter, n for a number, r for the end of a line, a space or s for other spaces, o for all else."""
    if character == " ":
        return " "
    if character in "\r\n":
        return "r"
    if character.isspace() and character not in "\x1c\x1d\x1e\x1f":
        return "s"
    return {"L": "l", "N": "n"}.get(unicodedata.category(character)[0], "o")


def _letters() -> list[str]:
    """Return the letter that stands for each byte: itself where it can be seen, or one from 256 on."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in seen]
    return [chr(byte) if byte in seen else chr(256 + hidden.index(byte)) for byte in range(256)]


LETTERS = _letters()
_BYTES = {letter: byte for byte, letter in enumerate(LETTERS)}


def readable(piece: str) -> str:
    """Return a piece with the characters that its letters stand for, but for spaces and what cannot be seen.

    A byte that is a part of a character stands as its number, as in Llama's vocabulary.

    >>> readable("Ġthe"), readable("ĠÐºÐ¾ÑĤ"), readable("Ã©"), readable("Ġä½")
    ('Ġthe', 'Ġкот', 'é', 'Ġ<0xE4><0xBD>')
    """
    if piece.isascii() or not all(letter in _BYTES for letter in piece):
        return piece
    text = bytes(_BYTES[letter] for letter in piece).decode("utf-8", "surrogateescape")
    return "".join(map(_readable, text))


def text_of(pieces: Sequence[str]) -> str:
    """Return the text that pieces are: a space is a space again. Bytes that are no whole character stand as �.

    >>> text_of(["ĠÐº", "Ð¾ÑĤ", "Ċ"]), text_of(["<|endoftext|>"])
    (' кот\\n', '<|endoftext|>')
    """
    are_bytes = (all(letter in _BYTES for letter in piece) for piece in pieces)
    each = (bytes(map(_BYTES.__getitem__, piece)) if fits else piece.encode() for piece, fits in zip(pieces, are_bytes))
    return b"".join(each).decode("utf-8", "replace")


def _readable(character: str) -> str:
    if "\udc80" <= character <= "\udcff":
        return f"<0x{ord(character) - 0xDC00:02X}>"
    return character if ord(character) > 127 else LETTERS[ord(character)]
