"""Sentences on words, said of patches: for a model whose tokens are the parts of an image."""

from __future__ import annotations

from typing import Any

from attnviz.engine.records.trace import Trace
from attnviz.settings.language import Words

PATCHES = Words(
    {
        "how well each word matches each:": "how well each patch matches each:",
        "how well each word matches each": "how well each patch matches each",
        "how words match:": "how patches match:",
        "how words match": "how patches match",
        "how each word (row, query) attends to each (column, key)": "how each patch (row, query) attends to each "
        "(column, key)",
        "shares of each word": "shares of each patch",
        "what each word looks for": "what each patch looks for",
        "what each word offers to be matched by": "what each patch offers to be matched by",
        "what each word passes on": "what each patch passes on",
        "each word as a vector": "each patch as a vector",
        "words as vectors": "patches as vectors",
        "over {n:.1f} words": "over {n:.1f} patches",
        "Attention: how much each word attends to every word.": "Attention: how much each patch attends to every "
        "patch.",
        "{query} attends to no word.": "{query} attends to no patch.",
        "bar on the right: how many words a row attends to, its effective number of keys": "bar on the right: how many "
        "patches a row attends to, its effective number of keys",
        "bar below: the weight that a word receives in all": "bar below: the weight that a patch receives in all",
        "its scores with all words": "its scores with all patches",
        "its scaled scores with all words": "its scaled scores with all patches",
        "its adjusted scores with all words": "its adjusted scores with all patches",
        "z of {query}, all words added:": "z of {query}, all patches added:",
        "Each word has a row of numbers that asks, in Q, and one that answers, in K.": "Each patch has a row of "
        "numbers that asks, in Q, and one that answers, in K.",
        "The score takes its place beside those with all other words.": "The score takes its place beside those with "
        "all other patches.",
        "{key} passes on its value in V, and so does every other word: much, little or nothing.": "{key} passes on its "
        "value in V, and so does every other patch: much, little or nothing.",
    }
)
"""By the English of what is said of words."""


def has_patches(trace: Trace) -> bool:
    """Return whether the tokens of a run are the patches of an image."""
    return getattr(trace.config, "image", None) is not None


def said(table: Words[Any], name: str, *, patches: bool) -> str:
    """Return a sentence of a table, of patches where they are the tokens.

    >>> said(Words({"spread": "over {n:.1f} words"}), "spread", patches=True).format(n=2)
    'over 2.0 patches'
    """
    english = table.english[name]
    found: str = PATCHES[english] if patches and english in PATCHES.english else table[name]
    return found


def table_of(table: Words[Any], *, patches: bool) -> dict[str, Any]:
    """Return all sentences of a table, those of words of patches where they are the tokens."""
    return {name: said(table, name, patches=patches) for name in table} if patches else dict(table)
