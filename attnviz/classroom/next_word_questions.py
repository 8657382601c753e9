"""Questions about the next word of a language model, and about the heads that it is owed to."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from attnviz.analysis.circuits.attribution import attribute, decoder_of
from attnviz.arrays import Array
from attnviz.classroom.context.question_context import QuestionContext, required
from attnviz.classroom.next_word import readings
from attnviz.classroom.resolved_question import Mistake, ResolvedQuestion
from attnviz.models.sampling import softmax
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words, sign
from attnviz.text.format.number_format import head_name, short
from attnviz.text.format.sentence_parts import TOKEN, fill, rounded_number

HARMLESS = 0.1
"""The part of a difference that a head may take with it and still be called one that hardly matters."""
FAR = 0.01
"""The part of a ratio that an answer may be off: ratios run from 1 to thousands."""

WORDS = Words(
    {
        "next_word": "{word} has the share {share}; of the words to choose from, {second} comes next with {other}.",
        "times": "The logits are {apart} apart: with all their digits, e to the power of {apart} / {temperature} is "
        "{value}.",
        "head_owed": "Head {head}: without it the difference of {apart} changes by {change}.",
        "head_all": "Without one head at a time: {changes}.",
        "head_change": "{head}: {change}",
        "head": "head {head}",
    }
)
SAID = Words(
    {
        "layer": "After layer {n} that word has the largest share of these; later layers change it.",
        "in_sentence": "That word stands in the sentence, but the model does not repeat it here.",
        "second": "That is nearly it: just one of these words gets a larger share.",
        "unlikely": "{n} of these words get a larger share: ask which one this sentence wants.",
    }
)
OF_HEADS = Words(
    {
        "sharp": "That head gives nearly all of its weight to one word; what it reads there hardly counts here.",
        "direct": "That head adds most by itself. Others pass on what it reads, and without them more is lost.",
        "against": "Without that head the difference grows: it works against this word.",
        "harmless": "Without that head the difference hardly changes.",
        "less": "Without that head something is lost, but there is one without which more is lost.",
    }
)
PROBLEMS = Words({"words": "`words` in `at` is {given}; write two words or more that the model knows"})
N_HEADS = 5
"""Heads to choose from."""


def next_word(runs: QuestionContext, at: Mapping[str, Any]) -> ResolvedQuestion:
    """Return the question which of some words is likeliest to come next."""
    words, model = _words(at), decoder_of(runs.trace)
    numbers = [model.word_number(word, runs.trace) for word in words]
    by_layer = softmax(model.scores(runs.trace))[:, numbers]
    order = np.argsort(-by_layer[-1], kind="stable").tolist()
    facts = {name: ((TOKEN, words[at]),) for name, at in zip(("word", "second"), order)}
    found = {"share": by_layer[-1][order[0]], "other": by_layer[-1][order[1]]}
    return ResolvedQuestion(
        form="one",
        options=tuple(((TOKEN, word),) for word in words),
        right=frozenset({order[0]}),
        solution=(fill(WORDS["next_word"], **facts, **{name: rounded_number(x) for name, x in found.items()}),),
        said_of=_said_of_words(runs, words, by_layer).get,
        inputs=("ends",),
        how="next_word",
    )


def _words(at: Mapping[str, Any]) -> list[str]:
    words = required("words", at)
    if not isinstance(words, list) or len(words) < 2 or not all(isinstance(word, str) for word in words):
        raise ConfigError(PROBLEMS["words"].format(given=shorten(words)))
    return words


def _said_of_words(runs: QuestionContext, words: Sequence[str], by_layer: Array) -> dict[frozenset[int], str]:
    """Return what is said of each word that is not the likeliest: the first rule that leads to it."""
    told = dict[frozenset[int], str]()
    for option in set(range(len(words))) - {int(by_layer[-1].argmax())}:
        layer = layer_of(by_layer, option)
        if layer is not None:
            said = SAID["layer"].format(n=layer)
        elif words[option] in runs.trace.query_tokens:
            said = SAID["in_sentence"]
        else:
            larger = int((by_layer[-1] > by_layer[-1, option]).sum())
            said = SAID["second" if larger == 1 else "unlikely"].format(n=larger)
        told[frozenset({option})] = said
    return told


def layer_of(by_layer: Array, option: int) -> int | None:
    """Return the first layer after which a word has the largest share of those asked about; None where it never has.

    by_layer  the shares, (layers + 1, words)
    """
    return next((n for n, best in enumerate(by_layer.argmax(axis=1).tolist()) if n and best == option), None)


def times_as_likely(runs: QuestionContext, at: Mapping[str, Any]) -> ResolvedQuestion:
    """Return the question how many times as likely a word is as another, at a temperature."""
    word, other = _words(at)[:2]
    temperature = float(at.get("temperature", 1.0))
    if temperature <= 0:
        raise ConfigError(PROBLEMS["words"].format(given=shorten(temperature)))
    apart = readings.apart(runs.trace, word, other)
    value = math.exp(apart / temperature)
    facts = {"apart": short(apart), "temperature": short(temperature), "value": short(value)}
    return ResolvedQuestion(
        form="number",
        value=value,
        tolerance=at.get("tolerance", FAR * value),
        solution=(fill(WORDS["times"], **facts),),
        inputs=(f"by_layer.{word}.{other}",) if temperature != 1 else ("ends",),
        mistakes=tuple(_mistakes(apart, temperature, value)),
        how="times_as_likely",
    )


def _mistakes(apart: float, temperature: float, value: float) -> Iterator[Mistake]:
    ways = {
        "no_exponential": apart / temperature,
        "no_temperature": math.exp(apart),
        "times_temperature": math.exp(apart * temperature),
        "halved_ratio": math.exp(apart) / temperature,
    }
    yield from (Mistake(name, wrong) for name, wrong in ways.items() if abs(wrong - value) > 1e-6)


def head_owed(runs: QuestionContext, at: Mapping[str, Any]) -> ResolvedQuestion:
    """Return the question without which head a word loses most of its lead over another."""
    word, other = _words(at)[:2]
    off, apart = readings.without(runs.trace, word, other), readings.apart(runs.trace, word, other)
    best = _at(off, int(off.argmin()))
    heads = sorted({best, *_tempting(runs, at, off)})
    names = {head: _name(head) for head in heads}
    changes = sign(", ").join(
        WORDS["head_change"].format(head=names[head], change=short(float(off[head]))) for head in heads
    )
    facts = {"head": names[best], "apart": short(apart), "change": short(float(off[best]))}
    told = {frozenset({heads.index(head)}): _said_of_head(runs, at, off, head) for head in heads if head != best}
    return ResolvedQuestion(
        form="one",
        options=tuple(fill(WORDS["head"], head=names[head]) for head in heads),
        right=frozenset({heads.index(best)}),
        solution=(fill(WORDS["head_owed"], **facts), fill(WORDS["head_all"], changes=changes)),
        said_of=told.get,
        inputs=("ends",),
        how="head_owed",
    )


def _tempting(runs: QuestionContext, at: Mapping[str, Any], off: Array) -> list[tuple[int, int]]:
    """Return other heads: the sharpest that hardly matters, what adds most itself, what works against it, a middling.

    They are ways to be wrong that each have their own reason.
    """
    word, other = _words(at)[:2]
    sharp = readings.at_the_end(runs.trace).max(axis=-1)
    own = attribute(runs.trace, word, other).heads
    harmless = np.where(_is_harmless(runs, at, off), sharp, -1.0)
    order = [harmless, own, off, -off]
    ranked = [np.argsort(-each, axis=None, kind="stable").tolist() for each in order]
    best, found = int(off.argmin()), list[int]()
    for turn in range(off.size):
        for each in ranked:
            if each[turn] not in (best, *found) and len(found) < N_HEADS - 1:
                found.append(each[turn])
    return [_at(off, each) for each in found]


def _is_harmless(runs: QuestionContext, at: Mapping[str, Any], off: Array) -> Array:
    found: Array = np.abs(off) <= HARMLESS * abs(readings.apart(runs.trace, *_words(at)[:2]))
    return found


def _said_of_head(runs: QuestionContext, at: Mapping[str, Any], off: Array, head: tuple[int, int]) -> str:
    sharp = float(readings.at_the_end(runs.trace)[head].max())
    word, other = _words(at)[:2]
    own = attribute(runs.trace, word, other).heads
    if _is_harmless(runs, at, off)[head]:
        return OF_HEADS["sharp" if sharp > 0.9 else "harmless"]
    if off[head] > 0:
        return OF_HEADS["against"]
    return OF_HEADS["direct" if own[head] == own.max() else "less"]


def _at(array: Array, flat: int) -> tuple[int, int]:
    layer, head = np.unravel_index(flat, array.shape)
    return int(layer), int(head)


def _name(head: tuple[int, int]) -> str:
    """Return a head as layer and head, counted from 1: 2.3."""
    return head_name(*head)


QUESTIONS = {"next_word": next_word, "times_as_likely": times_as_likely, "head_owed": head_owed}
"""The kinds of questions about a next word, by name."""
