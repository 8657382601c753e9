r"""Patterns that a head can be made to follow, and the numbers that make it do so.

Every query asks for a number and every key answers to one; where the numbers are equal, the query is to read the key.
A number t of N is a point on the circle, (cos 2 pi t/N, sin 2 pi t/N): the product of two such points is 1 where they
are one and cos(2 pi/N) or less where they are not. So it remains to find a matrix that turns the rows of X into these
points, which least squares does, exactly where the rows of X are linearly independent.

Rotating a sinusoid by one step, the textbook's way to the previous token, asks that X be a sinusoid; it is not, once
words are added to the positions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.numerics import fixed_order
from attnviz.settings.language import translated_fields
from attnviz.settings.rows import Choice, table

Tokens = tuple[str, ...]
Numbers = tuple[int, ...]

NOBODY = -1
"""The number of a key that no query asks for."""

SMALLEST = 1e-5
"""Directions of X that are weaker than this, relative to the strongest, are left alone: numbers beyond reason."""

SMALLEST_ANEW = 1e-10
"""The same for heads that are solved anew for each setting, as all heads once were: their numbers can be large."""


@dataclass(frozen=True)
class Match:
    """The number out of `positions` that each query asks for, and the one that each key answers to.

    beyond  what queries ask for where it goes on evenly beyond the ends of the sentence: the nearest key answers
    """

    queried: Numbers
    answered: Numbers
    positions: int
    beyond: Numbers = ()

    def radius(self, sharpness: float, scale: float) -> float:
        """Return the length of queries and keys that makes the gap in score between the right key and the next best.

        The gap is the sharpness, and ln m more where m keys answer to one number: so many may be next best together.
        """
        if self.positions == 1:
            return 0.0
        often = np.bincount([number for number in self.answered if number != NOBODY], minlength=1).max()
        gap = sharpness + math.log(max(often, 1))
        return math.sqrt(gap / (1.0 - math.cos(2.0 * math.pi / self.positions)) / scale)

    def wanted(self) -> Array:
        """Return the keys that each query is to read, in equal parts. Shape (queries, keys), bool.

        >>> Match((0, 0), (0, 1), 4).wanted().astype(int)
        array([[1, 0],
               [1, 0]])
        """
        return np.array(self.queried)[:, None] == np.array(self.answered)[None, :]


def points(numbers: Numbers, positions: int) -> Array:
    """Return each number as a point on the circle. Shape (numbers, 2).

    >>> points((0, 1), 4).round(12) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    angle = 2.0 * np.pi * np.array(numbers) / positions
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def directions(E_q: Array, E_k: Array, width: int) -> tuple[Array, Array]:
    """Return the directions of the vectors of queries and keys, in the `width` columns that keep most of them.

    The product of two rows is the cosine of the angle between the vectors, or near it where columns are too few.

    >>> q, k = directions(np.array([[3.0, 0.0]]), np.array([[2.0, 0.0], [0.0, 5.0]]), 2)
    >>> (q @ k.T).round(12) + 0.0
    array([[1., 0.]])
    """
    both = np.concatenate([E_q, E_k])
    both = both / np.maximum(np.linalg.norm(both, axis=1, keepdims=True), SMALLEST)
    V = fixed_order.svd(both)[2][:width].T
    columns = np.zeros((len(both), width))
    signs = np.sign(V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])])
    columns[:, : V.shape[1]] = fixed_order.product(both, V * signs)
    return columns[: len(E_q)], columns[len(E_q) :]


class LeastSquares:
    """A solver: for any target the smallest W for which X W comes nearest to it; zeros where X is not finite.

    >>> LeastSquares(np.array([[2.0, 0.0], [0.0, 4.0]]))(np.array([[1.0], [1.0]]))
    array([[0.5 ],
           [0.25]])
    """

    def __init__(self, X: Array, smallest: float = SMALLEST) -> None:
        U, s, Vt = fixed_order.svd(X if np.isfinite(X).all() else np.zeros_like(X))
        strong = s > smallest * s.max(initial=0.0)
        self._U, self._s, self._Vt = U[:, strong], s[strong], Vt[strong]

    def __call__(self, target: Array) -> Array:
        return fixed_order.product(self._Vt.T, fixed_order.product(self._U.T, target) / self._s[:, None])


