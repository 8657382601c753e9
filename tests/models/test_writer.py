"""A text written on, the place of a word among the next, and words by their names."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from attnviz import ConfigError
from attnviz.models.sampling import Sampling, by_share, drawn
from tests.support.cases import for_each
from tests.support.small_models import NAMES, model

DECODERS = [name for name in NAMES if model(name).writes_on]
WORDS = "the king and"


def plain(shares: list[float], top_k: int | None, top_p: float | None) -> list[float]:
    """The shares of what may be drawn, word by word."""
    order = sorted(range(len(shares)), key=lambda word: (-shares[word], word))[:top_k]
    whole = sum(shares[word] for word in order)
    kept, have = [], 0.0
    for word in order:
        if top_p is None or have < top_p:
            kept.append(word)
        have += shares[word] / whole
    total = sum(shares[word] for word in kept)
    return [shares[word] / total if word in kept else 0.0 for word in range(len(shares))]


def test_temperature_top_k_and_top_p_by_hand() -> None:
    scores = np.array([1.0, 3.0, 2.5, -1.0, 3.0, 0.25])
    for temperature in (0.5, 1.0, 3.0):
        shares = np.exp(scores / temperature) / np.exp(scores / temperature).sum()
        for top_k in (None, 1, 3, 99):
            for top_p in (None, 0.2, 0.9, 1.0):
                found = Sampling(temperature, top_k, top_p).shares(scores)
                np.testing.assert_allclose(found, plain(shares.tolist(), top_k, top_p), rtol=0, atol=1e-12)


def test_draws_come_as_often_as_their_shares_say_and_never_where_there_is_none() -> None:
    shares = np.array([0.0, 0.5, 0.2, 0.0, 0.3, 0.0])
    counts = np.bincount([drawn(shares, 3, place) for place in range(4000)], minlength=6) / 4000
    np.testing.assert_allclose(counts, shares, rtol=0, atol=0.02)
    assert not counts[[0, 3, 5]].any()
    one, other = ([drawn(shares, seed, place) for place in range(30)] for seed in (3, 4))
    assert one != other


def test_words_with_equal_shares_stand_in_the_order_of_the_vocabulary_whatever_rounding_does() -> None:
    near = np.array([0.2, 0.3 * (1 - 1e-13), 0.2, 0.3])
    assert by_share(near).tolist() == [1, 3, 0, 2]
    assert by_share(near[::-1]).tolist() == [0, 2, 1, 3]
    assert by_share(np.array([0.1, 0.3 - 1e-6, 0.3])).tolist() == [2, 1, 0]


def test_the_words_that_a_seed_writes_stay_the_same() -> None:
    assert model("llama").generate(WORDS, 6, seed=1) == PINNED
    assert model("llama").generate(WORDS, 6, seed=2) != PINNED


PINNED = "the king and6\u04e1on!\ufffd"


@for_each("name", DECODERS)
def test_writing_on_goes_word_by_word(name: str) -> None:
    made = model(name)
    how = {"seed": 4, "temperature": 0.7, "top_k": 12, "top_p": 0.95}
    ids = made.tokenise(WORDS)[0]
    text, first = made.generate(WORDS, 5, **how), made.generate(WORDS, 1, **how)  # type: ignore[arg-type]
    assert text.startswith(first)
    assert first.startswith(WORDS)
    assert made.generate(WORDS, 0) == WORDS
    assert first == f"{WORDS}{made.drawn(made(WORDS), 4, Sampling(0.7, 12, 0.95))}"
    greedy = made.generate(WORDS, 1, top_k=1)
    [(likeliest, _)] = made.next_words(WORDS, 1)
    assert greedy == WORDS + made.written(ids, [made._numbers[likeliest]])
    # the state that a word is drawn from is that of a run of these tokens
    np.testing.assert_allclose(made._last_state(made._for_text(WORDS), ids), made(WORDS).result.array[-1], atol=1e-14)


def test_a_text_ends_where_the_model_ends_it_and_where_there_is_no_more_room(monkeypatch: pytest.MonkeyPatch) -> None:
    made = model("gpt2")
    [(likeliest, _)] = made.next_words(WORDS, 1)
    monkeypatch.setattr(made, "_ends", frozenset([made._numbers[likeliest]]))
    assert made.generate(WORDS, 4, top_k=1) == WORDS
    assert made.drawn(made(WORDS), 0, Sampling(top_k=1)) is None
    n = len(made.tokenise(WORDS)[0])
    assert len(made.generate(WORDS, 41 - n, seed=2)) > len(WORDS)
    with pytest.raises(ConfigError, match=rf"has {n} tokens, and this model has room for 40: ask for at most {41 - n}"):
        made.generate(WORDS, 42 - n)


@for_each("name", NAMES)
def test_tokens_say_the_text_that_they_were_cut_from(name: str) -> None:
    tokenise = model(name).tokenise
    for text in ("the king's dog, isn't it?", "naïve кот 12"):
        ids, pieces = tokenise(f"a {text}")
        frame = {*tokenise("")[0]}
        if "[UNK]" in pieces or "<unk>" in pieces:
            continue
        inner = [number for number in ids if number not in frame]
        said = tokenise.written([], inner)
        if "##" in "".join(pieces) or pieces[0] == "[CLS]":  # BERT's tokeniser forgets where spaces were
            assert said.replace(" ", "") == f"a{text}".replace(" ", "").lower().replace("ï", "i")
        else:
            assert said.strip() == f"a {text}"


def test_a_word_is_found_by_its_name_and_one_that_is_none_is_said() -> None:
    made = model("gpt2")
    number = made.word_number("the")
    assert made.piece(number) == "Ġthe"
    assert number == made.word_number(" the") == made.word_number("Ġthe") == made.word_number(number)
    assert made.piece(made.word_number("q")) == "q"  # there is none with a space before it
    for word, message in (
        ("river", "'river' is no single word of this model, it is made of 'r', "),
        ("", "'' is no word of this model; choose one of its likeliest next words"),
        (None, "None is no word of this model"),
        (999, "word number 999 is not in the vocabulary; its numbers are 0 to 287"),
    ):
        with pytest.raises(ConfigError, match=message):
            made.word_number(word)  # type: ignore[arg-type]


def test_the_rank_of_a_word_after_every_layer() -> None:
    made, trace = model("llama"), model("llama")(WORDS)
    lens = made.logit_lens(trace, most=288)
    ranks = made.ranks(trace, "the")
    for words, (rank, share) in zip(lens, ranks, strict=True):
        assert words[rank - 1] == ("Ġthe", share)
    assert made.next_words(trace, 3) == lens[-1][:3] == made.next_words(WORDS, 3)
    assert all(one[1] >= other[1] for one, other in pairwise(lens[-1]))


def test_what_cannot_be_drawn_is_said() -> None:
    made = model("gpt2")
    for how, message in (
        ({"temperature": 0}, "temperature is 0; give a number above 0, or top_k=1 for always the likeliest word"),
        ({"temperature": float("nan")}, "temperature is nan"),
        ({"top_k": 0}, "top_k is 0; give a whole number from 1 on"),
        ({"top_p": 1.5}, "top_p is 1.5; give a number above 0 and up to 1"),
        ({"seed": -1}, "seed is -1; give a whole number from 0 on"),
        ({"n": -1}, "n is -1; give a whole number from 0 on"),
    ):
        with pytest.raises(ConfigError, match=message):
            made.generate(**({"text": WORDS, "n": 2} | how))  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="the text is 5; give what the model is to write on"):
        made.next_words(5)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="does not write on"):
        model("bert").generate(WORDS, 2)
