"""The deals of what is asked of the model *small* and of many random rows: a next word, a ratio, a head, a spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attnviz.analysis.circuits.attribution import decoder_of
from attnviz.analysis.circuits.prompts import Prompt, prompts
from attnviz.analysis.variance_and_sharing import DIVISORS
from attnviz.classroom.context.question_context import SAME
from attnviz.classroom.next_word import readings
from attnviz.classroom.practice.dealt import Dealt, UnfitError, known
from attnviz.classroom.practice.draw import Draw
from attnviz.classroom.question_kinds import resolve
from attnviz.engine.records.config import Config
from attnviz.engine.run import run
from attnviz.lessons.lesson import Question, Slide
from attnviz.settings.counting import index_of
from attnviz.settings.language import Words
from attnviz.text.format.sentence_parts import TOKEN, fill, rounded_number

MODEL = "small"
ASK = Words(
    {
        "times": "The logit of {word} is {logit}, that of {other} is {less}. How many times as likely is {word} as the "
        "next word, at temperature {temperature}?",
        "head_owed": "Without which head does {word} lose most of its lead over {other}?",
        "spread": "Queries and keys of {width} random entries with variance 1, products divided by {divisor}: what is "
        "the standard deviation of many scores, within {tolerance}?",
    }
)
TEMPERATURES = ((1.0,), (2.0, 1.0), (0.5, 2.0), (0.5, 0.25, 4.0))
"""What a ratio is asked at, by level."""
WIDTHS = ((4, 16, 64), (4, 16, 64), (9, 25, 36, 49), (8, 12, 32, 48))
SHORT, LONG = 9, 13
"""Words of a list that is short, and of a sentence about two names that is long."""


def _prompt(draw: Draw, level: int) -> Prompt:
    """Return a sentence that training left out: of two names at odd levels, a list at even ones; longer from 3 on."""
    fits = [
        each
        for each in prompts()
        if bool(each.word) == bool(level % 2)
        and (len(each.text.split()) > (LONG if level % 2 else SHORT)) == (level > 2)
    ]
    return draw.one_of("prompt", fits)


def next_word(draw: Draw, level: int) -> Dealt:
    """Return the question how the model goes on, among words that the sentence has."""
    prompt = _prompt(draw, level)
    config = Config(sentence=prompt.text, model=MODEL)
    trace = run(config)
    model = decoder_of(trace)
    said = model.next_words(trace, 1)[0][0]
    others = [word for word in dict.fromkeys(prompt.text.split()) if word != said and len(word) > 2 and word != "the"]
    if said not in prompt.text.split() or len(others) < 3:
        raise UnfitError
    start = draw.whole("others", len(others))
    words = sorted([said, *(others[(start + at) % len(others)] for at in range(3))])
    if prompt.instead_of and prompt.instead_of not in words:
        raise UnfitError  # of two names, both are offered
    return known(config, ("ends",), Question("next_word", at={"words": words}))


def times_as_likely(draw: Draw, level: int) -> Dealt:
    """Return the question how many times as likely one word is as another, at a temperature."""
    prompt = _prompt(draw, level)
    config = Config(sentence=prompt.text, model=MODEL)
    trace = run(config)
    model = decoder_of(trace)
    likely = [word for word, _ in model.next_words(trace, 6)]
    word, other = likely[0], draw.one_of("other", likely[1:])
    temperature = draw.one_of("temperature", TEMPERATURES[index_of(level)])
    at: dict[str, Any] = {"words": [word, other], "temperature": temperature}
    logit, less = (float(model.scores(trace)[-1, model.word_number(each, trace)]) for each in (word, other))
    dealt = known(config, ("ends",), Question("times_as_likely", at=at))
    if not 1.5 < dealt.question.value < 2_000:
        raise UnfitError
    # Four digits of each logit are given: what they leave out is divided by the temperature, and in the exponent.
    off = dealt.question.value * (0.01 + 0.01 / temperature)
    facts = {name: ((TOKEN, text),) for name, text in (("word", word), ("other", other))}
    numbers = {"logit": logit, "less": less, "temperature": temperature}
    words = fill(ASK["times"], **facts, **{name: rounded_number(x) for name, x in numbers.items()})
    return _asked(dealt, words, off)


def head_owed(draw: Draw, level: int) -> Dealt:
    """Return the question without which head the model no longer says one name rather than the other."""
    fits = [each for each in prompts() if each.word]
    prompt = draw.one_of("prompt", fits[index_of(level) :: 4])
    config = Config(sentence=prompt.text, model=MODEL)
    trace = run(config)
    lost = np.sort(readings.without(trace, prompt.word, prompt.instead_of).ravel())
    lead = readings.apart(trace, prompt.word, prompt.instead_of)
    if lead <= 0 or lost[1] - lost[0] < 0.05 * lead:
        raise UnfitError  # two heads of nearly the same loss
    at = {"words": [prompt.word, prompt.instead_of]}
    dealt = known(config, ("ends",), Question("head_owed", at=at))
    words = {name: ((TOKEN, text),) for name, text in (("word", prompt.word), ("other", prompt.instead_of))}
    return _asked(dealt, fill(ASK["head_owed"], **words), dealt.question.tolerance)


def spread(draw: Draw, level: int) -> Dealt:
    """Return the question how far many scores of random queries and keys spread."""
    d_k = draw.one_of("d_k", WIDTHS[index_of(level)])
    by = draw.one_of("divisor", ("one", "root") if level < 3 else ("one", "root", "width"))
    config = Config(**draw.setting(4, d_k=d_k, score="dot" if by == "one" else "scaled_dot"))
    value = DIVISORS[by].fn(d_k)
    at = {"d_k": d_k, "divisor": by, "tolerance": 0.08 * d_k**0.5 / value}
    asked, trace = Question("spread", at=at), run(config)
    question = resolve(asked, trace, trace)
    # Divided by the root all is 1, and without a divisor nothing is left out: what leads to the right number is right.
    far = tuple(each for each in question.mistakes if abs(each.value - question.value) > question.tolerance)
    numbers = {"width": d_k, "divisor": value, "tolerance": at["tolerance"]}
    words = fill(ASK["spread"], **{name: rounded_number(x) for name, x in numbers.items()})
    found = replace(question, mistakes=far, words=words)
    return Dealt(config, trace, Slide("", (), question=asked), found)


def largest_weight(draw: Draw, level: int) -> Dealt:
    """Return the question how large the largest weight of a row is on average, of rows that are drawn."""
    words = (2, 2, 3, 3)[index_of(level)]
    setting = draw.setting(3, d_k=2, temperature=(1.0, 0.5)[index_of(level) % 2])
    setting["sentence"] = " ".join(setting["sentence"].split()[:words])
    dealt = known(Config(**setting), ("scaled",), Question("largest_weight", at={"tolerance": 0.02}))
    rows = np.sort(dealt.trace["scaled"].array, axis=-1)
    if (rows[..., -1] - rows[..., -2]).min() <= SAME:
        raise UnfitError
    return dealt


def _asked(dealt: Dealt, words: Sequence[Any], tolerance: float) -> Dealt:
    """Return a question in other words, with the known mistakes that are further off than the tolerance."""
    question = replace(dealt.question, words=tuple(words), tolerance=tolerance)
    value = question.value or 0.0
    if any(abs(each.value - value) <= tolerance for each in question.mistakes):
        raise UnfitError
    return replace(dealt, question=question)