def apart(part: Array, others: Array) -> Array:
    """Return the rows of a part less what lies in the directions of the other parts of a sum.

    A matrix made of what is left sends the others to 0.

    >>> apart(np.array([[3.0, 4.0]]), np.array([[0.0, 2.0]]))
    array([[3., 0.]])
    """
    V = fixed_order.svd(others)[2]
    for _ in range(2):  # once more, against rounding
        part = part - fixed_order.product(fixed_order.product(part, V.T), V)
    return part


def share_where_wanted(A: Array, wanted: Array, allowed: Array) -> Array:
    """Compute the share of each query's weight, 0 to 1, that is in equal parts on the wanted keys that are allowed.

    >>> wanted = np.array([[True, True, False]])
    >>> share_where_wanted(np.array([[0.75, 0.25, 0.0]]), wanted, wanted | True)
    array([0.75])
    """
    open_keys = wanted & allowed
    share = open_keys / np.maximum(open_keys.sum(axis=-1, keepdims=True), 1)
    whole = np.maximum(A.sum(axis=-1), 1.0)  # a normaliser may give a row more than 1, or less
    return np.nan_to_num(np.minimum(A, share).sum(axis=-1) / whole)


def _positions(query_tokens: Tokens, key_tokens: Tokens) -> int:
    """Place positions on the circle at twice the length: the last token is no neighbour of the first."""
    return 2 * max(len(query_tokens), len(key_tokens))


def _shifted(query_tokens: Tokens, key_tokens: Tokens, by: int) -> Match:
    last = len(key_tokens) - 1
    beyond = tuple(i + by for i in range(len(query_tokens)))
    queried = tuple(min(max(number, 0), last) for number in beyond)
    return Match(queried, tuple(range(last + 1)), _positions(query_tokens, key_tokens), beyond)


def previous(query_tokens: Tokens, key_tokens: Tokens) -> Match:
    """Match each position with the one before it, and the first with itself.

    >>> found = previous(("a", "b", "c"), ("a", "b", "c"))
    >>> found.queried, found.beyond
    ((0, 0, 1), (-1, 0, 1))
    """
    return _shifted(query_tokens, key_tokens, -1)


def following(query_tokens: Tokens, key_tokens: Tokens) -> Match:
    """Match each position with the one after it, and the last with itself."""
    return _shifted(query_tokens, key_tokens, +1)


def first(query_tokens: Tokens, key_tokens: Tokens) -> Match:
    """Match every position with the first."""
    return Match((0,) * len(query_tokens), tuple(range(len(key_tokens))), _positions(query_tokens, key_tokens))


def same_word(query_tokens: Tokens, key_tokens: Tokens) -> Match:
    """Match each word with its own number, its position in the vocabulary.

    >>> same_word(("a", "b", "a"), ("a", "b", "a"))
    Match(queried=(0, 1, 0), answered=(0, 1, 0), positions=2, beyond=())
    """
    positions = {word: position for position, word in enumerate(dict.fromkeys(query_tokens + key_tokens))}
    return Match(
        tuple(map(positions.__getitem__, query_tokens)), tuple(map(positions.__getitem__, key_tokens)), len(positions)
    )


def uniform(query_tokens: Tokens, key_tokens: Tokens) -> Match:
    """Match every query with the one number that every key answers to."""
    return Match((0,) * len(query_tokens), (0,) * len(key_tokens), 1)


def induction(query_tokens: Tokens, key_tokens: Tokens) -> Match:
    """Match each word with the positions whose previous word is the same.

    >>> induction(("a", "b", "a"), ("a", "b", "a")).answered
    (-1, 0, 1)
    """
    words = same_word(query_tokens, key_tokens)
    return Match(words.queried, (NOBODY, *words.answered[:-1]), words.positions)


