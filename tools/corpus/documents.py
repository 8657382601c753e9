"""The corpus: documents of every skill, rows of their numbers to train on, and questions that are kept from these."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tools.corpus.drawing import Again, Draw, Question
from tools.corpus.facts import recall, recall_who
from tools.corpus.lists import analogy, induction, successor
from tools.corpus.people import indirect_object, pronoun
from tools.corpus.signs import brackets, quotes
from tools.corpus.stories import story
from tools.corpus.verbs import agreement
from tools.corpus.words import NAMES, NUMBER, REPLACED, SPARE

LONGEST = 64
"""Words of a row, and positions that a model learns."""


@dataclass(frozen=True)
class Skill:
    """A kind of document, how often it comes, and whether spare words may stand in it."""

    draw: Callable[[Draw], Question]
    share: int
    spared: bool = False


SKILLS = {
    "indirect object": Skill(indirect_object, 12, spared=True),
    "pronoun": Skill(pronoun, 9),
    "agreement": Skill(agreement, 7),
    "induction": Skill(induction, 10, spared=True),
    "successor": Skill(successor, 9),
    "recall": Skill(recall, 11, spared=True),
    "recall of who": Skill(recall_who, 3, spared=True),
    "analogy": Skill(analogy, 12),
    "brackets": Skill(brackets, 10),
    "quotes": Skill(quotes, 5),
    "story": Skill(story, 8, spared=True),
}
LOTS = [name for name, skill in SKILLS.items() for _ in range(skill.share)]


def drawn(draw: Draw, name: str) -> Question:
    """Return a question of a skill, drawn until one can be finished."""
    while True:
        try:
            return SKILLS[name].draw(draw)
        except Again:
            continue


def document(draw: Draw) -> Question:
    """Return a document to train on; in some, spare words stand for what is said."""
    name = draw.one(LOTS)
    question = drawn(draw, name)
    if SKILLS[name].spared and draw.chance(0.15):
        there = [word for word in dict.fromkeys(question.words) if word in REPLACED]
        question = _spared(draw, question, draw.some(there, min(len(there), 1 + draw.below(5))))
    return question


def _spared(draw: Draw, question: Question, words: list[str]) -> Question:
    return question.renamed(dict(zip(words, draw.some(SPARE, len(words)))))


def rows(n: int, seed: int) -> NDArray[np.int16]:
    """Return n rows of LONGEST numbers: documents one behind another, each behind a start."""
    draw, out = Draw(seed), np.zeros((n, LONGEST), dtype=np.int16)
    for row in out:
        numbers: list[int] = []
        while len(numbers) < LONGEST:
            numbers += [0, *(NUMBER[word] for word in document(draw).words)]
        row[:] = numbers[:LONGEST]
    return out


def questions(name: str, n: int, seed: int, unknown: bool = False) -> list[Question]:
    """Return n questions that no training document holds; `unknown` puts spare words for all names."""
    draw = Draw(f"{name} {seed}", asked=True)
    found = [drawn(draw, name) for _ in range(n)]
    if unknown:
        found = [_spared(draw, each, [word for word in dict.fromkeys(each.words) if word in NAMES]) for each in found]
    return found


def digest(n: int = 2_000, seed: int = 1) -> str:
    """Return the SHA-256 of the first rows, by which a corpus is known."""
    return hashlib.sha256(rows(n, seed).astype("<i2").tobytes()).hexdigest()
