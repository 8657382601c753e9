"""A sentence into tokens: whole characters, whole words, special tokens."""

from __future__ import annotations

import pytest

from attnviz import TOKENISERS, Config, ConfigError, run
from attnviz.engine.tables.tokenisers import (
    BOS,
    EOS,
    PAD,
    characters,
    graphemes,
    pieces,
    whitespace,
    with_special_tokens,
    words,
)
from tests.support.cases import for_each

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"  # three people and two joiners: one picture
WAVE = "\U0001f44b\U0001f3fd"  # a hand and a skin tone
FLAGS = "\U0001f1eb\U0001f1f7\U0001f1e9\U0001f1ea"  # four letters: two flags
HEART = "\u2764\ufe0f"


@for_each(
    "text, clusters",
    [
        ("abc", ("a", "b", "c")),
        ("e\u0301a", ("e\u0301", "a")),
        (FAMILY + "!", (FAMILY, "!")),
        (WAVE + WAVE, (WAVE, WAVE)),
        (FLAGS, (FLAGS[:2], FLAGS[2:])),
        (HEART, (HEART,)),
        ("\u1100\u1161\u11a8\uac00", ("\u1100\u1161\u11a8", "\uac00")),  # Hangul letters join into a syllable
        ("\u0915\u093f", ("\u0915\u093f",)),  # a Devanagari letter and its vowel sign
        ("\r\n", ("\r\n",)),
        ("\u0600\u0661", ("\u0600\u0661",)),  # an Arabic number sign belongs to its number
        ("", ()),
    ],
)
def test_graphemes_are_what_a_reader_calls_characters(text: str, clusters: tuple[str, ...]) -> None:
    assert graphemes(text) == clusters


@for_each(
    "text, tokens",
    [
        ("The cat, sat.", ("The", "cat", ",", "sat", ".")),
        ("It didn't; o\u2019clock", ("It", "didn't", ";", "o\u2019clock")),
        ("'quoted'", ("'", "quoted", "'")),
        ("snake_case x2", ("snake_case", "x2")),
        (f"hi {FAMILY}{WAVE}", ("hi", FAMILY, WAVE)),
        ("\u0645\u0631\u062d\u0628\u0627 \u0628\u0643", ("\u0645\u0631\u062d\u0628\u0627", "\u0628\u0643")),
        (
            "\u0939\u093f\u0928\u094d\u0926\u0940 \u092e\u0947\u0902",
            ("\u0939\u093f\u0928\u094d\u0926\u0940", "\u092e\u0947\u0902"),
        ),
        ("<bos>a<pad><pad>", (BOS, "a", PAD, PAD)),
        ("<b>x</b>", ("<", "b", ">", "x", "<", "/", "b", ">")),
        ("__proto__ constructor $x$", ("__proto__", "constructor", "$", "x", "$")),
        (" \t\n\u00a0 ", ()),
        ("猫は iPhone 15を見た。", ("猫", "は", "iPhone", "15", "を", "見", "た", "。")),
        ("หนูที่นั่น", ("ห", "นู", "ที่", "นั่", "น")),
        ("고양이가 쥐를", ("고양이가", "쥐를")),
    ],
)
def test_words(text: str, tokens: tuple[str, ...]) -> None:
    assert words(text) == tokens


def test_whitespace_keeps_punctuation() -> None:
    assert whitespace("  The  mat.\n") == ("The", "mat.")


def test_characters_keep_spaces_but_no_control_characters() -> None:
    assert characters("a b\n\x00c") == ("a", " ", "b", "c")


@pytest.mark.parametrize(
    ("length", "tokens"), [(3, ("abc", "##de", FAMILY)), (1, ("a", "##b", "##c", "##d", "##e", FAMILY))]
)
def test_pieces_cut_words_by_characters(length: int, tokens: tuple[str, ...]) -> None:
    assert pieces(f"abcde {FAMILY}", piece_length=length) == tokens


def test_without_spaces_each_character_is_a_token_and_that_is_said() -> None:
    note = "Where a script leaves no spaces between words, each character is a token."
    assert run(Config(sentence="猫追老鼠")).notes == (note,)
    for config in (
        Config(sentence="the 猫 sat"),
        Config(sentence="猫追老鼠", tokeniser="characters"),
        Config(sentence="고양이가 쥐를"),
    ):
        assert run(config).notes == ()
    assert pieces("猫追老鼠了", piece_length=2) == ("猫追", "##老鼠", "##了")


def test_pieces_put_together_are_the_words() -> None:
    text = "attention is all you need"
    joined = "".join(
        piece.removeprefix("##") if piece.startswith("##") else f" {piece}" for piece in pieces(text, piece_length=3)
    )
    assert joined.split() == text.split()


@for_each(
    "settings, tokens",
    [
        ({}, ("a", "b", "c")),
        ({"bos": True, "eos": True}, (BOS, "a", "b", "c", EOS)),
        ({"pad_to": 5}, ("a", "b", "c", PAD, PAD)),
        ({"pad_to": 2}, ("a", "b", "c")),
        ({"max_tokens": 2}, ("a", "b")),
        ({"bos": True, "eos": True, "max_tokens": 3}, (BOS, "a", EOS)),
        ({"bos": True, "eos": True, "max_tokens": 1}, (BOS,)),
        ({"pad_to": 9, "max_tokens": 4}, ("a", "b", "c", PAD)),
    ],
)
def test_frame(settings: dict[str, int], tokens: tuple[str, ...]) -> None:
    whole = {"bos": False, "eos": False, "pad_to": 0, "max_tokens": 64} | settings
    assert with_special_tokens(("a", "b", "c"), **whole) == tokens  # type: ignore[arg-type]


def test_a_cut_sentence_is_said() -> None:
    trace = run(Config(sentence="a b c d", max_tokens=3, bos=True))
    assert trace.query_tokens == (BOS, "a", "b")
    assert trace.notes == ("The sentence has 4 tokens; the first 2 are used.",)


def test_typed_special_tokens_count_as_tokens_of_the_sentence() -> None:
    assert run(Config(sentence="a <pad>", mask="padding")).notes == ()


@for_each("name", TOKENISERS)
@for_each("sentence", ["", "\n\t", "\u2003\n"])
def test_a_sentence_without_tokens_says_what_to_do(name: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match="no tokens; type at least one word"):
        run(Config(sentence=sentence, tokeniser=name))


@for_each("name", TOKENISERS)
@for_each("sentence", [FAMILY, "\ud800", "a" * 10_000, "\u202eabc", "\u200b", "😀" * 70, "__proto__", "<script>"])
def test_no_text_breaks_a_tokeniser(name: str, sentence: str) -> None:
    tokens = TOKENISERS[name].fn(sentence, **TOKENISERS[name].settings(Config()))
    assert all(isinstance(token, str) and token for token in tokens)
