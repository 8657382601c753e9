"""The card of a model in the package in sentences: what it learned from, what it knows, and what it is not."""

from __future__ import annotations

from attnviz.models import boxed
from attnviz.settings.language import Words

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
WORDS = Words(
    {
        "learned": "It learned in {minutes} minutes on one processor, from sentences that a program wrote, and knows "
        "{words} words. These games are all that it knows: it has read no other text.",
        "known": "Asked what training left out, it is right in {least} % or more of: {skills}.",
        "unknown": "It fails at: {skills}.",
        "share": "{skill} ({share} %)",
        "penalised": "Training penalised rows whose weights spread: that they are this sharp was asked for, and other "
        "models are not so tidy.",
        "free": "Nothing in training asked for sharp rows, and its feed-forward blocks do part of the work: a head "
        "alone seldom explains a word.",
        "seeds": "The same training from another seed comes to much the same by other heads, some of it less well: "
        "what a head does here is a fact about this file.",
    }
)


def sentences(written: str, digest: str) -> list[str]:
    """Return the card of a model by its name in a setting and its weights' digest; nothing for a host's own."""
    name = written.partition("~")[0]
    if name not in boxed.NAMES or not str(boxed.card(name)["sha256"]).startswith(digest):
        return []
    card = boxed.card(name)
    known = boxed.known(name)
    failed = [
        WORDS["share"].format(skill=SKILLS[skill], share=round(100 * share))
        for skill, share in card["skills"].items()
        if skill not in known
    ]
    least = int(100 * min(card["skills"][skill] for skill in known))
    return [
        WORDS["learned"].format(minutes=round(card["minutes"]), words=card["words"]),
        WORDS["known"].format(least=least, skills="; ".join(SKILLS[skill] for skill in known)),
        *([WORDS["unknown"].format(skills="; ".join(failed))] if failed else []),
        WORDS["penalised" if card["sizes"]["spread"] else "free"],
        *([WORDS["seeds"]] if card["other_seeds"] else []),
    ]
