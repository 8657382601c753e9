"""Documents that say who has what and what is where, and ask for it."""

from __future__ import annotations

from tools.corpus.drawing import Draw, Question, pair
from tools.corpus.words import NAMES, SPOTS, THINGS

Fact = tuple[str, str]
WHERE = ["near", "in", "on", "under", "behind"]


def recall(draw: Draw) -> Question:
    """Return what somebody has, or where a thing is, as facts before it say; the document then asks on.

    In some training documents the facts are said again, without a question.
    """
    kind, where = draw.one(["what", "where"]), draw.one(WHERE)
    facts = _facts(draw, kind == "where")
    asks = draw.asked or draw.chance(0.6)
    asked = draw.one(facts)
    after = ["."]
    for fact in draw.some(facts, len(facts)):
        after += [*(_question(kind, fact) if asks else []), *_said(kind, where, fact), "."]
    before = [*_told(kind, where, facts), *(_question(kind, asked) if asks else []), *_said(kind, where, asked)[:-1]]
    wrong = [right for _, right in facts if right != asked[1]]
    return Question(before, asked[1], wrong, after, pair("recall", *asked))


def recall_who(draw: Draw) -> Question:
    """Return who has a thing, as facts before it say; the document then asks on."""
    facts = _facts(draw, False)
    asked = draw.one(facts)
    after = ["."]
    for name, thing in draw.some(facts, len(facts)):
        after += [*_who(thing), name, "."]
    wrong = [name for name, _ in facts if name != asked[0]]
    return Question([*_told("what", "", facts), *_who(asked[1])], asked[0], wrong, after, pair("recall", *asked))


def _facts(draw: Draw, of_places: bool) -> list[Fact]:
    """Return pairs that have no word in common; all are kept from training, or none."""
    lefts, rights = (THINGS, SPOTS) if of_places else (NAMES, THINGS)
    facts: list[Fact] = []
    for left in draw.some(lefts, draw.one([2, 3, 3, 4])):
        facts.append((left, draw.partner("recall", left, rights, [right for _, right in facts])))
    return facts


def _told(kind: str, where: str, facts: list[Fact]) -> list[str]:
    return [word for fact in facts for word in (*_said(kind, where, fact), ".")]


def _said(kind: str, where: str, fact: Fact) -> list[str]:
    left, right = fact
    return ["the", left, "is", where, "the", right] if kind == "where" else [left, "has", "the", right]


def _question(kind: str, fact: Fact) -> list[str]:
    return ["where", "is", "the", fact[0], "?"] if kind == "where" else ["what", "does", fact[0], "have", "?"]


def _who(thing: str) -> list[str]:
    return ["who", "has", "the", thing, "?"]
