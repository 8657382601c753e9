"""Small stories, so that what a model writes reads like sentences, and what they ask of it."""

from __future__ import annotations

from dataclasses import dataclass

from tools.corpus.drawing import Draw, Question, pair
from tools.corpus.words import ANIMALS, COLOURS, NAMES, PLACES, SPOTS, THINGS, WOMEN


@dataclass(frozen=True)
class People:
    """Two people of a story, and the words for the first."""

    first: str
    second: str

    @property
    def she(self) -> str:
        return "she" if self.first in WOMEN else "he"

    @property
    def her(self) -> str:
        return "her" if self.first in WOMEN else "his"

    def opening(self, draw: Draw) -> list[str]:
        """Return how a story begins, up to the verb of its first sentence."""
        if draw.chance(0.35):
            return [self.first]
        kind = draw.one(["little", "little", "small", "young", "happy"])
        child = "girl" if self.first in WOMEN else "boy"
        return ["once", "there", "was", "a", kind, child, "called", self.first, ".", self.she]


def story(draw: Draw) -> Question:
    """Return a story, cut before a word that what was told decides."""
    people = People(*draw.some(NAMES, 2))
    kind = draw.one([_gift, _loss, _animal])
    question = kind(draw, people)
    ending = draw.one(
        [["they", "went", "home", "together", "."], ["they", "were", "happy", "."], ["they", "played", "together", "."]]
    )
    after = [*question.after, *(ending if draw.chance(0.7) else []), "the", "end", "."]
    return Question(question.before, question.answer, question.wrong, after, question.key)


def _gift(draw: Draw, people: People) -> Question:
    """One has a thing that the other likes, and gives it away."""
    thing = draw.partner("story", people.first, THINGS)
    colour, (place, other) = draw.one(COLOURS), (draw.one(PLACES), people.second)
    thing_again = [colour, thing]
    before = [*people.opening(draw), "had", "a", colour, thing, ".", "one", "day", people.she, "went", "to", "the"]
    before += [place, ".", "there", people.she, "met", other, ".", other, "liked", "the"]
    after = [".", people.first, "gave", "the", *thing_again, "to", other, "."]
    after += [other, "said", '"', "thank", "you", '"', "."] if draw.chance(0.5) else [other, "was", "happy", "."]
    return Question(before, thing, [place, colour], after, pair("story", people.first, thing))


def _loss(draw: Draw, people: People) -> Question:
    """One loses a thing, and the other finds it."""
    thing = draw.partner("story", people.first, THINGS)
    place, (here, there) = draw.one(PLACES), draw.some(SPOTS, 2)
    before = [*people.opening(draw), "lost", people.her, thing, "at", "the", place, ".", people.she, "looked"]
    before += ["under", "the", here, "."]
    before += [people.she, "looked", "behind", "the", there, "."] if draw.chance(0.5) else []
    before += [people.first, "was", "sad", ".", "then", people.second, "found", "the"]
    after = [".", people.second, "gave", "the", thing, "to", people.first, ".", people.first, "was", "happy", "."]
    return Question(before, thing, [place, here], after, pair("story", people.first, thing))


def _animal(draw: Draw, people: People) -> Question:
    """An animal runs away, and the other person brings it home."""
    animal = draw.partner("story", people.first, ANIMALS)
    place, kind = draw.one(PLACES), draw.one(["big", "small", "young"])
    mood = draw.one(["fast", "slow", "loud", "quiet", "strong", "weak", "clean", "dirty"])
    before = [*people.opening(draw), "had", "a", kind, animal, ".", "the", animal, "was", "very", mood, "."]
    before += ["one", "day", "the", animal, "went", "to", "the", place, ".", people.first, "was", "sad", "."]
    before += [people.second, "saw", "the"]
    after = ["and", "took", "it", "home", "to", people.first, "."]
    return Question(before, animal, [place, people.first], after, pair("story", people.first, animal))
