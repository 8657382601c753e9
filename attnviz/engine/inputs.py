"""The input of a layer: the tokens of the sentences, and a row of numbers for each."""

from __future__ import annotations

from itertools import pairwise

from attnviz.arrays import Array
from attnviz.engine.pretrained import model_registry
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Steps
from attnviz.engine.tables.embeddings import EMBEDDINGS, out_of_vocabulary, parse
from attnviz.engine.tables.positions import POSITIONS
from attnviz.engine.tables.tokenisers import TOKENISERS, is_unspaced, with_special_tokens
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Plural, Words, translate

NOTES = Words(
    {
        "cut": "The sentence has {n:,} tokens; the first {room} are used.",
        "one_hot": "One-hot needs a column for each of {n} different tokens and has {d_model}; "
        "the last {beyond} are rows of zeros. A larger embedding size helps.",
        "own": "Your own numbers are {rows} rows of {widths} numbers; {n} rows of {d_model} are needed. "
        "Missing numbers are 0, surplus ones are ignored.",
        "no_own": "No numbers of your own were given; {n} rows of {d_model} are needed. Missing numbers are 0.",
        "unlisted": "{words} and {n} more are not in the list of English words; their spelling stands in.",
        "unspaced": "Where a script leaves no spaces between words, each character is a token.",
        "or": " or ",
    }
)

UNLISTED = Plural(
    "{words} is not in the list of English words; its spelling stands in.",
    "{words} are not in the list of English words; their spelling stands in.",
)
MOST_NAMED = 4
"""The most words that one note names."""


def tokens(config: Config) -> tuple[tuple[str, ...], tuple[str, ...], list[str]]:
    """Return the query tokens, the key tokens, and what had to be cut; a model has its own tokeniser and limit."""
    model = model_registry.find(config.model)
    if model is not None:
        pieces = model.tokens(config)
        return pieces, pieces, []
    notes: list[str] = []
    lines = []
    for sentence in (config.sentence, config.second_sentence):
        row = TOKENISERS[config.tokeniser]
        tokens_of_row = row.fn(sentence, **row.settings(config))
        lines.append(
            with_special_tokens(
                tokens_of_row, bos=config.bos, eos=config.eos, pad_to=config.pad_to, max_tokens=config.max_tokens
            )
        )
        room = max(config.max_tokens - config.bos - config.eos, 0)
        if len(tokens_of_row) > room:
            notes.append(NOTES["cut"].format(n=len(tokens_of_row), room=room))
    if config.tokeniser == "words" and any(_has_unspaced(line) for line in lines):
        notes.append(NOTES["unspaced"])
    if not lines[0]:
        raise ConfigError(translate("the sentence has no tokens; type at least one word"))
    return lines[0], lines[1] if config.is_cross_attention else lines[0], notes


def _has_unspaced(tokens: tuple[str, ...]) -> bool:
    """Return whether two characters stand side by side that a reader may take for one word."""
    return any(is_unspaced(one) and is_unspaced(other) for one, other in pairwise(tokens))


def embedded(
    around: Steps, config: Config, query_tokens: tuple[str, ...], key_tokens: tuple[str, ...], notes: list[str]
) -> tuple[Array, Array]:
    """Return X for the queries and for the keys; one and the same in self-attention."""
    vocabulary = tuple(dict.fromkeys(query_tokens + key_tokens))
    if config.embedding == "one_hot" and len(vocabulary) > config.d_model:
        n, d_model = len(vocabulary), config.d_model
        notes.append(NOTES["one_hot"].format(n=n, d_model=d_model, beyond=n - d_model))
    if config.embedding == "meaning":
        _say_unlisted(vocabulary, notes)
    X = _sum(around, config, query_tokens, vocabulary, "", notes)
    if not config.is_cross_attention:
        return X, around.record("embedded_kv", X, formula="X' = X")
    return X, _sum(around, config, key_tokens, vocabulary, "_kv", notes)


def _sum(
    around: Steps, config: Config, tokens: tuple[str, ...], vocabulary: tuple[str, ...], suffix: str, notes: list[str]
) -> Array:
    """Return E + P, both recorded; their suffix is empty, or "_kv" for the second sentence."""
    embedding, position = EMBEDDINGS[config.embedding], POSITIONS[config.position]
    settings = embedding.settings(config)
    if config.embedding == "own":
        own_numbers = config.own_numbers_second if suffix else config.own_numbers  # each sentence has its own
        settings = {"own_numbers": own_numbers}
        _note_missing(own_numbers, len(tokens), config.d_model, notes)
    E = around.record("token_embeddings" + suffix, embedding.fn(tokens, config.d_model, vocabulary, **settings))
    P = around.record("positions" + suffix, position.fn(len(tokens), config.d_model, **position.settings(config)))
    return around.record("embedded" + suffix, E + P)


def _note_missing(own_numbers: str, n: int, d_model: int, notes: list[str]) -> None:
    rows = parse(own_numbers)
    widths = {len(row) for row in rows}
    if len(rows) != n or widths != {d_model}:
        lengths = NOTES["or"].join(map(str, sorted(widths)))
        notes.append(NOTES["own" if rows else "no_own"].format(rows=len(rows), widths=lengths, n=n, d_model=d_model))


def _say_unlisted(vocabulary: tuple[str, ...], notes: list[str]) -> None:
    """Add a note on words without a vector in the list of words."""
    words = out_of_vocabulary(vocabulary)
    if words:
        named, more = ", ".join(map(shorten, words[:MOST_NAMED])), len(words) - MOST_NAMED
        if more > 0:
            notes.append(NOTES["unlisted"].format(n=more, words=named))
        else:
            notes.append(UNLISTED.format(n=len(words), words=named))
