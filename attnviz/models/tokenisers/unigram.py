"""SentencePiece's unigram tokeniser: of all ways to cut a word into known pieces, the most probable one.

Source: Kudo 2018, arXiv:1804.10959, section 3.2; Viterbi's algorithm finds it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from attnviz.models.tokenisers.charsmap import read as charsmap
from attnviz.models.tokenisers.file_parts import flat

MOST_CHARACTERS = 128
"""The most characters of a piece; SentencePiece makes 16. It bounds what each character of a text costs."""

UNKNOWN_BELOW = 10.0
"""How far below the least probable piece a character lies that no piece has."""

SPACE = "[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
"""White space as Unicode lists it; Python's \\s has four control characters more."""

FORMS: dict[str, Callable[[str], str]] = {
    "NFC": partial(unicodedata.normalize, "NFC"),
    "NFD": partial(unicodedata.normalize, "NFD"),
    "NFKC": partial(unicodedata.normalize, "NFKC"),
    "NFKD": partial(unicodedata.normalize, "NFKD"),
}


@dataclass(frozen=True)
class Unigram:
    """Pieces and the logarithms of their probabilities, and how a text is prepared for them.

    normal      what is done to a text before it is cut, in order
    splits      whether white space ends a word by itself
    begins      whether a word gets a mark of a space where it has none
    cuts        whether each mark of a space begins a word
    """

    scores: Mapping[str, float]
    normal: Sequence[Callable[[str], str]] = ()
    splits: bool = True
    begins: bool = True
    cuts: bool = True
    mark: str = "▁"

    def pieces(self, text: str) -> Iterator[str]:
        """Yield the pieces of a text; characters beside each other that no piece has are one.

        >>> list(Unigram({"▁": -4.0, "▁un": -3.0, "h": -5.0, "ug": -3.5, "▁u": -3.5, "n": -4.0}).pieces("unhug unxy"))
        ['▁un', 'h', 'ug', '▁un', 'xy']
        """
        for change in self.normal:
            text = change(text)
        for word in re.split(SPACE, text) if self.splits else (text,):
            if word:
                yield from self._of_word(word.replace(" ", self.mark))

    def _of_word(self, word: str) -> Iterator[str]:
        word = self.mark + word if self.begins and not word.startswith(self.mark) else word
        mark = re.escape(self.mark)
        for part in re.findall(f"{mark}[^{mark}]*|[^{mark}]+", word) if self.cuts else (word,):
            yield from self._best(part)

    def _best(self, word: str) -> list[str]:
        """Return the most probable pieces, by the best way to each character from the left."""
        n, unknown = len(word), self._least - UNKNOWN_BELOW
        best, start = [0.0] + [float("-inf")] * n, [-1] * (n + 1)
        for at in range(n):
            ends = [at + k for k in self._lengths.get(word[at], ()) if at + k <= n and word[at : at + k] in self.scores]
            found = [(end, self.scores[word[at:end]]) for end in ends]
            for end, score in found if at + 1 in ends else [*found, (at + 1, unknown)]:
                if start[end] < 0 or best[at] + score > best[end]:
                    best[end], start[end] = best[at] + score, at
        pieces, end = [], n
        while end:
            pieces.append(word[start[end] : end])
            end = start[end]
        return self._joined(reversed(pieces))

    def _joined(self, pieces: Iterator[str]) -> list[str]:
        """Return pieces with those beside each other joined that are unknown."""
        found: list[list[str]] = []
        was_known = True
        for piece in pieces:
            is_known = piece in self.scores
            if is_known or was_known:
                found.append([piece])
            else:
                found[-1].append(piece)
            was_known = is_known
        return list(map("".join, found))

    @cached_property
    def _least(self) -> float:
        return min(self.scores.values())

    @cached_property
    def _lengths(self) -> Mapping[str, Sequence[int]]:
        """The lengths of the pieces that begin with a character, shortest first."""
        lengths: dict[str, set[int]] = {}
        for piece in self.scores:
            if piece:
                lengths.setdefault(piece[0], set()).add(len(piece))
        return {first: sorted(each) for first, each in lengths.items()}


def of_file(spec: Mapping[str, Any]) -> Callable[[str], Iterator[str]] | None:
    """Return what cuts a text as a tokenizer.json says; None where that does anything that is not known here."""
    model = spec["model"]
    scores = {str(piece): float(score) for piece, score in model["vocab"]}
    if not scores or max(map(len, scores)) > MOST_CHARACTERS or not max(map(abs, scores.values())) < float("inf"):
        raise ValueError
    normal = [_change(step) for step in flat(spec.get("normalizer"), "normalizers")]
    *before, space = flat(spec.get("pre_tokenizer"), "pretokenizers") or [{"type": ""}]
    how = space.get("prepend_scheme") or ("always" if space.get("add_prefix_space", True) else "never")
    usual = space["type"] == "Metaspace" and how in ("always", "never") and len(str(space["replacement"])) == 1
    if not usual or [step["type"] for step in before] not in ([], ["WhitespaceSplit"]) or model.get("byte_fallback"):
        return None
    changes = [change for change in normal if change is not None]
    if len(changes) < len(normal):
        return None
    begins, cuts = how == "always", bool(space.get("split", True))
    return Unigram(scores, changes, bool(before), begins, cuts, str(space["replacement"])).pieces


def unknown(model: Mapping[str, Any]) -> str | None:
    """Return the piece that stands for unknown ones. Raises ValueError for a number that is none."""
    number = model.get("unk_id")
    if number is None:
        return None
    if type(number) is not int or not 0 <= number < len(model["vocab"]):
        raise ValueError
    return str(model["vocab"][number][0])


def _change(step: Mapping[str, Any]) -> Callable[[str], str] | None:
    """Return what a step of a normaliser does to a text; None for one that is not known here."""
    kind = step["type"]
    if kind == "Precompiled":
        return charsmap(step["precompiled_charsmap"])
    if kind == "Replace" and step["pattern"] in ({"Regex": " {2,}"}, {"String": " "}):
        return partial(
            re.sub, " {2,}" if "Regex" in step["pattern"] else " ", str(step["content"]).replace("\\", r"\\")
        )
    if kind == "Strip":
        left, right = (SPACE if step[f"strip_{side}"] else "(?!)" for side in ("left", "right"))
        return partial(_stripped, left, right)
    return FORMS.get(kind)


def _stripped(left: str, right: str, text: str) -> str:
    """Return a text without the characters of its ends that two patterns say."""
    start, end = 0, len(text)
    while start < end and re.match(left, text[start]):
        start += 1
    while end > start and re.match(right, text[end - 1]):
        end -= 1
    return text[start:end]


def written(pieces: Sequence[str], mark: str = "▁") -> str:
    """Return the text that pieces are behind another.

    >>> written(["▁un", "h", "ug"])
    ' unhug'
    """
    return "".join(pieces).replace(mark, " ")
