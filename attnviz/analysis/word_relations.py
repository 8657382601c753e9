"""Relations between words that a head may follow: the same word elsewhere in the sentence, an article and its noun."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from attnviz.analysis.special_tokens import SPECIAL
from attnviz.arrays import Array

ARTICLES = frozenset(("a", "an", "the"))

ADJECTIVES = frozenset(
    """
    big small large little long short tall high low old young new good bad great best better worst first last
    other own same only next few many much more most very quite really rather too so  red blue green white black
    brown grey gray yellow orange purple pink golden silver dark bright light  warm cold hot cool wet dry soft
    hard heavy fast slow quick quiet loud deep wide narrow thin thick fat round  happy sad angry tired hungry lazy
    busy clever wise brave rich poor free full empty open clean dirty  simple easy difficult strong weak broken
    whole main early late real true false strange famous important  beautiful pretty nice fine fresh sweet bitter
    sick healthy dead alive safe dangerous huge tiny giant royal  wooden public private local national two three
    four five six seven eight nine ten
    """.split()  # noqa: SIM905
)
"""Common English words that stand between an article and its noun."""

MOST_KEPT, LONGEST_KEPT = 16, 128
"""Sentences of which the relations are kept, as their words stay while numbers move, and how many words those have."""


def bare(token: str) -> str:
    """Return a token without what its tokeniser marks it with, in small letters; the rest of a word stays marked.

    >>> bare("\\u0120The"), bare("\\u2581cat"), bare("##s")
    ('the', 'cat', '##s')
    """
    return token.lstrip("\u0120\u2581").lower()


def same_word(tokens: Sequence[str]) -> Array:
    """Return where a word meets itself elsewhere in the sentence. Shape (queries, keys), bool.

    >>> same_word(["the", "cat", "the"]).astype(int).tolist()
    [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    """
    return _kept(_same_word, tokens)


def _kept(relation: Any, tokens: Sequence[str]) -> Array:
    found: Array = (relation if len(tokens) <= LONGEST_KEPT else relation.__wrapped__)(tuple(tokens))
    return found.copy()


@lru_cache(MOST_KEPT)
def _same_word(tokens: tuple[str, ...]) -> Array:
    words = np.array([bare(token) for token in tokens])
    known = np.array([token not in SPECIAL and any(map(str.isalnum, token)) for token in tokens], dtype=bool)
    return (words[:, None] == words) & known[:, None] & known & ~np.eye(len(words), dtype=bool)


def article_to_noun(tokens: Sequence[str]) -> Array:
    """Return where an article meets its noun: the next word that is no common adjective. Shape (queries, keys), bool.

    >>> article_to_noun(["the", "big", "cat", "."]).astype(int).tolist()[0]
    [0, 0, 1, 0]
    """
    return _kept(_article_to_noun, tokens)


@lru_cache(MOST_KEPT)
def _article_to_noun(tokens: tuple[str, ...]) -> Array:
    words = [bare(token) for token in tokens]
    relation = np.zeros((len(words), len(words)), dtype=bool)
    for at, word in enumerate(words):
        if word in ARTICLES:
            noun = next((n for n in range(at + 1, len(words)) if words[n] not in ADJECTIVES), None)
            if noun is not None and words[noun].isalpha() and tokens[noun] not in SPECIAL:
                relation[at, noun] = True
    return relation
