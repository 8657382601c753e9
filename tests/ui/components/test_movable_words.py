"""Words that are moved, replaced and left out in the browser: the tokens of the new sentence are those words."""

from __future__ import annotations

import random
from dataclasses import asdict
from typing import Any

import pytest

from attnviz import Config
from attnviz.engine.inputs import tokens
from attnviz.engine.tables.tokenisers import TOKENISERS
from attnviz.ui.components.sentence.movable_words import places, words_of
from tests.support.page_script import answers

PARTS = ("the", "cat", "didn't", "sat", "“", "”", ".", ",", "?", "'", "naïve", "3.5", "猫", "小", "ねこ", "แมว")
PARTS += ("ذهب", "الولد", "ילד", "한국", "🇩🇪", "👩‍🚀", "snake_case", "a")


def sentence(dice: random.Random) -> str:
    parts = [dice.choice(PARTS) + dice.choice((" ", " ", " ", "", "  ")) for _ in range(dice.randint(2, 9))]
    return dice.choice(("", " ")) + "".join(parts)


def wholes(config: Config) -> list[str]:
    """The tokens of a setting, pieces of a word together."""
    line = tokens(config)[0]
    if config.tokeniser != "pieces":
        return list(line)
    found: list[str] = []
    for token in line:
        if token.startswith("##"):
            found[-1] += token.removeprefix("##")
        else:
            found.append(token)
    return found


@pytest.mark.usefixtures("node")
def test_the_tokens_of_the_new_sentence_are_the_words_in_their_new_order() -> None:
    dice = random.Random(31)  # noqa: S311 - nothing secret
    asked: list[dict[str, Any]] = []
    wanted: list[tuple[Config, list[str]]] = []
    for tokeniser in TOKENISERS:
        for _ in range(120):
            config = Config(sentence=sentence(dice), tokeniser=tokeniser, max_tokens=200)  # type: ignore[arg-type]
            words = words_of(config)
            line = [word.text for word in words]
            assert line == wholes(config), config
            placed = places(words, tokens(config)[0])
            assert placed is not None
            assert [*dict.fromkeys(placed)] == [*range(len(words))]
            if len(words) < 2:
                continue
            given = {"words": [asdict(word) for word in words], "from": (at := dice.randrange(len(line)))}
            others = line[:at] + line[at + 1 :]
            to = dice.randrange(len(line))
            typed = dice.choice((".", "猫", "x" if tokeniser == "characters" else "dog"))
            asked += [{**given, "ask": "moved", "to": to}, {**given, "ask": "dropped"}]
            asked.append({**given, "ask": "replaced", "text": typed})
            wanted += [(config, [*others[:to], line[at], *others[to:]]), (config, others)]
            wanted.append((config, [*line[:at], typed, *line[at + 1 :]]))
    assert len(asked) > 1200
    for question, text, (config, line) in zip(asked, answers(asked), wanted, strict=True):
        new = Config(sentence=text, tokeniser=config.tokeniser, max_tokens=200)
        assert wholes(new) == line, (question["ask"], config.sentence, text)
    unmoved = {**given, "ask": "moved", "to": given["from"]}
    assert answers([unmoved])[0] == config.sentence.strip()


def test_special_tokens_are_of_no_word_and_a_sentence_that_is_cut_is_known() -> None:
    config = Config(sentence="the cat sat.", bos=True, eos=True, pad_to=8)
    assert places(words_of(config), tokens(config)[0]) == [None, 0, 1, 2, 3, None, None, None]
    cut = Config(sentence="the cat sat on the mat", max_tokens=3)
    assert places(words_of(cut), tokens(cut)[0]) == [0, 1, 2]
    assert places(words_of(config), ["Ã", "¨", "Ġb"]) is None, "pieces that are no part of a word"
    assert places(words_of(Config(sentence="Ein Straßencafé")), ["ein", "strassen", "##cafe"]) == [0, 1, 1]
