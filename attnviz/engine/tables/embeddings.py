"""Tokens become the rows of E, one vector of d_model numbers a token."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.numerics.noise import normal_each, uniform_each
from attnviz.engine.tables.lexicon import COLUMNS, lexicon
from attnviz.engine.tables.tokenisers import SPECIAL
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import translate
from attnviz.settings.rows import Choice, table


def _stack(rows: Sequence[Array], d_model: int) -> Array:
    return np.array(rows, dtype=float).reshape(len(rows), d_model)


def normal(tokens: tuple[str, ...], d_model: int, vocabulary: tuple[str, ...], *, seed: int) -> Array:
    """Return a standard normal vector for each different token. Shape (tokens, d_model)."""
    return normal_each(seed, [f"token/{token}" for token in tokens], (d_model,))


def uniform(tokens: tuple[str, ...], d_model: int, vocabulary: tuple[str, ...], *, seed: int) -> Array:
    """Return numbers in [0, 1) for each different token. Shape (tokens, d_model)."""
    return uniform_each(seed, [f"token/{token}" for token in tokens], (d_model,))


def binary(tokens: tuple[str, ...], d_model: int, vocabulary: tuple[str, ...], *, seed: int) -> Array:
    """Draw zeros and ones, equally likely, for each different token. Shape (tokens, d_model)."""
    return np.floor(2.0 * uniform(tokens, d_model, vocabulary, seed=seed))


def one_hot(tokens: tuple[str, ...], d_model: int, vocabulary: tuple[str, ...]) -> Array:
    """Return a single 1, in the column of the token's position in the vocabulary. Shape (tokens, d_model).

    A token whose position lies beyond the last column gets zeros; `run` says so.

    >>> one_hot(("a", "b", "a"), 3, ("a", "b"))
    array([[1., 0., 0.],
           [0., 1., 0.],
           [1., 0., 0.]])
    """
    position = np.array([vocabulary.index(token) for token in tokens], dtype=int).reshape(-1, 1)
    return (position == np.arange(d_model)).astype(float)


def ngrams(token: str, longest: int = 3) -> tuple[str, ...]:
    """Return the character n-grams of a token between boundary marks, n from 1 to `longest`.

    >>> ngrams("it", 2)
    ('i', 't', '<i', 'it', 't>')
    """
    marked = f"<{token}>"
    grams = [marked[i : i + n] for n in range(1, longest + 1) for i in range(len(marked) - n + 1)]
    return tuple(gram for gram in grams if gram not in "<>")


def spelling(tokens: tuple[str, ...], d_model: int, vocabulary: tuple[str, ...], *, seed: int) -> Array:
    """Return the mean of the vectors of a token's character n-grams, times the root of their number.

    Shape (tokens, d_model).

    Tokens that are spelled alike share n-grams and so lie near each other. Every entry has variance 1 over the seeds
    where no n-gram repeats.
    """
    rows = []
    for token in tokens:
        grams = ngrams(token)
        drawn = normal_each(seed, [f"ngram/{gram}" for gram in grams], (d_model,))
        rows.append(np.sum(drawn, axis=0) / math.sqrt(len(grams)) if grams else np.zeros(d_model))
    return _stack(rows, d_model)


def meaning(tokens: tuple[str, ...], d_model: int, vocabulary: tuple[str, ...], *, seed: int) -> Array:
    """Return the vector of each token in the list of words; of one that is not there, that of its spelling.

    The first columns carry most. Columns beyond the list's are 0 for every token, so that a larger embedding size
    leaves all products of two rows as they are. Shape (tokens, d_model).
    """
    E = np.zeros((len(tokens), d_model))
    n = min(d_model, COLUMNS)
    words = lexicon()
    for i, token in enumerate(tokens):
        word = words.listed(token)
        E[i, :n] = words.vector(word)[:n] if word else spelling((token,), n, (), seed=seed)[0]
    return E


def out_of_vocabulary(tokens: Sequence[str]) -> tuple[str, ...]:
    """Return the different tokens that `meaning` knows by their spelling only: words and emoji, and not marks."""
    return tuple(token for token in _worded(tokens) if not lexicon().listed(token))


def has_meaning(tokens: Sequence[str]) -> bool:
    """Return whether `meaning` knows most of the different words among the tokens by more than their spelling."""
    return 2 * len(out_of_vocabulary(tokens)) < len(_worded(tokens))


def _worded(tokens: Sequence[str]) -> tuple[str, ...]:
    words = (token for token in tokens if token not in SPECIAL and any(map(_is_of_a_word, token)))
    return tuple(dict.fromkeys(words))


def _is_of_a_word(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character) == "So"


def parse(text: str) -> list[list[float]]:
    """Return the rows of numbers in a typed or pasted text: a row a line (or between semicolons), brackets ignored.

    Raises ConfigError with the position of the first thing that is no finite number.

    >>> parse("[[1, 2.5], [-3, 4e-1]]")
    [[1.0, 2.5], [-3.0, 0.4]]
    """
    lines = re.split(r"[\n;]|\]\s*,?", text)
    rows = [re.split(r"[,\s]+", line.replace("[", " ").strip(" ,\t\r")) for line in lines]
    numbers: list[list[float]] = []
    for row in (row for row in rows if row != [""]):
        numbers.append([_number(entry, len(numbers) + 1, position + 1) for position, entry in enumerate(row)])
    return numbers


def _number(entry: str, row: int, column: int) -> float:
    try:
        value = float(entry)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or abs(value) > MAX_ENTRY:
        raise ConfigError(translate(NO_NUMBER, entry=shorten(entry), row=row, column=column, largest=MAX_ENTRY))
    return value


MAX_ENTRY = 1e6
"""The largest size of an own number: beyond it, products of products leave the range of what can be shown."""

NO_NUMBER = (
    "own numbers: {entry} in row {row}, column {column} is not a finite number up to {largest:g} in size; "
    "correct or remove it"
)


def written(rows: object) -> str:
    """Return nested sequences or an array of numbers as the text that `parse` reads back exactly.

    Raises ConfigError for anything else.
    """
    if isinstance(rows, str):
        return rows
    try:
        array = np.asarray(rows, dtype=float)
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise ConfigError(translate("own numbers are {given}; give rows of numbers", given=shorten(rows))) from None
    if array.ndim != 2:
        raise ConfigError(
            translate("own numbers have {n} axes; give rows of numbers, shape (tokens, d_model)", n=array.ndim)
        )
    return "\n".join(" ".join(repr(float(value)) for value in row) for row in array)


def own(tokens: tuple[str, ...], d_model: int, vocabulary: tuple[str, ...], *, own_numbers: str) -> Array:
    """Return the visitor's numbers, a row for each position. Shape (tokens, d_model).

    What is missing is 0 and what is too much is left out; `run` says so.

    >>> own(("a", "b"), 3, (), own_numbers="1 2 3; 4 5")
    array([[1., 2., 3.],
           [4., 5., 0.]])
    """
    E = np.zeros((len(tokens), d_model))
    for i, row in enumerate(parse(own_numbers)[: len(tokens)]):
        E[i, : len(row)] = row[:d_model]
    return E


EMBEDDINGS = table(
    Choice(
        "normal",
        "Random, normal",
        normal,
        r"E_{tj} \sim \mathcal{N}(0, 1)",
        "Every different token gets its own random vector, drawn from the bell curve.",
        "PyTorch documentation, torch.nn.Embedding (its default initialisation)",
        uses=("seed",),
    ),
    Choice(
        "uniform",
        "Random, 0 to 1",
        uniform,
        r"E_{tj} \sim \mathcal{U}[0, 1)",
        "Every different token gets its own random vector with entries between 0 and 1.",
        "NumPy documentation, numpy.random.Generator.random",
        uses=("seed",),
    ),
    Choice(
        "binary",
        "Random zeros and ones",
        binary,
        r"E_{tj} \in \{0, 1\}",
        "Zeros and ones by the toss of a coin: products that one can do in one's head.",
        "NumPy documentation, numpy.random.Generator.integers",
        uses=("seed",),
    ),
    Choice(
        "one_hot",
        "One-hot",
        one_hot,
        r"E_{tj} = [\, j = \text{place of } t \text{ in the vocabulary} \,]",
        "A single 1 in the token's own column; the vocabulary is the sentence's own, by first appearance.",
        "Jurafsky and Martin, Speech and Language Processing, 3rd ed. draft, section 7.5",
    ),
    Choice(
        "spelling",
        "Spelling",
        spelling,
        r"E_t = \frac{1}{\sqrt{|G_t|}} \sum_{g \in G_t} r_g,\quad r_g \sim \mathcal{N}(0, I)",
        "Sums the vectors of the token's letter groups, so that words spelled alike lie near each other.",
        "Bojanowski et al. 2017, arXiv:1607.04606, section 3.2 (n-grams with boundary marks)",
        uses=("seed",),
    ),
    Choice(
        "meaning",
        "Meaning",
        meaning,
        r"E_t = \text{the learned vector of } t",
        "Vectors learned from text for 6,000 English words: words with similar meanings lie near each other. They "
        "carry the prejudices of those texts, and a word has one vector in every sentence: the bank of a river is the "
        "bank that lends money. The first columns carry most; beyond 64, all are 0.",
        "Reimers and Gurevych 2019, arXiv:1908.10084, section 3 (all-MiniLM-L6-v2, mean of the last layer)",
        uses=("seed",),
    ),
    Choice(
        "own",
        "Your own numbers",
        own,
        r"E = \text{what you typed}",
        "A row of numbers for each position, typed or pasted.",
        "-",
        uses=("own_numbers", "own_numbers_second"),
    ),
)
