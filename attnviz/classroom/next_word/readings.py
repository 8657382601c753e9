"""Readings of a language model in a lesson, which are no step of its run: next words, and what they are owed to.

A reading is named as a lesson writes it, with the words that it is about: `next_words`, or `without.mary.john`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from attnviz.analysis.circuits.attribution import attribute, decoder_of, direction
from attnviz.analysis.circuits.maps import without_each_head
from attnviz.arrays import Array
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.models.next_words import most_likely
from attnviz.models.sampling import softmax
from attnviz.settings.counting import index_of, ordinals
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words

LIKELIEST = 6
WORDS = Words(
    {
        "next_words": "Next word",
        "next_words_phrase": "the likeliest next words, each with its share",
        "by_layer": "By layer",
        "by_layer_phrase": "the share of a word if it were read off after that layer; 0 is before the first",
        "of_word_phrase": "its share, if read off after that layer",
        "foreseen": "Foreseen",
        "foreseen_phrase": "the share that the model gives, at each word, to the one that follows",
        "ends": "Where the last word attends",
        "ends_phrase": "the weights of the last row, a row for each layer and head",
        "without": "Knocked out",
        "without_phrase": "change of the difference when this head alone is knocked out",
        "own_part": "Its own part",
        "own_part_phrase": "what the head itself adds to the difference: these add up",
        "from_word": "From which word",
        "from_word_phrase": "what the heads of a layer bring from each word: these add up too",
        "layer": "layer",
        "head": "head",
        "word": "word",
        "of_layer": "Layer {n}",
        "following": "share",
    }
)
PROBLEMS = Words(
    {
        "reading": "there is no reading {given}; write one as {allowed}, with the words that it is about",
        "n_words": "{name} is about {n} words, as in {name}{example}; given is {given}",
        "number": "{given} has no number {index}",
    }
)


@dataclass(frozen=True)
class Reading:
    """Numbers in rows and columns, with the names of these; `kind` as of a picture: "share" or "signed"."""

    array: Array
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    kind: str
    axes: tuple[str, str]


def is_reading(written: str) -> bool:
    """Return whether a name is that of a reading.

    >>> is_reading("without.mary.john"), is_reading("weights")
    (True, False)
    """
    return written.partition(".")[0] in READINGS


def reading(trace: Trace, written: str) -> Reading:
    """Return a reading of a run.

    Raises ConfigError for a name or a word that there is not, and for the run of a model that does not write on.
    """
    name, *words = written.split(".")
    if name not in READINGS:
        raise ConfigError(PROBLEMS["reading"].format(given=shorten(written), allowed=", ".join(READINGS)))
    find, n = READINGS[name]
    if len(words) != n:
        example = "".join((".mary", ".john")[:n])
        raise ConfigError(PROBLEMS["n_words"].format(name=name, n=n, example=example, given=shorten(written)))
    return find(trace, *words)


def number(trace: Trace, name: str, words: Sequence[str], position: Sequence[int]) -> float:
    """Return a number that a text names: `share.mary`, `logit.mary`, `apart.mary.john`, or one of a reading.

    position  of the number in the reading, a row and a column counted from 1; empty for the first three

    Raises ConfigError as `reading`, and for a number that there is not.
    """
    if name in OF_WORDS and not position:
        return OF_WORDS[name](trace, *words)
    array = reading(trace, ".".join((name, *words))).array
    index = tuple(index_of(each) for each in position)
    if len(index) != 2 or not all(0 <= at < size for at, size in zip(index, array.shape)):
        raise ConfigError(PROBLEMS["number"].format(given=name, index=".".join(map(str, position))))
    return float(array[index])


def shares(trace: Trace, row: int = -1) -> Array:
    """Return the share of every word of the vocabulary as the next one, after a token of a run."""
    found: Array = softmax(decoder_of(trace).scores(trace, row))[-1]
    return found


def share(trace: Trace, word: str) -> float:
    """Return the share of a word as the next one."""
    return float(shares(trace)[decoder_of(trace).word_number(word, trace)])


def logit(trace: Trace, word: str) -> float:
    """Return the logit of a word as the next one."""
    model = decoder_of(trace)
    return float(model.scores(trace)[-1][model.word_number(word, trace)])


def apart(trace: Trace, word: str, instead_of: str) -> float:
    """Return by how much the logit of a word exceeds that of another."""
    return float(trace.result.array[-1] @ direction(trace, word, instead_of))


def written_word(trace: Trace, number: int) -> str:
    """Return a word as it is read, without the letter that stands for the space before it."""
    model = decoder_of(trace)
    return model.lent(trace).get(number) or model.piece(number).strip("Ġ▁")


def without(trace: Trace, word: str, instead_of: str) -> Array:
    """Return by how much the difference of two words changes without each head: (layers, heads)."""
    return _without(trace.config.chosen, word, instead_of)


@lru_cache(maxsize=64)
def _without(config: Config, word: str, instead_of: str) -> Array:
    """Return it for a setting: a slide is drawn again at every click, and each head is a run of its own."""
    return without_each_head(run(config), word, instead_of)


def at_the_end(trace: Trace) -> Array:
    """Return where the last word attends, in every head: (layers, heads, tokens)."""
    return np.stack([layer["weights"].array[:, -1] for layer in trace.layers])


def _layers(trace: Trace) -> tuple[str, ...]:
    return tuple(WORDS["of_layer"].format(n=n) for n in ordinals(len(trace.layers)))


def _next_words(trace: Trace) -> Reading:
    likely = most_likely(shares(trace), LIKELIEST)
    rows = tuple(written_word(trace, number) for number, _ in likely)
    return Reading(np.array([[x] for _, x in likely]), rows, (WORDS["following"],), "share", (WORDS["word"], "column"))


def by_layer(trace: Trace, *words: str) -> Reading:
    """Return the share of each word, if it were read off after a layer; the first is before all layers."""
    model = decoder_of(trace)
    found = softmax(model.scores(trace))[:, [model.word_number(word, trace) for word in words]].T
    layers = ("0", *map(str, ordinals(len(trace.layers))))
    return Reading(found, words, layers, "share", (WORDS["word"], WORDS["layer"]))


def _foreseen(trace: Trace) -> Reading:
    """Return the share of each word of the sentence where the one before it stands."""
    found = [[float(shares(trace, row)[after])] for row, (_, after) in enumerate(pairwise(trace.token_ids))]
    rows = tuple(map(str, trace.query_tokens[:-1]))
    return Reading(np.array(found), rows, (WORDS["following"],), "share", ("query", WORDS["word"]))


def _ends(trace: Trace) -> Reading:
    A = at_the_end(trace)
    rows = tuple(f"{layer}.{head}" for layer in ordinals(len(A)) for head in ordinals(A.shape[1]))
    return Reading(A.reshape(len(rows), -1), rows, tuple(trace.key_tokens), "share", (WORDS["head"], "key"))


def _of_heads(trace: Trace, found: Array) -> Reading:
    heads = tuple(map(str, ordinals(found.shape[1])))
    return Reading(found, _layers(trace), heads, "signed", (WORDS["layer"], WORDS["head"]))


def _from_word(trace: Trace, word: str, instead_of: str) -> Reading:
    found = attribute(trace, word, instead_of).positions.sum(axis=1)
    return Reading(found, _layers(trace), tuple(trace.key_tokens), "signed", (WORDS["layer"], "key"))


READINGS: dict[str, tuple[Callable[..., Reading], int]] = {
    "next_words": (_next_words, 0),
    "foreseen": (_foreseen, 0),
    "ends": (_ends, 0),
    "by_layer": (by_layer, 2),
    "without": (lambda trace, *words: _of_heads(trace, without(trace, *words)), 2),
    "own_part": (lambda trace, *words: _of_heads(trace, attribute(trace, *words).heads), 2),
    "from_word": (_from_word, 2),
}
"""By name: how it is read off a run, and how many words it is about."""

OF_WORDS: dict[str, Callable[..., float]] = {"share": share, "logit": logit, "apart": apart}
"""Numbers of words: the share and the logit of one, and by how much the logits of two are apart."""
