"""Documents whose verb must agree with a noun that stands before another one."""

from __future__ import annotations

from tools.corpus.drawing import Draw, Question, pair
from tools.corpus.words import ADJECTIVES, ANIMALS, PEOPLE, PLURALS, SPOTS, THINGS

ACTIONS = ["smile", "run", "sing", "sleep", "wait"]


def agreement(draw: Draw) -> Question:
    """Return the verb, singular or plural, of a noun that stands before another one."""
    many, others = draw.chance(0.5), draw.chance(0.5)
    things = draw.chance(0.5)
    noun = draw.one(THINGS if things else PEOPLE + ANIMALS)
    other = draw.partner("agreement", noun, THINGS + SPOTS if things else PEOPLE + ANIMALS)
    if things:
        between = [draw.one(["near", "to", "under", "behind", "on"])]
    else:
        between = draw.one(_between_living(draw.asked and {noun, other} <= {*PEOPLE}))
    before = ["the", PLURALS[noun] if many else noun, *between, "the", PLURALS[other] if others else other]
    good, wrong, after = _verb(draw, many, things)
    return Question(before, good, [wrong], after, pair("agreement", noun, other))


def _between_living(asked_of_people: bool) -> list[list[str]]:
    """Return what stands between two people or animals.

    A person "behind" another also begins a sentence about what is lost or found: there the next word is not settled,
    so a question has none of these.
    """
    return [*([] if asked_of_people else [["behind"]]), ["that", "saw"], ["that", "liked"]]


def _verb(draw: Draw, many: bool, things: bool) -> tuple[str, str, list[str]]:
    """Return the verb, the one of the other number, and what follows; questions ask for is and are only."""
    kind = "is" if draw.asked else draw.one(["is", "is", "is", "was"] + ([] if things else ["does"]))
    if kind == "does":
        action = draw.one(ACTIONS)
        good, wrong = (action, f"{action}s") if many else (f"{action}s", action)
        return good, wrong, ["."]
    one, several = (kind, {"is": "are", "was": "were"}[kind])
    good, wrong = (several, one) if many else (one, several)
    return good, wrong, [*draw.one([[], ["very"], ["not"]]), draw.one(ADJECTIVES), "."]
