"""Questions in sentences that no training document has: stricter than words that never stood together."""

from __future__ import annotations

from tools.corpus.drawing import Draw, Question, pair
from tools.corpus.people import GIVING
from tools.corpus.words import NAMES, PLACES, THINGS


def new_frames(n: int, seed: int) -> list[Question]:
    """Return n questions on who gets what, in frames that the corpus does not write, of pairs kept from training."""
    draw, found = Draw(f"new frames {seed}", asked=True), []
    for _ in range(n):
        giver = draw.one(NAMES)
        other = draw.partner("indirect object", giver, NAMES)
        first, second = (giver, other) if draw.chance(0.5) else (other, giver)
        place, thing = draw.one(PLACES), draw.one(THINGS)
        before = draw.one(
            [
                ["at", "the", place, ",", first, "met", second, "."],
                [first, "was", "with", second, "at", "the", place, "."],
                [first, "saw", second, "and"],
                ["the", place, "was", "old", ".", first, "and", second, "had", "lunch", "."],
                [first, "went", "to", second, ".", "then"],
            ]
        )
        given = [giver, draw.one(GIVING), draw.one(["a", "the"]), thing, "to"]
        found.append(Question([*before, *given], other, [giver], ["."], pair("indirect object", giver, other)))
    return found
