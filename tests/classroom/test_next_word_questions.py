"""Questions about a next word and its heads: every answer, and every word on a wrong one, found another way."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from attnviz import Config, ConfigError, Trace, run
from attnviz.arrays import Array
from attnviz.classroom import slides
from attnviz.classroom.context.hints import HINTS
from attnviz.classroom.next_word import readings
from attnviz.classroom.next_word.pictures import picture
from attnviz.classroom.next_word_questions import OF_HEADS, SAID
from attnviz.classroom.question_kinds import resolve
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.lesson import Question
from attnviz.text.format.sentence_parts import plain

SENTENCES = {
    "when anna and tom met at the shop , tom gave the key to": ("anna", "tom", "key", "shop"),
    "bag pen cup bag": ("pen", "cup", "bag"),
    "the boxes near the lamp": ("are", "is", "lamp"),
    "after monday comes": ("tuesday", "monday", "sunday"),
}


def logits(trace: Trace) -> Array:
    """The logits of all words after the last, from the numbers that the run ends in."""
    return np.asarray(trace.model.words_table, dtype=float) @ trace.result.array[-1]  # type: ignore[union-attr]


def number_of(trace: Trace, word: str) -> int:
    pieces = [trace.model.piece(n) for n in range(len(trace.model.words_table))]  # type: ignore[union-attr]
    return pieces.index(word)


def lead(trace: Trace, word: str, other: str) -> float:
    found = logits(trace)
    return float(found[number_of(trace, word)] - found[number_of(trace, other)])


@cache
def loss(config: Config, layer: int, head: int, word: str, other: str) -> float:
    """What a lead loses when every number of a head is set to zero by hand, one edit each."""
    before = run(config)
    _, n, d_v = before.layers[layer]["heads"].shape
    edits = tuple((layer, "heads", (head, i, c), 0.0) for i in range(n) for c in range(d_v))
    return lead(run(replace(config, edits=edits)), word, other) - lead(before, word, other)


def cases() -> Iterator[tuple[Config, Question]]:
    """The questions of the lessons, and of some sentences more, to both models."""
    for lesson in LESSONS.values():
        for slide in lesson.slides:
            if slide.question and slide.question.kind in ("next_word", "head_owed"):
                yield lesson.on(slide), slide.question
    for model in ("small", "full"):
        for sentence, words in SENTENCES.items():
            short = len(sentence.split()) < 6
            for kind in ("next_word", "head_owed") if short else ("next_word",):
                yield Config(sentence=sentence, model=model), Question(kind, at={"words": list(words)})


def said(found: ResolvedQuestion) -> dict[int, str]:
    return {n: found.feedback((n,)).removeprefix("Not quite. ") for n in {*range(len(found.options))} - found.right}


@pytest.mark.slow
def test_every_answer_is_right_and_what_is_said_of_every_wrong_one_is_so() -> None:
    told = set[str]()
    for config, question in cases():
        trace = run(config)
        found, words = resolve(question, trace), question.at["words"]
        rules = _words(trace, words) if question.kind == "next_word" else _heads(trace, *words[:2])
        for option, words_on_it in said(found).items():
            name = plain(found.options[option]).removeprefix("head ").strip("“”")
            assert words_on_it in rules[name], (config.sentence, name, words_on_it)
            told.add(words_on_it.split(";")[0][:24])
        (right,) = found.right
        assert rules[plain(found.options[right]).removeprefix("head ").strip("“”")] == {"right"}, config.sentence
    assert len(told) >= 7  # rules are met, and not one alone


def _words(trace: Trace, words: list[str]) -> dict[str, set[str]]:
    """What may be said of each word."""
    scores = {word: float(logits(trace)[number_of(trace, word)]) for word in words}
    best = max(scores, key=scores.__getitem__)
    lens = [{word: share for word, share in layer if word in words} for layer in _lens(trace)]
    rules = dict[str, set[str]]()
    for word in words:
        layers = [n for n, shares in enumerate(lens) if n and max(shares, key=shares.__getitem__) == word]
        larger = sum(other > scores[word] for other in scores.values())
        rank = SAID["second"] if larger == 1 else SAID["unlikely"].format(n=larger)
        rules[word] = {SAID["layer"].format(n=n) for n in layers} | {
            SAID["in_sentence"] if word in trace.query_tokens else rank
        }
        if word == best:
            rules[word] = {"right"}
        elif layers:
            rules[word] = {SAID["layer"].format(n=layers[0])}
    return rules


def _lens(trace: Trace) -> list[list[tuple[str, float]]]:
    return trace.model.logit_lens(trace, most=1000)  # type: ignore[union-attr]


def _heads(trace: Trace, word: str, other: str) -> dict[str, set[str]]:
    """What may be said of each head."""
    config, whole = trace.config.chosen, abs(lead(trace, word, other))
    off = {(i, h): loss(config, i, h, word, other) for i in range(len(trace.layers)) for h in range(config.n_heads)}
    rules = dict[str, set[str]]()
    for (i, h), change in off.items():
        sharp = max(trace.layers[i]["weights"].array[h, -1]) > 0.9
        if change == min(off.values()):
            allowed = {"right"}
        elif abs(change) <= 0.1 * whole:
            allowed = {OF_HEADS["sharp" if sharp else "harmless"]}
        else:
            allowed = {OF_HEADS["against"]} if change > 0 else {OF_HEADS["direct"], OF_HEADS["less"]}
        rules[f"{i + 1}.{h + 1}"] = allowed
    return rules


def test_a_ratio_is_that_of_two_shares_and_its_mistakes_are_known() -> None:
    trace = run(Config(sentence="the books near the table", model="small"))
    for temperature in (1.0, 0.5, 2.0):
        shares = np.exp((logits(trace) - logits(trace).max()) / temperature)
        ratio = shares[number_of(trace, "are")] / shares[number_of(trace, "were")]
        found = resolve(Question("times_as_likely", at={"words": ["are", "were"], "temperature": temperature}), trace)
        assert found.value == pytest.approx(ratio)
        assert found.refused == ""
        d = lead(trace, "are", "were")
        wrong = {"no_exponential": d / temperature, "no_temperature": math.exp(d)}
        for name, value in wrong.items():
            if not found.is_right(value):
                assert found.feedback(value).endswith(HINTS[name]), (temperature, name)


def test_readings_are_numbers_of_the_run_in_texts_and_in_pictures() -> None:
    config = Config(sentence="cat box king red cat", model="small")
    trace = run(config)
    shares = np.exp(logits(trace) - logits(trace).max())
    shares /= shares.sum()
    likely = picture(trace, "next_words")
    assert [likely.rows[0], round(float(likely.array[0, 0, 0]), 9)] == ["box", round(float(shares.max()), 9)]
    off = picture(trace, "without.box.king").array[0]
    assert off.shape == (3, 4)
    assert off[1, 3] == pytest.approx(loss(config, 1, 3, "box", "king"), abs=1e-9)
    own, by_word = (picture(trace, f"{name}.box.king").array[0] for name in ("own_part", "from_word"))
    np.testing.assert_allclose(own.sum(axis=1), by_word.sum(axis=1))
    ends = picture(trace, "ends")
    np.testing.assert_array_equal(ends.array[0, 7], trace.layers[1]["weights"].array[3, -1])
    assert ends.rows[7] == "2.4"
    text = slides.fill_numbers("[[share.box]] [[apart.box.king]] [[without.box.king.2.4]]", trace)
    wanted = (shares.max(), lead(trace, "box", "king"), off[1, 3])
    assert text == " ".join(slides.format_number(float(x)) for x in wanted)
    foreseen = picture(trace, "foreseen").array[0, :, 0]
    whole = run(Config(sentence="cat box king red cat box", model="small"))
    for place, word in enumerate(whole.query_tokens[1:-1]):
        part = run(replace(config, sentence=" ".join(whole.query_tokens[1 : place + 1]) or "."))
        if place:
            alone = np.exp(logits(part) - logits(part).max())
            assert foreseen[place] == pytest.approx(alone[number_of(part, word)] / alone.sum(), abs=1e-9)


def test_what_no_model_has_is_refused_in_a_sentence() -> None:
    small, plain_run = run(Config(sentence="cat box", model="small")), run(Config(sentence="cat box"))
    for asked, trace, says in (
        ({"words": ["cat"]}, small, "two words or more"),
        ({"words": ["cat", "red box"]}, small, "red box"),
        ({"words": ["cat", "box"]}, plain_run, "no model that writes on"),
    ):
        for kind in ("next_word", "times_as_likely", "head_owed"):
            with pytest.raises(ConfigError, match=says):
                resolve(Question(kind, at=asked), trace)
    for name, says in (("without.cat", "is about 2 words"), ("nothing", "there is no reading")):
        with pytest.raises(ConfigError, match=says):
            readings.reading(small, name)
    with pytest.raises(ConfigError, match=r"has no number 4\.1"):
        slides.fill_numbers("[[without.cat.box.4.1]]", small)
