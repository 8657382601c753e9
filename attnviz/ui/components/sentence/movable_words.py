"""A sentence as the words that can be moved in it: the text between them stays what it is."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from attnviz.engine.records.config import Config
from attnviz.engine.tables.tokenisers import TOKENISERS, graphemes, is_unspaced, pieces

LONGEST = 1_000
"""Characters of a sentence; in a longer one words are changed where it is typed, as each message would carry it."""
MARKS = "Ġ▁"
"""What byte pairs and SentencePiece write for the space before a piece."""


@dataclass(frozen=True)
class Word:
    """A word, or a sign, that is moved as a whole.

    gap           what stands between it and the one before, or what would, were there one
    starts, ends  whether it would grow together with a word that stood before it, or after it, without a gap
    """

    gap: str
    text: str
    starts: bool
    ends: bool


def words_of(config: Config) -> list[Word]:
    """Return the words of the sentence of a setting, in order, as its tokeniser finds them.

    >>> [(word.gap, word.text) for word in words_of(Config(sentence="The cat  sat."))]
    [(' ', 'The'), (' ', 'cat'), ('  ', 'sat'), ('', '.')]
    """
    found, at = list[Word](), 0
    is_apart = config.tokeniser == "characters" and not config.model
    leaves_no_gaps = is_apart or (config.tokeniser == "words" and not config.model)
    for text in _texts(config):
        start = config.sentence.index(text, at)
        first, last = graphemes(text)[0], graphemes(text)[-1]
        gap = config.sentence[at:start] if found else "" if leaves_no_gaps and (is_apart or is_unspaced(first)) else " "
        joins = [not is_apart and _is_of_word(each, leaves_no_gaps) for each in (first, last)]
        found.append(Word(gap, text, *joins))
        at = start + len(text)
    return found


def _texts(config: Config) -> Sequence[str]:
    """Return the texts that are moved as wholes: where tokens are pieces of words, the words."""
    if config.model:
        return config.sentence.split()
    if config.tokeniser == "pieces":
        return pieces(config.sentence, piece_length=LONGEST + len(config.sentence))
    return TOKENISERS[config.tokeniser].fn(config.sentence)


def _is_of_word(cluster: str, is_alone: bool) -> bool:
    """Return whether a character can be part of a word; `is_alone`: one of a script without spaces cannot."""
    return (cluster[0].isalnum() or cluster[0] in "_'\u2019") and not (is_alone and is_unspaced(cluster))


def places(words: Sequence[Word], tokens: Sequence[str]) -> list[int | None] | None:
    """Return the word that each token is of, or is a piece of; None for those that stand in no sentence.

    None as a whole where the tokens do not say what words they are of, as some of trained models do not.

    >>> places(words_of(Config(sentence="a cat", tokeniser="pieces", piece_length=2)), ["<bos>", "a", "ca", "##t"])
    [None, 0, 1, 1]
    """
    found, at, rest = list[int | None](), 0, ""
    for token in tokens:
        text = _plain(token.lstrip(MARKS).removeprefix("##") or token)
        if not rest and at < len(words):
            rest = _plain(words[at].text)
        if rest and rest.startswith(text):
            found.append(at)
            rest = rest[len(text) :]
            at += not rest
        else:
            found.append(None)
    is_cut = found and found[-1] is not None
    return found if any(each is not None for each in found) and (at == len(words) or is_cut) else None


def _plain(text: str) -> str:
    """Return a text without what tokenisers change in it: capitals and accents."""
    apart = unicodedata.normalize("NFD", text.casefold())
    return "".join(each for each in apart if unicodedata.category(each) != "Mn") or text
