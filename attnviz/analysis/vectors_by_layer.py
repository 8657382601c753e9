"""The vectors of words from layer to layer: the angle between two of them, and between all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attnviz.analysis.special_tokens import SPECIAL
from attnviz.arrays import Array
from attnviz.engine.records.trace import Trace, result_of


def streams(trace: Trace) -> list[Array]:
    """Return the vectors of the tokens before the first layer and after each, (tokens, width) each.

    Layers that hand on vectors of another width than they read end the list.
    """
    vectors = [trace.around["embedded"].array] if "embedded" in trace.around else []
    for layer in trace.layers:
        array = result_of(layer).array
        if array.ndim != 2 or (vectors and array.shape != vectors[0].shape):
            break
        vectors.append(array)
    return vectors


def cosines(one: Array, other: Array) -> Array:
    """Return the cosine of the angle between each row of one and each of the other; 0 for a row of zeros.

    >>> cosines(np.array([[2.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 3.0], [-1.0, 0.0]])).tolist()
    [[1.0, 0.0, -1.0]]
    """
    lengths = np.linalg.norm(one, axis=1)[:, None] * np.linalg.norm(other, axis=1)
    products = (one[:, None, :] * other).sum(axis=-1)  # one by one, so that a row beside itself gives 1
    return np.divide(products, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def by_layer(a: Sequence[Array], b: Sequence[Array], row: int, other: int) -> tuple[Array, Array]:
    """Return the cosine of row `row` of a and row `other` of b for each of the layers, and the mean over all pairs.

    A word beside itself is no pair where a is b.

    >>> a = [np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 0.0], [1.0, 0.0]])]
    >>> [each.tolist() for each in by_layer(a, a, 0, 1)]
    [[0.0, 1.0], [0.0, 1.0]]
    """
    similarities, means = [], []
    for one, two in zip(a, b):
        each = cosines(one, two)
        similarities.append(each[row, other])
        pairs = each[~np.eye(len(each), dtype=bool)] if one is two and len(each) > 1 else each
        means.append(float(pairs.mean()))
    return np.array(similarities), np.array(means)


def two_words(tokens: Sequence[str]) -> tuple[int, int]:
    """Return the positions of the two longest words that differ, from 0; of the first tokens if there are no two.

    >>> two_words(["[CLS]", "the", "king", "and", "the", "queen", "[SEP]"])
    (2, 5)
    """
    places: dict[str, int] = {}
    for at, token in enumerate(tokens):
        if token not in SPECIAL:
            places.setdefault(token, at)
    one, *more = sorted(places[word] for word in sorted(places, key=len, reverse=True)[:2]) or [0]
    return (one, more[0]) if more else (0, min(1, len(tokens) - 1))


def shared_word(a: Sequence[str], b: Sequence[str]) -> tuple[int, int]:
    """Return the positions of the longest word that stands in both sentences, from 0; of the first words without one.

    >>> shared_word(["[CLS]", "the", "bank"], ["a", "bank", "the"])
    (2, 1)
    """
    both = [word for word in a if word in b and word not in SPECIAL]
    if not both:
        return 0, 0
    word = max(both, key=len)
    return list(a).index(word), list(b).index(word)
