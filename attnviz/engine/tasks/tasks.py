"""The tasks that a setting can learn: their words, sentences drawn at random, what is right, and where to look.

A sentence is a row of places in the vocabulary. What is right follows from the sentence alone, so that a sentence that
somebody types can be judged as one that was drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attnviz.engine.numerics.noise import Address, uniform
from attnviz.settings.rows import Choice, table

Array = np.ndarray


@dataclass(frozen=True)
class Answers:
    """The right answers in a number of sentences.

    words   (sentences, queries): the place in the vocabulary of what each row should say
    counts  (sentences, queries): whether the row has an answer at all
    where   (sentences, queries, keys): where the row should look, False in rows that have no answer
    """

    words: Array
    counts: Array
    where: Array


@dataclass(frozen=True)
class Game(Choice):
    """One task. `fn(u)` makes sentences, a row each, from rows of uniform numbers, and returns queries and keys.

    The keys are None in self-attention.

    vocabulary  its words
    n_random    how many uniform numbers a sentence takes
    judge       what is right, from the places of queries and keys
    fits        whether judge knows what to make of one sentence
    recipe      the settings in which it is learned well; their sentence is one that is never learned from
    """

    vocabulary: tuple[str, ...] = ()
    n_random: int = 0
    judge: Callable[[Array, Array], Answers] = field(default=lambda queries, keys: NotImplemented)
    fits: Callable[[Array, Array], bool] = field(default=lambda queries, keys: True)
    recipe: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_cross(self) -> bool:
        """True if keys come from a sentence of their own."""
        return bool(self.recipe.get("second_sentence"))

    def examples(self, seed: int, purpose: str, n: int, *at: int) -> tuple[Array, Array]:
        """Draw n sentences: the places of their queries and of their keys, (n, queries) and (n, keys)."""
        queries, keys = self.fn(uniform(Address(seed, f"task/{self.name}/{purpose}", at), (n, self.n_random)))
        return queries, queries if keys is None else keys

    def places(self, words: Sequence[str]) -> Array | None:
        """Return the place of each word in the vocabulary; None if one is not there."""
        known = {word: place for place, word in enumerate(self.vocabulary)}
        return np.array([known[word] for word in words], dtype=int) if set(words) <= known.keys() else None

    def answers(self, queries: Sequence[str], keys: Sequence[str]) -> Answers | None:
        """Return the right answers in one sentence of words; None where the task has no answer to it."""
        x, y = self.places(queries), self.places(keys)
        if x is None or y is None or not self.fits(x, y):
            return None
        return self.judge(x[None], y[None])


def _below(u: Array, n: int) -> Array:
    """Whole numbers from 0 to n - 1 out of uniform numbers."""
    return np.minimum(np.floor(u * n).astype(int), n - 1)


def _shuffled(u: Array) -> Array:
    """Return a permutation of 0 ... in each row."""
    return np.argsort(u, axis=-1, kind="stable")


def _one_hot(places: Array, n: int) -> Array:
    return places[..., None] == np.arange(n)


def _from(names: Sequence[str], *words: str) -> list[int]:
    return [list(names).index(word) for word in words]


# --- translation -----------------------------------------------------------------------------------------------------

DETERMINERS, ADJECTIVES = ("the", "a", "this", "my"), ("red", "grey", "black", "sad")
NOUNS, VERBS = ("cat", "dog", "boy", "horse"), ("sees", "follows", "likes", "hears")
FRENCH = (
    *("le", "un", "ce", "mon", "rouge", "gris", "noir", "triste"),
    *("chat", "chien", "garçon", "cheval", "voit", "suit", "aime", "entend"),
)
ENGLISH = DETERMINERS + ADJECTIVES + NOUNS + VERBS
BEGIN = "begin"
TRANSLATION = (*ENGLISH, *FRENCH, BEGIN)
KINDS = np.repeat(np.arange(4), 4)
"""Of each English word: 0 a determiner, 1 an adjective, 2 a noun, 3 a verb."""

BEFORE_FIRST, BEFORE_SECOND = (0, 1, 2, 3, 0, 2), (0, 2, 3, 0, 1, 2)
"""The kinds of the words where the adjective stands before the first noun, or before the second."""

READ = np.array([[0, 2, 1, 3, 4, 5], [0, 1, 2, 3, 5, 4]])
"""The English word behind each French one: in French the adjective comes after its noun."""


def _translation(u: Array) -> tuple[Array, Array]:
    first, verb, second = (_below(u[:, i : i + 3], 4) for i in (0, 3, 6))
    determiner, adjective, noun = first[:, 0], first[:, 1], first[:, 2]
    other_determiner, other_noun = second[:, 0], second[:, 1]
    before_first = u[:, 8] < 0.5
    described = np.where(before_first, noun, other_noun)
    held_out = (adjective == 2) & (described == 0)  # "black cat" is never shown
    described = np.where(held_out, 1 + _below(u[:, 9], 3), described)
    noun, other_noun = np.where(before_first, described, noun), np.where(before_first, other_noun, described)
    d, a, n, v, e, o = determiner, 4 + adjective, 8 + noun, 12 + verb[:, 0], other_determiner, 8 + other_noun
    keys = np.where(before_first[:, None], np.stack([d, a, n, v, e, o], 1), np.stack([d, n, v, e, a, o], 1))
    said = _in_french(keys)
    start = np.full((len(u), 1), len(TRANSLATION) - 1)
    return np.concatenate([start, said[:, :-1]], 1), keys


def _read_at(keys: Array) -> Array:
    return READ[np.where(KINDS[keys[:, 1]] == 1, 0, 1)]


def _in_french(keys: Array) -> Array:
    return np.take_along_axis(keys, _read_at(keys), 1) + len(ENGLISH)


def _judge_translation(queries: Array, keys: Array) -> Answers:
    where = _one_hot(_read_at(keys), keys.shape[1])[:, : queries.shape[1]]
    return Answers(_in_french(keys)[:, : queries.shape[1]], np.ones(queries.shape, dtype=bool), where)


def _is_english(queries: Array, keys: Array) -> bool:
    if len(keys) != 6 or len(queries) > 6 or (keys >= len(ENGLISH)).any():
        return False
    return tuple(KINDS[keys]) in (BEFORE_FIRST, BEFORE_SECOND)


# --- dates -----------------------------------------------------------------------------------------------------------

DAYS, YEARS = tuple(str(day) for day in range(1, 32)), tuple(str(year) for year in range(1990, 2010))
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
ASKED = ("year", "month", "day")
DATES = (*DAYS, *MONTHS, *YEARS, *ASKED, "of", ",")
SORTS = np.array([2] * len(DAYS) + [1] * len(MONTHS) + [0] * len(YEARS) + [-1] * 5)
"""Of each word which question it answers, by its place in ASKED."""


def _dates(u: Array) -> tuple[Array, Array]:
    day, month = _below(u[:, 0], len(DAYS)), len(DAYS) + _below(u[:, 1], len(MONTHS))
    year = len(DAYS) + len(MONTHS) + _below(u[:, 2], len(YEARS))
    of, comma = (np.full(len(u), place) for place in _from(DATES, "of", ","))
    orders = [(day, of, month, year), (month, day, comma, year), (year, comma, month, day)]
    keys = np.choose(_below(u[:, 3], 3)[:, None], [np.stack(order, 1) for order in orders])
    return np.tile(_from(DATES, *ASKED), (len(u), 1)), keys


def _judge_dates(queries: Array, keys: Array) -> Answers:
    asked = queries - DATES.index("year")
    where = asked[:, :, None] == SORTS[keys][:, None, :]
    words = np.take_along_axis(keys, np.argmax(where, axis=-1), 1)
    return Answers(words, np.asarray(where.any(axis=-1)), where)


def _is_date(queries: Array, keys: Array) -> bool:
    asked = [DATES[place] in ASKED for place in queries]
    return all(asked) and sorted(SORTS[keys][SORTS[keys] >= 0].tolist()) == [0, 1, 2]


# --- backwards -------------------------------------------------------------------------------------------------------

LETTERS = tuple("abcdefgh")


def _backwards(u: Array) -> tuple[Array, None]:
    return _below(u, len(LETTERS)), None


def _judge_backwards(queries: Array, keys: Array) -> Answers:
    n = queries.shape[1]
    where = np.broadcast_to(np.eye(n, dtype=bool)[::-1], (len(queries), n, n))
    return Answers(queries[:, ::-1], np.ones(queries.shape, dtype=bool), where)


# --- recall ----------------------------------------------------------------------------------------------------------

PEOPLE, COLOURS = ("tom", "ann", "bob", "eve", "sam", "joe"), ("red", "blue", "green", "pink", "gold", "grey")
PAIRS = 4


def _recall(u: Array) -> tuple[Array, None]:
    n = len(PEOPLE)
    people, colours = _shuffled(u[:, :n])[:, :PAIRS], n + _below(u[:, n : n + PAIRS], len(COLOURS))
    asked = np.take_along_axis(people, _below(u[:, n + PAIRS :], PAIRS), 1)
    pairs = np.stack([people, colours], axis=-1).reshape(len(u), 2 * PAIRS)
    return np.concatenate([pairs, asked], 1), None


def _judge_recall(queries: Array, keys: Array) -> Answers:
    n = queries.shape[1]
    where = np.zeros((len(queries), n, n), dtype=bool)
    where[:, -1, 1:-1:2] = queries[:, 0:-2:2] == queries[:, -1:]
    counts = np.zeros(queries.shape, dtype=bool)
    counts[:, -1] = True
    return Answers(np.take_along_axis(queries, np.argmax(where, axis=-1), 1), counts, where)


def _is_recall(queries: Array, keys: Array) -> bool:
    people, colours = queries[0:-1:2], queries[1:-1:2]
    alternate = len(queries) % 2 == 1 and (people < len(PEOPLE)).all() and (colours >= len(PEOPLE)).all()
    return bool(alternate) and np.count_nonzero(people == queries[-1]) == 1


# --- induction -------------------------------------------------------------------------------------------------------

LENGTH, BLOCKS = 12, (3, 4, 5, 6)


def _induction(u: Array) -> tuple[Array, None]:
    block = _shuffled(u[:, : len(LETTERS)])
    size = np.array(BLOCKS)[_below(u[:, len(LETTERS)], len(BLOCKS))]
    return np.take_along_axis(block, np.arange(LENGTH) % size[:, None], 1), None


def _judge_induction(queries: Array, keys: Array) -> Answers:
    n = queries.shape[1]
    where = np.zeros((len(queries), n, n), dtype=bool)
    where[:, :, 1:] = queries[:, :, None] == queries[:, None, :-1]  # what stands after an earlier copy of the word
    where &= np.tri(n, dtype=bool)
    latest = n - 1 - np.argmax(where[:, :, ::-1], axis=-1)
    return Answers(np.take_along_axis(queries, latest, 1), np.asarray(where.any(axis=-1)), where)


# --- coreference -----------------------------------------------------------------------------------------------------

ANIMALS, THINGS = ("cat", "dog", "horse", "girl"), ("street", "car", "bridge", "door")
OF_ANIMALS, OF_THINGS = ("tired", "hungry", "happy"), ("wide", "broken", "new")
FRAME = ("the", "saw", "passed", "because", "it", "was")
COREFERENCE = (*FRAME, *ANIMALS, *THINGS, *OF_ANIMALS, *OF_THINGS)
IT = 6
"""The row that is asked: “it”."""


def _coreference(u: Array) -> tuple[Array, None]:
    n = len(u)
    the, saw, because, it, was = (np.full(n, place) for place in _from(COREFERENCE, "the", "saw", *FRAME[3:]))
    animal, thing = len(FRAME) + _below(u[:, 0], 4), len(FRAME) + 4 + _below(u[:, 1], 4)
    first, second = np.where(u[:, 2] < 0.5, (animal, thing), (thing, animal))
    told = len(FRAME) + 8 + _below(u[:, 4], 3) + np.where(u[:, 3] < 0.5, 0, 3)
    return np.stack([the, first, saw + _below(u[:, 5], 2), the, second, because, it, was, told], 1), None


def _judge_coreference(queries: Array, keys: Array) -> Answers:
    n = queries.shape[1]
    is_animal = queries[:, -1] < COREFERENCE.index("wide")
    first = (queries[:, 1] < COREFERENCE.index("street")) == is_animal
    where = np.zeros((len(queries), n, n), dtype=bool)
    where[:, IT, 1], where[:, IT, 4] = first, ~first
    counts = np.zeros(queries.shape, dtype=bool)
    counts[:, IT] = True
    return Answers(np.take_along_axis(queries, np.argmax(where, axis=-1), 1), counts, where)


def _is_coreference(queries: Array, keys: Array) -> bool:
    if len(queries) != 9:
        return False
    words = [COREFERENCE[place] for place in queries]
    frame = words[0] == words[3] == "the" and words[2] in FRAME[1:3] and words[5:8] == [*FRAME[3:]]
    nouns = {words[1] in ANIMALS, words[4] in ANIMALS} == {True, False} and {*words} & {*THINGS}
    return bool(frame and nouns and words[-1] in OF_ANIMALS + OF_THINGS)


ONE_HEAD = {"embedding": "normal", "n_heads": 1, "d_model": 64, "d_k": 32, "d_v": 64}
TWO_LAYERS = ONE_HEAD | {
    "n_layers": 2,
    "residual": True,
    "mask": "causal",
    "position": "rope",
    "rope_base": 100.0,
    "temperature": 3.0,
}

GAMES = table(
    Game(
        "translation",
        "Translation",
        _translation,
        r"\text{the black cat} \to \text{le chat noir}",
        "Say an English sentence in French, word by word. In French the adjective comes after its noun, so the head "
        "has to learn which word to read when. “Black cat” is never shown while it learns.",
        "Bahdanau et al. 2014, arXiv:1409.0473, section 5.2.1 (the alignment of one sentence)",
        vocabulary=TRANSLATION,
        n_random=10,
        judge=_judge_translation,
        fits=_is_english,
        recipe=ONE_HEAD
        | {
            "sentence": "begin le chat noir voit un",
            "second_sentence": "the black cat sees a dog",
            "score": "additive",
            "d_a": 32,
            "position": "random",
            "learn_steps": 120,
        },
    ),
    Game(
        "dates",
        "Dates",
        _dates,
        r"\text{7 of mar 1994} \to \text{1994, mar, 7}",
        "Find year, month and day in a date that may be written in three orders.",
        "-",
        vocabulary=DATES,
        n_random=4,
        judge=_judge_dates,
        fits=_is_date,
        recipe=ONE_HEAD
        | {
            "sentence": "year month day",
            "second_sentence": "7 of mar 1994",
            "score": "additive",
            "d_a": 32,
            "learn_steps": 160,
        },
    ),
    Game(
        "backwards",
        "Backwards",
        _backwards,
        r"\text{a b c} \to \text{c b a}",
        "Say eight letters in the opposite order: every position has to attend to its mirror image.",
        "-",
        vocabulary=LETTERS,
        n_random=8,
        judge=_judge_backwards,
        recipe=ONE_HEAD | {"sentence": "b a d c a f e g", "position": "random", "temperature": 3.0, "learn_steps": 80},
    ),
    Game(
        "recall",
        "Who had which colour?",
        _recall,
        r"\text{tom red ann blue \ldots\ ann} \to \text{blue}",
        "At the last name, say the colour that came after it before. It takes two layers: the first tells every colour "
        "whose it is, the second finds the name.",
        "-",
        vocabulary=(*PEOPLE, *COLOURS),
        n_random=len(PEOPLE) + PAIRS + 1,
        judge=_judge_recall,
        fits=_is_recall,
        recipe=TWO_LAYERS
        | {"sentence": "tom red ann blue joe gold eve pink ann", "learn_batch": 32, "learn_steps": 120},
    ),
    Game(
        "induction",
        "What came after it last time?",
        _induction,
        r"\text{a b c a b} \to \text{c}",
        "A few letters come again and again. At each letter, say what followed it before. It takes two layers: the "
        "first reads the previous letter, the second finds the place that has the same one before it.",
        "Olsson et al. 2022, arXiv:2209.11895 (induction heads)",
        vocabulary=LETTERS,
        n_random=len(LETTERS) + 1,
        judge=_judge_induction,
        recipe=TWO_LAYERS | {"sentence": "b d a c e b d a c e b d", "learn_steps": 180},
    ),
    Game(
        "coreference",
        "What does “it” mean?",
        _coreference,
        r"\text{it was tired} \to \text{cat}",
        "Say which noun “it” stands for: what is tired is an animal, what is wide is a thing. The answers come out "
        "right, and the weights need not show why: being right and being readable are two things.",
        "Winograd 1972, Understanding Natural Language (the kind of sentence)",
        vocabulary=COREFERENCE,
        n_random=6,
        judge=_judge_coreference,
        fits=_is_coreference,
        recipe=ONE_HEAD
        | {
            "sentence": "the cat passed the street because it was tired",
            "n_heads": 2,
            "d_k": 16,
            "d_v": 32,
            "n_layers": 2,
            "residual": True,
            "temperature": 3.0,
            "learn_steps": 80,
        },
    ),
)
