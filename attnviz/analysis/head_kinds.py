"""The kind of each head: most of its weight on the previous token, on the same word, on one word, or spread out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.analysis import statistics
from attnviz.analysis.word_relations import article_to_noun, same_word
from attnviz.arrays import Array

KINDS = ("previous", "self", "next", "same", "article", "first", "word", "spread")
"""The kinds of heads, in the order in which heads are sorted; "spread" is all that is nothing else."""

MOSTLY = 0.4
"""The part of all weight, as a mean over the rows, that must go one way for a head to be of that kind."""

USUAL = 2
"""The factor by which a word that goes to another must read it more than the other rows do."""

Means = Mapping[str, Sequence[float]]
"""What each head gives one way, by the name of the way."""

WORD_FROM, FEWEST_KEYS = 0.28, 4  # the same for one word; over three keys or fewer, each has nearly as much by chance


@dataclass(frozen=True)
class HeadKind:
    """The relation that most of a head's weight follows.

    head    counted from 0;  kind  one of KINDS
    share   the part of all weight that goes that way, as a mean over the rows; of "spread", to the word with the most;
            of "same" and "article", over the rows of words that stand twice, and of articles
    key     the word that takes most, counted from 0
    keys    over how many keys a row spreads on average, as its entropy has it
    """

    head: int
    kind: str
    share: float
    key: int
    keys: float

    @property
    def has_shares(self) -> bool:
        """Return whether any row has shares: not where all are zeros or have a negative weight."""
        return self.keys > 0


def head_kinds(A: Array, *, is_self: bool = True, tokens: Sequence[str] = ()) -> list[HeadKind]:
    """Classify each head by where most of its weight goes; A are weights (heads, queries, keys), masked ones 0.

    is_self  keys and queries are the same words, so that there is a previous one
    tokens   the words: with them, heads are found that go from a word to the same word elsewhere, or from an article
             to its noun, in the rows that have such a word

    >>> found, = head_kinds(np.array([[[0.0, 1.0], [0.75, 0.25]]]))
    >>> found.kind, found.share, found.key
    ('next', 1.0, 1)
    """
    A = statistics.as_weights(A, "head_kinds", 3)
    P = np.where(np.isfinite(A), A, 0.0)
    is_self = is_self and P.shape[-1] == P.shape[-2]
    shares = statistics.shares(P)
    kinds = _ways(shares) if is_self else {}
    some = _of_some_rows(shares, tokens) if is_self and len(tokens) == P.shape[-1] else {}
    words = np.nan_to_num(statistics.mean_over_rows(shares.swapaxes(-1, -2)))
    spread = np.nan_to_num(statistics.mean_over_rows(statistics.effective_keys(P))).tolist()
    ways, of_some = ({name: means.tolist() for name, means in each.items()} for each in (kinds, some))
    return [_kind(head, ways, of_some, words[head], spread[head]) for head in range(len(P))]


def _ways(shares: Array) -> dict[str, Array]:
    """Return the mean share that each head gives to the previous token, to itself, to the next and to the first."""
    rows = np.full((4, *shares.shape[:-1]), np.nan)
    rows[0, ..., 1:], rows[1], rows[2, ..., :-1] = (
        np.diagonal(shares, offset=offset, axis1=-2, axis2=-1) for offset in (-1, 0, 1)
    )
    rows[3] = shares[..., 0]
    means = np.nan_to_num(statistics.mean_over_rows(rows))
    return dict(zip(("previous", "self", "next", "first"), means, strict=True))


def _of_some_rows(shares: Array, tokens: Sequence[str]) -> dict[str, Array]:
    """Return the mean share that each head gives to the same word elsewhere, and from articles to their nouns.

    Only the rows count that have such a word; 0 for a head whose other rows read these words half as much, as where
    every row reads one noun.
    """
    by_kind = {}
    for name, meets in (("same", same_word(tokens)), ("article", article_to_noun(tokens))):
        rows = np.asarray(meets.any(axis=-1))
        if rows.any():
            of_kind = np.where(meets, shares, 0.0).sum(axis=-1)
            others = np.nan_to_num(statistics.mean_over_rows(np.where(rows[:, None], np.nan, shares).swapaxes(-1, -2)))
            usual = (others[:, None, :] * meets).sum(axis=-1)
            share, usual = (
                np.nan_to_num(statistics.mean_over_rows(np.where(rows, each, np.nan))) for each in (of_kind, usual)
            )
            by_kind[name] = np.where(share > USUAL * usual, share, 0.0)
    return by_kind


def _kind(head: int, ways: Means, some: Means, words: Array, spread: float) -> HeadKind:
    key, most = int(words.argmax()), float(words.max())
    for means in (ways, some):
        best = max(means, key=lambda name: means[name][head], default="")
        if best and means[best][head] > MOSTLY:
            return HeadKind(head, best, means[best][head], key, spread)
    kind = "word" if most > WORD_FROM and len(words) >= FEWEST_KEYS else "spread"
    return HeadKind(head, kind, most, key, spread)


def in_order(kinds: list[HeadKind]) -> list[HeadKind]:
    """Return the heads sorted by what they do, the clearest of each kind first, and those that spread least."""
    return sorted(
        kinds,
        key=lambda head_kind: (
            KINDS.index(head_kind.kind),
            head_kind.keys if head_kind.kind == "spread" else -head_kind.share,
        ),
    )
