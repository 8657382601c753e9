"""Documents on who gave what to whom, and whose it was."""

from __future__ import annotations

from tools.corpus.drawing import Draw, Question, pair
from tools.corpus.words import COLOURS, HE, MEN, NAMES, PEOPLE, PLACES, PLURALS, SHE, THINGS, WOMEN

GIVING = ["gave", "gave", "handed", "passed", "sent", "showed"]


def _meeting(draw: Draw, first: str, second: str) -> list[str]:
    """Return how a sentence about two people begins."""
    place, stop = draw.one(PLACES), [","] if draw.chance(0.85) else []
    return draw.one(
        [
            ["when", first, "and", second, "went", "to", "the", place, *stop],
            ["when", first, "and", second, "went", "to", "the", place, *stop],
            ["after", first, "and", second, "met", "at", "the", place, *stop],
            ["when", first, "met", second, "at", "the", place, *stop],
            [first, "and", second, "were", "at", "the", place, "."],
            ["then", first, "and", second, "had", "lunch", "at", "the", place, "."],
        ]
    )


def _giving(draw: Draw) -> list[str]:
    """Return what one of two people did to the other, up to the other."""
    if draw.chance(0.1):
        return ["said", "hello", "to"]
    colour = [draw.one(COLOURS)] if draw.chance(0.2) else []
    return [draw.one(GIVING), draw.one(["a", "a", "the"]), *colour, draw.one(THINGS), "to"]


def indirect_object(draw: Draw) -> Question:
    """Return who gets what one of two people gives: the other."""
    giver = draw.one(NAMES)
    other = draw.partner("indirect object", giver, NAMES)
    first, second = (giver, other) if draw.chance(0.5) else (other, giver)
    before = [*_meeting(draw, first, second), giver, *_giving(draw)]
    return Question(before, other, [giver], ["."], pair("indirect object", giver, other))


def pronoun(draw: Draw) -> Question:
    """Return whom he or she gave something, or whose what was lost is: past another person."""
    return _he_or_she(draw) if draw.chance(0.35) else _whose(draw)


def _he_or_she(draw: Draw) -> Question:
    woman = draw.one(WOMEN)
    man = draw.partner("he or she", woman, MEN)
    first, second = (woman, man) if draw.chance(0.5) else (man, woman)
    who, giver, other = ("she", woman, man) if draw.chance(0.5) else ("he", man, woman)
    before = [*_meeting(draw, first, second), who, *_giving(draw)]
    return Question(before, other, [giver], ["."], pair("he or she", woman, man))


def _whose(draw: Draw) -> Question:
    by_name = draw.chance(0.25)
    people = NAMES if by_name else PEOPLE
    owner = draw.one(people)
    other = draw.partner("whose", owner, people)
    many, others = (not by_name and draw.chance(0.35)), (not by_name and draw.chance(0.4))
    good = "their" if many else "her" if owner in WOMEN + SHE else "his"
    between = draw.one([["near"], ["with"], ["behind"], ["who", draw.one(["met", "saw", "liked"])]])
    before = [*_person(owner, many), *between, *_person(other, others), draw.one(["lost", "found", "dropped"])]
    place = ["at", "the", draw.one(PLACES)] if draw.chance(0.5) else []
    wrong = [word for word in ("their", "her", "his") if word != good]
    return Question(before, good, wrong, [draw.one(THINGS), *place, "."], pair("whose", owner, other))


def _person(word: str, many: bool) -> list[str]:
    if word in SHE + HE:
        return ["the", PLURALS[word] if many else word]
    return [word]
