"""Tokens that stand for no word: what a tokeniser puts around a sentence, and how much of the weight they take."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attnviz.arrays import Array

SPECIAL = frozenset(
    ("[CLS]", "[SEP]", "[PAD]", "<s>", "</s>", "<pad>", "<bos>", "<eos>", "<|endoftext|>", "<|begin_of_text|>")
)
"""The tokens that tokenisers add by themselves: BERT's, RoBERTa's, Llama's, Gemma's, GPT-2's, and those of the page."""


def words(tokens: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of the tokens that are words, or parts of them.

    >>> words(["[CLS]", "the", "cat", "[SEP]"])
    (1, 2)
    """
    return tuple(at for at, token in enumerate(tokens) if token not in SPECIAL)


def has_both(tokens: Sequence[str]) -> bool:
    """Return whether there are special tokens, and words beside them.

    >>> has_both(["[CLS]", "the"]), has_both(["the"]), has_both(["[CLS]"])
    (True, False, False)
    """
    return 0 < len(words(tokens)) < len(tokens)


def share(A: Array, queries: Sequence[str], keys: Sequence[str]) -> float:
    """Return the part of the weights A (..., queries, keys) that words give to special tokens, 0 if they give nothing.

    >>> share(np.array([[1.0, 0.0], [0.25, 0.75]]), ["[CLS]", "the"], ["[CLS]", "the"])
    0.25
    """
    rows = np.nan_to_num(A[..., list(words(queries)), :])
    whole = float(rows.sum())
    return 1 - float(rows[..., list(words(keys))].sum()) / whole if whole else 0.0
