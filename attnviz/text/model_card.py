"""The card of a model in the package in sentences: what it learned from, what it knows, and what it is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.models import boxed
from attnviz.models.boxed import Measured
from attnviz.settings.language import Words, sign
from attnviz.text.format.number_format import localised

SKILLS = Words(
    {
        "indirect object": "who is given something",
        "pronoun": "whom he or she means, and whose something is",
        "agreement": "is or are past another noun",
        "induction": "lists said again",
        "successor": "what follows a day, a month or a number",
        "recall": "who has what and where things are",
        "recall of who": "which of those named has a thing",
        "analogy": "pairs of one relation",
        "brackets": "closing brackets",
        "quotes": "closing quotation marks",
        "story": "what a story said before",
        "unknown names": "who is given something, with names that it does not know",
    }
)
ASKED = "indirect object"
FAILED = 0.8
"""The share of right answers below which a model fails at a skill."""
WORDS = Words(
    {
        "learned": "It learned in {minutes} minutes on one processor, from sentences that a program wrote, and knows "
        "{words} words and signs. These games are all that it knows: it has read no other text.",
        "known": "Asked {n:,} questions of each kind that training left out, it is right in {least} % or more of: "
        "{skills}.",
        "nearly": "Right less often, in brackets the interval that holds the share with 95 % confidence: {skills}.",
        "between": "{skill} {share} % ({low} to {high} %)",
        "unknown": "It fails at: {skills}.",
        "share": "{skill} ({share} %)",
        "penalised": "Training penalised rows whose weights spread, and long outputs of heads: that rows are this "
        "sharp was asked for, and other models are not so tidy.",
        "free": "Nothing in training asked for sharp rows, and its feed-forward blocks do part of the work: a head "
        "alone seldom explains a word.",
        "plain": "Nothing in training asked for sharp rows: it is the model “{other}” again, from the same sentences "
        "and the same seed, without penalties on rows whose weights spread and on long outputs of heads.",
        "sharper": "With these penalties {sharp} % of the rows have a weight above 0.9, by layer; without them "
        "{free} %.",
        "seeds": "The same training from other seeds comes to much the same by other heads, some of it less well: "
        "who is given something needs head {here} most of all here, and {there} in the others. What a head does here "
        "is a fact about this file.",
        "strict": "In sentences of another form, made of words that it knows, it names who is given something in only "
        "{share} % of the cases.",
    }
)


def sentences(written: str, digest: str) -> list[str]:
    """Return the card of a model by its name in a setting and its weights' digest; nothing for a host's own."""
    name = written.partition("~")[0]
    if name not in boxed.NAMES or not str(boxed.card(name)["sha256"]).startswith(digest):
        return []
    card = boxed.card(name)
    known, measured = boxed.known(name), boxed.measured(name)
    others = {skill: each for skill, each in measured.items() if skill not in known}
    nearly = [_between(skill, each) for skill, each in others.items() if each.share >= FAILED]
    failed = [
        WORDS["share"].format(skill=SKILLS[skill], share=round(100 * each.share))
        for skill, each in others.items()
        if each.share < FAILED
    ]
    least = int(100 * min(measured[skill].share for skill in known))
    n = card["measured"]["questions"]
    return [
        WORDS["learned"].format(minutes=round(card["minutes"]), words=card["words"]),
        WORDS["known"].format(n=n, least=least, skills=sign("; ").join(SKILLS[skill] for skill in known)),
        *([WORDS["nearly"].format(skills=sign("; ").join(nearly))] if nearly else []),
        *([WORDS["unknown"].format(skills=sign("; ").join(failed))] if failed else []),
        WORDS["strict"].format(share=round(100 * card["new_frames"])),
        *_penalty(card),
        *([_seeds(card)] if card["other_seeds"] else []),
    ]


def _between(skill: str, each: Measured) -> str:
    """Return a skill with its share and the interval of that, with one digit behind the point."""
    share, low, high = (localised(f"{100 * x:.1f}") for x in (each.share, each.low, each.high))
    return WORDS["between"].format(skill=SKILLS[skill], share=share, low=low, high=high)


def _penalty(card: Mapping[str, Any]) -> list[str]:
    """Return what a penalty on spread rows did to a model, or that there was none."""
    if (other := boxed.TWINS.get(card["name"])) is None:
        return [WORDS["free"]]
    sharp, free = (", ".join(str(round(100 * x)) for x in boxed.card(name)["sharp"]) for name in boxed.TWINS)
    said = WORDS["penalised"] if card["sizes"]["spread"] else WORDS["plain"].format(other=other)
    return [said, WORDS["sharper"].format(sharp=sharp, free=free)]


def _seeds(card: Mapping[str, Any]) -> str:
    """Return which head one skill needs most in this run and in those from other seeds."""
    runs = (card, *card["other_seeds"])
    here, *there = (min(run["without"][ASKED], key=run["without"][ASKED].__getitem__) for run in runs)
    return WORDS["seeds"].format(here=here, there=", ".join(there))
