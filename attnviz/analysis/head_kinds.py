"""The kind of each head: most of its weight on the previous token, on itself, on one word, or spread out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.analysis import statistics
from attnviz.arrays import Array

KINDS = ("previous", "self", "next", "first", "word", "spread")
"""What a head can mostly do, in the order in which heads are sorted; "spread" is all that is nothing else."""

MOSTLY = 0.4
"""The part of all weight, as a mean over the rows, that must go one way for a head to be of that kind."""

WORD_FROM, FEWEST_KEYS = 0.28, 4  # the same for one word; over three keys or fewer, each has nearly as much by chance


@dataclass(frozen=True)
class HeadKind:
    """The relation that most of a head's weight follows.

    head    counted from 0;  kind  one of KINDS
    share   the part of all weight that goes that way, as a mean over the rows; of "spread", to the word with the most
    key     the word that takes most, counted from 0
    keys    over how many keys a row spreads on average, as its entropy has it
    """

    head: int
    kind: str
    share: float
    key: int
    keys: float


def head_kinds(A: Array, *, is_self: bool = True) -> list[HeadKind]:
    """Classify each head by where most of its weight goes; A are weights (heads, queries, keys), masked ones 0.

    is_self  keys and queries are the same words, so that there is a previous one

    >>> found, = head_kinds(np.array([[[0.0, 1.0], [0.75, 0.25]]]))
    >>> found.kind, found.share, found.key
    ('next', 1.0, 1)
    """
    P = np.where(np.isfinite(A), A, 0.0)
    kinds = _ways(P) if is_self and P.shape[-1] == P.shape[-2] else {}
    words = np.nan_to_num(statistics.mean_over_rows(statistics.shares(P).swapaxes(-1, -2)))
    spread = np.nan_to_num(statistics.mean_over_rows(statistics.effective_keys(P)))
    return [_kind(head, kinds, words[head], float(spread[head])) for head in range(len(P))]


def _ways(P: Array) -> dict[str, Array]:
    """Return the mean share that each head gives to the previous token, to itself, to the next and to the first."""
    following = np.full(P.shape[:-1], np.nan)
    following[..., :-1] = np.diagonal(statistics.shares(P), offset=1, axis1=-2, axis2=-1)
    found = {
        "previous": statistics.share_on_previous(P),
        "self": statistics.share_on_self(P),
        "next": following,
        "first": statistics.share_on_first(P),
    }
    return {name: np.nan_to_num(statistics.mean_over_rows(rows)) for name, rows in found.items()}


def _kind(head: int, ways: dict[str, Array], words: Array, spread: float) -> HeadKind:
    key, most = int(words.argmax()), float(words.max())
    best = max(ways, key=lambda name: float(ways[name][head]), default="")
    if best and ways[best][head] > MOSTLY:
        return HeadKind(head, best, float(ways[best][head]), key, spread)
    kind = "word" if most > WORD_FROM and len(words) >= FEWEST_KEYS else "spread"
    return HeadKind(head, kind, most, key, spread)


def in_order(kinds: list[HeadKind]) -> list[HeadKind]:
    """Return the heads sorted by what they do, the clearest of each kind first, and those that spread least."""
    return sorted(
        kinds, key=lambda found: (KINDS.index(found.kind), found.keys if found.kind == "spread" else -found.share)
    )
