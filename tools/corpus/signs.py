"""Documents of brackets and quotation marks that must be closed."""

from __future__ import annotations

from tools.corpus.drawing import Draw, Question, pair
from tools.corpus.words import ADJECTIVES, ANIMALS, NAMES

CLOSING = {"(": ")", "[": "]", "{": "}"}
DEEPEST = 4


def brackets(draw: Draw) -> Question:
    """Return the bracket that closes the innermost one that is open."""
    signs, cuts = _balanced(draw, 4 + draw.below(11))
    key = draw.must(("brackets", *signs))
    cut = draw.one(cuts)
    wrong = [sign for sign in CLOSING.values() if sign != signs[cut]]
    return Question(signs[:cut], signs[cut], wrong, [*signs[cut + 1 :], "."], key)


def _balanced(draw: Draw, n: int) -> tuple[list[str], list[int]]:
    """Return about n brackets, and where closing ones stand."""
    signs: list[str] = []
    opened: list[str] = []
    cuts: list[int] = []
    while opened or len(signs) < n:
        if len(opened) < DEEPEST and len(signs) < n and (not opened or draw.chance(0.55)):
            sign = draw.one(list(CLOSING))
            opened.append(CLOSING[sign])
        else:
            cuts.append(len(signs))
            sign = opened.pop()
        signs.append(sign)
    return signs, cuts


def quotes(draw: Draw) -> Question:
    """Return whether what is said ends a quotation or a sentence."""
    animal = draw.one(ANIMALS)
    what = _said(animal, draw.partner("quotes", animal, ADJECTIVES), draw)
    name, how = draw.one(NAMES), draw.below(4)
    if how == 0:
        before, answer, after = [*what], ".", []
    elif how == 1:
        before, answer, after = [name, "said", '"', *what], '"', ["."]
    elif how == 2:
        before, answer, after = ['"', *what], '"', ["said", name, "."]
    else:
        other = draw.one(ANIMALS)
        said = _said(other, draw.partner("quotes", other, ADJECTIVES), draw)
        before, answer, after = [name, "said", '"', *said, '"', "and", *what], ".", []
    return Question(before, answer, ["." if answer == '"' else '"'], after, pair("quotes", animal, what[-1]))


def _said(animal: str, adjective: str, draw: Draw) -> list[str]:
    return ["the", animal, draw.one(["is", "was"]), *draw.one([[], ["very"], ["not"]]), adjective]
