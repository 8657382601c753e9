"""Each head in a few words: its kind, and how clear that is."""

from __future__ import annotations

from attnviz.analysis.head_kinds import HeadKind
from attnviz.settings.language import Words
from attnviz.text.cell_sentence import percent

WORDS = Words(
    {
        "previous": "previous token",
        "self": "the word itself",
        "next": "next token",
        "same": "the same word elsewhere",
        "article": "from an article to its noun",
        "first": "first token",
        "word": "mostly {word}",
        "spread": "spreads over {n:.1f} words",
        "share": "{amount} of its weight on average",
        "share_same": "{amount} of the weight of words that stand twice",
        "share_article": "{amount} of the weight of articles",
        "most": "most of all from {word}: {amount}",
        "keys": "a row spreads over {n:.1f} of {all} words",
    }
)


def title(found: HeadKind, word: str) -> str:
    """Return the title of a head: where most of its weight goes; `word` is the one with the most weight.

    >>> title(HeadKind(0, "word", 0.5, 2, 1.6), "sat"), title(HeadKind(0, "spread", 0.2, 2, 6.31), "sat")
    ('mostly sat', 'spreads over 6.3 words')
    """
    return WORDS[found.kind].replace("{word}", word) if found.kind == "word" else WORDS[found.kind].format(n=found.keys)


def lines(found: HeadKind, word: str, keys: int) -> tuple[str, str]:
    """Describe the share of a head's weight on that relation, and the number of words that a row spreads over.

    >>> lines(HeadKind(0, "previous", 0.93, 2, 1.24), "sat", 7)
    ('93 % of its weight on average', 'a row spreads over 1.2 of 7 words')
    """
    amount = percent(found.share)
    which = {"spread": "most", "same": "share_same", "article": "share_article"}.get(found.kind, "share")
    first = WORDS[which].replace("{amount}", amount).replace("{word}", word)
    return first, WORDS["keys"].format(n=found.keys, all=keys)