@translated_fields("goal")
@dataclass(frozen=True)
class Pattern(Choice):
    """A pattern: `fn(query_tokens, key_tokens)` is the Match that a head is made for.

    goal    what each query is to attend to, to stand after "should attend to"
    words   whether queries and keys follow from the words, and not from their positions
    alike   whether a query reads those keys whose words have vectors like its own, whatever the numbers of `fn`
    edge    whether a position that has no such key asks for itself, which no one misses where no token sees itself
    before  the pattern of the same head in the first layer, where one layer cannot do it alone: that head then hands
            on which word it read, and in the later layers the keys are made of nothing else
    """

    goal: str = ""
    before: str = ""
    words: bool = False
    alike: bool = False
    edge: bool = False

    def wanted(self, match: Match) -> Array:
        """Return the keys that each query is to read; with `before`, of those that are not later than the query."""
        wanted = match.wanted()
        return np.tril(wanted) if self.before else wanted


CIRCLE = r"c_t = \sqrt{\beta}\,(\cos\tfrac{2\pi t}{N}, \sin\tfrac{2\pi t}{N})"

PATTERNS = table(
    Pattern(
        "previous",
        "Previous token",
        previous,
        rf"x_i W_Q = c_{{i-1}},\quad x_j W_K = c_j,\quad {CIRCLE}",
        "Every position attends to the previous one; the first attends to itself.",
        "Clark et al. 2019, arXiv:1906.04341, section 3.1 (heads that look at the previous token)",
        goal="the previous token",
        edge=True,
    ),
    Pattern(
        "same_word",
        "Same word",
        same_word,
        rf"x_i W_Q = c_{{w(i)}},\quad x_j W_K = c_{{w(j)}},\quad {CIRCLE}",
        "Every word attends equally to all positions at which it stands.",
        "Wang et al. 2022, arXiv:2211.00593, section 3 (duplicate token heads)",
        goal="the same word",
        words=True,
    ),
    Pattern(
        "first",
        "First token",
        first,
        rf"x_i W_Q = c_0,\quad x_j W_K = c_j,\quad {CIRCLE}",
        "Every position attends to the first, as do many heads of trained models that have nothing to contribute.",
        "Xiao et al. 2023, arXiv:2309.17453, section 3.1 (attention sinks)",
        goal="the first token",
        edge=True,
    ),
    Pattern(
        "uniform",
        "All alike",
        uniform,
        r"W_Q = W_K = 0",
        "Every position attends equally to all that it may: the head's output is the mean of their values.",
        "-",
        goal="all tokens alike",
    ),
    Pattern(
        "next",
        "Next token",
        following,
        rf"x_i W_Q = c_{{i+1}},\quad x_j W_K = c_j,\quad {CIRCLE}",
        "Every position attends to the next one; the last attends to itself.",
        "Clark et al. 2019, arXiv:1906.04341, section 3.1 (heads that look at the next token)",
        goal="the next token",
        edge=True,
    ),
    Pattern(
        "induction",
        "Induction (two layers)",
        induction,
        rf"x_i W_Q = c_{{w(i)}},\quad x_j W_K = c_{{w(j-1)}},\quad {CIRCLE}",
        "A word attends to what came after it the time before: after A B ... A, it finds B. The first layer tells "
        "every position which word stands before it; residual connections, the causal mask and <bos> must be on.",
        "Olsson et al. 2022, arXiv:2209.11895, section Key Concepts (induction heads)",
        goal="what came after the same word",
        before="previous",
    ),
    Pattern(
        "alike",
        "Similar meaning",
        same_word,
        r"x_i W_Q = \sqrt{\beta}\,\frac{E_i}{|E_i|},\quad x_j W_K = \sqrt{\beta}\,\frac{E_j}{|E_j|}",
        "Every word attends to those whose vectors point the same way: above all itself, unless the mask Not itself "
        "hides it. With the embedding Meaning, these are the words that mean something similar.",
        "Vaswani et al. 2017, arXiv:1706.03762, section 3.2.1 (a dot product measures how well query and key agree)",
        goal="words with similar vectors",
        words=True,
        alike=True,
    ),
)
